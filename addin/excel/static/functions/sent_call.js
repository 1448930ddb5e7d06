/// <reference path="../types.d.ts" />
// A call on its way, and afterwards its result: one object for the batch that holds it and the cache that keeps it.

import { AwayError, messageOf } from "../client/exchange.js";
import { hasArrived } from "../client/result_cache.js";
import { CELL_SIZE, cellError, resultOf } from "./results.js";

/** Ends the promise that was made last. @type {(result: Result | Promise<Result>) => void} */
let ending;

/** @param {(result: Result | Promise<Result>) => void} end */
function takeEnding(end) {
  ending = end;
}

function over() {}

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
    /** Why its value is the last known one; null where it is not. @type {string | null} */
    this.staleReason = null;
    /** The result when Excel has room for it: for the cell that made the call, and for whoever asks later. @type {Promise<Result>} */
    this.result = new Promise(takeEnding);
    this.end = ending;
  }

  /** @param {Answer} answer */
  answered(answer) {
    this.size = this.#settled(answer);
    if (this.size > 0) this.staleReason = answer.stale?.reason ?? null;
    this.#ended(this.size === 0 ? 0 : 1000 * answer.fresh_s);
  }

  /** @param {Error} reason */
  failed(reason) {
    this.#fail(cellError("#N/A", reason.message));
    if (reason instanceof AwayError) void this.page.lookForBackend();
    this.#ended(0);
  }

  /** One cell less waits for it: it was deleted or calculated anew. When it was the last one, the call ends. */
  unwanted() {
    this.wanted -= 1;
    if (this.wanted > 0 || hasArrived(this)) return;
    this.isDropped = true;
    this.#fail(cellError("#N/A", "not wanted any more"));
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
      this.end(limiter.tryAcquire(size) ? result : limiter.acquire(size).then(() => result));
      return size;
    } catch (error) {
      const isCells = error instanceof CustomFunctions.Error;
      this.#fail(isCells ? error : cellError("#N/A", `the add-in's backend sent an unreadable answer (${messageOf(error)})`));
      return isCells ? CELL_SIZE : 0;
    }
  }

  /** @param {number} freshMs */
  #ended(freshMs) {
    this.freshUntilMs = this.askedMs + freshMs;
    this.end = over;
    this.page.ended(this);
  }

  /** @param {CustomFunctions.Error} error */
  #fail(error) {
    this.end(Promise.reject(error));
  }
}
