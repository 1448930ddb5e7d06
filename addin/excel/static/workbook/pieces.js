/// <reference path="../types.d.ts" />
// What freezing writes at once, and what cells show: cells of one formula each, or the table that one formula fills.

import { addressOf, blocksOf, cellBlock, cellCount, numberOf, numbersIn } from "./blocks.js";
import { rangeOf } from "./reading.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("./book.js").OurFormula} OurFormula */
/** @typedef {import("./reading.js").Place} Place */

/** Cells written, or asked for what they spill into, in one exchange, and characters of what is written. */
export const AT_ONCE = 1_000;
export const CHARACTERS = 1_500_000;

/** The number formats of our own results: no other text ever becomes one. */
const OUR_FORMATS = ["yyyy-mm-dd", "yyyy-mm-dd hh:mm"];

/** What is written at once: cells of one formula each, or what one formula fills. @typedef {Place & { formulas: OurFormula[] }} Piece */

/**
 * @typedef {object} OfficeCell a cell as Office.js gives it
 * @property {unknown} value
 * @property {string} type its `valueTypes` entry
 * @property {string} format its number format
 * @property {unknown} json its `valuesAsJson` entry, where this Excel has one
 */

/** @typedef {Map<Excel.Worksheet, Map<number, OfficeCell>>} OfficeCells */

/** Formulas of one cell each, in rectangles. @param {OurFormula[]} formulas @returns {Piece[]} */
export function together(formulas) {
  return [...new Set(formulas.map(({ sheet }) => sheet))].flatMap((sheet) => {
    const own = formulas.filter((each) => each.sheet === sheet);
    const byPlace = new Map(own.map((each) => [numberOf(each.row, each.column), each]));
    return blocksOf(own).map((block) => ({ sheet, block, formulas: numbersIn(block).map((at) => /** @type {OurFormula} */ (byPlace.get(at))) }));
  });
}

/** @param {OurFormula} formula @returns {Piece} */
export function cellOf(formula) {
  const { sheet, row, column } = formula;
  return { sheet, block: cellBlock(row, column), formulas: [formula] };
}

/** Whether one formula fills several cells. @param {Piece} piece */
export function isTable({ block, formulas }) {
  return formulas.length === 1 && cellCount([block]) > 1;
}

/** Enter the formulas of a piece, at the next synchronisation. @param {Piece} piece */
export function enter(piece) {
  if (isTable(piece)) rangeOf(piece).clear("Contents");
  for (const { row, column, formula } of piece.formulas) piece.sheet.getRangeByIndexes(row, column, 1, 1).formulas = [[formula]];
}

/** @param {OurFormula} formula */
export function placeOf({ sheetName, row, column }) {
  return `${sheetName}!${addressOf(cellBlock(row, column))}`;
}

/** The part of a piece within a block. @param {Piece} piece @param {Block} block @returns {Piece} */
export function within({ sheet, formulas }, block) {
  return { sheet, block, formulas: formulas.filter(({ row }) => row >= block.top && row <= block.bottom) };
}

/** A piece in bands of as many cells as are written at once. @param {Piece} piece @param {OfficeCells} cells @returns {Block[]} */
export function bandsOf(piece, cells) {
  const { block } = piece;
  const width = block.right - block.left + 1;
  /** @type {Block[]} */
  const bands = [];
  let room = 0;
  for (let row = block.top; row <= block.bottom; row++) {
    const size = Math.max(width * (CHARACTERS / AT_ONCE), sizeOf(piece, { ...block, top: row, bottom: row }, cells));
    const last = bands[bands.length - 1];
    if (last !== undefined && size <= room) last.bottom = row;
    else {
      bands.push({ ...block, top: row, bottom: row });
      room = CHARACTERS;
    }
    room -= size;
  }
  return bands;
}

/** Characters of the texts in a part of a piece. @param {Piece} piece @param {Block} block @param {OfficeCells} cells */
export function sizeOf({ sheet }, block, cells) {
  return numbersIn(block).reduce((sum, at) => sum + String(cells.get(sheet)?.get(at)?.value ?? "").length, 0);
}

/** @template T @param {T[]} items */
export function portions(items) {
  return Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, at) => items.slice(at * AT_ONCE, (at + 1) * AT_ONCE));
}

/**
 * What to write so that the cell shows the same without its formula. An apostrophe keeps text as text: a headline
 * that begins with "=" must not become a formula, nor "2024-01-01" a date.
 * @param {OfficeCell} cell
 */
export function keptValue({ value, type }) {
  return typeof value !== "string" || value === "" || type === "Error" ? (value ?? "") : `'${value}`;
}

/** The number format to give a cell: that of a result of ours, where the cell has none of its own. @param {OfficeCell} cell */
export function keptFormat({ format, json }) {
  if (format !== "General" || typeof json !== "object" || json === null) return format;
  const own = /** @type {Record<string, unknown>} */ (json)["numberFormat"];
  return OUR_FORMATS.find((each) => each === own) ?? format;
}
