/// <reference path="../types.d.ts" />
// The backend's routes, as the functions, the task pane and the sheet use them.

import { exchange, RequestError } from "./exchange.js";

/** Longer than the backend's own deadline, whose message says more. */
const DEADLINE_MS = 35_000;

/** So many lost posts are named at once; of more, nobody learns what they have spent. */
const MOST_LOST = 100;

/** In so many posts: a lost one may end after it was named, where several processes answer. */
const NAMED_TIMES = 3;

/** @typedef {{ id: string, named: number }} LostPost how often it was named in posts that have an answer */

/** Sends a page's requests to the backend; each rejects with a `RequestError` where it has no answer. */
export class BackendClient {
  /**
   * @param {string} base the backend's address, with a slash at the end
   * @param {{ deadlineMs?: number, send?: typeof fetch }} [options] `send` in the place of the browser's own
   */
  constructor(base, { deadlineMs = DEADLINE_MS, send } = {}) {
    this.base = base;
    this.deadlineMs = deadlineMs;
    this.send = send;
    /** In a shared deployment: the user's own key, in this page's memory only. @type {string | null} */
    this.userKey = null;
    /** Called with the quota after calls were answered. @type {(quota: Quota | null) => void} */
    this.onReply = () => {};
    /** Posts of calls without an answer: what they have spent is told with a later one. @type {LostPost[]} */
    this.lost = [];
    /** Whether calls were dropped: a request may have been under way for them. */
    this.hasDropped = false;
  }

  /** How many posts may have spent what nobody was told of. */
  get unanswered() {
    return this.lost.filter(({ named }) => named === 0).length;
  }

  /**
   * Ask for JSON.
   * @param {string} path
   * @param {{ method?: string, body?: string | null, signal?: AbortSignal | null }} [options]
   * @returns {Promise<any>}
   */
  request(path, options) {
    const { base, userKey: key, deadlineMs, send } = this;
    return exchange(new URL(path, base), { ...options, key, deadlineMs, ...(send && { send }) });
  }

  /**
   * Post calls. The post has an id, by which the backend tells once more what a lost answer had told.
   * @param {string} body
   * @param {{ query?: string, signal?: AbortSignal | null }} [options]
   * @returns {Promise<Reply>}
   */
  async post(body, { query = "", signal = null } = {}) {
    const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`.replace(".", "");
    const lost = this.lost.splice(0, MOST_LOST);
    const named = lost.length ? `&lost=${lost.map((each) => each.id).join(",")}` : "";
    try {
      const reply = await this.request(`functions/call?post=${id}${named}${query}`, { body, signal });
      const again = lost.map((each) => ({ ...each, named: each.named + 1 }));
      this.lost.push(...again.filter((each) => each.named < NAMED_TIMES));
      return reply;
    } catch (error) {
      const isRefused = error instanceof RequestError && error.status > 0 && error.status < 500;
      this.lost.push(...lost, ...(isRefused ? [] : [{ id, named: 0 }]));
      throw error;
    }
  }

  /** Let nothing more be fetched for the calls of a batch that was posted. @param {string} body */
  drop(body) {
    this.hasDropped = true;
    return this.request("functions/drop", { body });
  }

  /** Learn what was spent that no answer has told, if the backend can be reached: the requests. */
  async lookForLost() {
    if (this.unanswered === 0 && !this.hasDropped) return 0;
    this.hasDropped = false;
    const { requests } = await this.post('{"calls":[]}').catch(() => ({ requests: 0 }));
    return requests;
  }

  /**
   * The answers to calls, in their order.
   * @param {Call[]} calls
   */
  async call(calls) {
    const reply = await this.post(JSON.stringify({ calls }));
    this.onReply(reply.quota);
    return reply;
  }

  /**
   * What calls would spend now, or after a refresh; spends nothing.
   * @param {Call[]} calls
   * @param {"stale" | "force"} [refresh]
   * @returns {Promise<Cost>}
   */
  cost(calls, refresh) {
    return this.ask(`functions/cost${refresh ? `?refresh=${refresh}` : ""}`, { calls });
  }

  /**
   * Answer the question whether so many requests may be sent.
   * @param {number} question
   * @param {boolean} load
   */
  answerQuestion(question, load) {
    return this.ask("functions/consent", { question, load });
  }

  /** What to change in a formula that cannot be read. @param {string} formula @returns {Promise<Advice>} */
  advice(formula) {
    return this.ask("functions/advice", { formula });
  }

  /** @returns {Promise<Status>} */
  status() {
    return this.ask("status");
  }

  /**
   * The answer of any other route: with a body it is posted to.
   * @param {string} path
   * @param {unknown} [content]
   * @param {string} [method]
   */
  ask(path, content, method) {
    return this.request(path, { body: content === undefined ? null : JSON.stringify(content), ...(method && { method }) });
  }
}
