/// <reference path="../types.d.ts" />
// The controls of a function's form, made from the registry's description of its arguments.

import { button, sentence } from "./components.js";
import { optionsText } from "../data/formula.js";
import { fill, freshId, h } from "./elements.js";

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => string} read what was typed; blank for left out
 * @property {(text: string) => void} write
 */

/**
 * @typedef {Field & { marks: [string, Mark][] }} MarkedField with what marks it, and each of its options, as wrong
 */

/** @typedef {(words: string | null) => void} Mark shows what is wrong, and brings it into sight; null: nothing is */

/**
 * @typedef {object} FieldContext
 * @property {() => void} changed called after every change
 * @property {string[]} suggestions names to offer while typing
 * @property {(() => Promise<string>) | null} selection the selected range's address, in Excel
 */

/** The choice that opens a free text. */
const OWN = "\u0000own";

/**
 * The field of an argument; options become a group with a field each.
 * @param {ParameterHelp} parameter
 * @param {FieldContext} context
 * @returns {MarkedField}
 */
export function parameterField(parameter, context) {
  if (parameter.options.length) return optionsField(parameter, context);
  const { mark: marked, ...field } = labelled(parameter, parameter.required, context);
  return { ...field, marks: [[parameter.name, marked]] };
}

/**
 * @param {ParameterHelp} parameter
 * @param {FieldContext} context
 * @returns {MarkedField}
 */
function optionsField(parameter, context) {
  const fields = parameter.options.map(
    (option) => /** @type {const} */ ([option.name, labelled(option, false, context)]),
  );
  const count = h("span.muted");
  const read = () => optionsText(Object.fromEntries(fields.map(([name, field]) => [name, field.read()])));
  const element = h(
    "details.options",
    { input: () => fill(count, read()) },
    h("summary", "Options ", count),
    ...fields.map(([, field]) => field.element),
  );
  const write = (/** @type {string} */ text) => {
    const given = Object.fromEntries(splitAt(";", text).map((option) => splitAt("=", option)));
    for (const [name, field] of fields) field.write(given[name] ?? "");
  };
  /** @type {(mark: Mark) => Mark} */
  const unfolding = (marked) => (words) => {
    element.open ||= words !== null;
    marked(words);
  };
  const marks = fields.map(([name, field]) => /** @type {[string, Mark]} */ ([`option ${name}`, unfolding(field.mark)]));
  return { element, read, write, marks };
}

/**
 * A control with its name and its help.
 * @param {OptionHelp & { default?: Scalar }} about
 * @param {boolean} required
 * @param {FieldContext} context
 * @returns {Field & { mark: Mark }}
 */
function labelled(about, required, context) {
  const id = freshId("field");
  const control = controlFor(about, id, context);
  const need = required ? h("span.required", "required") : null;
  const error = h("p.field-error", { id: `${id}-error`, hidden: true });
  const element = h(
    "div.field",
    h("label", { for: id }, h("code", about.name), " ", need),
    control.element,
    error,
    h("p.help", { id: `${id}-help` }, ...sentence(about.help)),
  );
  return { ...control, element, mark: (words) => mark(element, error, words) };
}

/**
 * Mark a field as wrong, or as right again.
 * @param {HTMLElement} element
 * @param {HTMLElement} error where the words stand
 * @param {string | null} words
 */
function mark(element, error, words) {
  fill(error, ...sentence(words ?? ""));
  error.hidden = words === null;
  for (const control of element.querySelectorAll("input:not([type=checkbox]), select")) {
    const help = error.id.replace(/error$/, "help");
    control.setAttribute("aria-describedby", words === null ? help : `${error.id} ${help}`);
    control.toggleAttribute("aria-invalid", words !== null);
    if (words !== null) control.setAttribute("aria-invalid", "true");
  }
  if (words !== null) element.scrollIntoView({ block: "nearest" });
}

/**
 * @param {OptionHelp & { default?: Scalar }} about
 * @param {string} id
 * @param {FieldContext} context
 * @returns {Field}
 */
function controlFor(about, id, context) {
  if (about.choices.length && about.type === "any") return several(about, id, context);
  return about.choices.length || about.type === "boolean" ? choice(about, id, context) : entry(about, id, context);
}

/**
 * A list of names as text, with checkboxes that add and remove names.
 * @param {OptionHelp & { default?: Scalar }} about
 * @param {string} id
 * @param {FieldContext} context
 * @returns {Field}
 */
function several(about, id, context) {
  const changed = () => {
    tick();
    context.changed();
  };
  const line = entry(about, id, { ...context, changed });
  // The example shows the separator: commas between columns, bars between transforms.
  const bar = about.example.includes("|") || about.help.includes("|");
  const names = () => splitAt(bar ? "|" : ",", line.read()).filter(Boolean);
  const boxes = about.choices.map(({ value }) => h("input", { type: "checkbox", value, id: `${id}-${value}` }));
  const tick = () => {
    for (const box of boxes) box.checked = names().includes(box.value);
  };
  const ticked = (/** @type {Event} */ { target }) => {
    const box = /** @type {HTMLInputElement} */ (target);
    const others = names().filter((name) => name !== box.value);
    line.write((box.checked ? [...others, box.value] : others).join(bar ? "|" : ", "));
    context.changed();
  };
  const rows = about.choices.map(({ value, help }, index) =>
    h("div.check", boxes[index], h("label", { for: `${id}-${value}` }, value, h("span.muted", ` ${help}`))),
  );
  const list = h("details.several", h("summary", "Choose"), h("div.several-list", { change: ticked }, ...rows));
  const write = (/** @type {string} */ text) => {
    line.write(text);
    tick();
  };
  return { element: h("div.choice", line.element, list), read: line.read, write };
}

/**
 * A line of text; text that begins with = refers to cells.
 * @param {OptionHelp & { default?: Scalar }} about
 * @param {string} id
 * @param {FieldContext} context
 * @returns {Field}
 */
function entry(about, id, context) {
  const list = context.suggestions.length && about.name === "slug" ? `${id}-names` : null;
  const input = h("input", {
    id,
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    list,
    placeholder: placeholder(about),
    "aria-describedby": `${id}-help`,
    input: context.changed,
  });
  const names = list && h("datalist", { id: list }, ...context.suggestions.map((value) => h("option", { value })));
  const element = h("div.entry", input, names, context.selection && pick(input, context.selection, context.changed));
  return { element, read: () => input.value, write: (text) => void (input.value = text) };
}

/**
 * A drop-down; its last choice opens a free text for other values or a cell.
 * @param {OptionHelp & { default?: Scalar }} about
 * @param {string} id
 * @param {FieldContext} context
 * @returns {Field}
 */
function choice(about, id, context) {
  const given = about.choices.length
    ? about.choices
    : [
        { value: "TRUE", help: "yes" },
        { value: "FALSE", help: "no" },
      ];
  const own = entry(about, `${id}-own`, context);
  own.element.hidden = true;
  own.element.querySelector("input")?.setAttribute("aria-label", `${about.name}, as text`);
  const picked = () => {
    own.element.hidden = select.value !== OWN;
    if (!own.element.hidden) own.element.querySelector("input")?.focus();
    context.changed();
  };
  const usual = about.default === null || about.default === undefined ? null : String(about.default);
  const label = (/** @type {string} */ value, /** @type {string} */ help, note = "") =>
    help && help !== value ? `${value}${note} – ${help}` : `${value}${note}`;
  const usualHelp = given.find(({ value }) => value === usual)?.help ?? "";
  const select = h(
    "select",
    { id, "aria-describedby": `${id}-help`, change: picked },
    h("option", { value: "" }, usual === null ? "any" : label(usual, usualHelp, " (default)")),
    ...given.filter(({ value }) => value !== usual).map(({ value, help }) => h("option", { value }, label(value, help))),
    h("option", { value: OWN }, about.open_choices ? "something else or a cell…" : "from a cell…"),
  );
  const write = (/** @type {string} */ text) => {
    const known = text === "" || given.some(({ value }) => value === text);
    select.value = text === usual ? "" : known ? text : OWN;
    own.element.hidden = known;
    own.write(known ? "" : text);
  };
  const element = h("div.choice", select, own.element);
  return { element, read: () => (select.value === OWN ? own.read() : select.value), write };
}

/**
 * @param {HTMLInputElement} input
 * @param {() => Promise<string>} selection
 * @param {() => void} changed
 */
function pick(input, selection, changed) {
  const take = async () => {
    input.value = `=${await selection()}`;
    changed();
  };
  const label = "Use the selected cells";
  const control = button("", () => void take(), { look: "quiet", sign: "insert", label });
  control.title = label;
  return control;
}

/**
 * @param {string} separator
 * @param {string} text
 */
function splitAt(separator, text) {
  return text.split(separator).map((piece) => piece.trim());
}

/** @param {OptionHelp & { default?: Scalar }} about */
function placeholder(about) {
  if (about.default !== null && about.default !== undefined && about.default !== "") return String(about.default);
  return about.example ? `e.g. ${about.example}` : "";
}
