/// <reference path="../types.d.ts" />
// Limits how fast results go to Excel. It accepts 5 MB in one exchange, about two exchanges a second; anything more is
// never shown, and cells say #BUSY! for good. So tables beyond that wait in line.

import { pause } from "../client/timing.js";

/** What Excel accepts at once, with room for what gathers while it handles the exchange before. */
const BURST = 3_000_000;
const PER_SECOND = 2_000_000;

/** Smaller results never wait: a hundred thousand of them fit into one exchange. */
const SMALLEST_TABLE = 1_000;

/** A token bucket of characters; a table that finds it too empty waits in line. */
export class RateLimiter {
  /** @param {() => number} clock milliseconds, never set back */
  constructor(clock) {
    this.clock = clock;
    this.room = BURST;
    this.filledMs = clock();
    /** @type {{ size: number, go: () => void }[]} */
    this.line = [];
  }

  /**
   * Whether a result of `size` characters may go now; its room is used then.
   * @param {number} size
   */
  tryAcquire(size) {
    if (size >= SMALLEST_TABLE) return this.line.length === 0 && this.#acquire(size);
    this.room = Math.max(0, this.room - size);
    return true;
  }

  /**
   * Resolves when a result of `size` characters may go.
   * @param {number} size
   * @returns {Promise<void>}
   */
  acquire(size) {
    return new Promise((resolve) => {
      this.line.push({ size, go: resolve });
      if (this.line.length === 1) this.#wait();
    });
  }

  /** @param {number} size */
  #acquire(size) {
    const now = this.clock();
    this.room = Math.min(BURST, this.room + ((now - this.filledMs) / 1000) * PER_SECOND);
    this.filledMs = now;
    if (this.room < size) return false;
    this.room -= size;
    return true;
  }

  #wait() {
    const first = this.line[0];
    if (first === undefined) return;
    const missing = Math.max(0, first.size - this.room);
    void pause(Math.ceil((missing / PER_SECOND) * 1000)).then(() => this.#advance());
  }

  #advance() {
    while (this.line[0] !== undefined && this.#acquire(this.line[0].size)) this.line.shift()?.go();
    this.#wait();
  }
}
