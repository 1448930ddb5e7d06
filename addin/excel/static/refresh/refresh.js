/// <reference path="../types.d.ts" />
// One refresh, whatever started it: the backend is told, answers are forgotten, our cells are recalculated, and the
// report says what that cost.

/** Excel calls our functions soon after it was told to recalculate; later calls are not counted in the report. */
const CALLS_START_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 25;

/** Formulas read at once; Excel on the web exchanges at most 5 MB. */
const CELLS_PER_READ = 20_000;

const isOurs = ourFormulas(DataServiceAddin.configuration.namespace);
const asEntered = formulasAsEntered(DataServiceAddin.configuration.namespace);

/** @typedef {Repairs & { cells: number }} Marked what was found: cells of ours, and the repairs among them */

const LEFT_DAMAGED = "unprotect the sheet or the array that holds them and refresh again";

/** @type {Set<(report: RefreshReport | Error) => void>} */
const reportListeners = new Set();

/** @type {Promise<RefreshReport> | undefined} */
let running;

/**
 * Recalculate our cells; a second call while one runs gets the same report.
 * @param {RefreshOptions} [options]
 * @returns {Promise<RefreshReport>}
 */
function refresh(options = {}) {
  running ??= refreshed(options.scope ?? "workbook", options.mode ?? "stale").finally(() => {
    running = undefined;
  });
  return running;
}

/**
 * @param {Scope} scope
 * @param {"stale" | "force"} mode
 * @returns {Promise<RefreshReport>}
 */
async function refreshed(scope, mode) {
  try {
    await DataServiceAddin.ask("refresh", { mode });
    DataServiceAddin.forget();
    const callsBefore = DataServiceAddin.totals.calls;
    const before = DataServiceAddin.spent;
    const marked = await recalculated(scope);
    await answersAreIn(callsBefore, marked.cells === 0);
    const { quota } = await DataServiceAddin.ask("status");
    // Counted by the answers to this page: others may use the backend at the same time.
    const after = DataServiceAddin.spent;
    const unanswered = after.unanswered > before.unanswered;
    const requests = after.requests - before.requests;
    const report = { scope, mode, ...marked, requests, unanswered, quota, text: "" };
    report.text = summaryOf(report);
    return published(report);
  } catch (error) {
    throw published(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * @param {Scope} scope
 * @returns {Promise<Marked & { how: "marked" | "full" }>}
 */
async function recalculated(scope) {
  try {
    return { how: "marked", ...(await Excel.run((context) => recalculateOurs(context, scope))) };
  } catch (error) {
    // An older Excel, or a sheet that cannot be read: everything is recalculated instead.
    console.warn(error);
    const before = DataServiceAddin.totals.calls;
    // "Full" recalculates every formula of all open workbooks.
    await Excel.run((context) => {
      context.application.calculate("Full");
      return context.sync();
    });
    await answersAreIn(before, false);
    return { how: "full", cells: DataServiceAddin.totals.calls - before, repaired: 0, damaged: 0 };
  }
}

/**
 * Recalculate our cells in `scope` and nothing else, and enter again what is damaged.
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @returns {Promise<Marked>}
 */
async function recalculateOurs(context, scope) {
  const total = { cells: 0, repaired: 0, damaged: 0 };
  for (const area of await areasOf(context, scope)) {
    const { cells, repaired, damaged } = await markArea(context, area);
    total.cells += cells;
    total.repaired += repaired;
    total.damaged += damaged;
  }
  context.application.calculate("Recalculate");
  await context.sync();
  return total;
}

/**
 * The used parts of `scope`, with their place and size loaded.
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @returns {Promise<Excel.Range[]>}
 */
async function areasOf(context, scope) {
  const ranges = await rangesOf(context, scope);
  for (const range of ranges) range.load("rowIndex,columnIndex,rowCount,columnCount");
  await context.sync();
  return ranges.filter((range) => !range.isNullObject);
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
 * @param {Excel.Range} area
 * @returns {Promise<Marked>}
 */
async function markArea(context, area) {
  const { rowIndex, columnIndex: left, rowCount, columnCount, worksheet: sheet } = area;
  const rowsPerRead = Math.max(1, Math.floor(CELLS_PER_READ / columnCount));
  const marked = { cells: 0, repaired: 0, damaged: 0 };
  for (let row = 0; row < rowCount; row += rowsPerRead) {
    const height = Math.min(rowsPerRead, rowCount - row);
    const top = rowIndex + row;
    const part = sheet.getRangeByIndexes(top, left, height, columnCount);
    part.load("formulas,valueTypes");
    await context.sync();
    const blocks = blocksOf(part.formulas, isOurs, top, left);
    const { repaired, damaged } = await repair(context, sheet, { part, top, left });
    for (const list of addressLists(blocks)) sheet.getRanges(list).setDirty();
    marked.cells += cellCount(blocks);
    marked.repaired += repaired;
    marked.damaged += damaged;
  }
  return marked;
}

/**
 * Wait until Excel has made its calls and every one of them has its answer.
 * @param {number} callsBefore
 * @param {boolean} noneExpected
 */
async function answersAreIn(callsBefore, noneExpected) {
  let leftMs = noneExpected ? 0 : CALLS_START_WITHIN_MS;
  while (leftMs > 0 || DataServiceAddin.waiting > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const started = DataServiceAddin.totals.calls > callsBefore;
    leftMs = (started ? Math.min(leftMs, 4 * LOOK_EVERY_MS) : leftMs) - LOOK_EVERY_MS;
  }
}

/** @param {RefreshReport} report */
function summaryOf({ cells, how, repaired, damaged, requests, unanswered, quota }) {
  const counted = (/** @type {number} */ count, /** @type {string} */ word) =>
    `${count} ${word}${count === 1 ? "" : "s"}`;
  const spent = `${unanswered ? "at least " : ""}${counted(requests, "request")}`;
  const parts = [`${counted(cells, "cell")} refreshed`, spent];
  if (repaired) parts.push(`${counted(repaired, "damaged formula")} entered again`);
  if (damaged) parts.push(`${counted(damaged, "damaged formula")} left: ${LEFT_DAMAGED}`);
  if (how === "full") parts.push("this Excel recalculated everything");
  if (quota) parts.push(`${quota.remaining} of ${quota.cap} left this month`);
  return parts.join(", ");
}

/**
 * @template {RefreshReport | Error} T
 * @param {T} outcome
 * @returns {T}
 */
function published(outcome) {
  for (const listener of reportListeners) listener(outcome);
  return outcome;
}

// A question was answered: cells that waited for that say so, and only what is not fresh is asked for.
DataServiceAddin.onAnswered(() => void recalculated("workbook").catch((error) => console.warn(error)));

globalThis.DataServiceRefresh = {
  isOurs,
  run: refresh,
  cost: (mode) => {
    const after = mode === undefined ? "" : `?refresh=${mode}`;
    return DataServiceAddin.ask(`functions/cost${after}`, { calls: DataServiceAddin.calls() });
  },
  onReport(listener) {
    reportListeners.add(listener);
    return () => void reportListeners.delete(listener);
  },
};
