/// <reference path="../types.d.ts" />
// Calls made within a moment are sent to the backend together, and again for those that are still pending.

import { RequestError } from "./exchange.js";
import { turns } from "./timing.js";

/** Excel makes the calls of a recalculation in one go; a pause this long means that it has made them all. */
const QUIET_MS = 3;
const LONGEST_WAIT_MS = 20;

/** Turns of the event loop after which calls are sent even if the clock stands still. */
const MOST_TURNS = 10_000;

/**
 * So many calls do not wait for those that Excel still makes: they are answered meanwhile. Each further batch of the same
 * recalculation may hold twice as many: a post takes the page some milliseconds, however small it is.
 */
const FIRST_CALLS = 10_000;

/** What stands around the calls in a batch's JSON. */
const ENVELOPE_BYTES = 16;

/** The status of a refusal because a batch is too large. */
const TOO_LARGE = 413;

/**
 * @typedef {object} PendingCall
 * @property {string} text the call as JSON
 * @property {boolean} [isDropped] nobody wants it any more: it is not sent again, and what comes is not for it
 * @property {(answer: Answer) => void} answered
 * @property {(reason: Error) => void} failed
 */

/** @typedef {{ maxCalls: number, maxBytes: number, maxValues: number, maxCells: number }} BatchLimits */

/** Collects calls and posts them; every call passed to `add` ends in `answered` or `failed`, unless it was dropped. */
export class Batches {
  /**
   * @param {object} options
   * @param {(body: string) => Promise<Reply>} options.post
   * @param {(reply: Reply) => void} options.replied called with every reply before its calls are answered
   * @param {() => number} options.clock milliseconds, never set back
   * @param {BatchLimits} options.limits the backend's own
   */
  constructor({ post, replied, clock, limits }) {
    this.post = post;
    this.replied = replied;
    this.clock = clock;
    this.limits = limits;
    this.sent = 0;
    /** @type {PendingCall[]} */
    this.pending = [];
    this.seen = 0;
    this.turns = 0;
    this.firstMs = 0;
    this.lastMs = 0;
    this.nextTurn = turns(() => this.#look());
    this.isLooking = false;
    this.room = FIRST_CALLS;
    /** Values of the posts under way, and what waits until there is room for more. */
    this.values = 0;
    /** @type {(() => void)[]} */
    this.line = [];
  }

  /** Whether the next call is the first of a batch. */
  get isEmpty() {
    return this.pending.length === 0;
  }

  /** @param {PendingCall} call */
  add(call) {
    this.pending.push(call);
    if (this.pending.length >= this.room) return this.#flush(Math.min(2 * this.room, this.limits.maxCalls));
    if (this.pending.length > 1) return;
    this.firstMs = this.lastMs = this.clock();
    this.seen = 1;
    this.turns = 0;
    this.#lookLater();
  }

  #lookLater() {
    if (!this.isLooking) this.nextTurn();
    this.isLooking = true;
  }

  #look() {
    this.isLooking = false;
    if (this.isEmpty) return void (this.room = FIRST_CALLS);
    const now = this.clock();
    if (this.pending.length !== this.seen) {
      this.seen = this.pending.length;
      this.lastMs = now;
    }
    this.turns += 1;
    const early = now - this.lastMs < QUIET_MS && now - this.firstMs < LONGEST_WAIT_MS;
    if (early && this.turns < MOST_TURNS) this.#lookLater();
    else this.#flush(FIRST_CALLS);
  }

  /** @param {number} room how many calls the next batch holds before it leaves by itself */
  #flush(room) {
    const calls = this.pending;
    this.pending = [];
    this.room = room;
    const { batches, tooLarge } = split(calls, this.limits);
    for (const { batch, values } of batches) void this.#send(batch, values);
    for (const { call, why } of tooLarge) call.answered({ error: "#VALUE!", message: `the arguments ${why}; use a smaller range`, kind: "argument", fresh_s: 60 });
  }

  /**
   * The bodies of posts that hold these calls.
   * @param {string[]} texts
   */
  bodies(texts) {
    const calls = texts.map((text) => /** @type {PendingCall} */ ({ text }));
    return split(calls, this.limits).batches.map(({ batch }) => bodyOf(batch));
  }

  /** @param {PendingCall[]} batch @param {number} values */
  async #send(batch, values) {
    this.sent += 1;
    // The backend has room for some batches of the most values; more would be refused.
    while (this.values > 0 && this.values + values > this.limits.maxValues) await new Promise((go) => void this.line.push(() => go(null)));
    this.values += values;
    let open = batch;
    try {
      while ((open = open.filter((call) => !call.isDropped)).length > 0) open = await this.#post(open);
    } catch (error) {
      this.#failed(open, error);
    } finally {
      this.values -= values;
      for (const go of this.line.splice(0)) go();
    }
  }

  /** @param {PendingCall[]} open @param {unknown} error */
  #failed(open, error) {
    if (error instanceof RequestError && error.status === TOO_LARGE && open.length > 1) {
      // A proxy may allow less than the backend: smaller batches, until what is too large stands alone.
      const middle = Math.ceil(open.length / 2);
      for (const half of [open.slice(0, middle), open.slice(middle)]) void this.#send(half, 0);
      return;
    }
    const reason = error instanceof Error ? error : new Error(String(error));
    for (const call of open) if (!call.isDropped) call.failed(reason);
  }

  /**
   * @param {PendingCall[]} calls
   * @returns {Promise<PendingCall[]>} those that are to be posted again; the backend waits until some are answered
   */
  async #post(calls) {
    const reply = await this.post(bodyOf(calls));
    if (!Array.isArray(reply?.answers) || reply.answers.length !== calls.length) {
      const got = Array.isArray(reply?.answers) ? reply.answers.length : 0;
      throw new Error(`the add-in's backend returned ${got} answers for ${calls.length} calls; press Refresh to ask again`);
    }
    this.replied(reply);
    return calls.filter((call, index) => {
      const answer = /** @type {Answer} */ (reply.answers[index]);
      if (answer?.pending === true) return true;
      if (!call.isDropped) call.answered(answer);
      return false;
    });
  }
}

/**
 * Calls in batches within the limits, and those that are too large for any, each with the reason.
 * @template {{ text: string }} T
 * @param {T[]} calls
 * @param {BatchLimits} limits
 */
export function split(calls, limits) {
  const { maxCalls, maxBytes, maxValues, maxCells } = limits;
  const atMost = mostValues(calls, limits);
  if (atMost > 0) return { batches: [{ batch: calls, values: atMost }], tooLarge: [] };
  const batches = [{ batch: /** @type {T[]} */ ([]), values: 0 }];
  /** @type {{ call: T, why: string }[]} */
  const tooLarge = [];
  const mostBytes = maxBytes - ENVELOPE_BYTES;
  let last = /** @type {typeof batches[0]} */ (batches[0]);
  let room = mostBytes;
  for (const call of calls) {
    const values = valuesIn(call.text);
    const bytes = 1 + bytesOf(call.text, mostBytes);
    if (bytes > mostBytes || values - 1 > maxCells) {
      const why = bytes > mostBytes ? `take more than ${count(maxBytes)} bytes` : `hold ${count(values - 1)} values, more than ${count(maxCells)} in one formula (setting max_cells)`;
      tooLarge.push({ call, why });
      continue;
    }
    if (last.batch.length === maxCalls || bytes > room || last.values + values > maxValues) {
      batches.push((last = { batch: [], values: 0 }));
      room = mostBytes;
    }
    last.batch.push(call);
    last.values += values;
    room -= bytes;
  }
  return { batches: batches.filter(({ batch }) => batch.length > 0), tooLarge };
}

/**
 * The most values that calls can hold, where they fit into one batch whatever they are; else 0. Nearly all do: a value takes
 * two characters and a character at most three bytes, so that nothing has to be counted.
 * @param {{ text: string }[]} calls
 * @param {BatchLimits} limits
 */
function mostValues(calls, { maxCalls, maxBytes, maxValues, maxCells }) {
  let length = 0;
  for (const { text } of calls) {
    if (text.length > maxCells) return 0;
    length += text.length + 1;
  }
  const most = Math.ceil(length / 2);
  return calls.length <= maxCalls && 3 * length + ENVELOPE_BYTES <= maxBytes && most <= maxValues ? most : 0;
}

/** @param {PendingCall[]} calls */
function bodyOf(calls) {
  return `{"calls":[${calls.map(({ text }) => text).join(",")}]}`;
}

/**
 * The bytes that a text takes at most, counted only where they may be more than `most`.
 * @param {string} text
 * @param {number} most
 */
function bytesOf(text, most) {
  return 3 * text.length < most ? 3 * text.length : new TextEncoder().encode(text).length;
}

/** The values in JSON as the backend counts them: by the commas, also those in texts. @param {string} text */
function valuesIn(text) {
  let values = 1;
  for (let at = text.indexOf(","); at >= 0; at = text.indexOf(",", at + 1)) values += 1;
  return values;
}

/** @param {number} value */
function count(value) {
  return value.toLocaleString("en-US");
}
