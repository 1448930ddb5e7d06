/// <reference path="../types.d.ts" />
// What a copy without formulas has no use for, as the template makes it: the same rule as addin/workbook/live_parts.py.
// Defined names say where these are, and whoever made a book chose its names.

import { cellBlock, columnOf, isWithin } from "./blocks.js";
import { blockOf, blocksRead } from "./reading.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {{ sheet: Excel.Worksheet, name: string, range: Excel.Range, block: Block }} Part an area, by the end of its name */
/** @typedef {{ sheet: string, row: number, column: number }} Cell */
/** @typedef {{ sheetName: string, block: Block, formula: string }} Answer cells that a formula filled before it was frozen */

/** The beginning of the names of areas that mean something only as long as the book has its formulas. */
const LIVE_ONLY = "DS_LIVE_ONLY";

/** The rows and columns of each part, by the end of its name; the template makes no larger ones. @type {Record<string, [number, number]>} */
const SHAPES = { _BUTTON: [1, 2], _HELP: [15, 3], _STATUS: [2_000, 7], _FILTERS: [2, 4], _CHOICE: [1, 1], _NOTE: [1, 1] };
const ONE_CELL = /^(?:_FORMULA_[A-Z]{1,3})?$/;

/** The calls that tell of this machine alone: what they answered is of no use in a copy. */
const OF_THIS_MACHINE = /^=\s*@?[A-Z_][A-Z0-9_.]*\.(?:QUOTA|STATUS)\s*\((?:"[^"]*"|[^"()])*\)\s*$/i;

/** The formula by which the template shows a cell of such a table. */
const SHOWN = /^=(?:IF\(ISERR\([^()]+\),"",)?IF\((?<cell>[^()&"]+)&""="","",\k<cell>\)\)?$/i;

/**
 * Empty what the template made for a book with formulas, and nothing else; whether there was any, and what was kept
 * although a name calls it so.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet[]} sheets with their names loaded
 * @param {Answer[]} answers what was frozen
 * @returns {Promise<{ emptied: boolean, kept: string[] }>}
 */
export async function emptyLiveParts(context, sheets, answers) {
  const parts = await named(context, sheets);
  const machine = answers.filter(({ formula }) => OF_THIS_MACHINE.test(formula));
  /** @type {Set<Part>} */
  const others = new Set(parts.filter((part) => !isKnown(part, machine)));
  const used = parts.filter((part) => !others.has(part)).map((part) => ({ part, range: part.range.getUsedRangeOrNullObject(true) }));
  for (const { range } of used) range.load("rowIndex,columnIndex,rowCount,columnCount");
  await context.sync();
  const filled = used.filter(({ range }) => !range.isNullObject).map(({ part, range }) => ({ sheet: part.sheet, block: blockOf(range), part }));
  for await (const blocks of blocksRead(context, filled, "formulas,valueTypes")) {
    for (const { sheet, block, range } of blocks) {
      const isOurs = range.formulas.every((row, y) =>
        row.every((formula, x) => saysNoNumber(formula, String(range.valueTypes[y]?.[x]), { sheet: sheet.name, row: block.top + y, column: block.left + x }, machine)),
      );
      if (!isOurs) for (const each of filled) if (each.sheet === sheet && isWithin(block, each.part.block)) others.add(each.part);
    }
  }
  const ours = parts.filter((part) => !others.has(part));
  for (const { range } of ours) range.clear();
  await context.sync();
  return { emptied: ours.length > 0, kept: [...others].map(({ range }) => range.address) };
}

/**
 * The areas that names of their own sheets call so.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet[]} sheets
 * @returns {Promise<Part[]>}
 */
async function named(context, sheets) {
  for (const { names } of sheets) names.load("items/name");
  await context.sync();
  const found = sheets.flatMap((sheet) =>
    sheet.names.items
      .filter(({ name }) => name.toUpperCase().startsWith(LIVE_ONLY))
      .map((item) => ({ sheet, name: item.name.toUpperCase().slice(LIVE_ONLY.length), range: item.getRangeOrNullObject() })),
  );
  for (const { range } of found) range.load("address,rowIndex,columnIndex,rowCount,columnCount");
  await context.sync();
  return found
    .filter(({ sheet, range }) => !range.isNullObject && placeIn(range.address).sheet === sheet.name)
    .map((part) => ({ ...part, block: blockOf(part.range) }));
}

/** Whether the template makes such a part of that size, or a table about this machine fills it. @param {Part} part @param {Answer[]} machine */
function isKnown({ sheet, name, block }, machine) {
  if (!(name in SHAPES) && !ONE_CELL.test(name)) return false;
  const [rows, columns] = SHAPES[name] ?? [1, 1];
  const fits = block.bottom - block.top < rows && block.right - block.left < columns;
  return fits || (name === "" && machine.some((each) => each.sheetName === sheet.name && isWithin(each.block, block)));
}

/**
 * Whether a cell tells of this machine, or holds no number.
 * @param {unknown} formula
 * @param {string} type
 * @param {Cell} cell
 * @param {Answer[]} machine
 */
function saysNoNumber(formula, type, cell, machine) {
  if (type === "String" || type === "Empty" || isOfMachine(cell, machine)) return true;
  const shown = SHOWN.exec(String(formula))?.groups?.["cell"];
  if (shown === undefined) return false;
  const { sheet, row, column } = placeIn(shown);
  return isOfMachine({ sheet: sheet || cell.sheet, row, column }, machine);
}

/** @param {Cell} cell @param {Answer[]} machine */
function isOfMachine({ sheet, row, column }, machine) {
  return machine.some((each) => each.sheetName === sheet && isWithin(cellBlock(row, column), each.block));
}

/** The sheet in an address, empty where it names none, and its first cell. @param {string} address @returns {Cell} */
function placeIn(address) {
  const at = address.lastIndexOf("!");
  const sheet = address.slice(0, Math.max(0, at)).replace(/^'(.*)'$/s, "$1").replaceAll("''", "'");
  const [, letters = "", row = "0"] = /^\$?([A-Z]{1,3})\$?([0-9]{1,7})/i.exec(address.slice(at + 1)) ?? [];
  return { sheet, row: Number(row) - 1, column: columnOf(letters) };
}
