/// <reference path="../types.d.ts" />
// What is known or on its way: one promise for equal calls, kept as long as its answer stays fresh.

/**
 * @typedef {object} Known
 * @property {Promise<Result>} result
 * @property {number} freshUntilMs Infinity while the answer is on its way
 * @property {number} size characters of the result
 */

/** Promises of results by call; where room ends, those asked for longest ago go. */
class Memo {
  /**
   * @param {{ maxEntries: number, maxSize: number, clock: () => number }} limits `clock` gives milliseconds, never set
   *   back
   */
  constructor({ maxEntries, maxSize, clock }) {
    this.maxEntries = maxEntries;
    this.maxSize = maxSize;
    this.clock = clock;
    this.size = 0;
    /** @type {Map<string, Known>} */
    this.entries = new Map();
  }

  /**
   * What is known of the call `key`, if it is fresh or on its way.
   * @param {string} key
   * @returns {Known | undefined}
   */
  get(key) {
    const known = this.entries.get(key);
    return known !== undefined && this.clock() < known.freshUntilMs ? known : undefined;
  }

  /**
   * Hold the promise of an answer that is on its way.
   * @param {string} key
   * @param {Promise<Result>} result
   * @returns {Known} to be given to `landed`
   */
  await(key, result) {
    this.#drop(key);
    const known = { result, freshUntilMs: Infinity, size: 0 };
    this.entries.set(key, known);
    return known;
  }

  /**
   * The answer is here: keep it for `freshMs` from `askedMs`, unless all was forgotten since it was asked for.
   * @param {string} key
   * @param {Known} known
   * @param {{ askedMs: number, freshMs: number, size: number }} answer
   */
  landed(key, known, { askedMs, freshMs, size }) {
    known.freshUntilMs = askedMs + freshMs;
    known.size = size;
    if (this.entries.get(key) !== known) return;
    this.size += size;
    this.#makeRoom();
  }

  /** Forget everything, also what is on its way. */
  clear() {
    this.entries.clear();
    this.size = 0;
  }

  /** Forget what has landed. */
  clearLanded() {
    for (const [key, known] of this.entries) if (hasLanded(known)) this.#drop(key);
  }

  #makeRoom() {
    if (this.entries.size <= this.maxEntries && this.size <= this.maxSize) return;
    for (const [key, known] of this.entries) {
      if (!hasLanded(known)) continue;
      this.#drop(key);
      // A tenth is freed at once, so that a full memo is not walked at every answer.
      if (this.entries.size <= this.maxEntries * 0.9 && this.size <= this.maxSize * 0.9) return;
    }
  }

  /** @param {string} key */
  #drop(key) {
    this.size -= this.entries.get(key)?.size ?? 0;
    this.entries.delete(key);
  }
}

/**
 * A clock by which nothing stays fresh for too long: it goes on by what either of two clocks tells has passed, because
 * the one on the wall may be set back, and the page's own stands still while the machine sleeps.
 * @param {() => number} wall milliseconds
 * @param {() => number} steady milliseconds
 * @returns {() => number}
 */
function longestClock(wall, steady) {
  let wallMs = wall();
  let steadyMs = steady();
  let passedMs = 0;
  return () => {
    const [wallBeforeMs, steadyBeforeMs] = [wallMs, steadyMs];
    wallMs = wall();
    steadyMs = steady();
    passedMs += Math.max(0, wallMs - wallBeforeMs, steadyMs - steadyBeforeMs);
    return passedMs;
  };
}

/** @param {Known} known */
function hasLanded(known) {
  return known.freshUntilMs !== Infinity;
}
