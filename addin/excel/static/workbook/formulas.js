/// <reference path="../types.d.ts" />
// Tells our formulas from others, and knows how they are entered. Pure.

/** A text literal in a formula, or the name of a sheet or a file; quotes inside of either are doubled. */
const QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g;

/** A text, or a word that may be a defined name, with the sheet before it. */
const WORD = /"(?:[^"]|"")*"|(?:('(?:[^']|'')*'|[\p{L}\p{N}_.]+)!)?([\p{L}_\\][\p{L}\p{N}_.\\?]*)(\s*\()?/gu;

/** The words of a formula that may be defined names, in upper case, with the sheet where one is named. @param {string} formula */
export function namesIn(formula) {
  const found = [...formula.matchAll(WORD)].filter(([, , name, bracket]) => name !== undefined && bracket === undefined);
  return found.map(([, sheet = "", name = ""]) => (sheet && `${sheet.replace(/^'(.*)'$/s, "$1").replaceAll("''", "'")}!`.toUpperCase()) + name.toUpperCase());
}

/**
 * A test whether a cell's content is a formula that calls a function of `namespace`, as typed or as Excel stores it
 * while the add-in is not loaded. Text literals inside the formula do not count.
 * @param {string} namespace
 * @returns {(formula: unknown) => boolean}
 */
export function ourFormulas(namespace) {
  const call = new RegExp(`[^\\w.](?:_xldudf_${namespace}_|${namespace}\\.)[A-Z]\\w*\\s*\\(`, "i");
  return (formula) =>
    typeof formula === "string" &&
    formula.startsWith("=") &&
    call.test(formula) &&
    call.test(formula.replace(QUOTED, (text) => text.charAt(0).repeat(2)));
}

/**
 * A function that gives a formula with the calls of `namespace` as a user types them. Excel may have left them in the
 * form in which files hold them, also as the function of some other add-in's file.
 * @param {string} namespace
 * @returns {(formula: string) => string}
 */
export function formulasAsEntered(namespace) {
  const file = String.raw`(?:'(?:[^']|'')*'|[\w.:\\[\]]+)!`;
  const call = String.raw`(?:${file})?_xldudf_${namespace}_([A-Z]\w*)(?=\s*\()`;
  // What is quoted comes before what looks like a call inside of it.
  const token = new RegExp(String.raw`"(?:[^"]|"")*"|${call}|'(?:[^']|'')*'|[\w.]+`, "gi");
  return (formula) => formula.replace(token, (found, id) => (id ? `${namespace}.${String(id).toUpperCase()}` : found));
}
