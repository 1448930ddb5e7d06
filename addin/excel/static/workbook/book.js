/// <reference path="../types.d.ts" />
// Our formulas in a workbook: where they stand, and which of them belong to what is to be refreshed or frozen.

import { cellBlock, isWithin } from "./blocks.js";
import { blocksRead, blockOf, formulaPlaces } from "./reading.js";
import { formulasAsEntered, namesIn, ourFormulas } from "./formulas.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("./reading.js").Place} Place */

/**
 * @typedef {object} OurFormula
 * @property {Excel.Worksheet} sheet
 * @property {string} sheetName
 * @property {number} row from 0
 * @property {number} column from 0
 * @property {string} formula
 * @property {string} type that of its value, as Excel names it
 * @property {boolean} inScope
 */

/**
 * The formulas of defined names in upper case; those of a sheet with its name before: `RATES!BASE`.
 * @typedef {Map<string, string>} Names
 */

/**
 * @typedef {object} OurBook
 * @property {Excel.Worksheet[]} sheets with name and id loaded
 * @property {Names} names
 * @property {OurFormula[]} formulas
 */

/** What a namespace's formulas look like. */
export class Language {
  /** @param {string} namespace @param {(path: string, body: unknown) => Promise<any>} ask the backend, which reads formulas */
  constructor(namespace, ask) {
    this.ask = ask;
    this.callsOurs = ourFormulas(namespace);
    this.asEntered = formulasAsEntered(namespace);
  }

  /**
   * A test whether a cell's content is a formula that calls one of our functions, by itself or by a name of the book.
   * @param {Names} names
   * @returns {(formula: unknown, sheetName: string) => boolean}
   */
  test(names) {
    const ours = this.oursAmong(names);
    if (ours.size === 0) return this.callsOurs;
    return (formula, sheetName) => this.callsOurs(formula) || (typeof formula === "string" && formula.startsWith("=") && uses(formula, ours, names, sheetName));
  }

  /** The names whose formula calls one of our functions, by itself or by another name. @param {Names} names */
  oursAmong(names) {
    const ours = new Set();
    for (let before = -1; before < ours.size; ) {
      before = ours.size;
      for (const [name, formula] of names) if (this.callsOurs(formula) || uses(formula, ours, names, sheetOfName(name))) ours.add(name);
    }
    return ours;
  }
}

/** @param {string} formula @param {Set<string>} some @param {Names} names @param {string} sheetName */
function uses(formula, some, names, sheetName) {
  return namesIn(formula).some((name) => some.has(nameIn(names, name, sheetName)));
}

/**
 * The name that a formula on a sheet means: one of that sheet hides one of the workbook.
 * @param {{ has: (name: string) => boolean }} names
 * @param {string} name as the formula has it, in upper case
 * @param {string} sheetName
 */
function nameIn(names, name, sheetName) {
  const own = name.includes("!") ? name : `${sheetName.toUpperCase()}!${name}`;
  return names.has(own) ? own : name.slice(name.lastIndexOf("!") + 1);
}

/** The sheet that a name belongs to, empty for one of the workbook. @param {string} name */
function sheetOfName(name) {
  return name.slice(0, Math.max(0, name.lastIndexOf("!")));
}

/**
 * All our formulas of the workbook.
 * @param {Excel.RequestContext} context
 * @param {Language} language
 * @param {Target} target
 * @param {{ whole?: boolean }} [options] whether formulas outside the target are read as well
 * @returns {Promise<OurBook>}
 */
export async function readBook(context, language, target, { whole = false } = {}) {
  const { worksheets } = context.workbook;
  worksheets.load("items/id,items/name");
  await context.sync();
  const sheets = worksheets.items;
  const names = await definedNames(context, sheets);
  const isOurs = language.test(names);
  const read = sheets.filter((sheet) => whole || target.sheetId === null || target.sheetId === sheet.id);
  const ranges = read.flatMap((sheet) => {
    const parts = whole || target.areas === null ? [null] : target.areas;
    return parts.map((part) => ({ sheet, range: part === null ? sheet.getUsedRangeOrNullObject() : sheet.getRange(part).getUsedRangeOrNullObject() }));
  });
  const areas = target.areas === null ? null : target.areas.map((address) => /** @type {Block} */ (target.blocks?.get(address)));
  /** @type {OurFormula[]} */
  const formulas = [];
  for await (const blocks of blocksRead(context, await formulaPlaces(context, ranges), "formulas,valueTypes")) {
    for (const { sheet, block, range } of blocks) {
      range.formulas.forEach((row, y) =>
        row.forEach((formula, x) => {
          if (!isOurs(formula, sheet.name)) return;
          const [at, column] = [block.top + y, block.left + x];
          const inScope = (target.sheetId === null || target.sheetId === sheet.id) && (areas === null || areas.some((area) => isWithin(cellBlock(at, column), area)));
          formulas.push({ sheet, sheetName: sheet.name, row: at, column, formula, type: String(range.valueTypes[y]?.[x]), inScope });
        }),
      );
    }
  }
  return { sheets, names, formulas };
}

/**
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet[]} sheets
 * @returns {Promise<Names>}
 */
async function definedNames(context, sheets) {
  const owners = [{ before: "", names: context.workbook.names }, ...sheets.map(({ name, names }) => ({ before: `${name.toUpperCase()}!`, names }))];
  for (const { names } of owners) names.load("items/name,items/formula");
  await context.sync();
  return new Map(owners.flatMap(({ before, names }) => names.items.map(({ name, formula }) => [before + name.toUpperCase(), String(formula ?? "")])));
}

/**
 * What a refresh or a freeze is for: nothing but this is touched, whatever is selected meanwhile.
 * @typedef {object} Target
 * @property {Scope} scope
 * @property {string | null} sheetId null for the workbook
 * @property {string[] | null} areas addresses on the sheet, null for all of it
 * @property {Map<string, Block>} [blocks]
 */

/**
 * @param {Excel.RequestContext} context
 * @param {Scope} scope
 * @returns {Promise<Target>}
 */
export async function targetOf(context, scope) {
  if (scope === "workbook") return { scope, sheetId: null, areas: null };
  const sheet = context.workbook.worksheets.getActiveWorksheet();
  sheet.load("id");
  if (scope === "sheet") {
    await context.sync();
    return { scope, sheetId: sheet.id, areas: null };
  }
  const { areas } = context.workbook.getSelectedRanges();
  areas.load("items/address,items/rowIndex,items/columnIndex,items/rowCount,items/columnCount");
  await context.sync();
  const blocks = new Map(areas.items.map((area) => [area.address.slice(area.address.lastIndexOf("!") + 1), blockOf(area)]));
  return { scope, sheetId: sheet.id, areas: [...blocks.keys()], blocks };
}

/** Whether what is done for one target is done for another as well. @param {Target} wide @param {Target} narrow */
export function covers(wide, narrow) {
  if (wide.sheetId === null) return true;
  if (wide.sheetId !== narrow.sheetId) return false;
  return wide.areas === null || (narrow.areas !== null && narrow.areas.every((area) => wide.areas?.includes(area)));
}
