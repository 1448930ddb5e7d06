/// <reference path="../types.d.ts" />
// Rows that are hidden, by hand or by a filter: a few functions leave them out.

const SEES_ROWS = /(?<![\w.])(?:SUBTOTAL|AGGREGATE)\(/i;
/** These leave rows out that are hidden by hand, too; the smaller ones only those of filters. */
const LEAVES_ALL_OUT = 101;

/** Whether a formula depends on which rows are hidden. @param {any} formula the component's */
export function seesRows({ normalizedFormula }) {
  return SEES_ROWS.test(normalizedFormula);
}

/** The rows of a sheet that are hidden, counted from 1. @param {any} getters @param {string} sheetId @returns {number[]} */
export function hiddenRows(getters, sheetId) {
  const rows = Array.from({ length: getters.getNumberRows(sheetId) }, (_, row) => row);
  return rows.filter((row) => getters.isRowHidden(sheetId, row)).map((row) => row + 1);
}

/** The hidden rows that a formula may see, as text. @param {any} formula @param {any} getters */
export function hiddenFrom(formula, getters) {
  const sheets = new Set(formula.rangeDependencies.map((/** @type {any} */ { sheetId }) => sheetId));
  return seesRows(formula) ? ` ${[...sheets].map((sheetId) => hiddenRows(getters, sheetId).join()).join(";")}` : "";
}

/**
 * Whether the component leaves the same rows out as Excel, which takes all that a file hides below a filter for filtered.
 * @param {any} formula
 * @param {any} getters
 */
export function isSeenAlike(formula, getters) {
  if (!seesRows(formula) || formula.literalValues.numbers[0]?.value >= LEAVES_ALL_OUT) return true;
  return formula.rangeDependencies.every((/** @type {any} */ { sheetId }) => hiddenRows(getters, sheetId).every((row) => getters.isRowFiltered(sheetId, row - 1)));
}
