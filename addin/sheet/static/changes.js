/// <reference path="types.d.ts" />
// What was changed in a book since it was opened, as the backend writes it into a copy of the file, and as a draft keeps it.

import { writtenOut } from "./component.js";
import { cellsIn } from "./filling.js";
import { isUnproven, savedValue } from "./proof/saved_value.js";

/** What a style consists of, as the component names it. */
const LOOK = ["bold", "italic", "strikethrough", "underline", "fontSize", "textColor", "fillColor", "align", "verticalAlign", "wrapping"];

/** @typedef {{ content: unknown, style: any, format: string | undefined }} Before a cell as it was opened */

export class Changes {
  /** @param {any} model the component's */
  constructor(model) {
    this.model = model;
    const { getters } = model;
    /** @type {Map<string, { name: string, cells: Map<number, Before> }>} */
    this.opened = new Map(getters.getSheetIds().map((/** @type {string} */ sheetId) => [sheetId, { name: getters.getSheetName(sheetId), cells: new Map() }]));
  }

  /** Remembers every cell as it is now, in steps. */
  *remember() {
    for (const { cell, position: { sheetId, col, row } } of cellsIn(this.model.getters)) {
      this.opened.get(sheetId)?.cells.set(placeOf(col, row), before(cell));
      yield 1;
    }
  }

  /** Whether a sheet was in the book that was opened. @param {string} sheetId */
  isOpened(sheetId) {
    return this.opened.has(sheetId);
  }

  /** Whether a sheet had nothing in it, so that whatever is moved in it moves nothing of the file. @param {string} sheetId */
  wasEmpty(sheetId) {
    return (this.opened.get(sheetId)?.cells.size ?? 0) === 0;
  }

  /**
   * Every changed cell, by sheet; a draft needs nothing of what formulas show.
   * @param {{ isDraft?: boolean }} [options]
   * @returns {SheetEdits[]}
   */
  edits({ isDraft = false } = {}) {
    const { getters } = this.model;
    return getters.getSheetIds().flatMap((/** @type {string} */ sheetId) => {
      const opened = this.opened.get(sheetId);
      const cells = this.#cellsOf(sheetId, opened?.cells ?? new Map(), isDraft);
      if (opened !== undefined && Object.keys(cells).length === 0) return [];
      return [{ name: opened?.name ?? getters.getSheetName(sheetId), is_added: opened === undefined, cells, values: {} }];
    });
  }

  /**
   * @param {string} sheetId
   * @param {Map<number, Before>} opened
   * @param {boolean} isDraft
   */
  #cellsOf(sheetId, opened, isDraft) {
    const { getters } = this.model;
    /** @type {Record<string, CellEdit>} */
    const cells = {};
    let found = 0;
    for (const cell of getters.getCells(sheetId)) {
      const { col, row } = getters.getCellPosition(cell.id);
      const place = placeOf(col, row);
      const known = opened.get(place);
      if (known !== undefined) found += 1;
      if (known !== undefined && isSame(known, before(cell))) continue;
      const edit = editOf(getters, { sheetId, col, row }, cell, known, isDraft);
      if (edit !== null) cells[xcOf({ col, row })] = edit;
    }
    if (found === opened.size) return cells;
    for (const [place, known] of opened) {
      if (getters.getCell({ sheetId, ...positionOf(place) })) continue; // it is still there
      const keeps = known.content === "";
      const look = lookOf(known, { content: "", style: undefined, format: undefined });
      if (!keeps || look !== null) cells[xcOf(positionOf(place))] = { rows: [[null]], keeps_content: keeps, ...(look && { look }) };
    }
    return cells;
  }

  /**
   * Make the edits of a draft again.
   * @param {SheetEdits[]} sheets
   */
  apply(sheets) {
    const { getters } = this.model;
    for (const { name, is_added, cells } of sheets) {
      if (is_added && getters.getSheetIdByName(name) === undefined) {
        this.model.dispatch("CREATE_SHEET", { sheetId: name, name, position: getters.getSheetIds().length });
      }
      const sheetId = getters.getSheetIdByName(name);
      if (sheetId === undefined) continue;
      for (const [xc, edit] of Object.entries(cells)) this.#put(sheetId, xc, edit);
    }
  }

  /** @param {string} sheetId @param {string} xc @param {CellEdit} edit */
  #put(sheetId, xc, edit) {
    const { col, row } = o_spreadsheet.helpers.toCartesian(xc);
    growTo(this.model, sheetId, row + 1, col + 1);
    const content = edit.keeps_content ? {} : { content: edit.formula == null ? (edit.content ?? "") : `=${edit.formula}` };
    const { format, ...style } = edit.look ?? {};
    const looks = edit.look === undefined ? {} : { style: { ...this.model.getters.getCell({ sheetId, col, row })?.style, ...style } };
    this.model.dispatch("UPDATE_CELL", { sheetId, col, row, ...content, ...looks, ...(format === undefined ? {} : { format: format ?? "" }) });
  }
}

/**
 * The values that a formula shows, as many as it fills cells with; none where its value is not proven.
 * @param {any} getters
 * @param {{ sheetId: string, col: number, row: number }} position
 * @returns {SavedValue[][]}
 */
export function rowsShown(getters, position) {
  return isUnproven(getters.getEvaluatedCell(position)) ? [] : ofFilled(getters, position, (at) => savedValue(getters.getEvaluatedCell(at)));
}

/**
 * Something of each cell that a formula fills, row by row.
 * @template T
 * @param {any} getters
 * @param {{ sheetId: string, col: number, row: number }} position
 * @param {(at: { sheetId: string, col: number, row: number }) => T} of
 */
function ofFilled(getters, position, of) {
  const { left, right, top, bottom } = getters.getSpreadZone(position) ?? { left: position.col, right: position.col, top: position.row, bottom: position.row };
  const cells = (/** @type {number} */ row) => Array.from({ length: right - left + 1 }, (_, at) => of({ ...position, col: left + at, row }));
  return Array.from({ length: bottom - top + 1 }, (_, at) => cells(top + at));
}

/** The format in which a cell shows its value that has none of its own, as a date's. @param {any} getters @param {any} position @returns {string | null} */
function formatShown(getters, position) {
  return (!getters.getCell(position)?.format && getters.getEvaluatedCell(position).format) || null;
}

/**
 * Make a sheet large enough; nothing is moved.
 * @param {any} model
 * @param {string} sheetId
 * @param {number} rows
 * @param {number} columns
 */
export function growTo(model, sheetId, rows, columns) {
  const { getters } = model;
  const grow = (/** @type {string} */ dimension, /** @type {number} */ now, /** @type {number} */ wanted) => {
    if (wanted <= now) return;
    const sheetName = getters.getSheetName(sheetId);
    model.dispatch("ADD_COLUMNS_ROWS", { sheetId, sheetName, dimension, base: now - 1, quantity: wanted - now, position: "after" });
  };
  grow("ROW", getters.getNumberRows(sheetId), rows);
  grow("COL", getters.getNumberCols(sheetId), columns);
}

/**
 * @param {any} getters
 * @param {{ sheetId: string, col: number, row: number }} position
 * @param {any} cell
 * @param {Before | undefined} known
 * @param {boolean} isDraft
 * @returns {CellEdit | null}
 */
function editOf(getters, position, cell, known, isDraft) {
  const now = before(cell);
  const keeps = contentText(getters, known?.content ?? "") === contentText(getters, now.content);
  const look = lookOf(known, now);
  if (keeps && look === null) return null;
  /** @type {CellEdit} */
  const edit = { rows: [], keeps_content: keeps };
  if (look !== null) edit.look = look;
  if (keeps) return edit;
  if (!isDraft) edit.rows = rowsShown(getters, position);
  if (cell.isFormula) {
    edit.formula = writtenOut(cell.compiledFormula, getters).slice(1);
    if (!isDraft) edit.formats = ofFilled(getters, position, (at) => formatShown(getters, at));
  } else edit.content = cell.content;
  return edit;
}

/** What is new about the look of a cell; null if nothing is. @param {Before | undefined} known @param {Before} now */
function lookOf(known, now) {
  /** @type {Record<string, unknown>} */
  const look = {};
  for (const name of LOOK) {
    if ((known?.style?.[name] ?? null) !== (now.style?.[name] ?? null)) look[name] = now.style?.[name] ?? null;
  }
  if ((known?.format || null) !== (now.format || null)) look.format = now.format || null;
  return Object.keys(look).length > 0 ? look : null;
}

/** @param {any} cell @returns {Before} */
function before(cell) {
  return { content: cell.isFormula ? cell.compiledFormula : cell.content, style: cell.style, format: cell.format };
}

/** A cell whose look alone was changed holds its formula anew. @param {any} getters @param {any} content */
function contentText(getters, content) {
  return typeof content === "string" ? content : content.toFormulaString(getters);
}

/** @param {Before} known @param {Before} now */
function isSame(known, now) {
  return known.content === now.content && known.style === now.style && known.format === now.format;
}

/** @param {number} col @param {number} row */
function placeOf(col, row) {
  return row * 16_384 + col;
}

/** @param {number} place */
function positionOf(place) {
  return { col: place % 16_384, row: Math.floor(place / 16_384) };
}

/** @param {{ col: number, row: number }} position */
function xcOf({ col, row }) {
  return o_spreadsheet.helpers.toXC(col, row);
}
