/// <reference path="../types.d.ts" />
// Where the pane runs: in Excel, beside the cells of the sheet in the browser, or as a page of its own where formulas can
// only be copied. And what it remembers
// there: nothing secret, and no harm is done where nothing can be stored.

/**
 * @typedef {object} Target the cell a formula would go into
 * @property {string} address
 * @property {string} holds what it shows now; empty for a blank cell
 */

/**
 * @typedef {object} Host
 * @property {boolean} isExcel
 * @property {boolean} hasCells whether a formula can be inserted
 * @property {() => Promise<Target>} target
 * @property {(formula: string) => Promise<string>} insert returns the address of the cell
 * @property {() => Promise<string>} selection the selected range's address, as a formula refers to it
 * @property {(scope: "sheet" | "workbook") => Promise<import("../../workbook/freeze.js").Frozen>} freeze
 * @property {(scope: "sheet" | "workbook") => Promise<{ count: number, locked: number }>} countFormulas
 * @property {(slug: string) => Promise<{ held: boolean, text: string }>} selfTest
 * @property {typeof DataServiceAddin} [functions] the cells' own, where they run beside the pane
 */

/** How long the pane waits for office.js: Microsoft's server may be far away, or out of reach. */
const SCRIPTS_PATIENCE_MS = 10_000;

/** How long the pane waits until office.js says where it runs; outside Office it may never do so. */
const OFFICE_PATIENCE_MS = 4_000;

const ASK_FIRST = "dataservice.ask-before-loading";

const NO_EXCEL = "this needs Excel; the pane runs as a page in a browser";

/** @type {Host} */
export const browser = {
  isExcel: false,
  hasCells: false,
  target: refuse,
  insert: refuse,
  selection: refuse,
  freeze: refuse,
  countFormulas: refuse,
  selfTest: refuse,
};

/**
 * Excel or the sheet where the pane runs in one of them, else the browser.
 * @param {() => Promise<Host>} excel loaded only when it is needed
 * @returns {Promise<Host>}
 */
export async function hostHere(excel) {
  const sheet = sheetAround();
  if (sheet) return { ...browser, ...sheet, hasCells: true };
  await Promise.race([scriptsAreIn(), pause(SCRIPTS_PATIENCE_MS)]);
  const functions = typeof DataServiceAddin === "undefined" ? {} : { functions: DataServiceAddin };
  if (typeof Office === "undefined") return { ...browser, ...functions };
  const info = await Promise.race([Office.onReady(), pause(OFFICE_PATIENCE_MS)]);
  return { ...(info?.host === Office.HostType.Excel ? await excel() : browser), ...functions };
}

/** The sheet in the browser, where it shows this pane beside its cells. @returns {Partial<Host> | undefined} */
function sheetAround() {
  try {
    return /** @type {any} */ (parent).sheet?.host;
  } catch {
    return undefined; // a page of another origin
  }
}

/** Resolves when every script of the page has run or failed to load. */
function scriptsAreIn() {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
}

/**
 * @param {number} ms
 * @returns {Promise<null>}
 */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, null));
}

/** Use Office's theme where it is known; otherwise the system's theme applies. */
export function followTheme() {
  const context = typeof Office === "undefined" ? undefined : Office.context;
  const background = context?.officeTheme?.bodyBackgroundColor;
  if (background) document.documentElement.dataset["theme"] = isDark(background) ? "dark" : "light";
}

/**
 * Whether a colour (`#rrggbb`) looks dark to the eye.
 * @param {string} colour
 */
export function isDark(colour) {
  const [red = 255, green = 255, blue = 255] = (colour.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

/** @returns {Promise<never>} */
function refuse() {
  return Promise.reject(new Error(NO_EXCEL));
}

/** Whether opening a signal asks before it spends a request. */
export function asksFirst() {
  try {
    return localStorage.getItem(ASK_FIRST) === "yes";
  } catch {
    return false; // a frame may have no storage
  }
}

/** @param {boolean} asks */
export function askFirst(asks) {
  try {
    localStorage.setItem(ASK_FIRST, asks ? "yes" : "no");
  } catch {
    // The default stays.
  }
}
