/// <reference path="../types.d.ts" />
// A call on its way, and afterwards its result: one object for the batch that holds it and the cache that keeps it.

import { AwayError, messageOf } from "../client/exchange.js";
import { CELL_SIZE, cellError, resultOf } from "./results.js";

export class SentCall {
  /**
   * @param {string} text the call as JSON
   * @param {number} askedMs
   * @param {import("./page.js").FunctionsPage} page told how it ends
   */
  constructor(text, askedMs, page) {
    this.text = text;
    this.askedMs = askedMs;
    this.page = page;
    this.freshUntilMs = Infinity;
    this.size = 0;
    /** @type {import("../client/result_cache.js").Kept["keptIn"]} */
    this.keptIn = null;
    /** Cells that wait for it. */
    this.wanted = 0;
    this.isDropped = false;
    /** The result when Excel has room for it: for the cell that made the call, and for whoever asks later. @type {Promise<Result>} */
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @param {Answer} answer */
  answered(answer) {
    const size = this.#settled(answer);
    this.page.ended(this, size === 0 ? 0 : 1000 * answer.fresh_s, size);
  }

  /** @param {Error} reason */
  failed(reason) {
    this.reject?.(cellError("#N/A", reason.message));
    if (reason instanceof AwayError) void this.page.lookForBackend();
    this.page.ended(this, 0, 0);
  }

  /** End it while it is on its way, because nobody wants it any more. */
  drop() {
    if (this.isDropped) return;
    this.isDropped = true;
    this.reject?.(cellError("#N/A", "not wanted any more"));
    this.page.dropped(this);
  }

  /**
   * Settle it; whatever the answer is, no other call is affected.
   * @param {Answer} answer
   * @returns {number} the size of the result, 0 for an answer that cannot be read
   */
  #settled(answer) {
    try {
      const { result, size } = resultOf(answer);
      const { limiter } = this.page;
      this.resolve?.(limiter.tryAcquire(size) ? result : limiter.acquire(size).then(() => result));
      return size;
    } catch (error) {
      const isCells = error instanceof CustomFunctions.Error;
      this.reject?.(isCells ? error : cellError("#N/A", `the add-in's backend sent an unreadable answer (${messageOf(error)})`));
      return isCells ? CELL_SIZE : 0;
    }
  }
}
