/// <reference path="../types.d.ts" />
// The log of the last refreshes: what they did and spent.

import { clockTime } from "../data/format.js";
import { h } from "./elements.js";

/**
 * @typedef {object} LogEntry
 * @property {number} atMs
 * @property {string} what
 * @property {number | undefined} cells undefined where there are none to count
 * @property {number} requests
 * @property {boolean} unanswered whether a batch had no answer, which may have spent more
 * @property {number | undefined} left requests left this month
 * @property {string | undefined} failure
 */

/** Nobody looks further back. */
const KEPT = 20;

/**
 * The log with a new entry at its head.
 * @param {LogEntry[]} entries
 * @param {LogEntry} entry
 */
export function withEntry(entries, entry) {
  return [entry, ...entries].slice(0, KEPT);
}

/**
 * @param {LogEntry[]} entries the newest first
 * @param {import("../data/format.js").Formatter} format
 */
export function logTable(entries, format) {
  if (entries.length === 0) return h("p.muted", "No refresh since the pane was opened.");
  const head = ["Time", "What", "Cells", "Requests", "Left"].map((name, index) =>
    h("th", { scope: "col", class: index > 1 ? "number" : "text" }, name),
  );
  const figure = (/** @type {number | undefined} */ value) =>
    h("td.number", value === undefined ? "–" : format.count(value));
  const rows = entries.map((entry) =>
    h(
      "tr",
      h("td", clockTime(entry.atMs)),
      h("td", { class: entry.failure ? "error" : "text", title: entry.failure }, entry.failure ? "failed" : entry.what),
      figure(entry.cells),
      h("td.number", `${entry.unanswered ? "≥ " : ""}${format.count(entry.requests)}`),
      figure(entry.left),
    ),
  );
  return h(
    "div.table-frame.refresh-log",
    { tabindex: 0, role: "region", "aria-label": "Last refreshes" },
    h("table", h("thead", h("tr", ...head)), h("tbody", ...rows)),
  );
}
