/// <reference path="types.d.ts" />
// Cells reach the component some at a time, and it computes them some at a time, so that the page draws and hears in
// between: its own way of reading a book, all in one go, holds the page for seconds where there are many.
import { turns } from "../client/timing.js";

/** So long the page may be busy before it looks up. */
const BUSY_MS = 40;

/** A sheet grows where a table needs more. */
const LEAST_ROWS = 1_000;
const LEAST_COLUMNS = 30;

/** Points in a pixel. */
const POINT = 0.75;

/** @typedef {{ sheetId: string, col: number, row: number }} Position */
/** @typedef {{ colNumber: number, rowNumber: number }} Size */

/** What waits for the next turn. @type {(() => void)[]} */
const waiting = [];
const soon = turns(() => waiting.shift()?.());

/** Whether cells are on their way: nothing is computed before all of them are there. */
let isFilling = false;

/**
 * Do long work with pauses in it.
 * @param {Iterable<number>} steps none of which takes long; each tells how much is done, 1 at the end
 * @param {(done: number) => void} paused told after each pause; what it throws ends the work
 */
export async function withPauses(steps, paused) {
  let beganMs = performance.now();
  for (const done of steps) {
    if (performance.now() - beganMs < BUSY_MS) continue;
    await new Promise((go) => {
      waiting.push(() => go(undefined));
      soon();
    });
    paused(done);
    beganMs = performance.now();
  }
}

/** Let the component compute the cells that there are; it would go through all blank ones, too, whenever it computes. */
export function computeCellsOnly() {
  const { coreViewsPluginRegistry } = o_spreadsheet.registries;
  coreViewsPluginRegistry.replace(
    "evaluation",
    class extends coreViewsPluginRegistry.get("evaluation") {
      /** @param {any} config */
      constructor(config) {
        super(config);
        const { evaluator, getters } = /** @type {any} */ (this);
        const Values = evaluator.evaluatedCells.constructor;
        nameWhatIsInTheWay(evaluator);
        evaluator.evaluateAllCells = () => {
          if (isFilling) return;
          evaluator.evaluatedCells = new Values();
          evaluator.evaluate(getters.getSheetIds().flatMap((/** @type {string} */ sheetId) => used(getters, sheetId)));
        };
      }

      /** @param {any} command */
      handle(command) {
        if (command.type !== "EVALUATE_CELLS" || command.cellIds) return super.handle(command);
        const { evaluator, getters } = /** @type {any} */ (this);
        evaluator.evaluate([...cellsIn(getters)].filter(({ cell }) => cell.isFormula).map(({ position }) => around(position)));
      }
    },
  );
}

/** Let an array formula without room say which cell is in its way: that is what the user has to empty. @param {any} evaluator */
function nameWhatIsInTheWay(evaluator) {
  const { checkCollision } = evaluator;
  evaluator.checkCollision = (/** @type {Position} */ position) => {
    const check = checkCollision.call(evaluator, position);
    return (/** @type {number} */ col, /** @type {number} */ row) => {
      try {
        check(col, row);
      } catch (error) {
        const xc = o_spreadsheet.helpers.toXC(position.col + col, position.row + row);
        /** @type {any} */ (error).message = `${xc} is in the way of its values. Empty it, or enter the formula where there is room.`;
        throw error;
      }
    };
  };
}

/** Every cell that is there, and where. @param {any} getters */
export function* cellsIn(getters) {
  for (const sheetId of getters.getSheetIds()) {
    for (const cell of getters.getCells(sheetId)) yield { cell, position: getters.getCellPosition(cell.id) };
  }
}

/** @param {Position} position */
function around({ sheetId, col, row }) {
  return { sheetId, zone: { left: col, right: col, top: row, bottom: row } };
}

/** The area up to the last cell of a sheet. @param {any} getters @param {string} sheetId */
function used(getters, sheetId) {
  const zone = { left: 0, right: -1, top: 0, bottom: -1 };
  for (const { id } of getters.getCells(sheetId)) {
    const { col, row } = getters.getCellPosition(id);
    zone.right = Math.max(zone.right, col);
    zone.bottom = Math.max(zone.bottom, row);
  }
  return zone.right < 0 ? [] : [{ sheetId, zone }];
}

/** Make a sheet large enough, and give its rows their heights. @param {any} sheet @param {RowApart[]} rows */
function layOut(sheet, rows) {
  sheet.rowNumber = Math.max(sheet.rowNumber, LEAST_ROWS);
  sheet.colNumber = Math.max(sheet.colNumber, LEAST_COLUMNS);
  for (const [number, , , height, isHidden] of rows) {
    const row = sheet.rows[number - 1];
    if (height) row.size = Math.round((height / POINT) * 100) / 100;
    if (isHidden) row.isHidden = true;
  }
}

/** Puts the cells that the backend set apart into a book, and computes it. */
export class Filling {
  /** @param {any} data what the component made of the parts of the file @param {OpenedBook} opened */
  constructor(data, { cells, looks }) {
    /** @type {Size[]} */
    this.sizes = data.sheets.map((/** @type {Size} */ { colNumber, rowNumber }) => ({ colNumber, rowNumber }));
    for (const sheet of data.sheets) layOut(sheet, cells[sheet.id]?.rows ?? []);
    isFilling = true;
    try {
      this.model = new o_spreadsheet.Model(data, { mode: "normal" });
    } finally {
      isFilling = false;
    }
    this.model.state.changes = undefined; // nothing of this can be undone, so nothing is kept for that
    const { corePluginRegistry, coreViewsPluginRegistry } = o_spreadsheet.registries;
    const find = (/** @type {any} */ registry, /** @type {string} */ name) => this.model.handlers.find((/** @type {any} */ handler) => handler instanceof registry.get(name));
    this.data = data;
    this.apart = cells;
    this.looks = looks;
    this.cells = find(corePluginRegistry, "cell");
    this.sheets = find(corePluginRegistry, "sheet");
    this.borders = find(corePluginRegistry, "borders");
    this.evaluator = find(coreViewsPluginRegistry, "evaluation").evaluator;
    /** Those that are computed when all cells are there. @type {Position[]} */
    this.formulas = [];
  }

  /** Gives after each step how much is done, 1 at the end. */
  *steps() {
    for (const { cell, position } of cellsIn(this.model.getters)) this.#compute(cell, position);
    const all = Object.values(this.apart).reduce((sum, { rows }) => sum + rows.length, 0);
    let done = 0;
    for (const [at, { id }] of this.data.sheets.entries()) {
      for (const row of rowsOf(this.apart[id], /** @type {Size} */ (this.sizes[at]))) {
        for (const cell of row) this.#put(id, ...cell);
        yield Math.min(1, (done += 1) / all) / 2;
      }
    }
    this.borders.import({ sheets: this.data.sheets.map((/** @type {any} */ { id, merges }) => ({ id, merges })) });
    yield* this.#computeFormulas();
    this.model.dispatch("EVALUATE_CELLS", { cellIds: [] }); // what is made of the cells' values is made anew
  }

  /** @param {string} sheetId @param {number} row @param {number} col @param {number} style @param {string | null} content */
  #put(sheetId, row, col, style, content) {
    const { styles, formats, borders } = this.data;
    const { getters } = this.model;
    const position = { sheetId, col, row };
    const main = getters.getMainCellPosition(position);
    const isCovered = main.col !== col || main.row !== row; // by a merge, whose first cell is the only one that counts
    const [format, border] = (style && this.looks[style]) || [-1, -1];
    const look = isCovered ? getters.getCell(main)?.style : style ? styles[style + 1] : undefined;
    const shape = formats[format + 1];
    const text = isCovered ? "" : (content ?? "");
    if (text === "" && ((look === undefined && shape === undefined) || getters.getCell(position))) return;
    const cell = this.cells.importCell(sheetId, text, look, shape);
    this.cells.history.update("cells", sheetId, cell.id, cell);
    this.sheets.handle({ type: "UPDATE_CELL_POSITION", cellId: cell.id, ...position });
    const lines = borders[border + 1];
    if (lines && Object.keys(lines).length > 0) this.borders.setBorder(sheetId, col, row, lines, false);
    this.#compute(cell, position);
  }

  /** @param {any} cell @param {Position} position */
  #compute(cell, position) {
    if (cell.isFormula) this.formulas.push(position);
    else this.evaluator.computeAndSave(position);
  }

  /** The component's own way to compute everything, with a pause wherever one is needed. */
  *#computeFormulas() {
    const { evaluator, formulas } = this;
    evaluator.buildDependencyGraph();
    evaluator.updateCompilationParameters();
    formulas.sort((one, other) => (one.sheetId === other.sheetId ? one.col - other.col || one.row - other.row : 0));
    let done = 0;
    for (const position of formulas) {
      if (!evaluator.nextRangesToUpdate.hasPosition(position)) evaluator.computeAndSave(position);
      yield 0.5 + (done += 1) / formulas.length / 2;
    }
    evaluator.evaluate([...evaluator.nextRangesToUpdate]); // those that rest on spills which came after them
  }
}

/**
 * The cells of each row that has any: row, column, style, content. A cell without a style has that of its row or column.
 * @param {CellsApart | undefined} apart
 * @param {Size} size
 * @returns {Generator<[number, number, number, string | null][]>}
 */
function* rowsOf({ rows, columns } = { rows: [], columns: [] }, { colNumber, rowNumber }) {
  /** @type {number[]} */
  const ofColumn = Array(colNumber + 1).fill(0);
  for (const [first, last, style] of columns) ofColumn.fill(style, first, Math.min(last, colNumber) + 1);
  const known = new Map(rows.map((row) => [row[0], row]));
  const numbers = columns.length > 0 ? Array.from({ length: rowNumber }, (_, at) => at + 1) : known.keys();
  for (const number of numbers) {
    const [, cells = [], ofRow = 0] = known.get(number) ?? [number];
    const styles = ofColumn.map((style) => ofRow || style);
    /** @type {[number, number, number, string | null][]} */
    const found = [];
    for (let at = 0; at < cells.length; at += 3) {
      const [col, style, content] = /** @type {[number, number, string | null]} */ (cells.slice(at, at + 3));
      found.push([number - 1, col - 1, style || (styles[col] ?? 0), content]);
      styles[col] = 0;
    }
    styles.forEach((style, col) => col > 0 && style > 0 && found.push([number - 1, col - 1, style, null]));
    yield found;
  }
}
