/// <reference path="../types.d.ts" />
// How fast results may go to Excel. It takes 5 MB in one exchange, about two a second; more at once is never shown, and
// cells say #BUSY! for good. So tables that would be more wait for their turn.

/** What Excel takes at once, with room for what gathers while it is busy with the exchange before. */
const BURST = 3_000_000;
const PER_SECOND = 2_000_000;

/** Smaller results never wait: a hundred thousand of them fit into one exchange. */
const SMALLEST_TABLE = 1_000;

/** A bucket of characters that fills up again; a table that finds it empty waits in line. */
class Delivery {
  /** @param {() => number} clock milliseconds, never set back */
  constructor(clock) {
    this.clock = clock;
    this.room = BURST;
    this.filledMs = clock();
    /** @type {{ size: number, go: () => void }[]} */
    this.line = [];
  }

  /**
   * Whether a result of `size` characters may go now; its room is taken then.
   * @param {number} size
   */
  take(size) {
    if (size >= SMALLEST_TABLE) return this.line.length === 0 && this.#take(size);
    this.room = Math.max(0, this.room - size);
    return true;
  }

  /**
   * Settles when a result of `size` characters may go.
   * @param {number} size
   * @returns {Promise<void>}
   */
  turn(size) {
    return new Promise((resolve) => {
      this.line.push({ size, go: resolve });
      if (this.line.length === 1) this.#wait();
    });
  }

  /** @param {number} size */
  #take(size) {
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
    setTimeout(() => this.#letGo(), Math.ceil((missing / PER_SECOND) * 1000));
  }

  #letGo() {
    while (this.line[0] !== undefined && this.#take(this.line[0].size)) this.line.shift()?.go();
    this.#wait();
  }
}
