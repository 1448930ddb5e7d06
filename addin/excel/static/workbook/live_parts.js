/// <reference path="../types.d.ts" />
// What a copy without formulas has no use for: names say where that is, and the backend whether the template made it.

import { isWithin, numbersIn } from "./blocks.js";
import { blockOf, blocksRead } from "./reading.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {LivePart & { on: Excel.Worksheet, range: Excel.Range, block: Block }} Part */
/** @typedef {{ sheetName: string, block: Block, formula: string }} Answer cells that a formula filled before it was frozen */

/** The beginning of the names of areas that mean something only as long as the book has its formulas. */
const LIVE_ONLY = "DS_LIVE_ONLY";

/** The functions that tell of this machine alone. */
const OF_THIS_MACHINE = /QUOTA|STATUS/i;

/**
 * Empty what the template made for a book with formulas, and nothing else; whether there was any, and what was kept
 * although a name calls it so.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet[]} sheets with their names loaded
 * @param {Answer[]} answers what was frozen
 * @param {(path: string, body: unknown) => Promise<any>} ask
 * @returns {Promise<{ emptied: boolean, kept: string[] }>}
 */
export async function emptyLiveParts(context, sheets, answers, ask) {
  const parts = await named(context, sheets);
  if (parts.length === 0) return { emptied: false, kept: [] };
  const used = parts.map(({ on, range }) => ({ sheet: on, range: range.getUsedRangeOrNullObject(true) }));
  for (const { range } of used) range.load("rowIndex,columnIndex,rowCount,columnCount");
  await context.sync();
  const filled = used.filter(({ range }) => !range.isNullObject).map(({ sheet, range }) => ({ sheet, block: blockOf(range) }));
  for await (const blocks of blocksRead(context, filled, "formulas,valueTypes")) {
    for (const { sheet, block, range } of blocks) {
      const [types, formulas] = [range.valueTypes.flat().map(String), range.formulas.flat()];
      const places = numbersIn(block).map((at, index) => /** @type {const} */ ([at, String(formulas[index]), types[index]]));
      const numbers = Object.fromEntries(places.filter(([, , type]) => type !== "String" && type !== "Empty"));
      for (const part of parts) if (part.on === sheet && isWithin(block, part.block)) Object.assign(part.numbers, numbers);
    }
  }
  const machine = answers.filter(({ formula }) => OF_THIS_MACHINE.test(formula));
  const { ours } = await ask("functions/book/parts", {
    parts: parts.map(({ name, sheet, address, numbers }) => ({ name, sheet, address, numbers })),
    filled: machine.map(({ sheetName, block, formula }) => ({ sheet: sheetName, formula, ...block })),
  });
  parts.forEach(({ range }, at) => ours[at] && range.clear());
  await context.sync();
  return { emptied: ours.includes(true), kept: parts.filter((_, at) => !ours[at]).map(({ address }) => address) };
}

/**
 * The areas that names of sheets call so.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet[]} sheets
 * @returns {Promise<Part[]>}
 */
async function named(context, sheets) {
  for (const { names } of sheets) names.load("items/name");
  await context.sync();
  const found = sheets.flatMap((on) =>
    on.names.items
      .filter(({ name }) => name.toUpperCase().startsWith(LIVE_ONLY))
      .map((item) => ({ on, name: item.name.slice(LIVE_ONLY.length), range: item.getRangeOrNullObject() })),
  );
  for (const { range } of found) range.load("address,rowIndex,columnIndex,rowCount,columnCount");
  await context.sync();
  const parts = found.filter(({ range }) => !range.isNullObject);
  return parts.map((part) => ({ ...part, sheet: part.on.name, address: part.range.address, block: blockOf(part.range), numbers: {} }));
}
