/// <reference path="../types.d.ts" />
// The way to the backend: every exchange ends in an answer or in a reason a user can read. It is the pane's own, because
// the functions' script waits for Microsoft's office.js, which may be slow or out of reach, and the pane does not.

/** Longer than the backend's own deadline, whose message says more. */
const DEADLINE_MS = 35_000;

const JSON_HEADERS = { "content-type": "application/json" };

/** Asks the backend, and tells listeners when calls were answered. */
export class Backend {
  /**
   * @param {object} options
   * @param {string} options.base the backend's address, with a slash at the end
   * @param {typeof globalThis.fetch} [options.fetch]
   * @param {number} [options.deadlineMs]
   */
  constructor({ base, fetch = (input, init) => globalThis.fetch(input, init), deadlineMs = DEADLINE_MS }) {
    this.base = base;
    this.fetch = fetch;
    this.deadlineMs = deadlineMs;
    /** @type {Set<(quota: Quota | null) => void>} */
    this.listeners = new Set();
    /** In a shared deployment: the user's own key, in this page's memory only. @type {string | null} */
    this.userKey = null;
  }

  /** @param {(quota: Quota | null) => void} listener told after calls were answered */
  onReply(listener) {
    this.listeners.add(listener);
  }

  /**
   * The answers to calls, in their order.
   * @param {Call[]} calls
   * @returns {Promise<Reply>}
   */
  call(calls) {
    return this.#ask("functions/call", "POST", { calls });
  }

  /**
   * What calls would spend now; spends nothing.
   * @param {Call[]} calls
   * @returns {Promise<Cost>}
   */
  cost(calls) {
    return this.#ask("functions/cost", "POST", { calls });
  }

  /** @returns {Promise<Status>} */
  status() {
    return this.#ask("status", "GET");
  }

  /** @returns {Promise<FunctionHelp[]>} */
  registry() {
    return this.#ask("registry.json", "GET");
  }

  /** @param {"stale" | "force"} mode */
  refresh(mode) {
    return this.#ask("refresh", "POST", { mode });
  }

  /** @param {string} key */
  saveKey(key) {
    return this.#ask("key", "POST", { key });
  }

  forgetKey() {
    return this.#ask("key", "DELETE");
  }

  /**
   * Ask the service once, with the key given or the one in use.
   * @param {string | null} key
   * @returns {Promise<KeyVerdict>}
   */
  testKey(key) {
    return this.#ask("key/test", "POST", { key });
  }

  /**
   * @param {string} path
   * @param {"GET" | "POST" | "DELETE"} method
   * @param {unknown} [body]
   * @returns {Promise<any>}
   */
  async #ask(path, method, body) {
    const reply = await this.#exchange(path, method, body);
    if (path === "functions/call") for (const listener of this.listeners) listener(reply.quota);
    return reply;
  }

  /**
   * @param {string} path
   * @param {string} method
   * @param {unknown} body
   */
  async #exchange(path, method, body) {
    const headers = this.userKey ? { ...JSON_HEADERS, "x-data-service-key": this.userKey } : JSON_HEADERS;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.deadlineMs);
    /** @type {RequestInit} */
    const request = { method, headers, cache: "no-store", signal: abort.signal };
    if (body !== undefined) request.body = JSON.stringify(body);
    try {
      return await this.#answer(new URL(path, this.base), request);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      throw new Error(`the add-in's backend did not answer within ${this.deadlineMs / 1000} s`);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @param {URL} address
   * @param {RequestInit} request
   */
  async #answer(address, request) {
    let response;
    try {
      response = await this.fetch(address, request);
    } catch (error) {
      throw new Error(`the add-in's backend is not there (${messageOf(error)})`);
    }
    const text = await response.text();
    const content = parsed(text);
    if (!response.ok) throw new Error(String(content?.error ?? `the add-in's backend refused (${response.status})`));
    if (content === undefined) throw new Error("the add-in's backend gave no whole answer");
    return content;
  }
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
