/// <reference path="../types.d.ts" />
// What the pane does in a workbook, through Office.js.

/** @type {import("./host.js").Host} */
export const excel = {
  isExcel: true,

  target: () =>
    Excel.run(async (context) => {
      const cell = context.workbook.getActiveCell();
      cell.load(["address", "text"]);
      await context.sync();
      return { address: local(cell.address), holds: String(cell.text[0]?.[0] ?? "") };
    }),

  insert: (formula) =>
    Excel.run(async (context) => {
      const cell = context.workbook.getActiveCell();
      cell.load(["address", "numberFormat"]);
      await context.sync();
      // A cell in the format of text would show the formula instead of its value.
      if (cell.numberFormat[0]?.[0] === "@") cell.numberFormat = [["General"]];
      cell.formulas = [[formula]];
      await context.sync();
      return local(cell.address);
    }),

  selection: () =>
    Excel.run(async (context) => {
      const range = context.workbook.getSelectedRange();
      range.load("address");
      await context.sync();
      return local(range.address);
    }),

  countFormulas: (scope, isOurs) => Excel.run(async (context) => (await filledRanges(context, scope, isOurs)).length),

  freeze: (scope, isOurs) =>
    Excel.run(async (context) => {
      // An Excel that calculates only on request (F9) may show old values; any other has nothing left to do here.
      context.application.calculate("Recalculate");
      await context.sync();
      const ranges = await filledRanges(context, scope, isOurs);
      const withJson = Office.context.requirements.isSetSupported("ExcelApi", "1.16");
      const wanted = ["values", "valueTypes", "numberFormat", ...(withJson ? ["valuesAsJson"] : [])];
      for (const range of ranges) range.load(wanted);
      await context.sync();
      // Every value is read before the first one is written: writing may move what spills.
      const settled = ranges
        .map((range) => ({ range, cells: cellsOf(range, withJson) }))
        .filter(({ cells }) => cells.flat().every(hasSettled));
      for (const { range, cells } of settled) {
        range.numberFormat = cells.map((row) => row.map(keptFormat));
        range.values = cells.map((row) => row.map(keptValue));
      }
      await context.sync();
      const left = ranges.length - settled.length;
      // As long as one formula is left, the refresh button is of use.
      return { cells: settled.length, left, emptied: left === 0 && (await emptyLiveParts(context, scope)) };
    }),
};

/** The beginning of the names of areas that mean something only as long as the book has its formulas. */
const LIVE_ONLY = "DS_LIVE_ONLY";

/**
 * Empty such areas, as `addin freeze` does; whether there were any.
 * @param {Excel.RequestContext} context
 * @param {"sheet" | "workbook"} scope
 */
async function emptyLiveParts(context, scope) {
  const collections = (await sheetsOf(context, scope)).map((sheet) => sheet.names);
  if (scope === "workbook") collections.push(context.workbook.names);
  for (const names of collections) names.load("items/name");
  await context.sync();
  const areas = collections
    .flatMap((names) => names.items)
    .filter(({ name }) => name.toUpperCase().startsWith(LIVE_ONLY))
    .map((name) => name.getRangeOrNullObject());
  for (const area of areas) area.load("address");
  await context.sync();
  const there = areas.filter((area) => !area.isNullObject);
  for (const area of there) area.clear();
  await context.sync();
  return there.length > 0;
}

/**
 * What each of our formulas fills: the range it spills into, or its cell.
 * @param {Excel.RequestContext} context
 * @param {"sheet" | "workbook"} scope
 * @param {(formula: unknown) => boolean} isOurs
 * @returns {Promise<Excel.Range[]>}
 */
async function filledRanges(context, scope, isOurs) {
  const used = (await sheetsOf(context, scope)).map((sheet) => sheet.getUsedRangeOrNullObject(true));
  for (const range of used) range.load(["formulas", "rowIndex", "columnIndex"]);
  await context.sync();
  const cells = used.filter((range) => !range.isNullObject).flatMap((range) => formulaCells(range, isOurs));
  const canSpill = Office.context.requirements.isSetSupported("ExcelApi", "1.12");
  if (!canSpill) return cells;
  const spills = cells.map((cell) => cell.getSpillingToRangeOrNullObject());
  for (const spill of spills) spill.load("address");
  await context.sync();
  return spills.map((spill, index) => /** @type {Excel.Range} */ (spill.isNullObject ? cells[index] : spill));
}

/**
 * @param {Excel.RequestContext} context
 * @param {"sheet" | "workbook"} scope
 */
async function sheetsOf(context, scope) {
  const { worksheets } = context.workbook;
  if (scope === "sheet") return [worksheets.getActiveWorksheet()];
  worksheets.load("items/name");
  await context.sync();
  return worksheets.items;
}

/**
 * @param {Excel.Range} used
 * @param {(formula: unknown) => boolean} isOurs
 */
function formulaCells(used, isOurs) {
  return used.formulas.flatMap((row, y) => row.flatMap((formula, x) => (isOurs(formula) ? [used.getCell(y, x)] : [])));
}

/**
 * @param {Excel.Range} range
 * @param {boolean} withJson
 * @returns {OfficeCell[][]}
 */
function cellsOf(range, withJson) {
  return range.values.map((row, y) =>
    row.map((value, x) => ({
      value,
      type: String(range.valueTypes[y]?.[x]),
      format: String(range.numberFormat[y]?.[x]),
      json: withJson ? range.valuesAsJson[y]?.[x] : undefined,
    })),
  );
}

/**
 * An address without its sheet, as a formula on the same sheet writes it.
 * @param {string} address
 */
function local(address) {
  return address.slice(address.lastIndexOf("!") + 1);
}

// What a cell holds after its formula is replaced by its value.

/** Cells that still calculate or do not fit have no value to keep. */
const UNSETTLED = /^#(BUSY|SPILL|CONNECT|GETTING_DATA|NAME)/;

/**
 * @typedef {object} OfficeCell a cell as Office.js gives it
 * @property {unknown} value
 * @property {string} type its `valueTypes` entry
 * @property {string} format its number format
 * @property {unknown} json its `valuesAsJson` entry, where this Excel has one
 */

/** @param {OfficeCell} cell */
function hasSettled(cell) {
  return !(cell.type === "Error" && UNSETTLED.test(String(cell.value)));
}

/**
 * What to write so that the cell shows the same without its formula. An apostrophe keeps text as text: a headline
 * that begins with "=" must not become a formula, nor "2024-01-01" a date.
 * @param {OfficeCell} cell
 */
function keptValue(cell) {
  const { value, type } = cell;
  if (typeof value !== "string" || value === "" || type === "Error") return value ?? "";
  return `'${value}`;
}

/** The number formats of our own results: no other text ever becomes one. */
const OUR_FORMATS = ["yyyy-mm-dd", "yyyy-mm-dd hh:mm"];

/**
 * The number format to give the cell: that of a formatted result of ours, where the cell has none of its own.
 * @param {OfficeCell} cell
 */
function keptFormat({ format, json }) {
  if (format !== "General" || typeof json !== "object" || json === null) return format;
  const own = /** @type {Record<string, unknown>} */ (json)["numberFormat"];
  return OUR_FORMATS.find((each) => each === own) ?? format;
}
