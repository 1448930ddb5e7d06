/// <reference path="../types.d.ts" />
// The tab Insert: a form for every function of the library, with the formula it makes and its cost.

import { asTyped, callOf, formulaOf, isReference } from "../data/formula.js";
import { insert, Preview } from "./insert.js";
import { parameterField } from "../ui/argument_inputs.js";
import { button, copyable, loading } from "../ui/components.js";
import { fill, h, icon } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** The list of functions, and the form of the one that was chosen. */
export class Wizard {
  /**
   * @param {Pane} pane
   * @param {HTMLElement} panel
   */
  constructor(pane, panel) {
    this.pane = pane;
    this.panel = panel;
    /** @type {FunctionHelp[]} */
    this.functions = [];
  }

  /** Show the list; the functions are asked for once. */
  async open() {
    if (this.functions.length) return;
    fill(this.panel, loading(6));
    try {
      this.functions = await this.pane.backend.registry();
      this.#list();
    } catch (error) {
      void showFailure(this.pane, this.panel, error, () => void this.open());
    }
  }

  /**
   * Show the form of a function, with the given values filled in.
   * @param {string} id
   * @param {Record<string, string>} values
   */
  async fill(id, values) {
    await this.open();
    const chosen = this.functions.find((each) => each.id === id);
    if (chosen) this.#form(chosen, values);
  }

  /** @param {string} [focusId] the function whose entry takes the focus */
  #list(focusId) {
    const groups = [...new Set(this.functions.map((each) => each.group))];
    const sections = groups.map((group) => {
      const members = this.functions.filter((each) => each.group === group);
      const entries = members.map((each) => h("li", this.#entry(each)));
      return h("section", h("h2", group), h("ul.list", ...entries));
    });
    fill(this.panel, h("div.columns", ...sections));
    const entry = focusId ? this.panel.querySelector(`[data-function="${focusId}"]`) : null;
    if (entry instanceof HTMLElement) entry.focus();
  }

  /** @param {FunctionHelp} about */
  #entry(about) {
    return h(
      "button",
      { type: "button", class: "list-item", "data-function": about.id, click: () => this.#form(about, {}) },
      h("span.list-body", h("span.list-title.mono", about.id), h("span.muted.small.clamp", about.summary)),
      icon("next"),
    );
  }

  /**
   * @param {FunctionHelp} about
   * @param {Record<string, string>} values
   */
  #form(about, values) {
    const form = new Form(this.pane, about);
    form.write(values);
    const back = button("Functions", () => this.#list(about.id), { look: "quiet", sign: "back" });
    fill(this.panel, back, form.element);
    form.changed();
    form.element.querySelector("h2")?.focus();
  }
}

/** The form of one function. */
class Form {
  /**
   * @param {Pane} pane
   * @param {FunctionHelp} about
   */
  constructor(pane, about) {
    this.pane = pane;
    this.about = about;
    this.preview = new Preview(pane);
    this.formula = h("div.formula-place");
    this.insert = button("Insert", () => void insert(pane, this.text(), this.call()), { look: "primary" });
    const context = {
      changed: () => this.changed(),
      suggestions: about.group === "Signals" ? (pane.catalogue ?? []).map(({ slug }) => asTyped(slug)) : [],
      selection: pane.host.isExcel ? pane.host.selection : null,
    };
    this.fields = about.parameters.map((parameter) => parameterField(parameter, context));
    this.element = h(
      "form.wizard",
      { submit: (/** @type {Event} */ event) => event.preventDefault() },
      this.#head(),
      this.#body(),
      this.#foot(),
    );
  }

  #head() {
    const help = h(
      "a",
      { href: `help/${encodeURIComponent(this.about.id)}`, target: "_blank", rel: "noopener" },
      "Help",
      icon("open"),
    );
    const title = h("h2.mono", { tabindex: -1 }, `${this.pane.status.namespace}.${this.about.id}`);
    return h("header", h("div.row.spread", title, help), h("p.muted", this.about.summary));
  }

  #body() {
    const hint = h("p.muted.small", "Begin with = to take a value from a cell, such as =A2.");
    return h("div.fields", ...this.fields.map((field) => field.element), this.fields.length ? hint : null);
  }

  /** The formula with its button, which stay visible however long the form is; and the preview. */
  #foot() {
    const bar = h("div.wizard-bar", this.formula, this.insert);
    return h("div.wizard-foot", bar, this.preview.element);
  }

  /** @param {Record<string, string>} values */
  write(values) {
    this.about.parameters.forEach(({ name }, index) => this.fields[index]?.write(values[name] ?? ""));
  }

  typed() {
    return this.fields.map((field) => field.read());
  }

  text() {
    return formulaOf(this.pane.status.namespace, this.about.id, this.typed(), this.about.parameters);
  }

  call() {
    return callOf(this.about.id, this.typed(), this.about.parameters);
  }

  changed() {
    const typed = this.typed();
    const missing = this.about.parameters.filter((parameter, index) => parameter.required && !typed[index]?.trim());
    fill(this.formula, copyable(this.text()));
    this.insert.disabled = missing.length > 0;
    const call = this.call();
    const names = missing.map((parameter) => parameter.name).join(", ");
    const cells = typed.filter(isReference).map((text) => text.trim().slice(1));
    if (missing.length) this.preview.idle(`Fill in ${names} to see cost and result.`);
    else if (call === null) this.preview.idle(`The result depends on ${cells.join(", ")}.`);
    else void this.preview.show(call);
  }
}
