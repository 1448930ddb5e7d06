/// <reference path="../types.d.ts" />
// What is pasted from other programs: their cells stay the cells that they were, however they come.

import { staysText } from "./typed.js";

/** How programs put a cell with a line break or a tab into the clipboard. */
const QUOTED = /(^|[\t\n])"((?:[^"]|"")*[\t\n](?:[^"]|"")*)"(?=[\t\n]|$)/g;
/** Stand for those inside of a cell while cells are told apart. */
const [BREAK, TAB] = ["\ue000", "\ue001"];
const MARKS = /[\ue000\ue001]/;

/** Pasted as values, text stays text, whatever it looks like; a cell of another program stays one cell. */
export function keepPastedTextText() {
  /** @type {{ text: string, data: any } | null} */
  let last = null;
  const { cellHandlers } = o_spreadsheet.registries.clipboardHandlersRegistries;
  cellHandlers.replace(
    "cell",
    class extends cellHandlers.get("cell") {
      /** @param {any} origin @param {any} target @param {any} options */
      pasteCell(origin, target, options) {
        const value = origin?.evaluatedCell?.value;
        const { type } = origin?.evaluatedCell ?? {};
        if (options?.pasteOption !== "asValue" || type !== "text" || staysText(value, this.getters.getLocale())) {
          super.pasteCell(origin, target, options);
          return;
        }
        this.dispatch("UPDATE_CELL", { ...target, content: `'${value}` });
      }

      /** The component reads a text twice: whether it may be pasted, and to paste it. @param {string} text */
      convertTextToClipboardData(text) {
        if (text !== last?.text) last = { text, data: this.#dataOf(text) };
        queueMicrotask(() => (last = null));
        return last.data;
      }

      /** @param {string} text */
      #dataOf(text) {
        const lines = text.replaceAll("\r", "").replace(/\n$/, ""); // what ends the last row begins none
        const inside = (/** @type {string} */ held) => held.replaceAll('""', '"').replaceAll("\n", BREAK).replaceAll("\t", TAB);
        const data = super.convertTextToClipboardData(lines.replace(QUOTED, (_, before, held) => before + inside(held)));
        for (const cell of data.cells.flat()) {
          if (!MARKS.test(cell.content)) continue;
          cell.content = cell.content.replaceAll(BREAK, "\n").replaceAll(TAB, "\t");
          cell.evaluatedCell.formattedValue = cell.content;
        }
        return data;
      }
    },
  );
}

/** Elements that begin a line of their own. */
const BLOCKS = "p,div,li,h1,h2,h3,h4,h5,h6,pre,blockquote,tr";

/**
 * Let the component paste what comes as a table of a page or as CSV alone: it reads plain text only.
 * @param {EventTarget} document
 */
export function readTables(document) {
  const onPaste = (/** @type {Event} */ event) => {
    const { clipboardData: given, target } = /** @type {ClipboardEvent} */ (event);
    if (!given || given.getData("text/plain") || given.files.length > 0) return;
    const [html, csv] = [given.getData("text/html"), given.getData("text/csv")];
    const rows = csv ? rowsOfCsv(csv) : html ? rowsOfPage(new DOMParser().parseFromString(html, "text/html")) : [];
    if (rows.length === 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", plainOf(rows));
    target?.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  };
  document.addEventListener("paste", onPaste, { capture: true });
}

/**
 * The cells of CSV; between them stand commas, or semicolons where the first line has no comma.
 * @param {string} csv
 * @returns {string[][]}
 */
export function rowsOfCsv(csv) {
  const sign = /^[^\r\n]*,/.test(csv) ? "," : /^[^\r\n]*;/.test(csv) ? ";" : ",";
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${sign}\\r\\n]*))(${sign}|\\r?\\n|\\r|$)`, "gy");
  /** @type {string[][]} */
  const rows = [[]];
  while (cell.lastIndex < csv.length) {
    const from = cell.lastIndex;
    const [, quoted, plain = csv.slice(from), end = ""] = cell.exec(csv) ?? [];
    rows[rows.length - 1]?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "" || cell.lastIndex >= csv.length) break;
    if (end !== sign) rows.push([]);
  }
  return rows;
}

/**
 * The cells of the first table of a page, one that spans others with blanks beside and below it; else its lines.
 * @param {Document} page
 * @returns {string[][]}
 */
function rowsOfPage(page) {
  for (const each of page.querySelectorAll("br")) each.replaceWith(BREAK);
  const table = page.querySelector("table");
  if (table === null) return linesOf(page).map((line) => [line]);
  /** @type {string[][]} */
  const rows = Array.from(table.rows, () => []);
  for (const [at, row] of [...table.rows].entries()) {
    for (const cell of row.cells) {
      const column = firstFree(rows[at] ?? []);
      for (let y = 0; y < Math.min(cell.rowSpan || 1, rows.length - at); y++) {
        for (let x = 0; x < cell.colSpan; x++) /** @type {string[]} */ (rows[at + y])[column + x] = x + y === 0 ? linesOf(cell).join("\n") : "";
      }
    }
  }
  return rows.map((row) => Array.from(row, (text) => text ?? ""));
}

/** @param {string[]} row */
function firstFree(row) {
  const free = Array.from(row).findIndex((text) => text === undefined);
  return free < 0 ? row.length : free;
}

/** What an element says, line by line. @param {Document | Element} of */
function linesOf(of) {
  for (const each of of.querySelectorAll(BLOCKS)) each.append(BREAK);
  const body = "body" in of ? of.body : of;
  const lines = (body.textContent ?? "").split(BREAK).map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "");
}

/** Cells as programs put them into the clipboard as text. @param {string[][]} rows */
function plainOf(rows) {
  const cell = (/** @type {string} */ text) => (/[\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map(cell).join("\t")).join("\n");
}
