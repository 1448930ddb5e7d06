/// <reference path="types.d.ts" />
// A book in the component: opened from what the backend prepared, and what of it has changed, for the backend to save.
import { LOADING, WORKING } from "./calls.js";
import { Changes, growTo, rowsShown } from "./changes.js";
import { asExcelShows, contentOf, isDark, showSheet } from "./component.js";
import { cellsIn, Filling, withPauses } from "./filling.js";
import { isEqual, NOT_READ } from "./proof/saved_value.js";
import { isThere, WorkedOut } from "./proof/worked_out.js";
import { counted } from "./status_line.js";

/** Above so many cells it is faster to compute all of them than to find out what depends on each. */
const MANY_CELLS = 5_000;

/** What the component shows for a formula that it cannot read, or whose functions or names it does not know. */
const UNREADABLE = ["#NAME?", "#BAD_EXPR", "#ERROR", "#N/A"];

const NOT_HERE = "If Excel or Calc know it, they work it out when they open the downloaded copy.";

/** What several are called of what has another end than an s. @type {Record<string, string>} */
const SEVERAL = { query: "queries", "drop-down list or check": "drop-down lists or checks", "text box or shape": "text boxes or shapes" };

/** A formula that loads is looked at again after so long. */
const AGAIN_MS = 300;

export class Book {
  /**
   * @param {OpenedBook} opened
   * @param {string} content the file in Base64
   * @param {ConstructorParameters<typeof WorkedOut>[0]} worker
   */
  constructor(opened, content, worker) {
    this.name = opened.name;
    this.content = content;
    this.button = opened.button ?? null;
    this.active = opened.active ?? null;
    this.isBlank = opened.is_blank === true;
    this.isPlain = opened.is_plain === true;
    /** @type {Map<string, { rows: Result, key: string | null }>} */
    this.values = new Map();
    for (const [sheetName, cells] of Object.entries(opened.values)) {
      for (const [xc, rows] of Object.entries(cells)) this.values.set(`${sheetName}!${xc}`, { rows: shown(rows), key: null });
    }
    /** @type {Map<string, SavedValue | SavedValue[][]>} */
    this.stored = new Map();
    for (const [sheetName, cells] of Object.entries(opened.stored)) {
      for (const [xc, value] of Object.entries(cells)) this.stored.set(`${sheetName}!${xc}`, value);
    }
    this.workedOut = new WorkedOut(worker, this.stored);
    /** @type {OpenedBook | null} */
    this.opened = opened;
    this.isReading = true;
    /** What was to be computed, and to grow, while it was read. */
    this.isOutdated = false;
    /** @type {Map<string, [rows: number, columns: number]>} */
    this.room = new Map();
    this.kept = { ...opened.kept };
    this.pivots = opened.pivots;
    this.headers = opened.headers;
    this.unlocked = opened.unlocked;
    /** @type {any} */
    this.model = null;
    /** @type {any} */
    this.app = null;
  }

  /**
   * Read it; all its formulas are computed. Throws what the component throws at a book that it cannot read.
   * @param {(part: number) => void} progressed told how much of it is done, 1 at most
   */
  async read(progressed) {
    const opened = /** @type {OpenedBook} */ (this.opened);
    const data = o_spreadsheet.load(opened.parts);
    data.sheets.forEach(asExcelShows);
    for (const [number, code] of Object.entries(opened.formats)) data.formats[Number(number) + 1] = code;
    const filling = new Filling(data, opened);
    this.model = this.workedOut.model = filling.model;
    await withPauses(filling.steps(), progressed);
    this.#countCharts();
    if (this.active !== null) showSheet(this.model, this.active);
    this.changes = new Changes(this.model);
    await withPauses(this.changes.remember(), progressed);
    this.opened = null;
    this.isReading = false;
    for (const [sheetId, [rows, columns]] of this.room) growTo(this.model, sheetId, rows, columns);
  }

  /** Of the file's charts, those that the component leaves out are not shown. */
  #countCharts() {
    const { getters } = /** @type {any} */ (this.model);
    const drawn = getters.getSheetIds().flatMap((/** @type {string} */ sheetId) => getters.getChartIds(sheetId));
    this.kept.chart = Math.max(0, (this.kept.chart ?? 0) - drawn.length);
  }

  /** Compare it with the file's values; then show those of now that are known already. */
  async begin() {
    await this.workedOut.begin();
    if (this.isOutdated) this.evaluate(null);
    this.isOutdated = false;
  }

  /**
   * Show it in `place`.
   * @param {Element} place
   * @param {string} templates the component's own, as XML
   * @param {(problem: string) => void} notify
   */
  async show(place, templates, notify) {
    const props = {
      model: this.model,
      notifyUser: (/** @type {any} */ notification) => notify(notification.text),
      raiseError: (/** @type {string} */ text, /** @type {(() => void) | undefined} */ then) => {
        notify(text);
        then?.();
      },
      askConfirmation: (/** @type {string} */ text, /** @type {() => void} */ yes, /** @type {(() => void) | undefined} */ no) => {
        if (confirm(text)) yes();
        else no?.();
      },
      colorScheme: isDark.matches ? "dark" : "light",
    };
    this.app = new owl.App(o_spreadsheet.Spreadsheet, { props, templates, warnIfNoStaticProps: false });
    await this.app.mount(place);
  }

  close() {
    this.app?.destroy();
  }

  /**
   * The value that the file has for a formula's cell, as long as the formula makes the same call as when it was opened.
   * @param {string} sheetId
   * @param {string} xc
   * @param {string} key the call
   * @returns {Result | undefined}
   */
  valueInFile(sheetId, xc, key) {
    // A sheet that was opened has its name as its id.
    const known = this.values.get(`${sheetId}!${xc}`);
    if (known === undefined) return undefined;
    // While a book is read, a formula may be computed before the cells that its arguments come from.
    if (this.isReading) known.key = key;
    return known.key === key ? known.rows : undefined;
  }

  /**
   * Compute cells again.
   * @param {string[] | null} cells null for all
   */
  evaluate(cells) {
    if (this.isReading) return void (this.isOutdated = true);
    this.workedOut.touched();
    const { getters } = this.model;
    const many = cells === null || cells.length > MANY_CELLS;
    const payload = many ? {} : { cellIds: cells.filter((id) => isThere(getters, id)) };
    this.model.dispatch("EVALUATE_CELLS", payload);
  }

  /**
   * Let a formula that the component cannot read say what to change in it, where the backend knows that.
   * @param {{ sheetId: string, col: number, row: number }} position
   */
  async advise(position) {
    const { getters } = this.model;
    const cell = getters.getCell(position);
    const { value, message: reason } = getters.getEvaluatedCell(position);
    if (value === LOADING.code || value === WORKING.code) return void setTimeout(() => void this.advise(position), AGAIN_MS);
    if (!cell?.isFormula || !UNREADABLE.includes(value)) return;
    const { advice } = await DataServiceAddin.backend.advice(getters.getCellText(position, { showFormula: true })).catch(() => ({ advice: null }));
    const usual = value === "#NAME?" ? `${reason}. ${NOT_HERE}` : value === "#BAD_EXPR" ? NOT_READ : null;
    const message = advice ?? usual;
    if (message === null) return;
    cell.compiledFormula.execute = () => ({ value, message });
    this.evaluate([cell.id]);
  }

  /**
   * What a cell holds, undefined if it was deleted.
   * @param {string} cellId
   * @returns {string | undefined}
   */
  contentOf(cellId) {
    const getters = this.model?.getters;
    return getters && isThere(getters, cellId) ? contentOf(getters.getCell(getters.getCellPosition(cellId))) : undefined;
  }

  /** Make room for so many rows and columns. @param {string} sheetId @param {number} rows @param {number} columns */
  growTo(sheetId, rows, columns) {
    if (!this.isReading) return growTo(this.model, sheetId, rows, columns);
    const [mostRows, mostColumns] = this.room.get(sheetId) ?? [0, 0];
    this.room.set(sheetId, [Math.max(rows, mostRows), Math.max(columns, mostColumns)]);
  }

  /** What a user should know of the book that was opened; empty if it is nothing. */
  get notes() {
    const notes = [];
    const places = [...this.workedOut.differing.keys()];
    if (places.length > 0) {
      const named = places.slice(0, 3).join(", ") + (places.length > 3 ? " …" : "");
      notes.push(`${counted(places.length, "cell differs", "cells differ")} from what this page works out (${named}), and show the file's value, marked.`);
    }
    const kept = Object.entries(this.kept).filter(([, count]) => count > 0).map(([what, count]) => counted(count, what, SEVERAL[what]));
    if (kept.length > 0) notes.push(`Not shown here, but kept in a copy: ${kept.join(", ")}.`);
    if (this.isPlain) notes.push("Shown without charts, tables and rules, which this page cannot read; a copy keeps them.");
    return notes.join(" ");
  }

  /** What the backend needs to make a copy of the file with what was changed, and with the values of now. */
  edited() {
    const sheets = this.changes?.edits() ?? [];
    const known = new Map(sheets.map((sheet) => [sheet.name, sheet]));
    for (const [place, rows] of this.#newValues()) {
      const [sheetName, xc] = /** @type {[string, string]} */ (split(place));
      let sheet = known.get(sheetName);
      if (sheet === undefined) known.set(sheetName, (sheet = { name: sheetName, is_added: false, cells: {}, values: {} }));
      if (!(xc in sheet.cells)) sheet.values[xc] = rows;
    }
    return { name: this.name, content: this.content, sheets: [...known.values()] };
  }

  /** The formulas of the file that show something else now; no rows where their value is not proven. */
  *#newValues() {
    for (const [place, position] of this.#formulas()) {
      const rows = rowsShown(this.model.getters, position);
      const ours = this.values.get(place);
      const stored = this.stored.get(place);
      const before = ours?.rows ?? (Array.isArray(stored) ? stored : [[stored ?? null]]);
      if ((ours === undefined && stored === undefined) || (stored !== null && areEqual(before, rows))) continue;
      yield /** @type {const} */ ([place, rows]);
    }
  }

  /** Every formula on the sheets of the file: its place by the sheet's name, and its position. */
  *#formulas() {
    for (const { cell, position } of cellsIn(this.model.getters)) {
      const { sheetId, col, row } = position;
      if (cell.isFormula && this.changes?.isOpened(sheetId)) yield /** @type {const} */ ([`${sheetId}!${o_spreadsheet.helpers.toXC(col, row)}`, position]);
    }
  }
}

/** @param {string} place such as "Sheet!1!B2" */
function split(place) {
  const at = place.lastIndexOf("!");
  return [place.slice(0, at), place.slice(at + 1)];
}

/**
 * @param {Scalar[][]} rows
 * @returns {Result}
 */
function shown(rows) {
  return rows.map((row) => row.map((value) => value ?? ""));
}

/** @param {unknown[][]} known @param {SavedValue[][]} rows */
function areEqual(known, rows) {
  return known.length === rows.length && known.every((row, at) => row.length === rows[at]?.length && row.every((value, col) => isEqual(/** @type {any} */ (value), rows[at]?.[col] ?? null)));
}
