/// <reference path="./types.d.ts" />
// What a cell holds after its formula is replaced by its value.

/** Cells that still calculate or do not fit have no value to keep. */
const UNSETTLED = /^#(BUSY|SPILL|CONNECT|GETTING_DATA|NAME)/;

/**
 * @typedef {object} LiveCell a cell as Office.js gives it
 * @property {unknown} value
 * @property {string} type its `valueTypes` entry
 * @property {string} format its number format
 * @property {unknown} json its `valuesAsJson` entry, where this Excel has one
 */

/** @param {LiveCell} cell */
export function hasSettled(cell) {
  return !(cell.type === "Error" && UNSETTLED.test(String(cell.value)));
}

/**
 * What to write so that the cell shows the same without its formula. An apostrophe keeps text as text: a headline
 * that begins with "=" must not become a formula, nor "2024-01-01" a date.
 * @param {LiveCell} cell
 */
export function keptValue(cell) {
  const { value, type } = cell;
  if (typeof value !== "string" || value === "" || type === "Error") return value ?? "";
  return `'${value}`;
}

/**
 * The number format to give the cell: that of a formatted value, where the cell has none of its own.
 * @param {LiveCell} cell
 */
export function keptFormat({ format, json }) {
  if (format !== "General" || typeof json !== "object" || json === null) return format;
  const own = /** @type {Record<string, unknown>} */ (json)["numberFormat"];
  return typeof own === "string" ? own : format;
}
