/// <reference path="types.d.ts" />
// The component draws on a canvas, which no screen reader can read: the visible cells stand beside it as a table, and
// the active cell is said when it changes. The table can be shown, too.
import { element } from "./status_line.js";

/** The table follows this long after the last change. */
const PAUSE_MS = 200;

export class TextView {
  constructor() {
    this.said = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** @param {any} model */
  follow(model) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#show(model), PAUSE_MS);
    const text = spoken(model);
    if (text === this.said) return;
    this.said = text;
    element("cell").textContent = text;
  }

  /** Show the table on the screen, or only to screen readers. */
  toggle() {
    const shown = element("text").classList.toggle("shown");
    element("text").classList.toggle("visually-hidden", !shown);
    element("text").tabIndex = shown ? 0 : -1; // to be scrolled by keys
    element("as-text").setAttribute("aria-pressed", String(shown));
  }

  /** @param {any} model */
  #show(model) {
    const { getters } = model;
    const sheetId = getters.getActiveSheetId();
    const columns = getters.getSheetViewVisibleCols();
    const table = document.createElement("table");
    table.createCaption().textContent = `Visible cells of ${getters.getSheetName(sheetId)}`;
    const head = table.createTHead().insertRow();
    head.insertCell();
    head.append(...columns.map((/** @type {number} */ col) => header(letters(col), "col")));
    const body = table.createTBody();
    for (const row of getters.getSheetViewVisibleRows()) {
      const shown = columns.map((/** @type {number} */ col) => textOf(getters.getEvaluatedCell({ sheetId, col, row })));
      if (shown.every((/** @type {string} */ text) => text === "")) continue;
      const line = body.insertRow();
      line.append(header(String(row + 1), "row"));
      for (const text of shown) line.insertCell().textContent = text;
    }
    element("text").replaceChildren(table);
  }
}

/** @param {any} model */
function spoken({ getters }) {
  const position = getters.getActivePosition();
  const cell = getters.getEvaluatedCell(position);
  const formula = getters.getCellText?.(position, { showFormula: true }) ?? "";
  const place = `${letters(position.col)}${position.row + 1}`;
  const computed = formula.startsWith("=") ? `, formula ${formula.slice(1)}` : "";
  return `${getters.getSheetName(position.sheetId)} ${place}: ${textOf(cell) || "blank"}${computed}`;
}

/** @param {any} cell */
function textOf(cell) {
  const text = cell.link?.label ?? cell.formattedValue ?? "";
  return cell.message ? `${text} (${cell.message})` : text;
}

/** @param {number} col */
function letters(col) {
  return o_spreadsheet.helpers.numberToLetters(col);
}

/** @param {string} text @param {string} scope */
function header(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  return cell;
}
