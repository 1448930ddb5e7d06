/// <reference path="../types.d.ts" />
// What runs in a page for Excel: every function of the library under its id, and what else the page wants to know.

import { BackendClient } from "../client/backend.js";
import { Batches } from "../client/batches.js";
import { Loading } from "../client/loading.js";
import { hasArrived, ResultCache } from "../client/result_cache.js";
import { longestClock, pause, turns } from "../client/timing.js";
import { callOf, takeInvocation } from "./arguments.js";
import { RateLimiter } from "./rate_limiter.js";
import { cellError } from "./results.js";
import { SentCall } from "./sent_call.js";

/** Room for a workbook of 100,000 different cells, and for a hundred of the longest histories. */
const CACHE = { maxEntries: 200_000, maxSize: 100_000_000 };

/** How often a page with a question looks whether it was answered elsewhere; that costs no request. */
const QUESTION_EVERY_MS = 3_000;

/** A backend that was away is looked for at first after so long, then after twice as long each time, up to the longest. */
const AWAY_MS = 1_000;
const AWAY_LONGEST_MS = 30_000;

/**
 * Excel calls our functions soon after it was told to recalculate. It takes results in about every half second, and then
 * calls the functions that depend on them.
 */
const CALLS_START_WITHIN_MS = 1_500;
const CALLS_FOLLOW_WITHIN_MS = 700;

const NO_PREVIEW = "not loaded yet; press Enter to see the value (a preview sends no request)";

/** The functions of one page, and what their answers say of it. */
export class FunctionsPage {
  /**
   * @param {Configuration} configuration
   * @param {{ base: string, send?: typeof fetch }} options the backend's address; `send` in the place of the browser's own
   */
  constructor(configuration, { base, send }) {
    this.configuration = configuration;
    this.base = base;
    this.backend = new BackendClient(base, { deadlineMs: configuration.deadlineMs, ...(send && { send }) });
    const clock = longestClock(() => Date.now(), () => performance.now());
    /** @type {ResultCache<SentCall>} */
    this.cache = new ResultCache({ ...CACHE, clock });
    this.limiter = new RateLimiter(() => performance.now());
    this.counted = { calls: 0, remembered: 0 };
    this.requests = 0;
    this.waiting = 0;
    this.askedMs = 0;
    this.generation = -1;
    this.stopping = new AbortController();
    this.listeners = { reply: new Set(), loading: new Set(), answered: new Set(), activity: new Set() };
    this.progress = new Loading(() => this.#tell("loading"));
    /** Calls on their way that nobody wants any more, which the backend is told at the end of this turn. @type {Set<string>} */
    this.unwanted = new Set();
    this.dropSoon = turns(() => this.#dropUnwanted());
    this.isLooking = { question: false, backend: false };
    this.batches = new Batches({
      post: (body) => this.backend.post(body, { query: "&pending=yes&asks=yes", signal: this.stopping.signal }),
      replied: (reply) => this.#replied(reply),
      clock: () => performance.now(),
      limits: configuration,
    });
  }

  get totals() {
    return { ...this.counted, batches: this.batches.sent };
  }

  get spent() {
    return { requests: this.requests, unanswered: this.backend.unanswered };
  }

  /** Why calls have their last known value and no newer one: each reason once. */
  get staleReasons() {
    /** @type {Set<string>} */
    const reasons = new Set();
    for (const { staleReason } of this.cache.entries.values()) if (staleReason !== null) reasons.add(staleReason);
    return reasons;
  }

  get loading() {
    return this.progress.state;
  }

  /**
   * Be told of a batch's reply, of what is loading or asked, of cells that are answered anew, or of a call's beginning and end.
   * @param {keyof FunctionsPage["listeners"]} what @param {(told?: any) => void} listener
   * @returns {() => void} ends it
   */
  on(what, listener) {
    this.listeners[what].add(listener);
    return () => void this.listeners[what].delete(listener);
  }

  /** @param {number} id @param {boolean} load */
  async answerQuestion(id, load) {
    await this.backend.answerQuestion(id, load);
    this.#answered(null);
  }

  /** A question has its answer; another one may be open. @param {Question | null} next */
  #answered(next) {
    this.progress.question = next;
    this.#tell("loading");
    this.#tell("answered");
  }

  forget() {
    this.cache.clear();
  }

  stop() {
    this.stopping.abort();
    this.stopping = new AbortController();
  }

  /** @param {string | null} key */
  useKey(key) {
    this.cache.clear();
    this.backend.userKey = key;
  }

  /** @param {string} path @param {unknown} [body] */
  ask(path, body) {
    return this.backend.ask(path, body);
  }

  /** Learn what posts have spent whose answers were lost. */
  async lookForLost() {
    this.requests += await this.backend.lookForLost();
  }

  /**
   * Resolves when Excel has made its calls since `totals.calls` was `before`, and each has its answer: at once after so
   * many as are expected; else, and where calls depend on others, when no further one comes for a while.
   * @param {{ before: number, expected: number, depend: boolean }} calls
   */
  async answersAreIn({ before, expected, depend }) {
    for (;;) {
      while (this.waiting > 0) await this.#nextActivity();
      const seen = this.counted.calls;
      const made = seen - before;
      if (made >= expected && made > 0 && !depend) return;
      await Promise.race([this.#nextActivity(), pause(made > 0 ? CALLS_FOLLOW_WITHIN_MS : CALLS_START_WITHIN_MS)]);
      if (this.counted.calls === seen && this.waiting === 0) return;
    }
  }

  /**
   * The result of a call as Excel made it.
   * @param {string} id
   * @param {unknown[]} values what Excel passed, its invocation object last
   * @returns {Promise<Result>}
   */
  resultOfCall(id, values) {
    const invocation = takeInvocation(values);
    let key;
    try {
      key = JSON.stringify(callOf(id, values));
    } catch (error) {
      this.counted.calls += 1;
      this.#tell("activity");
      return Promise.reject(error);
    }
    if (invocation.isInValuePreview === true) return this.#previewOf(key);
    this.counted.calls += 1;
    const cached = this.cache.get(key);
    if (cached === undefined) return this.#wantedBy(invocation, this.#send(key)).result;
    this.counted.remembered += 1;
    if (!hasArrived(cached)) return this.#whenArrived(this.#wantedBy(invocation, cached));
    if (this.waiting === 0) this.#tell("activity");
    return this.limiter.tryAcquire(cached.size) ? cached.result : this.#whenArrived(cached);
  }

  /**
   * A call that one more cell waits for: it ends when every one of them is deleted or recalculated before it is there.
   * @param {import("./arguments.js").Invocation} invocation
   * @param {SentCall} entry
   */
  #wantedBy(invocation, entry) {
    invocation.onCanceled = () => entry.unwanted();
    entry.wanted += 1;
    return entry;
  }

  /**
   * The result for Excel's preview of a part of a formula that someone is editing: what the page holds, even if it is no
   * longer fresh. Every click and key could ask for another preview, so none of them asks the backend.
   * @param {string} key the call as JSON
   * @returns {Promise<Result>}
   */
  #previewOf(key) {
    const known = this.cache.lastKnown(key);
    return known === undefined ? Promise.reject(cellError("#N/A", NO_PREVIEW)) : this.#whenArrived(known);
  }

  /**
   * The result of a call that another cell has made, when Excel has room for it once more.
   * @param {SentCall} entry
   */
  #whenArrived(entry) {
    return entry.result.then((result) => (this.limiter.tryAcquire(entry.size) ? result : this.limiter.acquire(entry.size).then(() => result)));
  }

  /** @param {string} key the call as JSON */
  #send(key) {
    this.waiting += 1;
    this.progress.begin();
    // Freshness counts from the first call of a batch, so that no answer is kept longer than the backend allows.
    if (this.batches.isEmpty) this.askedMs = this.cache.clock();
    const call = new SentCall(key, this.askedMs, this);
    this.batches.add(call);
    return this.cache.expect(call);
  }

  /** A call has its answer, or its error. @param {SentCall} call */
  ended(call) {
    this.cache.arrived(call);
    this.progress.end();
    this.#oneLess();
  }

  /** Nobody wants a call any more. @param {SentCall} call */
  dropped(call) {
    this.cache.cancel(call);
    this.unwanted.add(call.text);
    this.dropSoon();
    this.progress.cancel();
    this.#oneLess();
  }

  #oneLess() {
    this.waiting -= 1;
    if (this.waiting === 0) this.#tell("activity");
  }

  /** Let the backend fetch nothing more for calls that no cell made again in the meantime. */
  #dropUnwanted() {
    const keys = [...this.unwanted].filter((key) => this.cache.get(key) === undefined);
    this.unwanted.clear();
    for (const body of this.batches.bodies(keys)) void this.backend.drop(body).catch(() => undefined);
  }

  /** @param {Reply} reply */
  #replied(reply) {
    this.requests += Number(reply.requests) || 0;
    const asked = this.progress.question;
    this.progress.replied(reply);
    if (asked !== null && this.progress.question?.id !== asked.id) this.#tell("answered");
    void this.#watchQuestion();
    if (typeof reply.generation === "number" && reply.generation !== this.generation) {
      // Someone pressed Refresh elsewhere: the backend would not give the cached answers any more.
      if (this.generation >= 0) this.cache.clearArrived();
      this.generation = reply.generation;
    }
    this.#tell("reply", reply);
  }

  /** As long as a question is open, look whether it was answered elsewhere, as in another window. */
  async #watchQuestion() {
    if (this.isLooking.question) return;
    this.isLooking.question = true;
    while (this.progress.question !== null) {
      await pause(QUESTION_EVERY_MS);
      const asked = this.progress.question;
      if (asked === null) break;
      const { question } = await this.backend.status().catch(() => ({ question: asked }));
      if (this.progress.question !== asked || question?.id === asked.id) continue;
      this.#answered(question ?? null);
    }
    this.isLooking.question = false;
  }

  /** Cells failed because the backend could not be reached: they are calculated again when it is back. */
  async lookForBackend() {
    if (this.isLooking.backend) return;
    this.isLooking.backend = true;
    for (let ms = AWAY_MS; ; ms = Math.min(2 * ms, AWAY_LONGEST_MS)) {
      await pause(ms);
      if (await this.backend.request("health").then(() => true, () => false)) break;
    }
    this.isLooking.backend = false;
    this.#tell("answered");
  }

  /** @returns {Promise<void>} */
  #nextActivity() {
    return new Promise((go) => {
      const end = this.on("activity", () => {
        end();
        go();
      });
    });
  }

  /** @param {keyof FunctionsPage["listeners"]} what @param {unknown} [told] */
  #tell(what, told) {
    for (const listener of [...this.listeners[what]]) {
      try {
        listener(told);
      } catch (error) {
        // A fault in the task pane must not cost a cell its value.
        console.error(error);
      }
    }
  }
}

/**
 * Offer every function to Excel, and this page to its other scripts.
 * @param {Configuration} configuration
 * @param {string} base the backend's address, with a slash at the end
 */
export function offer(configuration, base) {
  const page = new FunctionsPage(configuration, { base });
  globalThis.DataServiceAddin = page;
  // In a browser, where the task pane runs as well, there are no custom functions.
  for (const id of typeof CustomFunctions === "undefined" ? [] : configuration.functions) {
    CustomFunctions.associate(id, (/** @type {unknown[]} */ ...values) => page.resultOfCall(id, values));
  }
}
