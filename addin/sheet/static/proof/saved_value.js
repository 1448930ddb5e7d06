/// <reference path="../types.d.ts" />
// Values of cells as a copy of the file gets them, whether two of them are the same, and what the component makes of them.

/** How far two results of one formula may be from each other, relative to their size. */
const TOLERANCE = 1e-9;

/** How the reason begins why a cell has no value. */
export const NOT_PROVEN = "not proven: ";

/** What a formula says that cannot be read, until the backend knows more. */
export const NOT_READ = "This formula cannot be read; most often a bracket, a quote or a separator is missing, or is one too many.";

/** How it begins where nobody here knows the function. */
export const UNKNOWN = "Unknown function: ";

/** How the component begins where a function has too few or too many arguments, which Excel does not take at all. */
const WRONG_COUNT = "Invalid number of arguments";

/** What an error means where neither the component nor a call says more. @type {Record<string, string>} */
const MEANING = {
  "#DIV/0!": "It divides by zero, or by an empty cell.",
  "#N/A": "It finds no value, as a lookup does without a match, or a cell that it refers to shows #N/A.",
  "#NULL!": "The ranges that it refers to have no cell in common.",
  "#NUM!": "A number is outside of what the function takes, or the result is too large or cannot be found.",
  "#REF!": "It refers to cells that do not exist: they were deleted, or lie outside of the range.",
  "#VALUE!": "An argument has the wrong kind, such as a text where the function takes a number.",
};

const INVISIBLE = "\u200b";
const NO_ROOM = "Something is in the way of its values, or of those of a cell that it refers to: empty the cells that they would fill.";

/** @param {any} evaluated @returns {SavedValue} */
export function savedValue({ value, type }) {
  if (type === "error") return { error: String(value) };
  if (typeof value === "number" && !Number.isFinite(value)) return { error: "#NUM!" };
  return type === "empty" ? null : value;
}

/** @param {SavedValue} one @param {SavedValue} other */
export function isEqual(one, other) {
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
  if (isError(one) && isError(other)) return one.error === other.error;
  return (one ?? "") === (other ?? "");
}

/** Whether a cell has no value because none is proven, or nobody here knows its function. @param {any} evaluated */
export function isUnproven(evaluated) {
  const reason = String(evaluated?.message ?? "");
  return evaluated?.value === "#NAME?" ? reason.startsWith(UNKNOWN) : evaluated?.value === "#N/A" && reason.startsWith(NOT_PROVEN);
}

/** @param {SavedValue} value @returns {value is { error: string }} */
export function isError(value) {
  return typeof value === "object" && value !== null;
}

/** @param {SavedValue | SavedValue[][]} stored */
export function cellsOf(stored) {
  return Array.isArray(stored) ? cellsIn(stored) : cellOf(stored);
}

/** Rows as the component has them, column by column. @param {SavedValue[][]} rows @returns {ComponentMatrix} */
export function cellsIn(rows) {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => cellOf(row[column] ?? null)));
}

/** A text that reads like an error is none: an invisible letter tells the component so. @param {SavedValue} value @returns {ComponentCell} */
export function cellOf(value) {
  if (typeof value === "string" && o_spreadsheet.helpers.isEvaluationError(value)) return { value: INVISIBLE + value };
  if (!isError(value)) return { value: value ?? "" };
  return { value: value.error, ...(value.error === "#SPILL!" && { message: NO_ROOM }) };
}

/** Whether a formula is nothing but a text that reads like an error. @param {any} formula */
export function isErrorText({ normalizedFormula, literalValues }) {
  return normalizedFormula === "=|S|" && o_spreadsheet.helpers.isEvaluationError(literalValues.strings[0]?.value);
}

/**
 * Let an error without a reason say that of a call which failed so, or the component's, where that comes to the same one.
 * @param {ComponentCell} cell @param {any} own @param {Failure[]} failed calls
 */
export function explain(cell, own, failed) {
  if (cell.message || !o_spreadsheet.helpers.isEvaluationError(cell.value)) return;
  const call = failed.find(({ code }) => code === cell.value);
  const reason = String(call?.message ?? own?.message ?? "");
  if (call || own?.value === cell.value || reason.startsWith(WRONG_COUNT)) cell.message = reason;
  cell.message ||= MEANING[String(cell.value)] ?? "";
}
