/// <reference path="../types.d.ts" />
// The tab Insert: a form for every function of the library, with the formula it makes and its cost.

import { faultOf } from "../data/faults.js";
import { asTyped, callOf, formulaOf, isReference } from "../data/formula.js";
import { insert, Preview } from "./insert.js";
import { lockedFor } from "../data/problems.js";
import { parameterField } from "../ui/argument_inputs.js";
import { badge, button, copyable, loading } from "../ui/components.js";
import { fill, freshId, h, icon, onEscape } from "../ui/elements.js";
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
    /** The form of each function as it was left, with the catalogue it was made for. @type {Map<string, Form>} */
    this.forms = new Map();
    /** @type {Promise<FunctionHelp[]> | null} */
    this.asked = null;
    pane.status.watch(() => this.#markLocked());
  }

  /** Show the list; the functions are asked for once, and a second look that waits for them takes no form away. */
  async open() {
    if (this.functions.length) return;
    fill(this.panel, loading(6));
    try {
      this.asked ??= this.pane.backend.ask("registry.json");
      const functions = await this.asked;
      if (this.functions.length) return;
      this.functions = functions;
      this.#list();
    } catch (error) {
      this.asked = null;
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
    if (!chosen) return;
    this.forms.delete(id);
    this.#form(chosen, values);
  }

  /**
   * The form as the user left it, unless the catalogue changed since.
   * @param {FunctionHelp} about
   */
  #left(about) {
    const form = this.forms.get(about.id);
    return form?.catalogue === this.pane.catalogue ? form : undefined;
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
    this.#markLocked();
    const entry = focusId ? this.panel.querySelector(`[data-function="${focusId}"]`) : null;
    if (entry instanceof HTMLElement) entry.focus();
  }

  /** Say in the list which functions the key has no access to; its tier may become known after the list is drawn. */
  #markLocked() {
    for (const mark of this.panel.querySelectorAll("[data-needs-pro]")) {
      const id = mark.getAttribute("data-needs-pro") ?? "";
      mark.toggleAttribute("hidden", lockedFor(id, this.pane.status.latest) === null);
    }
  }

  /** @param {FunctionHelp} about */
  #entry(about) {
    return h(
      "button",
      { type: "button", class: "list-item", "data-function": about.id, click: () => this.#form(about) },
      h(
        "span.list-body",
        h("span.list-title.mono", h("span", about.id), h("span", { "data-needs-pro": about.id }, badge("Needs Pro", "calm"))),
        h("span.muted.small.clamp", about.summary),
      ),
      icon("next"),
    );
  }

  /**
   * @param {FunctionHelp} about
   * @param {Record<string, string>} [values] instead of what it held when it was left
   */
  #form(about, values = {}) {
    const form = this.#left(about) ?? new Form(this.pane, about, values);
    this.forms.set(about.id, form);
    const leave = () => this.#list(about.id);
    const back = button("Functions", leave, { look: "quiet", sign: "back" });
    fill(this.panel, h("div.form-view", { keydown: onEscape(leave) }, back, form.element));
    form.changed();
    form.element.querySelector("h2")?.focus();
  }
}

/** How long a press on Insert waits for the verdict on what was just typed. */
const VERDICT_MS = 1_500;

/** The form of one function. */
class Form {
  /**
   * @param {Pane} pane
   * @param {FunctionHelp} about
   * @param {Record<string, string>} values
   */
  constructor(pane, about, values) {
    this.pane = pane;
    this.about = about;
    /** Whose names the form suggests. */
    this.catalogue = pane.catalogue;
    this.preview = new Preview(pane, (answer) => this.#judged(answer));
    /** Settles when the backend has judged what is typed, as far as that is free. @type {Promise<void>} */
    this.verdict = Promise.resolve();
    /** @type {import("../data/faults.js").Fault | null} */
    this.fault = null;
    this.missing = "";
    this.formula = h("div.formula-place");
    this.why = h("p.why.small", { id: freshId("why"), role: "status" });
    this.insert = button("Insert", () => void this.#insert(), { look: "primary" });
    this.insert.setAttribute("aria-describedby", this.why.id);
    const context = {
      changed: () => this.changed(),
      suggestions: about.group === "Signals" ? (pane.catalogue ?? []).map(({ slug }) => asTyped(slug)) : [],
      selection: pane.host.hasCells ? pane.host.selection : null,
    };
    this.fields = about.parameters.map((parameter) => parameterField(parameter, context));
    this.marks = new Map(this.fields.flatMap((field) => field.marks));
    about.parameters.forEach(({ name }, index) => this.fields[index]?.write(values[name] ?? ""));
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
    const hint = h("p.muted.small", "Begin with = to take a value from a cell, such as =A2; with ' to keep what follows as text.");
    return h("div.fields", ...this.fields.map((field) => field.element), this.fields.length ? hint : null);
  }

  /** The formula with its button, which stay visible however long the form is; and the preview. */
  #foot() {
    const bar = h("div.wizard-bar", this.why, this.formula, this.insert);
    return h("div.wizard-foot", bar, this.preview.element);
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
    this.missing = missing.map((parameter) => parameter.name).join(", ");
    const call = this.call();
    const cells = typed.filter(isReference).map((text) => text.trim().slice(1));
    this.verdict = Promise.resolve();
    if (this.missing) this.preview.idle(`Fill in ${this.missing} to see cost and result.`);
    else if (call === null) this.preview.idle(`The result depends on ${cells.join(", ")}.`);
    else this.verdict = this.preview.show(call);
    this.#allow();
  }

  /**
   * Mark the argument that the answer complains about, and no other.
   * @param {Answer | null} answer
   */
  #judged(answer) {
    const before = this.fault;
    this.fault = answer && faultOf(answer, [...this.marks.keys()]);
    this.#allow();
    if (before?.message === this.fault?.message) return;
    for (const [name, mark] of this.marks) if (name !== this.fault?.argument) mark(null);
    if (this.fault?.argument) this.marks.get(this.fault.argument)?.(this.fault.message);
  }

  /** Only a formula without a known error can be inserted; what is wrong stands beside the button. */
  #allow() {
    const locked = lockedFor(this.about.id, this.pane.status.latest);
    this.insert.disabled = this.missing !== "" || this.fault !== null || locked !== null;
    if (locked) return fill(this.why, `${locked.title}: the key’s tier cannot have ${this.about.id}.`);
    fill(this.why, this.fault && (this.fault.argument ? `Correct ${this.fault.argument} to insert.` : this.fault.message));
  }

  async #insert() {
    await Promise.race([this.verdict, new Promise((resolve) => setTimeout(resolve, VERDICT_MS))]);
    if (!this.insert.disabled) await insert(this.pane, this.text(), this.call());
  }
}
