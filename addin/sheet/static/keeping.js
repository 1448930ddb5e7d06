/// <reference path="types.d.ts" />
// A copy is the file that was opened, with the cells that were changed. What moves cells that other parts of the file refer
// to, as charts and names do, is refused with a sentence; what only the page shows is counted, and told before a download.

/** Commands that move or rename what is in the file, and what to do instead. */
const MOVES = new Map([
  ["ADD_COLUMNS_ROWS", "Rows and columns can be added at the end only"],
  ["REMOVE_COLUMNS_ROWS", "Rows and columns cannot be deleted"],
  ["MOVE_COLUMNS_ROWS", "Rows and columns cannot be moved"],
  ["RENAME_SHEET", "A sheet of the file cannot be renamed"],
  ["DELETE_SHEET", "A sheet of the file cannot be deleted"],
  ["MOVE_SHEET", "The sheets of the file cannot be moved"],
]);
const PIVOT = "A cell that a pivot table fills cannot be changed: the table would write its own value there again. Change what it is made from.";
const HEADER = "The header of a table cannot be changed: the table and its formulas know the column by it. Do that in Excel or LibreOffice Calc.";
const LOCKED = "This cell is locked: its sheet is protected. Change the cells that are meant to be, or take the protection away in Excel or LibreOffice Calc.";
const INSTEAD = "in a sheet that is in the file: formulas, charts and names there rely on it. Do that in Excel or LibreOffice Calc.";

/** Commands that give cells other content. */
const CONTENT = new Set(["UPDATE_CELL", "CLEAR_CELL", "CLEAR_CELLS", "DELETE_CONTENT"]);

/** Commands whose effect is seen in the page only. */
const SHOWN_ONLY = new Map([
  ["CREATE_CHART", "chart"],
  ["UPDATE_CHART", "changed chart"],
  ["UPDATE_FIGURE", "moved or resized figure"],
  ["DELETE_FIGURE", "deleted figure"],
  ["CREATE_IMAGE", "picture"],
  ["CREATE_TABLE", "table"],
  ["UPDATE_TABLE", "changed table"],
  ["REMOVE_TABLE", "removed table"],
  ["ADD_PIVOT", "pivot table"],
  ["ADD_CONDITIONAL_FORMAT", "conditional format"],
  ["REMOVE_CONDITIONAL_FORMAT", "removed conditional format"],
  ["ADD_DATA_VALIDATION_RULE", "data validation"],
  ["REMOVE_DATA_VALIDATION_RULE", "removed data validation"],
  ["ADD_MERGE", "merge of cells"],
  ["REMOVE_MERGE", "split of merged cells"],
  ["SET_BORDER", "border"],
  ["SET_ZONE_BORDERS", "border"],
  ["SET_BORDERS_ON_TARGET", "border"],
  ["RESIZE_COLUMNS_ROWS", "width or height"],
  ["HIDE_COLUMNS_ROWS", "hidden row or column"],
  ["UNHIDE_COLUMNS_ROWS", "shown row or column"],
  ["GROUP_HEADERS", "group"],
  ["UNGROUP_HEADERS", "group"],
  ["FREEZE_COLUMNS", "frozen pane"],
  ["FREEZE_ROWS", "frozen pane"],
  ["UNFREEZE_COLUMNS_ROWS", "frozen pane"],
  ["COLOR_SHEET", "colour of a tab"],
  ["HIDE_SHEET", "hidden sheet"],
  ["SHOW_SHEET", "shown sheet"],
  ["CREATE_NAMED_RANGE", "name (formulas have its cells)"],
]);

/** @type {(sentence: string) => void} */
let refuse = () => {};
let changed = () => {};
/** @type {(cell: { sheetId: string, col: number, row: number }) => void} */
let entered = () => {};

/** Judge the commands to a book from now on: none does so while it is read. @param {import("./book.js").Book} book */
export function judge(book) {
  book.model.handlers.find((/** @type {any} */ handler) => handler instanceof KeptFiles).book = book;
}

/**
 * Let the component ask before every command.
 * @param {(sentence: string) => void} refused called with why something is not done
 * @param {() => void} done called after what changes the book
 * @param {typeof entered} formulaEntered called with its cell
 */
export function keepFiles(refused, done, formulaEntered) {
  entered = formulaEntered;
  refuse = refused;
  changed = done;
  o_spreadsheet.registries.corePluginRegistry.add("kept_files", KeptFiles);
}

class KeptFiles extends o_spreadsheet.CorePlugin {
  static getters = ["getShownOnly"];

  /** @type {import("./book.js").Book | null} */
  book = null;

  /** By what it is called, how often it was made. The component undoes this with the command. @type {Record<string, number>} */
  shownOnly = {};

  /** @param {any} command */
  allowDispatch(command) {
    const sentence = this.book === null ? null : refusal(command, this.book);
    if (sentence === null) return "Success";
    refuse(sentence);
    return "Readonly";
  }

  /** @param {any} command */
  handle(command) {
    if (this.book === null) return;
    if (o_spreadsheet.isCoreCommand(command) || command.type === "UNDO" || command.type === "REDO") changed();
    if (command.type === "UPDATE_CELL" && /^[=@-]/.test(String(command.content))) entered(command);
    const what = SHOWN_ONLY.get(command.type);
    if (what !== undefined) this.history.update("shownOnly", what, (this.shownOnly[what] ?? 0) + 1);
  }

  getShownOnly() {
    return this.shownOnly;
  }
}

/**
 * Why a command is refused; null if it is not.
 * @param {any} command
 * @param {import("./book.js").Book} book
 * @returns {string | null}
 */
function refusal(command, book) {
  const { changes, model } = book;
  if (changesAny(command, book.pivots)) return PIVOT;
  if (changesAny(command, book.headers)) return HEADER;
  if (isLocked(command, book.unlocked[command.sheetId])) return LOCKED;
  const what = MOVES.get(command.type);
  if (what === undefined || changes === undefined || !changes.isOpened(command.sheetId)) return null;
  const movesCells = command.type.endsWith("_COLUMNS_ROWS");
  if (movesCells && changes.wasEmpty(command.sheetId)) return null;
  if (command.type === "ADD_COLUMNS_ROWS" && isAtEnd(command, model.getters)) return null;
  if (book.isBlank && command.type === "MOVE_SHEET") return null;
  return `${what} ${INSTEAD}`;
}

/**
 * Whether a command gives a cell in one of these areas other content.
 * @param {any} command
 * @param {Record<string, string[]>} fixed by sheet
 */
function changesAny({ type, sheetId, col, row, content, target = [] }, fixed) {
  const areas = fixed[sheetId];
  if (areas === undefined || (type === "UPDATE_CELL" && content === undefined) || !CONTENT.has(type)) return false;
  const zones = col === undefined ? target : [{ left: col, right: col, top: row, bottom: row }];
  const { overlap, toZone } = o_spreadsheet.helpers;
  return areas.some((area) => zones.some((/** @type {any} */ zone) => overlap(toZone(area), zone)));
}

/**
 * Whether a command changes what a protected sheet locks; its looks and lines are locked everywhere.
 * @param {any} command
 * @param {string[] | undefined} unlocked the areas that are not; undefined where the sheet is not protected
 */
function isLocked({ type, col, row, content, target = [] }, unlocked) {
  if (unlocked === undefined) return false;
  if (!CONTENT.has(type) || (type === "UPDATE_CELL" && content === undefined)) return type === "UPDATE_CELL" || type === "SET_FORMATTING" || SHOWN_ONLY.has(type);
  const { isInside, toZone } = o_spreadsheet.helpers;
  const areas = unlocked.map(toZone);
  const zones = col === undefined ? target : [{ left: col, right: col, top: row, bottom: row }];
  return !zones.every((/** @type {any} */ zone) => eachCell(zone, (column, line) => areas.some((area) => isInside(column, line, area))));
}

/** Whether something holds of every cell of a zone. @param {any} zone @param {(col: number, row: number) => boolean} holds */
function eachCell({ left, right, top, bottom }, holds) {
  for (let row = top; row <= bottom; row += 1) for (let col = left; col <= right; col += 1) if (!holds(col, row)) return false;
  return true;
}

/** @param {any} command @param {any} getters */
function isAtEnd({ sheetId, dimension, base, position }, getters) {
  const size = dimension === "ROW" ? getters.getNumberRows(sheetId) : getters.getNumberCols(sheetId);
  return position === "after" && base >= size - 1;
}

/**
 * What of the changes a copy will not have, as a sentence; empty if it has all.
 * @param {any} getters
 */
export function onlyShown(getters) {
  const counted = Object.entries(getters.getShownOnly()).filter(([, count]) => count);
  const named = counted.map(([what, count]) => `${count} × ${what}`);
  return named.length === 0 ? "" : `The copy will not have what only this page shows: ${named.join(", ")}.`;
}
