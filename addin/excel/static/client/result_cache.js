/// <reference path="../types.d.ts" />
// Results that are fresh or on their way: equal calls share one promise, kept as long as its answer stays fresh.

/**
 * @typedef {object} CachedResult
 * @property {Promise<Result>} result
 * @property {number} freshUntilMs Infinity while the answer is on its way
 * @property {number} size characters of the result
 * @property {number} wanted cells that wait for it
 * @property {() => void} cancel end it while it is on its way; it is forgotten
 */

/** Promises of results by call; when it is full, the oldest are dropped. */
export class ResultCache {
  /**
   * @param {{ maxEntries: number, maxSize: number, clock: () => number }} limits `clock` returns milliseconds and never
   *   goes back
   */
  constructor({ maxEntries, maxSize, clock }) {
    this.maxEntries = maxEntries;
    this.maxSize = maxSize;
    this.clock = clock;
    this.size = 0;
    /** @type {Map<string, CachedResult>} */
    this.entries = new Map();
  }

  /**
   * The entry of the call `key`, if it is fresh or on its way.
   * @param {string} key
   * @returns {CachedResult | undefined}
   */
  get(key) {
    const entry = this.entries.get(key);
    return entry !== undefined && this.clock() < entry.freshUntilMs ? entry : undefined;
  }

  /**
   * The entry of the call `key` as long as it is held, however old it is.
   * @param {string} key
   * @returns {CachedResult | undefined}
   */
  lastKnown(key) {
    return this.entries.get(key);
  }

  /**
   * Add the promise of an answer that is on its way.
   * @param {string} key
   * @param {Promise<Result>} result
   * @param {() => void} cancelled called when nobody waits for it any more
   * @returns {CachedResult} to be passed to `arrived`
   */
  expect(key, result, cancelled) {
    this.#drop(key);
    const cancel = () => {
      if (this.entries.get(key) === entry) this.#drop(key);
      cancelled();
    };
    const entry = { result, freshUntilMs: Infinity, size: 0, wanted: 0, cancel };
    this.entries.set(key, entry);
    return entry;
  }

  /**
   * The answer is here: keep it for `freshMs` from `askedMs`, unless the cache was cleared since.
   * @param {string} key
   * @param {CachedResult} entry
   * @param {{ askedMs: number, freshMs: number, size: number }} answer
   */
  arrived(key, entry, { askedMs, freshMs, size }) {
    entry.freshUntilMs = askedMs + freshMs;
    entry.size = size;
    if (this.entries.get(key) !== entry) return;
    // The arguments are held, too: a range can be larger than what it leads to.
    this.size += size + key.length;
    this.#makeRoom();
  }

  /** Forget everything, including what is on its way. */
  clear() {
    this.entries.clear();
    this.size = 0;
  }

  /** Forget what has arrived. */
  clearArrived() {
    for (const [key, entry] of this.entries) if (hasArrived(entry)) this.#drop(key);
  }

  #makeRoom() {
    if (this.entries.size <= this.maxEntries && this.size <= this.maxSize) return;
    for (const [key, entry] of this.entries) {
      if (!hasArrived(entry)) continue;
      this.#drop(key);
      // A tenth is freed at once, so that a full cache is not walked at every answer.
      if (this.entries.size <= this.maxEntries * 0.9 && this.size <= this.maxSize * 0.9) return;
    }
  }

  /** @param {string} key */
  #drop(key) {
    const entry = this.entries.get(key);
    if (entry !== undefined && hasArrived(entry)) this.size -= entry.size + key.length;
    this.entries.delete(key);
  }
}

/** @param {CachedResult} entry */
export function hasArrived(entry) {
  return entry.freshUntilMs !== Infinity;
}
