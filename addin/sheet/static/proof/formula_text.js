/// <reference path="../types.d.ts" />
// A formula as the backend gets it, and the places that it names.
import { writtenOut } from "../component.js";

/** @typedef {{ sheetId: string, col: number, row: number }} Position */

/** @param {Position} position */
export function placeOf({ sheetId, col, row }) {
  return `${sheetId}!${o_spreadsheet.helpers.toXC(col, row)}`;
}

/** The places among a formula's references that stand for a spill. @param {string} normalized */
export function spilled(normalized) {
  if (!normalized.includes("#")) return [];
  return [...normalized.matchAll(/\|[CR]\|(#?)/g)].flatMap(([, sign], at) => (sign ? [at] : []));
}

/** @param {any} anchor a range @param {any} getters */
export function spillOf({ sheetId, zone }, getters) {
  return getters.getSpreadZone({ sheetId, col: zone.left, row: zone.top });
}

/** The formula for the backend: spills of cells that it does not work out are the ranges that they fill now. @param {any} formula @param {any} getters @param {Set<string>} live */
export function textOf(formula, getters, live) {
  const text = writtenOut(formula, getters).slice(1);
  const fixed = spilled(formula.normalizedFormula).map((at) => formula.rangeDependencies[at]).filter((/** @type {any} */ anchor) => {
    const position = { sheetId: anchor.sheetId, col: anchor.zone.left, row: anchor.zone.top };
    return getters.getCell(position)?.isFormula && !live.has(placeOf(position)); // a constant spills nothing
  });
  return fixed.reduce((/** @type {string} */ changed, anchor) => {
    const zone = spillOf(anchor, getters) ?? anchor.zone;
    const name = (/** @type {any} */ range) => getters.getRangeString(range, formula.sheetId);
    return changed.replace(`${name(anchor)}#`, name(getters.getRangeFromZone(anchor.sheetId, zone)));
  }, text);
}
