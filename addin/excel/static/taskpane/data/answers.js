/// <reference path="../types.d.ts" />
// Turns the backend's answers into what the pane shows: tables of texts, series of points.

import { isoDate } from "./format.js";

/**
 * @typedef {object} ShownCell
 * @property {string} text
 * @property {"number" | "date" | "text" | "error" | "blank"} kind
 * @property {string} [title] more than fits, such as an error's message
 */

/** @type {ShownCell} */
const BLANK = { text: "", kind: "blank" };

/** @typedef {{ day: number, value: number }} Point a serial day and its value */

/**
 * A table of an answer, its first `limit` rows.
 * @param {Answer} answer
 * @param {import("./format.js").Formatter} format
 * @param {number} limit
 * @returns {{ header: string[] | null, rows: ShownCell[][], total: number }}
 */
export function tableOf(answer, format, limit) {
  if (!answer.columns) return { header: null, rows: [[cellOf(answer, format)]], total: 1 };
  const total = answer.rows ?? 0;
  const shown = Math.min(total, limit);
  const columns = answer.columns.map((column) => columnOf(column, shown, format));
  const rows = Array.from({ length: shown }, (_, row) => columns.map((cells) => cells[row] ?? BLANK));
  return { header: answer.header ?? null, rows, total };
}

/**
 * @param {Column} column
 * @param {number} count
 * @param {import("./format.js").Formatter} format
 * @returns {ShownCell[]}
 */
function columnOf(column, count, format) {
  const items = column.values.slice(0, count);
  if (column.type !== "number") return items.map((item) => itemOf(item, column.type, format));
  const write = format.column(items.filter((item) => typeof item === "number"));
  return items.map((item) =>
    typeof item === "number" ? { text: write(item), kind: "number" } : itemOf(item, "number", format),
  );
}

/**
 * The records of a table by the names in its header.
 * @param {Answer} answer
 * @returns {Record<string, Item>[]}
 */
export function recordsOf(answer) {
  const names = answer.header ?? [];
  const columns = answer.columns ?? [];
  return Array.from({ length: answer.rows ?? 0 }, (_, row) =>
    Object.fromEntries(names.map((name, column) => [name, columns[column]?.values[row] ?? null])),
  );
}

/**
 * The points of a history: days and the first column of values, gaps left out.
 * @param {Answer} answer
 * @returns {Point[]}
 */
export function seriesOf(answer) {
  const [days, values] = answer.columns ?? [];
  if (!days || !values) return [];
  const points = days.values.map((day, row) => ({ day, value: values.values[row] }));
  return /** @type {Point[]} */ (
    points.filter(({ day, value }) => typeof day === "number" && typeof value === "number")
  );
}

/**
 * @param {Answer | undefined} answer
 * @returns {number | null}
 */
export function numberIn(answer) {
  return typeof answer?.value === "number" ? answer.value : null;
}

/**
 * @param {Answer} answer
 * @param {import("./format.js").Formatter} format
 * @returns {ShownCell}
 */
export function cellOf(answer, format) {
  if (answer.error) return { text: answer.error, kind: "error", title: answer.message ?? "" };
  return itemOf(answer.value ?? null, answer.type ?? "any", format);
}

/**
 * @param {Item} item
 * @param {Column["type"]} type
 * @param {import("./format.js").Formatter} format
 * @returns {ShownCell}
 */
function itemOf(item, type, format) {
  if (item === null || item === "") return BLANK;
  if (typeof item === "object") {
    if ("error" in item) return { text: item.error, kind: "error", title: item.message };
    return itemOf(item.value, item.type, format);
  }
  if (typeof item === "boolean") return { text: item ? "TRUE" : "FALSE", kind: "text" };
  if (typeof item === "string") return { text: item, kind: "text" };
  if (type === "date" || type === "datetime") return { text: isoDate(item, type === "datetime"), kind: "date" };
  return { text: format.number(item), kind: "number" };
}
