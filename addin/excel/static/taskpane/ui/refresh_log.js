/// <reference path="../types.d.ts" />
// What the last refreshes did and spent.

import { h } from "./elements.js";
import { clockTime } from "../data/format.js";

/**
 * @typedef {object} LedgerEntry
 * @property {number} atMs
 * @property {string} what
 * @property {number | null} cells null where there are none to count
 * @property {number} requests
 * @property {number | null} left requests left of the month
 * @property {string | null} failure
 */

/** Older ones interest nobody. */
const KEPT = 20;

/**
 * The entries with a new one before them.
 * @param {LedgerEntry[]} entries
 * @param {LedgerEntry} entry
 */
export function entered(entries, entry) {
  return [entry, ...entries].slice(0, KEPT);
}

/**
 * @param {LedgerEntry[]} entries the newest first
 * @param {import("../data/format.js").Figures} figures
 */
export function ledgerTable(entries, figures) {
  if (entries.length === 0) return h("p.muted", "No refresh since the pane was opened.");
  const head = ["Time", "What", "Cells", "Requests", "Left"].map((name, index) =>
    h("th", { scope: "col", class: index > 1 ? "number" : "text" }, name),
  );
  const figure = (/** @type {number | null} */ value) => h("td.number", value === null ? "–" : figures.count(value));
  const rows = entries.map((entry) =>
    h(
      "tr",
      h("td", clockTime(entry.atMs)),
      h("td", { class: entry.failure ? "error" : "text", title: entry.failure }, entry.failure ? "failed" : entry.what),
      figure(entry.cells),
      figure(entry.requests),
      figure(entry.left),
    ),
  );
  return h(
    "div.table-frame.ledger",
    { tabindex: 0, role: "region", "aria-label": "Last refreshes" },
    h("table", h("thead", h("tr", ...head)), h("tbody", ...rows)),
  );
}
