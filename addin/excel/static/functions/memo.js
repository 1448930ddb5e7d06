/// <reference path="../types.d.ts" />
// What is known or on its way: one promise for equal calls, kept as long as its answer stays fresh.

/**
 * @typedef {object} Known
 * @property {Promise<Result>} result
 * @property {number} freshFromMs before it, the clock was set back, and freshness cannot be told
 * @property {number} freshUntilMs Infinity while the answer is on its way
 * @property {number} cells how much of the memo's room it takes
 */

/** Promises of results by call; where room ends, those asked for longest ago go. */
class Memo {
  /**
   * @param {{ maxEntries: number, maxCells: number, clock: () => number }} limits `clock` gives milliseconds
   */
  constructor({ maxEntries, maxCells, clock }) {
    this.maxEntries = maxEntries;
    this.maxCells = maxCells;
    this.clock = clock;
    this.cells = 0;
    /** @type {Map<string, Known>} */
    this.entries = new Map();
  }

  /**
   * The promise for the call `key` that is fresh or on its way.
   * @param {string} key
   */
  get(key) {
    const known = this.entries.get(key);
    if (known === undefined) return undefined;
    const now = this.clock();
    return known.freshFromMs <= now && now < known.freshUntilMs ? known.result : undefined;
  }

  /**
   * Hold the promise of an answer that is on its way.
   * @param {string} key
   * @param {Promise<Result>} result
   * @returns {Known} to be given to `landed`
   */
  await(key, result) {
    this.#drop(key);
    const known = { result, freshFromMs: -Infinity, freshUntilMs: Infinity, cells: 1 };
    this.entries.set(key, known);
    this.cells += 1;
    return known;
  }

  /**
   * The answer is here: keep it for `freshMs` from `askedMs`, unless all was forgotten since it was asked for.
   * @param {string} key
   * @param {Known} known
   * @param {{ askedMs: number, freshMs: number, cells: number }} answer
   */
  landed(key, known, { askedMs, freshMs, cells }) {
    if (this.entries.get(key) !== known) return;
    known.freshFromMs = askedMs;
    known.freshUntilMs = askedMs + freshMs;
    this.cells += cells - known.cells;
    known.cells = cells;
    this.#makeRoom();
  }

  /** Forget everything, also what is on its way. */
  clear() {
    this.entries.clear();
    this.cells = 0;
  }

  /** Forget what has landed. */
  clearLanded() {
    for (const [key, known] of this.entries) if (known.freshUntilMs !== Infinity) this.#drop(key);
  }

  #makeRoom() {
    if (this.entries.size <= this.maxEntries && this.cells <= this.maxCells) return;
    for (const [key, known] of this.entries) {
      if (known.freshUntilMs === Infinity) continue;
      this.#drop(key);
      // A tenth is freed at once, so that a full memo is not walked at every answer.
      if (this.entries.size <= this.maxEntries * 0.9 && this.cells <= this.maxCells * 0.9) return;
    }
  }

  /** @param {string} key */
  #drop(key) {
    this.cells -= this.entries.get(key)?.cells ?? 0;
    this.entries.delete(key);
  }
}
