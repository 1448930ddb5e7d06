/// <reference path="../types.d.ts" />
// Formulas that the backend works out, as Excel does: what the component comes to is shown only where it can be relied on.
// A formula of the file keeps the file's value as long as the cells hold what they held when it was opened.

import { isFailure, LOADING, WORKING } from "../calls.js";
import { contentOf } from "../component.js";
import { placeOf, spilled, spillOf, textOf } from "./formula_text.js";
import { hiddenFrom, hiddenRows, isSeenAlike, seesRows } from "./hidden_rows.js";
import { isArithmetic, Kind, kindOf, look, together } from "./kinds.js";
import { cellOf, cellsIn, cellsOf, explain, isEqual, isErrorText, isUnproven, NOT_PROVEN, savedValue } from "./saved_value.js";

/** @typedef {{ sheetId: string, col: number, row: number }} Position */
/** @typedef {{ stored: SavedValue | SavedValue[][], base: string, isShown: boolean }} FileValue what the file holds for a formula, with which cells, and whether that is shown */
/** @typedef {{ name: string, call: unknown[] }} Ask a call of ours that a formula waits for */
/** @typedef {{ cells?: ComponentMatrix, asks?: Ask[], isFormatted?: boolean, isUnreadable?: boolean, findsCells?: boolean, passes?: boolean }} Known */
/** @typedef {{ key: string, formula: any, position: Position, answers: Record<string, SavedValue[][]>, isWhole?: boolean }} Wanted `isWhole` if it may look at any cell of the book */

const CODES = { loading: LOADING.code, working: WORKING.code, isUnproven };
const RESTS = "it rests on a cell whose value is not proven";
const SEEN = Symbol("seen");
const FOREVER = "its value changes with every calculation";

/** So many values of cells are sent at once. */
const MOST_VALUES = 200_000;
/** Results lead to further ones where formulas rest on each other in ways that nobody sees before. */
const MOST_ROUNDS = 40;

export class WorkedOut {
  /**
   * @param {object} options
   * @param {import("../calls.js").Calls} options.calls
   * @param {string} options.namespace
   * @param {(body: object, signal: AbortSignal) => Promise<any>} options.post
   * @param {(id: string, values: unknown[], cell: any, isInFile: boolean) => Result | Failure} options.call
   * @param {(getters: any, position: Position, rows: number, columns: number) => void} options.needRoom
   * @param {Map<string, SavedValue | SavedValue[][]>} stored the file's values, by place
   */
  constructor({ calls, namespace, post, call, needRoom }, stored) {
    this.calls = calls;
    this.namespace = namespace;
    this.post = post;
    this.call = call;
    this.needRoom = needRoom;
    this.stored = stored;
    /** @type {any} */
    this.model = null;
    /** @type {WeakMap<any, FileValue>} */
    this.ofFile = new WeakMap();
    /** The formulas of the file that the component works out otherwise, by place. @type {Map<string, Wanted>} */
    this.doubted = new Map();
    /** Those that are not what the file holds, by place. @type {Map<string, FileValue>} */
    this.differing = new Map();
    /** The formulas of the file with a call of ours in them, beside others. @type {Position[]} */
    this.mixed = [];
    /** @type {Map<string, Known>} */
    this.known = new Map();
    /** By place: while everything is computed, a formula may be looked at before the spill that it reads; the last look counts. @type {Map<string, Wanted>} */
    this.wanted = new Map();
    /** Formulas that wait for others which are worked out, by place. @type {Map<string, Wanted>} */
    this.waiting = new Map();
    /** What those came to, until the cells are computed with it. @type {Map<string, Known>} */
    this.ahead = new Map();
    /** @type {WeakMap<any, number>} */
    this.numbers = new WeakMap();
    this.last = 0;
    /** The cells whose formulas find the cells that they look at while they calculate, as OFFSET does. @type {Set<string>} */
    this.finding = new Set();
    this.isFinding = false;
    /** The cells that see which rows are hidden, and which were. @type {Map<string, string>} */
    this.seeing = new Map();
    /** Counts what changes cells from outside of here. */
    this.state = 0;
    this.rounds = 0;
    /** @type {Promise<void> | null} */
    this.flushing = null;
    this.stopping = new AbortController();
  }

  /** Cells were changed, by the user or by answers. */
  touched() {
    this.rounds = 0;
    this.#changed();
  }

  /** What finds its cells while it calculates may find others now. */
  #changed() {
    this.state += 1;
    if (this.finding.size === 0 || this.isFinding) return;
    this.isFinding = true;
    setTimeout(() => {
      this.isFinding = false;
      this.evaluate([...this.finding]);
    }, 0);
  }

  /** The hidden rows that a cell's formula sees. @param {any} formula @param {Position} position @param {any} getters */
  #rowsSeen(formula, position, getters) {
    const rows = hiddenFrom(formula, getters);
    if (rows) this.seeing.set(getters.getCell(position).id, rows);
    return rows;
  }

  /** Work out again what sees other rows than before. */
  lookAtRows() {
    const { getters } = this.model;
    const others = [];
    for (const [id, rows] of this.seeing) {
      const cell = isThere(getters, id) ? getters.getCell(getters.getCellPosition(id)) : undefined;
      const now = cell?.isFormula ? hiddenFrom(cell.compiledFormula, getters) : "";
      if (now === rows) continue;
      if (now === "") this.seeing.delete(id);
      else others.push(id) && this.seeing.set(id, now);
    }
    if (others.length > 0) this.evaluate(others);
  }

  /** End what is under way. */
  stop() {
    this.stopping.abort();
    this.stopping = new AbortController();
  }

  /** Ask again for what had no answer. */
  forgetFailures() {
    for (const [key, { passes }] of this.known) if (passes) this.known.delete(key);
  }

  /** Find out which calls of ours the file's formulas make, and which of them are not what the file holds. */
  async begin() {
    for (const [place, each] of this.doubted) this.wanted.set(place, { ...each, key: this.#baseOf(each.formula) });
    if (this.wanted.size > 0) this.#flushSoon();
    while (this.flushing !== null) await this.flushing;
    for (const [place, { formula }] of this.doubted) {
      const file = this.ofFile.get(formula);
      const first = firstOf(this.known.get(this.#baseOf(formula))?.cells);
      if (file !== undefined && !isEqual(firstStored(file.stored), first)) this.differing.set(place, file);
    }
    this.doubted.clear();
    const { getters } = this.model;
    this.evaluate(this.mixed.flatMap((position) => getters.getCell(position)?.id ?? []));
    while (this.flushing !== null) await this.flushing;
  }

  /** @param {any} formula */
  #baseOf(formula) {
    return this.ofFile.get(formula)?.base ?? "";
  }

  /**
   * What a cell's formula comes to.
   * @param {any} formula the component's
   * @param {any} context what the component knows of the cell
   * @param {() => any} run lets the component work it out
   * @param {(range: any) => ComponentMatrix} range
   * @param {boolean} isReading whether the book is being opened
   */
  resultOf(formula, context, run, range, isReading) {
    const position = context.__originCellPosition;
    const kind = kindOf(formula.normalizedFormula, this.namespace);
    const isOurs = formula.normalizedFormula.toUpperCase().includes(`${this.namespace.toUpperCase()}.`);
    if (kind === Kind.PLAIN && isOurs) return run();
    const seen = together(this.#zones(formula, context.getters, range).map((zone) => seenIn(range(zone))));
    if (seen.isCircular) return run();
    const place = placeOf(position);
    this.wanted.delete(place);
    this.waiting.delete(place);
    if (seen.isLoading) return failure(LOADING);
    const key = `${this.#numberOf(formula)} ${place} ${seen.hash}${minute(formula.normalizedFormula)}${this.#rowsSeen(formula, position, context.getters)}`;
    if (seen.isWorking) {
      this.waiting.set(place, { key, formula, position, answers: {} });
      return failure(WORKING);
    }
    const file = this.#valueInFile(formula, position, isReading);
    if (file !== undefined && isReading) {
      file.base = key;
      if (isOurs) this.mixed.push(position);
      else this.#compare(place, file.stored, run, { key, formula, position, answers: {} });
    }
    const isAsInFile = file !== undefined && file.base === key;
    if (file !== undefined) file.isShown = isAsInFile;
    if (isAsInFile && (isReading || !isOurs)) return cellsOf(file.stored);
    if (seen.isUnproven && kind !== Kind.PLAIN) return unproven(RESTS);
    if (kind === Kind.PLAIN) return plainResult(formula, run);
    this.calls.hasValue = isAsInFile;
    const result = this.#worked(formula, kind, isOurs, key, seen, context, run);
    this.calls.hasValue = false;
    const isOpen = [LOADING.code, WORKING.code].includes(/** @type {any} */ (result)?.value);
    return isOpen && isAsInFile ? cellsOf(file.stored) : result;
  }

  /** Doubt a formula that comes to another value here than in the file. @param {string} place @param {any} stored @param {() => any} run @param {any} wanted */
  #compare(place, stored, run, wanted) {
    if (isEqual(firstStored(stored), firstOf(quietly(run)))) this.doubted.delete(place);
    else this.doubted.set(place, wanted);
  }

  /**
   * @param {any} formula @param {number} kind @param {boolean} isOurs @param {string} key
   * @param {import("./kinds.js").Seen} seen @param {any} context @param {() => any} run
   */
  #worked(formula, kind, isOurs, key, seen, context, run) {
    if (kind === Kind.ARITHMETIC && seen.isNumeric && isSeenAlike(formula, context.getters)) {
      this.calls.returned = { texts: false, failures: false };
      const own = quietly(run);
      const { texts, failures } = this.calls.returned;
      if (failures || (!texts && isArithmetic(own, seen, formula))) return own;
    }
    const position = context.__originCellPosition;
    const cell = context.getters.getCell(position);
    const answers = {};
    /** @type {Failure[]} */
    const failed = [];
    let isWhole = false;
    for (let at = key; ; at += ` ${digest(JSON.stringify([answers, failed]))}`) {
      const known = this.known.get(at) ?? (at === key ? this.#ahead(at) : undefined);
      if (known?.findsCells) {
        this.finding.add(cell.id);
        isWhole = true;
        at += ` ${this.state}`;
        if (this.known.has(at)) return this.#shown(/** @type {Known} */ (this.known.get(at)), position, isOurs, run, failed);
      }
      if (known === undefined || known.findsCells) {
        this.wanted.set(placeOf(position), { key: at, formula, position, answers, isWhole });
        this.#flushSoon();
        return failure(WORKING);
      }
      if (known.cells !== undefined) return this.#shown(known, position, isOurs, run, failed);
      if (!this.#answer(known.asks ?? [], answers, failed, cell)) return failure(LOADING);
    }
  }

  /**
   * Answer calls of ours; whether all have an answer.
   * @param {Ask[]} asks @param {Record<string, SavedValue[][]>} answers @param {Failure[]} failed those that failed are added @param {any} cell
   */
  #answer(asks, answers, failed, cell) {
    const user = { id: cell.id, content: contentOf(cell) };
    let isComplete = true;
    for (const { name, call: [id, ...values] } of asks) {
      const result = this.call(String(id), values, user, this.calls.hasValue);
      if (result === LOADING) isComplete = false;
      else answers[name] = isFailure(result) ? [[{ error: result.code }]] : result.map((row) => row.map(ofCall));
      if (isFailure(result)) failed.push(result);
    }
    return isComplete;
  }

  /** @param {Known} known @param {Position} position @param {boolean} isOurs @param {() => any} run @param {Failure[]} failed calls in it */
  #shown(known, position, isOurs, run, failed) {
    let cells = /** @type {ComponentMatrix} */ (known.cells);
    if (!known.isFormatted) {
      this.calls.isPreviewing = isOurs;
      const own = quietly(run);
      this.calls.isPreviewing = false;
      if (known.isUnreadable || (isUnproven(cells[0]?.[0]) && isUnproven(own))) known.cells = cells = [[{ ...own, message: own.message }]];
      cells.forEach((column, col) => column.forEach((cell, row) => {
        const format = Array.isArray(own) ? own[col]?.[row]?.format : own?.format;
        if (typeof cell.value === "number" && format) cell.format = format;
        explain(cell, own, failed);
      }));
      known.isFormatted = true;
    }
    const [first = []] = cells;
    if (cells.length === 1 && first.length === 1) return { ...first[0] };
    this.needRoom(this.model.getters, position, first.length, cells.length);
    return cells;
  }

  /** What a formula came to together with those it waited for. @param {string} key */
  #ahead(key) {
    const known = this.ahead.get(numberIn(key));
    if (known !== undefined) this.known.set(key, known);
    return known;
  }

  /** @param {any} formula @param {Position} position @param {boolean} isReading */
  #valueInFile(formula, position, isReading) {
    const stored = isReading && !this.ofFile.has(formula) ? this.stored.get(placeOf(position)) : undefined;
    if (stored !== undefined && stored !== null) this.ofFile.set(formula, { stored, base: "", isShown: true });
    return this.ofFile.get(formula);
  }

  /** @param {any} formula */
  #numberOf(formula) {
    let number = this.numbers.get(formula);
    if (number === undefined) this.numbers.set(formula, (number = this.last += 1));
    return number;
  }

  /**
   * The ranges that a formula refers to, and the spills.
   * @param {any} formula @param {any} getters
   * @param {(range: any) => unknown} [compute] computes the cells of a range, before what they spill is known
   */
  #zones(formula, getters, compute = () => {}) {
    const ranges = [...formula.rangeDependencies, ...formula.getNamedRangesInFormula(getters).map((/** @type {any} */ { range }) => range)];
    for (const at of spilled(formula.normalizedFormula)) {
      const anchor = formula.rangeDependencies[at];
      compute(anchor);
      const zone = spillOf(anchor, getters);
      if (zone) ranges.push(getters.getRangeFromZone(anchor.sheetId, zone));
    }
    return ranges;
  }

  #flushSoon() {
    this.flushing ??= Promise.resolve().then(() => this.#flush()).finally(() => {
      this.flushing = null;
      if (this.wanted.size > 0) this.#flushSoon();
    });
  }

  async #flush() {
    const { state } = this;
    const { getters } = this.model;
    const still = [...this.wanted].filter(([, each]) => this.#isStill(each, getters));
    const others = still.filter(([, { isWhole }]) => !isWhole);
    // What may look at any cell waits for all of them; answers on their way lead to another look.
    const isWhole = others.length === 0;
    const wanted = isWhole ? still : others;
    const waiting = [...this.waiting].filter(([, each]) => this.#isStill(each, getters));
    if (isWhole) this.wanted.clear();
    else others.forEach(([place]) => this.wanted.delete(place));
    this.waiting.clear();
    if (wanted.length === 0 || (isWhole && this.calls.waiting > 0)) return;
    this.rounds += 1;
    const cells = wanted.map(([, { position }]) => getters.getCell(position).id);
    this.calls.workingOut += wanted.length;
    this.calls.progressed();
    const keep = (/** @type {Known} */ known) => wanted.forEach(([, { key }]) => this.known.set(key, known));
    try {
      if (this.rounds > MOST_ROUNDS) keep({ cells: [[unproven(FOREVER)]] });
      else {
        const body = this.#body([...wanted, ...waiting].map(([, each]) => each), getters);
        const found = await this.post(body, this.stopping.signal);
        const of = (/** @type {Wanted} */ { position }) => knownOf(found[getters.getSheetName(position.sheetId)]?.[xcOf(position)]);
        for (const [, each] of wanted) this.known.set(each.key, of(each));
        // What rests on one that is not proven is looked at again, with the error that it has.
        if (state === this.state) for (const [, each] of waiting) if (!isResting(of(each))) this.ahead.set(numberIn(each.key), of(each));
      }
    } catch (error) {
      keep({ cells: [[unproven(error instanceof Error ? error.message : String(error))]], passes: true });
    } finally {
      this.calls.workingOut -= wanted.length;
    }
    this.calls.quietly(() => this.evaluate(cells));
    this.ahead.clear();
    if (!isWhole && this.finding.size > 0) this.#changed();
    this.calls.progressed();
  }

  /** @param {string[]} cells */
  evaluate(cells) {
    const { getters } = this.model;
    this.model.dispatch("EVALUATE_CELLS", { cellIds: cells.filter((id) => isThere(getters, id)) });
  }

  /** Whether a cell still holds a formula, and waits for what it comes to. @param {Wanted} wanted @param {any} getters */
  #isStill({ formula, position }, getters) {
    return getters.tryGetSheet(position.sheetId) !== undefined && getters.getCell(position)?.compiledFormula === formula;
  }

  /** What the backend needs to work formulas out. @param {Wanted[]} all @param {any} getters */
  #body(all, getters) {
    /** @type {Record<string, { formulas: Record<string, string>, values: Record<string, SavedValue>, hidden?: number[] }>} */
    const sheets = {};
    const of = (/** @type {string} */ sheetId) => (sheets[getters.getSheetName(sheetId)] ??= { formulas: {}, values: {} });
    const live = new Set(all.map(({ position }) => placeOf(position)));
    const answers = Object.assign({}, ...all.map((each) => each.answers));
    const ranges = new Map();
    for (const { formula, position } of all) {
      of(position.sheetId).formulas[xcOf(position)] = textOf(formula, getters, live);
      for (const range of this.#zones(formula, getters)) ranges.set(`${range.sheetId}!${JSON.stringify(range.zone)}`, range);
    }
    const isWhole = all.some((each) => each.isWhole);
    if (isWhole) getters.getSheetIds().forEach((/** @type {string} */ sheetId) => ranges.set(sheetId, { sheetId, zone: getters.getSheetZone(sheetId) }));
    if (all.some(({ formula }) => seesRows(formula))) {
      for (const { sheetId } of ranges.values()) if (getters.tryGetSheet(sheetId)) of(sheetId).hidden = hiddenRows(getters, sheetId);
    }
    let count = 0;
    for (const { sheetId, zone } of ranges.values()) {
      if (getters.tryGetSheet(sheetId) === undefined) continue;
      const { values } = of(sheetId);
      const last = { row: Math.min(zone.bottom, getters.getNumberRows(sheetId) - 1), col: Math.min(zone.right, getters.getNumberCols(sheetId) - 1) };
      for (let row = zone.top; row <= last.row; row += 1) {
        for (let col = zone.left; col <= last.col; col += 1) {
          const position = { sheetId, col, row };
          const value = live.has(placeOf(position)) ? null : savedValue(getters.getEvaluatedCell(position));
          if (value === null) continue;
          values[xcOf(position)] = value;
          count += 1;
          if (count > MOST_VALUES) throw new Error(`it rests on more than ${MOST_VALUES.toLocaleString("en-US")} cells`);
        }
      }
    }
    return { sheets, answers, is_whole: isWhole, now: Date.now() / 1000, offset_s: -60 * new Date().getTimezoneOffset() };
  }
}

/** What is known of a range's values, kept with them: a map beside them would cost more than looking. @param {any} matrix @returns {import("./kinds.js").Seen} */
function seenIn(matrix) {
  return (matrix[SEEN] ??= look(matrix, CODES));
}

/** @param {any} found @returns {Known} */
function knownOf(found) {
  if (found?.asks) return { asks: Object.entries(found.asks).map(([name, call]) => ({ name, call: /** @type {unknown[]} */ (call) })) };
  if (found?.finds_cells) return { findsCells: true };
  if (!found?.rows?.length) return { cells: [[unproven(found?.unproven ?? "")]], isUnreadable: !found?.unproven };
  return { cells: cellsIn(found.rows) };
}

/** @param {Known} known */
function isResting({ cells }) {
  return cells?.[0]?.[0]?.message?.startsWith(NOT_PROVEN + RESTS) ?? false;
}

/** @param {Cell} cell @returns {SavedValue} */
function ofCall(cell) {
  if (typeof cell !== "object") return cell;
  return cell.type === "Error" ? { error: cell.errorType === "Value" ? "#VALUE!" : "#N/A" } : cell.basicValue;
}

/** @param {Failure} given @returns {ComponentCell} */
function failure({ code, message }) {
  return { value: code, message };
}

/** @param {string} why @returns {ComponentCell} */
function unproven(why) {
  return { value: "#N/A", message: `${NOT_PROVEN}${why}. Excel, Calc and addin refresh work a copy out` };
}

/** @param {() => any} run */
function quietly(run) {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

/** @param {any} result @returns {SavedValue} */
function firstOf(result) {
  let first = result;
  while (Array.isArray(first)) first = first[0];
  const value = first?.value ?? null;
  return o_spreadsheet.helpers.isEvaluationError(value) ? { error: value } : value;
}

/** @param {SavedValue | SavedValue[][]} stored @returns {SavedValue} */
function firstStored(stored) {
  return Array.isArray(stored) ? (stored[0]?.[0] ?? null) : stored;
}

/** What of the time a formula depends on. @param {string} normalized */
function minute(normalized) {
  return /(?:NOW|TODAY)\(/i.test(normalized) ? ` ${Math.floor(Date.now() / 60_000)}` : "";
}

/** @param {string} text */
function digest(text) {
  return look([[{ value: text }]], CODES).hash;
}

/** The number of the formula that a key is of. @param {string} key */
function numberIn(key) {
  return key.slice(0, key.indexOf(" "));
}

/** @param {Position} position */
function xcOf({ col, row }) {
  return o_spreadsheet.helpers.toXC(col, row);
}

/** What a formula comes to that is an error's name, or refers to something. @param {any} formula @param {() => any} run */
function plainResult(formula, run) {
  return isErrorText(formula) ? cellOf(formula.literalValues.strings[0].value) : run();
}

/** @param {any} getters @param {string} cellId */
export function isThere(getters, cellId) {
  try {
    const position = getters.getCellPosition(cellId);
    return position !== undefined && getters.tryGetSheet(position.sheetId) !== undefined;
  } catch {
    return false; // deleted since
  }
}
