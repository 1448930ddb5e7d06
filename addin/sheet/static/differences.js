/// <reference path="types.d.ts" />
// Formulas that the component works out differently from the program that wrote the file: they show the file's value,
// marked, until what they refer to changes.

/** How far two results of one formula may be from each other, relative to their size. */
const TOLERANCE = 1e-9;

const CHANGED = "this page works this formula out differently from Excel, so it shows no value after a change; a copy is worked out by the program that opens it";

const MARK = { width: 10, height: 10, paths: [{ fillColor: "#b3541e", path: "M0 0 L10 0 L0 10 Z" }] };

/** @typedef {{ sheetId: string, col: number, row: number }} Position */
/** @typedef {{ formula: any, original: (...args: any[]) => any, stored: SavedValue, seen: SavedValue, now: string, base: string | null }} Held */

export class Differences {
  /** @param {any} model the component's */
  constructor(model) {
    this.model = model;
    /** @type {Map<string, Held>} */
    this.held = new Map();
    /** The formulas whose value is not known any more, because what they refer to was changed. @type {Set<string>} */
    this.outdated = new Set();
  }

  /** How many formulas show the file's value. */
  get size() {
    return this.held.size;
  }

  /** @param {string} place */
  has(place) {
    return this.held.has(place);
  }

  /**
   * Let the formulas that come to something else than the file holds show that. `formulas` are all of them.
   * @param {Iterable<readonly [string, Position]>} formulas
   * @param {Map<string, SavedValue>} stored by place
   */
  find(formulas, stored) {
    const { getters } = this.model;
    for (const [place, position] of formulas) {
      const known = stored.get(place);
      if (known === undefined || known === null) continue;
      const shown = savedValue(getters.getEvaluatedCell(position));
      if (!isEqual(known, shown) && !isLoading(shown)) this.#hold(place, getters.getCell(position).compiledFormula, known);
    }
    if (this.held.size === 0) return;
    this.model.dispatch("EVALUATE_CELLS");
    // With the file's values in all of them, most that rest on others come to theirs by themselves.
    for (const [place, held] of this.held) {
      if (isEqual(held.stored, held.seen)) {
        held.formula.execute = held.original;
        this.held.delete(place);
      } else held.base = held.now;
    }
  }

  /** @param {string} place @param {any} formula @param {SavedValue} stored */
  #hold(place, formula, stored) {
    /** @type {Held} */
    const held = { formula, original: formula.execute, stored, seen: null, now: "", base: null };
    this.held.set(place, held);
    formula.execute = (/** @type {any[]} */ ...args) => {
      held.seen = firstOf(() => held.original.apply(formula, args));
      // An error stays the same whatever the cells hold that the formula refers to.
      held.now = JSON.stringify([held.seen, isError(held.seen) ? inputs(args) : null]);
      if (held.base !== null && held.now !== held.base) {
        this.outdated.add(place);
        return { value: "#N/A", message: CHANGED };
      }
      this.outdated.delete(place);
      return isError(stored) ? { value: stored.error, message: "the file's value" } : { value: stored };
    };
  }
}

/**
 * Mark the cells that show the file's value.
 * @param {(place: string) => boolean} isHeld
 * @param {() => void} explain
 */
export function addMarks(isHeld, explain) {
  o_spreadsheet.registries.iconsOnCellRegistry.add("value_of_file", (/** @type {any} */ _, /** @type {Position} */ position) => {
    const place = `${position.sheetId}!${o_spreadsheet.helpers.toXC(position.col, position.row)}`;
    if (!isHeld(place)) return undefined;
    return { type: "value_of_file", svg: MARK, priority: 1, horizontalAlign: "left", size: 8, margin: 1, position, onClick: explain };
  });
}

/** @param {any} evaluated @returns {SavedValue} */
export function savedValue({ value, type }) {
  if (type === "error") return { error: String(value) };
  if (typeof value === "number" && !Number.isFinite(value)) return { error: "#NUM!" };
  return type === "empty" ? null : value;
}

/** @param {SavedValue} one @param {SavedValue} other */
export function isEqual(one, other) {
  if (typeof one === "number" && typeof other === "number") return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
  if (isError(one) && isError(other)) return one.error.replace("#REF!", "#REF") === other.error.replace("#REF!", "#REF");
  return (one ?? "") === (other ?? "");
}

/** The values that a formula refers to. @param {any[]} args what the component gives it: its references, and what reads them */
function inputs([references, , range]) {
  return references.map((/** @type {any} */ reference) => range(reference).map((/** @type {ComponentCell[]} */ column) => column.map((cell) => cell.value)));
}

/** The first value of what a formula comes to. @param {() => any} compute @returns {SavedValue} */
function firstOf(compute) {
  try {
    let result = compute();
    while (Array.isArray(result)) result = result[0];
    const value = result?.value ?? null;
    return o_spreadsheet.helpers.isEvaluationError(value) ? { error: value } : value;
  } catch (error) {
    return { error: String(error) };
  }
}

/** @param {SavedValue} value @returns {value is { error: string }} */
function isError(value) {
  return typeof value === "object" && value !== null;
}

/** @param {SavedValue} value */
function isLoading(value) {
  return isError(value) && value.error.startsWith("Loading");
}
