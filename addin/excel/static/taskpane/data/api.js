/// <reference path="../types.d.ts" />
// The backend's routes, as the task pane uses them.

import { exchange } from "./exchange.js";

/** Longer than the backend's own deadline, whose message says more. */
const DEADLINE_MS = 35_000;

/** Sends the pane's requests to the backend; each rejects with a `RequestError` where it has no answer. */
export class BackendClient {
  /** @param {string} base the backend's address, with a slash at the end */
  constructor(base) {
    this.base = base;
    /** In a shared deployment: the user's own key, in this page's memory only. @type {string | null} */
    this.userKey = null;
    /** Called with the quota after calls were answered. @type {(quota: Quota | null) => void} */
    this.onReply = () => {};
  }

  /**
   * The answers to calls, in their order.
   * @param {Call[]} calls
   * @returns {Promise<Reply>}
   */
  async call(calls) {
    const reply = await this.#post("functions/call", { calls });
    this.onReply(reply.quota);
    return reply;
  }

  /**
   * What calls would spend now; spends nothing.
   * @param {Call[]} calls
   * @returns {Promise<Cost>}
   */
  cost(calls) {
    return this.#post("functions/cost", { calls });
  }

  /**
   * Answer the question whether so many requests may be sent.
   * @param {number} question
   * @param {boolean} load
   */
  answerQuestion(question, load) {
    return this.#post("functions/consent", { question, load });
  }

  /** @returns {Promise<Status>} */
  status() {
    return this.#request("status");
  }

  /** @returns {Promise<FunctionHelp[]>} */
  registry() {
    return this.#request("registry.json");
  }

  /** @param {"stale" | "force"} mode */
  refresh(mode) {
    return this.#post("refresh", { mode });
  }

  /** @param {string} key */
  saveKey(key) {
    return this.#post("key", { key });
  }

  forgetKey() {
    return this.#request("key", { method: "DELETE" });
  }

  /**
   * Take up a session that was begun in another window.
   * @param {string} session
   */
  beginSession(session) {
    return this.#post("session", { session });
  }

  /** End all sessions of who is signed in. */
  signOut() {
    return this.#post("sign-out", {});
  }

  /**
   * Store the key of who is signed in, or with null forget it.
   * @param {string | null} key
   */
  saveOwnKey(key) {
    return key === null ? this.#request("me/key", { method: "DELETE" }) : this.#post("me/key", { key });
  }

  /**
   * Ask the service once, with the key given or the one in use.
   * @param {string | null} key
   * @returns {Promise<KeyVerdict>}
   */
  testKey(key) {
    return this.#post("key/test", { key });
  }

  /**
   * @param {string} path
   * @param {unknown} content
   */
  #post(path, content) {
    return this.#request(path, { body: JSON.stringify(content) });
  }

  /**
   * @param {string} path
   * @param {{ method?: string, body?: string }} [options]
   */
  #request(path, options) {
    return exchange(new URL(path, this.base), { ...options, key: this.userKey, deadlineMs: DEADLINE_MS });
  }
}
