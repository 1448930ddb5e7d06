/// <reference path="../types.d.ts" />
// One refresh, whatever started it: the backend is told, answers are forgotten, our cells are recalculated, and the
// report says what that cost.

/** Excel calls our functions soon after it was told to recalculate; later calls are not counted in the report. */
const CALLS_START_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 25;

const isOurs = ourFormulas(DataServiceAddin.configuration.namespace);

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
    const before = await DataServiceAddin.ask("status");
    await DataServiceAddin.ask("refresh", { mode });
    DataServiceAddin.forget();
    const callsBefore = DataServiceAddin.totals.calls;
    const [how, cells] = await recalculated(scope);
    await answersAreIn(callsBefore, cells === 0);
    const after = await DataServiceAddin.ask("status");
    const requests = after.requests_total - before.requests_total;
    const report = { scope, mode, how, cells, requests, quota: after.quota, text: "" };
    report.text = summaryOf(report);
    return told(report);
  } catch (error) {
    throw told(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * @param {Scope} scope
 * @returns {Promise<["marked" | "full", number]>}
 */
async function recalculated(scope) {
  try {
    return ["marked", await Excel.run((context) => recalculateOurs(context, scope, isOurs))];
  } catch (error) {
    // An older Excel, or a sheet that cannot be read: everything is recalculated instead.
    console.warn(error);
    const before = DataServiceAddin.totals.calls;
    await Excel.run(recalculateAll);
    await answersAreIn(before, false);
    return ["full", DataServiceAddin.totals.calls - before];
  }
}

/**
 * Wait until Excel has made its calls and every one of them has its answer.
 * @param {number} callsBefore
 * @param {boolean} noneExpected
 */
async function answersAreIn(callsBefore, noneExpected) {
  let patience = noneExpected ? 0 : CALLS_START_WITHIN_MS;
  while (patience > 0 || DataServiceAddin.waiting > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const started = DataServiceAddin.totals.calls > callsBefore;
    patience = started ? Math.min(patience, 4 * LOOK_EVERY_MS) - LOOK_EVERY_MS : patience - LOOK_EVERY_MS;
  }
}

/** @param {RefreshReport} report */
function summaryOf({ cells, how, requests, quota }) {
  const counted = (/** @type {number} */ count, /** @type {string} */ word) =>
    `${count} ${word}${count === 1 ? "" : "s"}`;
  const parts = [`${counted(cells, "cell")} refreshed`, counted(requests, "request")];
  if (how === "full") parts.push("this Excel recalculated everything");
  if (quota) parts.push(`${quota.remaining} of ${quota.cap} left this month`);
  return parts.join(", ");
}

/**
 * @template {RefreshReport | Error} T
 * @param {T} outcome
 * @returns {T}
 */
function told(outcome) {
  for (const listener of reportListeners) listener(outcome);
  return outcome;
}

globalThis.DataServiceRefresh = {
  isOurs,
  run: refresh,
  cost: () => DataServiceAddin.ask("functions/cost", { calls: DataServiceAddin.calls() }),
  onReport(listener) {
    reportListeners.add(listener);
    return () => void reportListeners.delete(listener);
  },
};
