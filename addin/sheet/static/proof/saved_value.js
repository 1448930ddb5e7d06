/// <reference path="../types.d.ts" />
// Values of cells as a copy of the file gets them, and whether two of them are the same.

/** How far two results of one formula may be from each other, relative to their size. */
const TOLERANCE = 1e-9;

/** How the reason begins why a cell has no value. */
export const NOT_PROVEN = "not proven: ";

/** What a formula says that cannot be read, until the backend knows more. */
export const NOT_READ = "This formula cannot be read; most often a bracket, a quote or a separator is missing, or is one too many.";

/** How it begins where nobody here knows the function. */
export const UNKNOWN = "Unknown function: ";

/** @param {any} evaluated @returns {SavedValue} */
export function savedValue({ value, type }) {
  if (type === "error") return { error: String(value) };
  if (typeof value === "number" && !Number.isFinite(value)) return { error: "#NUM!" };
  return type === "empty" ? null : value;
}

/** @param {SavedValue} one @param {SavedValue} other */
export function isEqual(one, other) {
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
  if (isError(one) && isError(other)) return one.error.replace("#REF!", "#REF") === other.error.replace("#REF!", "#REF");
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
