/// <reference path="../types.d.ts" />
// What the pane does to a workbook, by Office.js.

/** @typedef {{ range: Excel.Range, spill: Excel.Range | null }} Found */

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
      cell.formulas = [[formula]];
      cell.load("address");
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

  countFormulas: (scope, isOurs) => Excel.run(async (context) => (await ours(context, scope, isOurs)).length),

  freeze: (scope, isOurs) =>
    Excel.run(async (context) => {
      const found = await ours(context, scope, isOurs);
      const withJson = Office.context.requirements.isSetSupported("ExcelApi", "1.16");
      for (const { range, spill } of found) (spill ?? range).load(wanted(withJson));
      await context.sync();
      // Every value was read before the first one is written: writing may move what spills.
      const settled = found.filter(({ range, spill }) =>
        cellsOf(spill ?? range, withJson)
          .flat()
          .every(hasSettled),
      );
      const plans = settled.map(({ range, spill }) => planFor(spill ?? range, withJson));
      for (const { range, values, formats } of plans) {
        range.numberFormat = formats;
        range.values = values;
      }
      await context.sync();
      return { cells: plans.length, left: found.length - settled.length };
    }),
};

/**
 * The cells that hold formulas of ours, each with the range it spills into.
 * @param {Excel.RequestContext} context
 * @param {"sheet" | "workbook"} scope
 * @param {(formula: string) => boolean} isOurs
 * @returns {Promise<Found[]>}
 */
async function ours(context, scope, isOurs) {
  const used = (await sheetsOf(context, scope)).map((sheet) => sheet.getUsedRangeOrNullObject(true));
  for (const range of used) range.load(["formulas", "rowIndex", "columnIndex"]);
  await context.sync();
  const ranges = used.filter((range) => !range.isNullObject).flatMap((range) => formulaCells(range, isOurs));
  const canSpill = Office.context.requirements.isSetSupported("ExcelApi", "1.12");
  const spills = ranges.map((range) => (canSpill ? range.getSpillingToRangeOrNullObject() : null));
  for (const spill of spills) spill?.load("address");
  await context.sync();
  return ranges.map((range, index) => {
    const spill = spills[index];
    return { range, spill: spill && !spill.isNullObject ? spill : null };
  });
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
 * @param {(formula: string) => boolean} isOurs
 */
function formulaCells(used, isOurs) {
  /** @type {Excel.Range[]} */
  const cells = [];
  used.formulas.forEach((row, y) =>
    row.forEach((formula, x) => {
      if (typeof formula === "string" && isOurs(formula)) cells.push(used.getCell(y, x));
    }),
  );
  return cells;
}

/** @param {boolean} withJson */
function wanted(withJson) {
  return ["values", "valueTypes", "numberFormat", ...(withJson ? ["valuesAsJson"] : [])];
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
 * @param {Excel.Range} range
 * @param {boolean} withJson
 */
function planFor(range, withJson) {
  const cells = cellsOf(range, withJson);
  return { range, values: cells.map((row) => row.map(keptValue)), formats: cells.map((row) => row.map(keptFormat)) };
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

/**
 * The number format to give the cell: that of a formatted value, where the cell has none of its own.
 * @param {OfficeCell} cell
 */
function keptFormat({ format, json }) {
  if (format !== "General" || typeof json !== "object" || json === null) return format;
  const own = /** @type {Record<string, unknown>} */ (json)["numberFormat"];
  return typeof own === "string" ? own : format;
}
