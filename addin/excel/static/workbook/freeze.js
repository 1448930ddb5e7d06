/// <reference path="../types.d.ts" />
// Replaces our formulas by the values they show, block by block; nothing is told that did not happen.

import { messageOf } from "../client/exchange.js";
import { cellBlock, cellCount, numberOf, numbersIn } from "./blocks.js";
import { readBook, targetOf } from "./book.js";
import { emptyLiveParts } from "./live_parts.js";
import { AT_ONCE, bandsOf, cellOf, CHARACTERS, enter, isTable, keptFormat, keptValue, placeOf, portions, sizeOf, together, within } from "./pieces.js";
import { blockOf, blocksRead, rangeOf } from "./reading.js";
import { enterAgain } from "./undo.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("./book.js").OurFormula} OurFormula */
/** @typedef {import("./pieces.js").OfficeCell} OfficeCell */
/** @typedef {import("./pieces.js").OfficeCells} OfficeCells */
/** @typedef {import("./pieces.js").Piece} Piece */

/** Cells that still calculate or do not fit have no value to keep. */
const UNSETTLED = /^#(BUSY|SPILL|CONNECT|GETTING_DATA|NAME)/;

/**
 * What was frozen, and what was not: formulas by the reason why they are left.
 * @typedef {object} Frozen
 * @property {number} cells formulas replaced by their values
 * @property {string[]} busy those that still calculate
 * @property {string[]} refused those that Excel did not let be replaced, as parts of arrays
 * @property {string[]} locked those on protected sheets
 * @property {string[]} names defined names that call a function of ours
 * @property {boolean} emptied whether what is of no use without formulas was there, and is gone
 * @property {string[]} kept what a name calls so, but the template never made
 * @property {string | null} failure why what is of no use without formulas may still be there
 * @property {() => Promise<{ cells: number, left: string[] }>} undo enters the formulas again, but where a cell has changed since
 */

/**
 * Our formulas in a scope, and how many of them stand on protected sheets.
 * @param {import("./book.js").Language} language
 * @param {"sheet" | "workbook"} scope
 */
export function countFormulas(language, scope) {
  return Excel.run(async (context) => {
    const { formulas } = await found(context, language, scope);
    return { count: formulas.length, locked: formulas.filter(({ sheet }) => sheet.protection.protected).length };
  });
}

/**
 * @param {import("./book.js").Language} language
 * @param {"sheet" | "workbook"} scope
 * @returns {Promise<Frozen>}
 */
export function freeze(language, scope) {
  return Excel.run(async (context) => {
    // An Excel that calculates only on request (F9) may show old values; any other has nothing left to do here.
    context.application.calculate("Recalculate");
    await context.sync();
    const { formulas, sheets, names } = await found(context, language, scope);
    const open = formulas.filter(({ sheet }) => !sheet.protection.protected);
    const locked = formulas.filter(({ sheet }) => sheet.protection.protected);
    // Every value is read before the first one is written: writing may move what spills.
    const pieces = await filled(context, open);
    const cells = await readCells(context, pieces);
    const { settled, busy } = sorted(pieces, cells);
    const done = await written(context, settled, cells);
    const frozen = new Set(done.flatMap((piece) => piece.formulas));
    const waiting = new Set(busy);
    // As long as one formula is left, the refresh button is of use.
    const none = { emptied: false, kept: [], failure: null };
    const live = frozen.size < formulas.length ? none : await emptied(context, language, sheets, done).catch((error) => ({ ...none, failure: messageOf(error) }));
    return {
      cells: frozen.size,
      busy: busy.map(placeOf),
      refused: open.filter((each) => !frozen.has(each) && !waiting.has(each)).map(placeOf),
      locked: locked.map(placeOf),
      names: [...language.oursAmong(names)],
      ...live,
      undo: () => enterAgain(done, cells),
    };
  });
}

/** @param {Excel.RequestContext} context @param {import("./book.js").Language} language @param {Excel.Worksheet[]} sheets @param {Piece[]} done */
async function emptied(context, { ask }, sheets, done) {
  return { ...(await emptyLiveParts(context, sheets, done.flatMap(answersIn), ask)), failure: null };
}

/**
 * @param {Excel.RequestContext} context
 * @param {import("./book.js").Language} language
 * @param {"sheet" | "workbook"} scope
 */
async function found(context, language, scope) {
  const target = await targetOf(context, scope);
  const { sheets, formulas, names } = await readBook(context, language, target);
  const touched = sheets.filter(({ id }) => target.sheetId === null || target.sheetId === id);
  for (const sheet of touched) sheet.protection.load("protected");
  await context.sync();
  return { formulas, sheets: touched, names };
}

/**
 * What each formula fills: the range it spills into, or its cell; neighbours of one cell each together.
 * @param {Excel.RequestContext} context
 * @param {OurFormula[]} formulas
 * @returns {Promise<Piece[]>}
 */
async function filled(context, formulas) {
  const pieces = together(formulas);
  if (!Office.context.requirements.isSetSupported("ExcelApi", "1.12")) return pieces;
  const looks = pieces.map((piece) => ({ piece, range: rangeOf(piece) }));
  for (const part of portions(looks)) {
    for (const { range } of part) range.load("hasSpill");
    await context.sync();
  }
  const spilled = [];
  for (const part of portions(looks.filter(({ range }) => range.hasSpill !== false).flatMap(({ piece }) => piece.formulas))) {
    const spills = part.map((each) => rangeOf(cellOf(each)).getSpillingToRangeOrNullObject());
    for (const spill of spills) spill.load("rowIndex,columnIndex,rowCount,columnCount");
    await context.sync();
    spilled.push(...part.map((each, at) => ({ ...cellOf(each), ...(spills[at]?.isNullObject ? {} : { block: blockOf(/** @type {any} */ (spills[at])) }) })));
  }
  return [...looks.filter(({ range }) => range.hasSpill === false).map(({ piece }) => piece), ...spilled];
}

/** @param {Excel.RequestContext} context @param {Piece[]} pieces @returns {Promise<OfficeCells>} */
async function readCells(context, pieces) {
  const withJson = Office.context.requirements.isSetSupported("ExcelApi", "1.16");
  /** @type {OfficeCells} */
  const cells = new Map(pieces.map(({ sheet }) => [sheet, new Map()]));
  for await (const blocks of blocksRead(context, pieces, `values,valueTypes,numberFormat${withJson ? ",valuesAsJson" : ""}`)) {
    for (const { sheet, block, range } of blocks) {
      numbersIn(block).forEach((at, index) => {
        const width = block.right - block.left + 1;
        const [y, x] = [Math.floor(index / width), index % width];
        const json = withJson ? range.valuesAsJson[y]?.[x] : undefined;
        cells.get(sheet)?.set(at, { value: range.values[y]?.[x], type: String(range.valueTypes[y]?.[x]), format: String(range.numberFormat[y]?.[x]), json });
      });
    }
  }
  return cells;
}

/**
 * The pieces whose values can be kept, and the formulas that still calculate.
 * @param {Piece[]} pieces
 * @param {OfficeCells} cells
 */
function sorted(pieces, cells) {
  const isSettled = (/** @type {Excel.Worksheet} */ sheet, /** @type {number} */ at) => hasSettled(/** @type {OfficeCell} */ (cells.get(sheet)?.get(at)));
  const tables = pieces.filter(isTable);
  const single = pieces.filter((piece) => !isTable(piece)).flatMap(({ formulas }) => formulas);
  const ready = (/** @type {OurFormula} */ { sheet, row, column }) => isSettled(sheet, numberOf(row, column));
  const full = (/** @type {Piece} */ { sheet, block }) => numbersIn(block).every((at) => isSettled(sheet, at));
  return {
    settled: [...together(single.filter(ready)), ...tables.filter(full)],
    busy: [...single.filter((each) => !ready(each)), ...tables.filter((piece) => !full(piece)).flatMap(({ formulas }) => formulas)],
  };
}

/**
 * Write values in the place of formulas; those that Excel refuses are left.
 * @param {Excel.RequestContext} context
 * @param {Piece[]} pieces
 * @param {OfficeCells} cells
 * @returns {Promise<Piece[]>} those written
 */
async function written(context, pieces, cells) {
  /** @type {Piece[]} */
  const done = [];
  const parts = pieces.flatMap((piece) => (isTable(piece) ? [piece] : bandsOf(piece, cells).flatMap((block) => within(piece, block))));
  for (let at = 0; at < parts.length; ) {
    const group = [];
    for (let [count, size] = [0, 0]; at < parts.length && (count === 0 || (count < AT_ONCE && size < CHARACTERS)); at++) {
      const part = /** @type {Piece} */ (parts[at]);
      count += cellCount([part.block]);
      size += sizeOf(part, part.block, cells);
      group.push(part);
    }
    if (await isWritten(context, group, cells)) done.push(...group);
    else for (const part of group) done.push(...(await writtenAlone(context, part, cells)));
  }
  return done;
}

/** @param {Excel.RequestContext} context @param {Piece} piece @param {OfficeCells} cells @returns {Promise<Piece[]>} what was written */
async function writtenAlone(context, piece, cells) {
  if (await isWritten(context, [piece], cells)) return [piece];
  if (isTable(piece)) {
    // Its first cells may be written: the formula goes back, or its cells would be lost.
    enter(piece);
    await context.sync().catch((error) => console.warn(error));
    return [];
  }
  const done = [];
  // Cells of one array have one formula, and are replaced together or not at all.
  for (const formula of new Set(piece.formulas.length > 1 ? piece.formulas.map((each) => each.formula) : [])) {
    for (const part of together(piece.formulas.filter((each) => each.formula === formula))) {
      if (cellCount([part.block]) < cellCount([piece.block])) done.push(...(await writtenAlone(context, part, cells)));
    }
  }
  return done;
}

/** Whether Excel accepts the values of pieces. @param {Excel.RequestContext} context @param {Piece[]} pieces @param {OfficeCells} cells */
async function isWritten(context, pieces, cells) {
  try {
    for (const piece of pieces) {
      const { sheet } = piece;
      // From the top: once the formula has gone, the cells below it are free.
      const bands = bandsOf(piece, cells);
      for (const band of bands) {
        const range = rangeOf({ sheet, block: band });
        const rows = rowsOf(band, (at) => /** @type {OfficeCell} */ (cells.get(sheet)?.get(at)));
        if (rows.flat().some((cell) => keptFormat(cell) !== cell.format)) range.numberFormat = rows.map((row) => row.map(keptFormat));
        range.values = rows.map((row) => row.map(keptValue));
        if (bands.length > 1) await context.sync();
      }
    }
    await context.sync();
    return true;
  } catch (error) {
    console.warn(error);
    return false;
  }
}

/** What the formulas of a piece filled. @param {Piece} piece @returns {import("./live_parts.js").Answer[]} */
function answersIn(piece) {
  const { block, formulas } = piece;
  if (isTable(piece)) return formulas.map(({ sheetName, formula }) => ({ sheetName, block, formula }));
  return formulas.map(({ sheetName, row, column, formula }) => ({ sheetName, block: cellBlock(row, column), formula }));
}

/** @template T @param {Block} block @param {(at: number) => T} cellAt @returns {T[][]} */
function rowsOf({ top, bottom, left, right }, cellAt) {
  return Array.from({ length: bottom - top + 1 }, (_, y) => Array.from({ length: right - left + 1 }, (_, x) => cellAt(numberOf(top + y, left + x))));
}

/** @param {OfficeCell} cell */
function hasSettled(cell) {
  return !(cell.type === "Error" && UNSETTLED.test(String(cell.value)));
}
