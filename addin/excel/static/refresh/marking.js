/// <reference path="../types.d.ts" />
// Marks the cells that hold our formulas, so that Excel recalculates them and nothing else.

/** Formulas read at once; Excel on the web exchanges at most 5 MB. */
const CELLS_PER_READ = 20_000;

/** @typedef {{ sheet: Excel.Worksheet, range: Excel.Range }} Area */

/**
 * Recalculate our cells in `scope`; gives how many there are.
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @param {(formula: unknown) => boolean} isOurs
 */
async function recalculateOurs(context, scope, isOurs) {
  let cells = 0;
  for (const area of await areasOf(context, scope)) cells += await markArea(context, area, isOurs);
  context.application.calculate("Recalculate");
  await context.sync();
  return cells;
}

/**
 * Recalculate every formula of all open workbooks: for an Excel that cannot mark single cells.
 * @param {Excel.RequestContext} context
 */
async function recalculateAll(context) {
  context.application.calculate("Full");
  await context.sync();
}

/**
 * The used parts of what `scope` names, their place and size loaded.
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @returns {Promise<Area[]>}
 */
async function areasOf(context, scope) {
  /** @type {Area[]} */
  const areas = [];
  for (const range of await rangesOf(context, scope)) {
    range.load("rowIndex,columnIndex,rowCount,columnCount");
    areas.push({ sheet: range.worksheet, range });
  }
  await context.sync();
  return areas.filter(({ range }) => !range.isNullObject);
}

/**
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @returns {Promise<Excel.Range[]>}
 */
async function rangesOf(context, scope) {
  const { worksheets } = context.workbook;
  if (scope === "sheet") return [worksheets.getActiveWorksheet().getUsedRangeOrNullObject()];
  if (scope === "workbook") {
    worksheets.load("items/id");
    await context.sync();
    return worksheets.items.map((sheet) => sheet.getUsedRangeOrNullObject());
  }
  const { areas } = context.workbook.getSelectedRanges();
  areas.load("items/address");
  await context.sync();
  return areas.items.map((area) => area.getUsedRangeOrNullObject());
}

/**
 * @param {Excel.RequestContext} context
 * @param {Area} area
 * @param {(formula: unknown) => boolean} isOurs
 * @returns {Promise<number>}
 */
async function markArea(context, { sheet, range }, isOurs) {
  const { rowIndex, columnIndex, rowCount, columnCount } = range;
  const rowsPerRead = Math.max(1, Math.floor(CELLS_PER_READ / columnCount));
  let cells = 0;
  for (let row = 0; row < rowCount; row += rowsPerRead) {
    const height = Math.min(rowsPerRead, rowCount - row);
    const part = sheet.getRangeByIndexes(rowIndex + row, columnIndex, height, columnCount);
    part.load("formulas");
    await context.sync();
    const blocks = blocksOf(part.formulas, isOurs, rowIndex + row, columnIndex);
    for (const list of addressLists(blocks)) sheet.getRanges(list).setDirty();
    cells += cellCount(blocks);
  }
  return cells;
}
