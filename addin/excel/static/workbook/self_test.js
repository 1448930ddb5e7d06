/// <reference path="../types.d.ts" />
// Proves in the user's own Excel what no test elsewhere can: on a sheet of its own, which it removes again, it enters a
// formula of each kind, refreshes and freezes them, and compares what the cells show.

import { messageOf } from "../client/exchange.js";
import { pause } from "../client/timing.js";
import { freeze } from "./freeze.js";

const SHEET = "DS Self-Test";
const NAME = "DS_Self_Test";

/** A call may have to wait for the service; once it is answered, Excel takes results in about every half second. */
const PATIENCE_MS = 20_000;
const SHOWN_WITHIN_MS = 2_000;
const LOOK_MS = 100;

/** @typedef {import("../functions/page.js").FunctionsPage} FunctionsPage */
/** @typedef {{ what: string, held: boolean, seen: string }} Check */

/** @typedef {{ sheet: Excel.Worksheet, context: Excel.RequestContext, page: FunctionsPage, call: (id: string, ...args: string[]) => string }} Place */

/**
 * Run all checks; whatever happens, the sheet is removed.
 * @param {import("./refresh.js").Refreshes} refreshes
 * @param {string} slug a signal that the service has
 * @returns {Promise<{ held: boolean, text: string }>}
 */
export async function selfTest(refreshes, slug) {
  const before = refreshes.page.spent.requests;
  /** @type {Check[]} */
  const checks = [];
  await Excel.run(async (context) => {
    const { worksheets } = context.workbook;
    const active = worksheets.getActiveWorksheet();
    worksheets.load("items/name");
    await context.sync();
    // One may be left of a test that was broken off; nobody else's is removed.
    const taken = new Set(worksheets.items.map(({ name }) => name.toUpperCase()));
    let name = SHEET;
    for (let number = 2; taken.has(name.toUpperCase()); number++) name = `${SHEET} ${number}`;
    const sheet = worksheets.add(name);
    sheet.activate();
    await context.sync();
    try {
      await run(checks, refreshes, { context, sheet, page: refreshes.page, call: caller(refreshes.page.configuration.namespace) }, slug);
    } finally {
      context.workbook.names.getItemOrNullObject(NAME).delete();
      active.activate();
      sheet.delete();
      await context.sync();
    }
  });
  const requests = refreshes.page.spent.requests - before;
  return { held: checks.every(({ held }) => held), text: reportOf(checks, refreshes.page, requests) };
}

/**
 * @param {Check[]} checks
 * @param {import("./refresh.js").Refreshes} refreshes
 * @param {Place} place
 * @param {string} slug
 */
async function run(checks, refreshes, place, slug) {
  const { context, sheet, page, call } = place;
  const check = async (/** @type {string} */ what, /** @type {() => Promise<[boolean, unknown]>} */ look) => {
    const began = Date.now();
    const [held, seen] = await look().catch((error) => /** @type {[boolean, unknown]} */ ([false, messageOf(error)]));
    checks.push({ what, held, seen: `${JSON.stringify(seen)}, ${Date.now() - began} ms` });
  };
  const quoted = `"${slug.replaceAll('"', '""')}"`;
  const answer = (/** @type {string} */ id, /** @type {unknown[]} */ ...values) => () => page.resultOfCall(id, values);
  sheet.getRange("A1:A2").values = [[slug], [slug]];
  await check("value", () => shown(place, "C1", call("SIGNAL", quoted), answer("SIGNAL", slug)));
  await check("date", () => shown(place, "C2", call("SIGNAL", quoted, '"observed_at"'), answer("SIGNAL", slug, "observed_at")));
  await check("spill", () => shown(place, "E1:F4", call("SIGNAL_HISTORY", quoted, '"N3"'), answer("SIGNAL_HISTORY", slug, "N3")));
  await check("error", () => shown(place, "C3", call("SIGNAL_HISTORY", quoted, '"no window"'), null));
  await check("range argument", () => shown(place, "C5:C6", call("SIGNAL", "A1:A2"), answer("SIGNAL", [[slug], [slug]])));
  await check("defined name", async () => {
    context.workbook.names.add(NAME, call("SIGNAL", quoted));
    return shown(place, "C8", `=${NAME}`, answer("SIGNAL", slug));
  });
  await check("cancel", async () => {
    sheet.getRange("C10").formulas = [[call("SIGNAL", `"${slug}"`, '"name"')]];
    sheet.getRange("C10").clear("Contents");
    await context.sync();
    for (let waited = 0; page.waiting > 0 && waited < PATIENCE_MS; waited += LOOK_MS) await pause(LOOK_MS);
    return [page.waiting === 0, page.waiting];
  });
  await check("refresh", async () => {
    const { cells, text } = await refreshes.run({ scope: "sheet" });
    return [cells === 6, text];
  });
  await check("freeze", async () => {
    const { cells, refused, busy } = await freeze(refreshes.language, "sheet");
    const range = sheet.getRange("C1:F8");
    range.load("formulas");
    await context.sync();
    const left = range.formulas.flat().filter((formula) => String(formula).startsWith("=")).length;
    return [left === 0, { cells, left, refused, busy }];
  });
}

/**
 * Enter a formula, and wait until its cells show what the page has answered, or where nothing is expected an error.
 * @param {Place} place
 * @param {string} address what it fills; it stands in the first cell
 * @param {string} formula
 * @param {(() => Promise<Result>) | null} answer
 * @returns {Promise<[boolean, unknown]>} whether they do, and what they show
 */
async function shown({ context, sheet, page }, address, formula, answer) {
  sheet.getRange(address).getCell(0, 0).formulas = [[formula]];
  await context.sync();
  const expected = answer && (await answer()).map((row) => row.map((cell) => (typeof cell === "object" ? /** @type {any} */ (cell).basicValue : cell)));
  for (let waited = 0; ; waited += LOOK_MS) {
    const range = sheet.getRange(address);
    range.load("values");
    await context.sync();
    const { values } = range;
    const busy = isBusy(values) || page.waiting > 0;
    const right = !busy && (expected ? JSON.stringify(values.slice(0, expected.length)) === JSON.stringify(expected) : isError(values[0]?.[0]));
    if (right || waited >= (busy ? PATIENCE_MS : SHOWN_WITHIN_MS)) return [right, values];
    await pause(LOOK_MS);
  }
}

/** @param {unknown[][]} rows */
function isBusy(rows) {
  return rows.flat().some((value) => /^#(BUSY|GETTING_DATA|CONNECT)/.test(String(value)));
}

/** @param {unknown} value */
function isError(value) {
  return /^#[A-Z/0]+[!?A]?/.test(String(value));
}

/** @param {string} namespace */
function caller(namespace) {
  return (/** @type {string} */ id, /** @type {string[]} */ ...args) => `=${namespace}.${id}(${args.join(",")})`;
}

/** @param {Check[]} checks @param {FunctionsPage} page @param {number} requests */
function reportOf(checks, page, requests) {
  const { host, platform, version } = Office.context.diagnostics;
  const head = [
    `Self-test of the Data Service add-in ${page.configuration.version}: ${checks.filter(({ held }) => held).length} of ${checks.length} held, ${requests} request${requests === 1 ? "" : "s"}`,
    `${host} ${version} on ${platform}, ${navigator.userAgent}`,
    `backend ${page.base}`,
  ];
  return [...head, ...checks.map(({ what, held, seen }) => `${held ? "held  " : "FAILED"} ${what}: ${seen}`)].join("\n");
}
