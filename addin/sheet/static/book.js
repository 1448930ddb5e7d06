/// <reference path="types.d.ts" />
// A book in the component: opened from what the backend prepared, and exported for it to finish.

import { contentOf } from "./component.js";

/** Above so many cells it is faster to compute all of them than to find out what depends on each. */
const MANY_CELLS = 5_000;

export class Book {
  /**
   * @param {OpenedBook} opened
   * @param {string} templates the component's own, as XML
   * @param {Element} place
   */
  constructor(opened, templates, place) {
    this.name = opened.name ?? "sheet.xlsx";
    this.button = opened.button ?? null;
    /** @type {Map<string, { rows: Result, key: string | null }>} */
    this.values = new Map();
    for (const [sheetName, cells] of Object.entries(opened.values ?? {})) {
      for (const [xc, rows] of Object.entries(cells)) this.values.set(`${sheetName}!${xc}`, { rows: shown(rows), key: null });
    }
    this.parts = opened.parts ?? {};
    this.templates = templates;
    this.place = place;
    /** @type {any} */
    this.model = null;
    /** @type {any} */
    this.app = null;
  }

  /**
   * Show it; all its formulas are computed.
   * @param {(problem: string) => void} notify
   */
  async show(notify) {
    this.model = new o_spreadsheet.Model(this.parts, { mode: "normal" });
    this.parts = {};
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
      colorScheme: "light",
    };
    this.app = new owl.App(o_spreadsheet.Spreadsheet, { props, templates: this.templates, warnIfNoStaticProps: false });
    await this.app.mount(this.place);
  }

  close() {
    this.app?.destroy();
    this.place.replaceChildren();
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
    known.key ??= key;
    return known.key === key ? known.rows : undefined;
  }

  /**
   * Compute cells again.
   * @param {string[] | null} cells null for all
   */
  evaluate(cells) {
    const { getters } = this.model;
    const many = cells === null || cells.length > MANY_CELLS;
    const payload = many ? {} : { cellIds: cells.filter((id) => isThere(getters, id)) };
    this.model.dispatch("EVALUATE_CELLS", payload);
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

  /** What the backend needs to make a file of it. */
  async exported() {
    const { files } = await this.model.exportXLSX();
    const written = files.filter((/** @type {any} */ file) => typeof file.content === "string");
    return {
      files: written.map((/** @type {any} */ { path, content }) => ({ path, content })),
      values: this.#spilled(),
    };
  }

  /** By sheet and cell, the values into which formulas spill: the component exports those of formulas' own cells only. */
  #spilled() {
    const { getters } = this.model;
    /** @type {Record<string, Record<string, Scalar>>} */
    const values = {};
    for (const sheetId of getters.getSheetIds()) {
      /** @type {Record<string, Scalar>} */
      const cells = {};
      for (const position of getters.getEvaluatedCellsPositions(sheetId)) {
        const { value } = getters.getEvaluatedCell(position);
        if (getters.getCell(position)?.isFormula || !getters.getCorrespondingFormulaCell(position)) continue;
        cells[o_spreadsheet.helpers.toXC(position.col, position.row)] = value;
      }
      values[getters.getSheetName(sheetId)] = cells;
    }
    return values;
  }
}

/**
 * @param {any} getters
 * @param {string} cellId
 */
function isThere(getters, cellId) {
  try {
    return getters.getCellPosition(cellId) !== undefined;
  } catch {
    return false; // deleted since
  }
}

/**
 * @param {Scalar[][]} rows
 * @returns {Result}
 */
function shown(rows) {
  return rows.map((row) => row.map((value) => value ?? ""));
}
