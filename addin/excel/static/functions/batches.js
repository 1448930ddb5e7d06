/// <reference path="../types.d.ts" />
// Calls made within a moment are sent to the backend together, and again for those that are still pending.

/** Excel makes the calls of a recalculation in one go; a pause this long means that it has made them all. */
const QUIET_MS = 3;
const LONGEST_WAIT_MS = 20;

/** Turns of the event loop after which calls are sent even if the clock stands still. */
const MOST_TURNS = 10_000;

/** What stands around the calls in a batch's JSON. */
const ENVELOPE_BYTES = 16;

/**
 * @typedef {object} PendingCall
 * @property {string} text the call as JSON
 * @property {boolean} [dropped] nobody wants it any more: it is not sent again, and what comes is not for it
 * @property {(answer: Answer) => void} answered
 * @property {(reason: Error) => void} failed
 */

/** Collects calls and posts them; every call passed to `add` ends in `answered` or `failed`, unless it was dropped. */
class Batches {
  /**
   * @param {object} options
   * @param {(body: string) => Promise<Reply>} options.post
   * @param {(reply: Reply) => void} options.replied called with every reply before its calls are answered
   * @param {() => number} options.clock milliseconds, never set back
   * @param {number} options.maxCalls
   * @param {number} options.maxBytes
   */
  constructor({ post, replied, clock, maxCalls, maxBytes }) {
    this.post = post;
    this.replied = replied;
    this.clock = clock;
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
    this.sent = 0;
    this.unanswered = 0;
    /** @type {PendingCall[]} */
    this.pending = [];
    this.seen = 0;
    this.turns = 0;
    this.firstMs = 0;
    this.lastMs = 0;
    this.nextTurn = turns(() => this.#look());
  }

  /** @param {PendingCall} call */
  add(call) {
    this.pending.push(call);
    if (this.pending.length > 1) return;
    this.firstMs = this.lastMs = this.clock();
    this.seen = 1;
    this.turns = 0;
    this.nextTurn();
  }

  #look() {
    const now = this.clock();
    if (this.pending.length !== this.seen) {
      this.seen = this.pending.length;
      this.lastMs = now;
    }
    this.turns += 1;
    const early = now - this.lastMs < QUIET_MS && now - this.firstMs < LONGEST_WAIT_MS;
    if (early && this.turns < MOST_TURNS) return this.nextTurn();
    const calls = this.pending;
    this.pending = [];
    for (const batch of this.#split(calls)) void this.#send(batch);
  }

  /**
   * @param {PendingCall[]} calls
   * @returns {PendingCall[][]}
   */
  #split(calls) {
    const batches = [];
    /** @type {PendingCall[]} */
    let batch = [];
    let room = 0;
    for (const call of calls) {
      const bytes = bytesOf(call.text) + 1;
      if (batch.length === this.maxCalls || bytes > room) {
        batch = [];
        batches.push(batch);
        room = this.maxBytes - ENVELOPE_BYTES;
      }
      batch.push(call);
      room -= bytes;
    }
    return batches;
  }

  /**
   * The bodies of posts that hold these calls.
   * @param {PendingCall[]} calls
   */
  bodies(calls) {
    return this.#split(calls).map(bodyOf);
  }

  /** @param {PendingCall[]} batch */
  async #send(batch) {
    this.sent += 1;
    let open = batch;
    try {
      while ((open = open.filter((call) => !call.dropped)).length > 0) open = await this.#post(open);
    } catch (error) {
      this.unanswered += 1;
      const reason = error instanceof Error ? error : new Error(String(error));
      for (const call of open) if (!call.dropped) call.failed(reason);
    }
  }

  /**
   * @param {PendingCall[]} calls
   * @returns {Promise<PendingCall[]>} those that are to be posted again; the backend waits until some are answered
   */
  async #post(calls) {
    const reply = await this.post(bodyOf(calls));
    if (!Array.isArray(reply?.answers) || reply.answers.length !== calls.length) {
      throw new Error("the add-in's backend answered another number of calls; press Refresh to ask again");
    }
    this.replied(reply);
    return calls.filter((call, index) => {
      const answer = /** @type {Answer} */ (reply.answers[index]);
      if (answer?.pending === true) return true;
      if (!call.dropped) call.answered(answer);
      return false;
    });
  }
}

/** @param {PendingCall[]} calls */
function bodyOf(calls) {
  return `{"calls":[${calls.map(({ text }) => text).join(",")}]}`;
}

/** @param {string} text */
function bytesOf(text) {
  // A character outside ASCII takes at most three bytes; exactness is worth nothing here.
  return /^[\x20-\x7e]*$/.test(text) ? text.length : text.length * 3;
}

/**
 * A function that runs `look` once in a later turn of the event loop. It uses a channel and not a timer: the page is
 * hidden most of the time, and browsers delay the timers of hidden pages by up to a minute.
 * @param {() => void} look
 * @returns {() => void}
 */
function turns(look) {
  if (typeof MessageChannel === "undefined") return () => void setTimeout(look, 0);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = look;
  return () => port2.postMessage(null);
}
