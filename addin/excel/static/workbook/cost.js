/// <reference path="../types.d.ts" />
// What the backend says of the workbook's formulas: it gets them with the cells that they lead to, as far as it asks for them.

import { RequestError } from "../client/exchange.js";
import { HALF_CHARACTER } from "../functions/arguments.js";
import { numberOf } from "./blocks.js";
import { blocksRead } from "./reading.js";

/** @typedef {import("./book.js").OurBook} OurBook */
/** @typedef {(path: string, body: unknown) => Promise<any>} Ask */

/** How often cells lead to further cells. */
const MOST_WAVES = 10;

/** The status of a refusal of what is too large. */
const TOO_LARGE = 413;

/**
 * How many calls Excel makes for sure when it calculates our formulas, and whether others may follow.
 * @param {OurBook} book
 * @param {Ask} ask
 * @returns {Promise<ExpectedCalls>}
 */
export function expectedCalls(book, ask) {
  // Where nobody tells, whoever waits for them waits until no further one comes.
  return ask("functions/book", bodyOf(book)).catch(() => ({ expected: 0, depend: true }));
}

/**
 * What a refresh would spend, whether this page has computed the formulas or not.
 * @param {Excel.RequestContext} context
 * @param {OurBook} book read whole
 * @param {"stale" | "force"} mode
 * @param {Ask} ask
 * @returns {Promise<Cost>}
 */
export async function costOf(context, book, mode, ask) {
  const used = book.sheets.map((sheet) => sheet.getUsedRangeOrNullObject(true));
  for (const range of used) range.load("rowIndex,rowCount");
  await context.sync();
  const body = bodyOf(book);
  used.forEach((range, at) => Object.assign(/** @type {OpenSheet} */ (body.sheets[at]), { rows: range.isNullObject ? 0 : range.rowIndex + range.rowCount }));
  for (let wave = 1; ; wave++) {
    body.is_part ||= wave > MOST_WAVES;
    try {
      const { wanted, cost } = await ask(`functions/book/cost?refresh=${mode}`, body);
      if (cost !== null) return cost;
      await handOver(context, book, body.sheets, wanted);
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== TOO_LARGE || !makeSmaller(body)) throw error;
    }
  }
}

/** @param {Excel.RequestContext} context @param {OurBook} book @param {OpenSheet[]} sheets @param {WantedCells[]} wanted */
async function handOver(context, book, sheets, wanted) {
  const places = wanted.map(({ sheet, ...block }) => ({ sheet: /** @type {Excel.Worksheet} */ (book.sheets[sheet]), block }));
  const canSpill = Office.context.requirements.isSetSupported("ExcelApi", "1.12");
  for await (const blocks of blocksRead(context, places, "formulas,values", canSpill ? "hasSpill" : "")) {
    for (const { sheet, block, range } of blocks) {
      const values = range.values.map((row) => row.map((value) => (typeof value === "string" ? value.replace(HALF_CHARACTER, "\ufffd") : value)));
      const formulas = range.formulas.map((row, y) => row.map((formula, x) => (isFormula(formula) && formula !== range.values[y]?.[x] ? formula : null)));
      sheets[book.sheets.indexOf(sheet)]?.cells.push({ top: block.top, left: block.left, values, formulas, spilled: canSpill && range.hasSpill !== false });
    }
  }
}

/** The book for the backend, without any cells. @param {OurBook} book @returns {OpenBook} */
function bodyOf({ sheets, names, formulas }) {
  const open = new Map(sheets.map((sheet) => [sheet, /** @type {OpenSheet} */ ({ name: sheet.name, rows: 0, formulas: {}, others: {}, cells: [] })]));
  for (const { sheet, row, column, formula, inScope } of formulas) {
    const { formulas: ours, others } = /** @type {OpenSheet} */ (open.get(sheet));
    (inScope ? ours : others)[numberOf(row, column)] = formula;
  }
  return { sheets: [...open.values()], names: Object.fromEntries(names), is_part: false };
}

/** Hand over less of a book: no cells, then half of the formulas; whether anything was left out. @param {OpenBook} body */
function makeSmaller(body) {
  const before = JSON.stringify(body).length;
  const hadCells = body.sheets.some(({ cells }) => cells.length);
  body.is_part = true;
  for (const sheet of body.sheets) {
    sheet.cells = [];
    sheet.others = {};
    if (!hadCells) sheet.formulas = Object.fromEntries(Object.entries(sheet.formulas).filter((_, at) => at % 2));
  }
  return JSON.stringify(body).length < before;
}

/** @param {unknown} formula */
function isFormula(formula) {
  return typeof formula === "string" && formula.startsWith("=");
}
