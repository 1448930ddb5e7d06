/// <reference path="../types.d.ts" />
// Enters formulas again that Excel has damaged. While the add-in is not loaded, Excel may show a call of ours as
// `'C:\…\FUNCRES.XLAM'!_xldudf_DS_SIGNAL("x")`, or as #NAME? for good. No recalculation heals that; entering does.

import { cellBlock } from "./blocks.js";
import { blocksRead } from "./reading.js";

/** Formulas entered in one exchange. */
const AT_ONCE = 500;

/** @typedef {import("./book.js").OurFormula} OurFormula */
/** @typedef {{ repaired: number, damaged: number }} Repairs formulas entered again, and those that could not be */

/**
 * Enter the damaged ones among our formulas again, as far as their sheets accept it.
 * @param {Excel.RequestContext} context
 * @param {import("./book.js").Language} language
 * @param {OurFormula[]} formulas
 * @returns {Promise<Repairs>}
 */
export async function repair(context, language, formulas) {
  const damaged = formulas
    .map((each) => ({ ...each, typed: language.asEntered(each.formula) }))
    .filter(({ formula, typed, type }) => typed !== formula || type === "Error");
  const misnamed = damaged.filter(({ formula, typed }) => typed !== formula);
  const found = [...misnamed, ...(await stuck(context, damaged.filter(({ formula, typed }) => typed === formula)))];
  if (found.length === 0) return { repaired: 0, damaged: 0 };
  const sheets = [...new Set(found.map(({ sheet }) => sheet))];
  for (const sheet of sheets) sheet.protection.load("protected");
  await context.sync();
  const open = found.filter(({ sheet }) => !sheet.protection.protected);
  let repaired = 0;
  for (let at = 0; at < open.length; at += AT_ONCE) repaired += await entered(context, open.slice(at, at + AT_ONCE));
  return { repaired, damaged: found.length - repaired };
}

/**
 * Of formulas that are right and show an error, those that show #NAME?.
 * @template {OurFormula} T
 * @param {Excel.RequestContext} context
 * @param {T[]} formulas
 */
async function stuck(context, formulas) {
  const byPlace = new Map(formulas.map((each) => [`${each.sheet.id}!${each.row}!${each.column}`, each]));
  const places = formulas.map(({ sheet, row, column }) => ({ sheet, block: cellBlock(row, column) }));
  const found = [];
  for await (const blocks of blocksRead(context, places, "values")) {
    for (const { sheet, block, range } of blocks) {
      const formula = byPlace.get(`${sheet.id}!${block.top}!${block.left}`);
      if (range.values[0]?.[0] === "#NAME?" && formula !== undefined) found.push(formula);
    }
  }
  return found;
}

/**
 * Enter formulas; returns how many the sheets accepted. One that is refused, as a part of an array is, stops no other.
 * @param {Excel.RequestContext} context
 * @param {(OurFormula & { typed: string })[]} cells
 */
async function entered(context, cells) {
  const enter = (/** @type {typeof cells[number]} */ { sheet, row, column, typed }) => {
    sheet.getRangeByIndexes(row, column, 1, 1).formulas = [[typed]];
  };
  try {
    cells.forEach(enter);
    await context.sync();
    return cells.length;
  } catch {
    // Excel does not say which one it refused.
  }
  let accepted = 0;
  for (const cell of cells) {
    try {
      enter(cell);
      await context.sync();
      accepted += 1;
    } catch (error) {
      console.warn(error);
    }
  }
  return accepted;
}
