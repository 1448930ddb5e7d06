/// <reference path="../types.d.ts" />
// What a refresh would spend: for the formulas of the workbook, whether this page has computed them or not.

import { split } from "../client/batches.js";
import { callOf } from "../functions/arguments.js";
import { cellBlock, cellCount, numberOf, numbersIn, WIDTH } from "./blocks.js";
import { nameIn, sheetOfName } from "./book.js";
import { blockOf, blocksRead } from "./reading.js";

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("./book.js").OurBook} OurBook */

/** Cells that arguments refer to; of a workbook with more, only the lower bound of its cost is told. */
const MOST_CELLS = 300_000;

/** How often cells lead to further cells. */
const MOST_WAVES = 10;

/** A range with more rows is taken for a whole column, and its blank end is dropped, as the functions do. */
const LONG_RANGE_ROWS = 10_000;

/** What stands for the formula of a cell that another one fills: nobody can tell what that will be. */
const SPILLED = "=#";

/**
 * The calls that a refresh makes: `sure` whatever the cells hold by then, `calls` these and the others that are known.
 * `open`: there are calls that cannot be known before, such as those with an argument that the refresh changes.
 * @typedef {{ calls: string[], sure: string[], open: boolean, formulas: number }} Planned
 */

/**
 * @param {Excel.RequestContext} context
 * @param {import("./book.js").Language} language
 * @param {OurBook} book read whole
 * @returns {Promise<Planned>}
 */
export async function plannedCalls(context, language, book) {
  const cells = new KnownCells(language, book);
  await cells.read(context);
  const calls = new Set();
  const sure = new Set();
  let open = false;
  for (const { formula, sheetName, inScope } of book.formulas) {
    const found = cells.callsOf(formula, sheetName);
    // A formula elsewhere is calculated again, too, if what it depends on changes.
    if (!inScope) open ||= found.some(({ changes }) => changes);
    else for (const { text, isSure } of found) {
      if (text === null) open = true;
      else calls.add(text);
      if (text !== null && text !== "" && isSure) sure.add(text);
    }
  }
  calls.delete("");
  return { calls: [...calls], sure: [...sure], open, formulas: book.formulas.filter(({ inScope }) => inScope).length };
}

/**
 * What the backend says that calls would spend. Of several posts the upper bounds add up; a resource may be in each.
 * @param {Planned} planned
 * @param {import("../client/batches.js").BatchLimits} limits
 * @param {(calls: Call[]) => Promise<Cost>} ask
 * @returns {Promise<Cost>}
 */
export async function costOf(planned, limits, ask) {
  const all = await costs(planned.calls, limits, ask);
  const isSure = planned.sure.length === planned.calls.length;
  const least = isSure ? all : await costs(planned.sure, limits, ask);
  const at_least = Math.max(...least.map((each) => each.at_least));
  const known = all.reduce((sum, { at_most }) => (at_most === null ? Infinity : sum + at_most), 0);
  const at_most = planned.open || known === Infinity ? null : Math.max(known, at_least);
  const refusal = all.find(({ allowed }) => !allowed);
  return {
    ...(refusal ?? /** @type {Cost} */ (all[0])),
    requests: at_most ?? Math.max(at_least, all.reduce((sum, { requests }) => sum + requests, 0)),
    at_least,
    at_most,
    text: "",
    calls: planned.formulas,
    fresh_calls: all.reduce((sum, each) => sum + each.fresh_calls, 0),
  };
}

/** @param {string[]} texts @param {import("../client/batches.js").BatchLimits} limits @param {(calls: Call[]) => Promise<Cost>} ask */
async function costs(texts, limits, ask) {
  const { batches } = split(texts.map((text) => ({ text })), limits);
  const found = [];
  for (const { batch } of batches.length ? batches : [{ batch: [] }]) found.push(await ask(batch.map(({ text }) => JSON.parse(text))));
  return found;
}

/** The cells that arguments refer to, and what they hold now. */
class KnownCells {
  /** @param {import("./book.js").Language} language @param {OurBook} book */
  constructor(language, book) {
    this.language = language;
    this.book = book;
    /** @type {Map<string, Map<number, { value: Scalar, formula: string | null }>>} */
    this.sheets = new Map(book.sheets.map(({ name }) => [name.toUpperCase(), new Map()]));
    this.ours = new Map(book.formulas.map((each) => [placeOf(each.sheetName, each.row, each.column), each]));
    /** Used parts of sheets, to which whole columns are cut. @type {Map<string, Block>} */
    this.used = new Map();
    /** Whether a refresh leaves a cell as it is. @type {Map<string, boolean>} */
    this.settled = new Map();
    /** @type {Map<string, ReadFormula>} */
    this.names = new Map();
    this.count = 0;
  }

  /** Read what arguments refer to, and what that depends on. @param {Excel.RequestContext} context */
  async read(context) {
    const looks = this.book.sheets.map((sheet) => ({ sheet, range: sheet.getUsedRangeOrNullObject(true) }));
    for (const { range } of looks) range.load("rowIndex,columnIndex,rowCount,columnCount");
    await context.sync();
    for (const { sheet, range } of looks) if (!range.isNullObject) this.used.set(sheet.name.toUpperCase(), blockOf(range));
    /** @type {[string, string][]} */
    let formulas = this.book.formulas.map(({ formula, sheetName }) => [formula, sheetName]);
    const first = this.book.sheets[0]?.name ?? "";
    formulas.push(...[...this.book.names].map(([name, formula]) => /** @type {[string, string]} */ ([formula, sheetOfName(name) || first])));
    await this.language.learn(formulas.map(([formula]) => formula));
    this.names = new Map([...this.book.names].map(([name, formula]) => [name, this.language.read(formula)]));
    for (let wave = 0; wave < MOST_WAVES && formulas.length > 0; wave++) formulas = await this.#wave(context, formulas);
  }

  /** @param {Excel.RequestContext} context @param {[string, string][]} formulas @returns {Promise<[string, string][]>} those found */
  async #wave(context, formulas) {
    const wanted = this.#unread(formulas);
    /** @type {[string, string][]} */
    const found = [];
    const canSpill = Office.context.requirements.isSetSupported("ExcelApi", "1.12");
    for await (const blocks of blocksRead(context, wanted, "formulas,values", canSpill ? "hasSpill" : "")) {
      for (const { sheet, block, range } of blocks) {
        const cells = this.sheets.get(sheet.name.toUpperCase());
        const isFilled = canSpill && range.hasSpill !== false;
        range.values.forEach((row, y) =>
          row.forEach((value, x) => {
            const formula = range.formulas[y]?.[x];
            const isFormula = typeof formula === "string" && formula.startsWith("=") && formula !== value;
            cells?.set(numberOf(block.top + y, block.left + x), { value, formula: isFormula ? formula : isFilled ? SPILLED : null });
            if (isFormula) found.push([formula, sheet.name]);
          }),
        );
      }
    }
    await this.language.learn(found.map(([formula]) => formula));
    return found;
  }

  /** The cells that formulas refer to and that were not read, as rectangles. @param {[string, string][]} formulas */
  #unread(formulas) {
    /** @type {Map<string, Set<number>>} */
    const wanted = new Map();
    for (const [formula, sheetName] of formulas) {
      for (const area of this.language.read(formula).areas) {
        const name = (area.sheet ?? sheetName).toUpperCase();
        const block = this.#within(area, name);
        if (block === null || this.count + cellCount([block]) > MOST_CELLS) continue;
        const cells = this.sheets.get(name);
        const set = wanted.get(name) ?? new Set();
        wanted.set(name, set);
        for (const at of numbersIn(block)) if (!cells?.has(at) && !set.has(at)) this.count += set.add(at) ? 1 : 0;
      }
    }
    return this.book.sheets.flatMap((sheet) => columnsOf(wanted.get(sheet.name.toUpperCase()) ?? new Set()).map((block) => ({ sheet, block })));
  }

  /** An area without what lies beyond the used part of its sheet. @param {ReferredArea} area @param {string} name @returns {Block | null} */
  #within(area, name) {
    const used = this.used.get(name);
    if (area.bottom - area.top < LONG_RANGE_ROWS) return this.sheets.has(name) ? area : null;
    if (used === undefined) return null;
    return { ...area, bottom: Math.max(area.top, Math.min(area.bottom, used.bottom)) };
  }

  /**
   * The calls of a formula as the page makes them: null where that is not known, "" where an argument is an error.
   * @param {string} formula
   * @param {string} sheetName
   */
  callsOf(formula, sheetName) {
    const read = this.language.read(formula);
    const own = read.calls.map((call) => ({ ...call, sheetName }));
    const named = [...this.#namesIn(read, sheetName, new Set())].flatMap((name) => this.names.get(name)?.calls.map((call) => ({ ...call, sure: false, sheetName })) ?? []);
    const found = [...own, ...named].map(({ id, args, sure, sheetName: on }) => {
      const values = args.map((arg) => this.#value(arg, on));
      return { text: values.includes(undefined) ? null : textOf(id, values), isSure: sure, changes: args.some((arg) => !this.#isSettledArgument(arg, on)) };
    });
    // What cannot be read may hide a call.
    if (found.length === 0) found.push({ text: null, isSure: false, changes: true });
    return found;
  }

  /**
   * The names that a formula uses, by itself or by another name.
   * @param {ReadFormula} read
   * @param {string} sheetName
   * @param {Set<string>} seen
   */
  #namesIn(read, sheetName, seen) {
    for (const each of read.names) {
      const name = nameIn(this.names, each, sheetName);
      const named = this.names.get(name);
      if (named === undefined || seen.has(name)) continue;
      seen.add(name);
      this.#namesIn(named, sheetOfName(name), seen);
    }
    return seen;
  }

  /** The value of an argument, undefined where it is not known. @param {Operand} read @param {string} sheetName @returns {Scalar | Scalar[][] | undefined} */
  #value({ kind, value, area, name = "", parts = [] }, sheetName) {
    if (kind === "value") return value;
    if (area !== undefined) return this.#isSettledArea(area, sheetName, 0) ? this.#valuesOf(area, sheetName) : undefined;
    if (kind === "join") {
      const values = parts.map((part) => this.#value(part, sheetName));
      return values.every(isJoinable) ? values.map((each) => (each === null ? "" : String(each))).join("") : undefined;
    }
    const named = this.names.get(nameIn(this.names, name, sheetName));
    if (kind !== "name" || named === undefined || !named.closed || named.calls.length > 0 || !named.areas.every((each) => each.fixed && each.sheet !== null)) return undefined;
    return named.whole.kind === "name" ? undefined : this.#value(named.whole, sheetName);
  }

  /** Whether a refresh leaves an argument as it is. @param {Operand} read @param {string} sheetName @returns {boolean} */
  #isSettledArgument(read, sheetName) {
    const { kind, area, parts = [] } = read;
    if (kind === "join") return parts.every((part) => this.#isSettledArgument(part, sheetName));
    if (area !== undefined) return this.#isSettledArea(area, sheetName, 0);
    return this.#value(read, sheetName) !== undefined;
  }

  /** @param {ReferredArea} area @param {string} sheetName @param {number} depth @returns {boolean} */
  #isSettledArea(area, sheetName, depth) {
    const name = (area.sheet ?? sheetName).toUpperCase();
    const cells = this.sheets.get(name);
    const block = this.#within(area, name);
    if (area.spill || cells === undefined || block === null || cellCount([block]) > MOST_CELLS) return false;
    for (const at of numbersIn(block)) {
      const cell = cells.get(at);
      if (cell === undefined) return false;
      if (cell.formula !== null && !this.#isSettledCell(name, at, cell.formula, depth)) return false;
    }
    return true;
  }

  /** @param {string} name @param {number} at @param {string} formula @param {number} depth */
  #isSettledCell(name, at, formula, depth) {
    const place = `${name}!${at}`;
    let is = this.settled.get(place);
    if (is !== undefined) return is;
    this.settled.set(place, false); // a circle
    const read = this.language.read(formula);
    const ours = this.ours.get(placeOf(name, Math.floor(at / WIDTH), at % WIDTH));
    is = depth < MOST_WAVES && read.closed && !ours?.inScope && read.names.length === 0 && read.areas.every((area) => this.#isSettledArea(area, name, depth + 1));
    this.settled.set(place, is);
    return is;
  }

  /** @param {ReferredArea} area @param {string} sheetName @returns {Scalar | Scalar[][]} */
  #valuesOf(area, sheetName) {
    const name = (area.sheet ?? sheetName).toUpperCase();
    const block = /** @type {Block} */ (this.#within(area, name));
    const cells = this.sheets.get(name);
    const rows = [];
    for (let row = block.top; row <= block.bottom; row++) {
      const values = [];
      for (let column = block.left; column <= block.right; column++) values.push(cells?.get(numberOf(row, column))?.value ?? "");
      rows.push(values);
    }
    const isLong = area.bottom - area.top >= LONG_RANGE_ROWS;
    if (isLong) while (rows.length > 1 && rows[rows.length - 1]?.every((value) => value === "" || value === 0)) rows.pop();
    return rows;
  }
}

/** @param {string} sheetName @param {number} row @param {number} column */
function placeOf(sheetName, row, column) {
  return `${sheetName.toUpperCase()}!${numberOf(row, column)}`;
}

/** Places as rectangles of one column each, as long as they follow each other. @param {Set<number>} places @returns {Block[]} */
function columnsOf(places) {
  const sorted = [...places].sort((a, b) => (a % WIDTH) - (b % WIDTH) || a - b);
  /** @type {Block[]} */
  const blocks = [];
  for (const place of sorted) {
    const [row, column] = [Math.floor(place / WIDTH), place % WIDTH];
    const last = blocks[blocks.length - 1];
    if (last !== undefined && last.left === column && last.bottom === row - 1) last.bottom = row;
    else blocks.push(cellBlock(row, column));
  }
  return blocks;
}

/** @param {Scalar | Scalar[][] | undefined} part */
function isJoinable(part) {
  return part === null || typeof part === "string" || (typeof part === "number" && Number.isInteger(part) && Math.abs(part) < 1e11);
}

/** @param {string} id @param {(Scalar | Scalar[][] | undefined)[]} values */
function textOf(id, values) {
  try {
    return JSON.stringify(callOf(id, values));
  } catch {
    return ""; // an argument is an error itself: nothing is asked for
  }
}
