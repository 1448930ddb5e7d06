/// <reference path="../types.d.ts" />
// Results that are fresh or on their way: equal calls share one, kept as long as its answer stays fresh.

/**
 * @typedef {object} Kept what is kept of a call
 * @property {string} text the call as JSON, by which it is found
 * @property {number} freshUntilMs Infinity while its answer is on its way
 * @property {number} size characters of the result
 * @property {Map<string, Kept> | null} keptIn the entries that it is among
 */

/**
 * Results by call; when it is full, the oldest are dropped.
 * @template {Kept} Entry
 */
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
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
  }

  /**
   * The entry of the call `key`, if it is fresh or on its way.
   * @param {string} key
   * @returns {Entry | undefined}
   */
  get(key) {
    const entry = this.entries.get(key);
    return entry !== undefined && this.clock() < entry.freshUntilMs ? entry : undefined;
  }

  /**
   * The entry of the call `key` as long as it is held, however old it is.
   * @param {string} key
   * @returns {Entry | undefined}
   */
  lastKnown(key) {
    return this.entries.get(key);
  }

  /** Add a call whose answer is on its way. @param {Entry} entry */
  expect(entry) {
    const before = this.entries.get(entry.text);
    if (before !== undefined) this.#drop(before);
    entry.keptIn = this.entries;
    this.entries.set(entry.text, entry);
    return entry;
  }

  /** Forget a call that nobody waits for any more, unless another one has taken its place. @param {Entry} entry */
  cancel(entry) {
    if (entry.keptIn === this.entries) this.#drop(entry);
  }

  /** The answer is here: keep it as long as it is fresh, unless the cache was cleared since. @param {Entry} entry */
  arrived(entry) {
    if (entry.keptIn !== this.entries) return;
    this.size += weightOf(entry);
    this.#makeRoom();
  }

  /** Forget everything, including what is on its way. */
  clear() {
    this.entries = new Map();
    this.size = 0;
  }

  /** Forget what has arrived. */
  clearArrived() {
    for (const entry of this.entries.values()) if (hasArrived(entry)) this.#drop(entry);
  }

  #makeRoom() {
    if (this.entries.size <= this.maxEntries && this.size <= this.maxSize) return;
    for (const entry of this.entries.values()) {
      if (!hasArrived(entry)) continue;
      this.#drop(entry);
      // A tenth is freed at once, so that a full cache is not walked at every answer.
      if (this.entries.size <= this.maxEntries * 0.9 && this.size <= this.maxSize * 0.9) return;
    }
  }

  /** @param {Entry} entry */
  #drop(entry) {
    if (hasArrived(entry)) this.size -= weightOf(entry);
    entry.keptIn = null;
    this.entries.delete(entry.text);
  }
}

/** @param {Kept} entry */
export function hasArrived(entry) {
  return entry.freshUntilMs !== Infinity;
}

/** The arguments are held, too: a range can be larger than what it leads to. @param {Kept} entry */
function weightOf(entry) {
  return entry.size + entry.text.length;
}
