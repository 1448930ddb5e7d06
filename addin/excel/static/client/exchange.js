/// <reference path="../types.d.ts" />
// One exchange of JSON with the backend, which ends in an answer or in a reason a user can read.

import { after, pause } from "./timing.js";

/**
 * Pauses before a request is sent again whose connection broke. Where a worker of the backend has died, another one
 * answers at once, and what the first one fetched is in their cache.
 */
const PAUSES_MS = [50, 200];

/** The same where the backend restarts, which takes some seconds. */
const RESTART_PAUSES_MS = [50, 500, 1_000, 2_000, 4_000, 8_000];

/** A deadline that comes so much later than it was set for has met a page that slept: the answer may wait behind it. */
const SLEPT_MS = 5_000;

/** What starts the backend of this page: Excel's, or that of the sheet in the browser and the pane beside its cells. */
export const STARTS = /\/sheet(?:_pane\.html)?$/.test(globalThis.location?.pathname ?? "") ? "addin sheet, or addin demo" : "addin serve";

/** The kinds of refusal after which the same request is sent again. */
const RESTARTING = "restarting";
const BUSY = "busy";

/** The backends that have answered this page: where one breaks off, it restarts; else nobody has started it. */
const answered = new Set();

/** How a proxy refuses whose backend is away, restarts or hangs; the backend's own refusals say why, in JSON. */
const OF_PROXIES = [502, 503, 504];

/** Why a request has no answer. */
export class RequestError extends Error {
  /**
   * @param {string} message a sentence that a cell can show
   * @param {string | null} [kind] the kind of error as the backend names it; "backend" where the backend itself failed
   * @param {string} [reason] the backend's own words, where the message has others around them
   * @param {number} [status] that of a refusal; 0 where there was no answer, and nobody knows what was done
   */
  constructor(message, kind = null, reason = message, status = 0) {
    super(message);
    this.kind = kind;
    this.reason = reason;
    this.status = status;
  }
}

/** The backend could not be reached: it is not running, or restarts for longer than anybody waits. */
export class AwayError extends RequestError {}

/**
 * Send a request; the promise settles within `deadlineMs`, whatever happens, and rejects with a `RequestError`.
 * @param {URL} address
 * @param {object} options
 * @param {string | null} [options.body] JSON to post; without it the address is read
 * @param {string} [options.method]
 * @param {string | null} options.key the user's own key, in a shared deployment
 * @param {number} options.deadlineMs
 * @param {AbortSignal | null} [options.signal] ends it before
 * @param {typeof fetch} [options.send]
 * @returns {Promise<any>}
 */
export async function exchange(address, options) {
  const { body = null, method = body === null ? "GET" : "POST", key, deadlineMs, signal = null } = options;
  const send = options.send ?? fetch;
  const abort = new AbortController();
  let stop = () => {};
  let cancel = () => {};
  /** Why it was sent again. @type {unknown} */
  let last = null;
  const end = new Promise((_, reject) => {
    stop = () => {
      reject(new RequestError("stopped; press Refresh to load it", "backend"));
      abort.abort();
    };
    signal?.addEventListener("abort", stop);
    const wait = (/** @type {boolean} */ isFirst) => {
      const dueMs = Date.now() + deadlineMs;
      cancel = after(deadlineMs, () => {
        if (isFirst && Date.now() - dueMs > Math.min(SLEPT_MS, deadlineMs)) return wait(false);
        // Rejected first, so that the reason is the deadline and not the connection that breaks by it.
        reject(last ?? noAnswer(`did not answer within ${deadlineMs / 1000} s; press Refresh to ask again`, AwayError));
        abort.abort();
      });
    };
    wait(true);
  });
  const headers = { "content-type": "application/json", ...(key && { "x-data-service-key": key }) };
  const once = () => send(address, { method, headers, body, cache: "no-store", signal: abort.signal });
  const { origin } = address;
  const request = answerTo({ once, origin, signal: abort.signal, again: (why) => (last = why) });
  try {
    return await Promise.race([request, end]);
  } finally {
    cancel();
    signal?.removeEventListener("abort", stop);
  }
}

/** @typedef {{ once: () => Promise<Response>, origin: string, signal: AbortSignal, again: (why: unknown) => void }} Sending */

/** @param {Sending} sending */
async function answerTo(sending) {
  const text = await textOf(sending);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw noWholeAnswer(error);
  }
}

/** @param {Sending} sending */
async function textOf({ once, origin, signal, again }) {
  let restarts = answered.has(origin);
  for (let broken = 0; ; broken += 1) {
    try {
      const text = await receivedText(once);
      answered.add(origin);
      return text;
    } catch (error) {
      const isBusy = error instanceof RequestError && error.kind === BUSY;
      if (!(error instanceof AwayError || isBusy) || signal.aborted) throw error;
      restarts ||= isBusy || error.kind === RESTARTING;
      const pauseMs = (restarts ? RESTART_PAUSES_MS : PAUSES_MS)[broken];
      if (pauseMs === undefined) {
        if (!isBusy) answered.delete(origin); // nobody waits so long a second time
        throw error;
      }
      again(error);
      await pause(pauseMs);
    }
  }
}

/** @param {() => Promise<Response>} once */
async function receivedText(once) {
  let response;
  try {
    response = await once();
  } catch (error) {
    throw noAnswer(`is not there (${messageOf(error)}); start it with: ${STARTS}`, AwayError);
  }
  if (!response.ok) throw await refusalOf(response);
  try {
    return await response.text();
  } catch (error) {
    throw noWholeAnswer(error, AwayError);
  }
}

/**
 * @param {unknown} error
 * @param {typeof RequestError} [Kind]
 */
function noWholeAnswer(error, Kind) {
  return noAnswer(`gave no whole answer (${messageOf(error)}); press Refresh to ask again`, Kind);
}

/**
 * @param {string} what
 * @param {typeof RequestError} [Kind]
 */
function noAnswer(what, Kind = RequestError) {
  return new Kind(`the add-in's backend ${what}`, "backend");
}

/** @param {Response} response */
async function refusalOf(response) {
  const body = await response.text().catch(() => "");
  let reason = "";
  let kind = null;
  let isOfBackend = true;
  try {
    const refusal = JSON.parse(body);
    reason = String(refusal.error ?? "");
    kind = typeof refusal.kind === "string" ? refusal.kind : null;
  } catch {
    isOfBackend = false; // a page instead of JSON: its status says enough
  }
  const message = `the add-in's backend refused (${response.status}${reason && `: ${reason}`})`;
  const isAway = kind === RESTARTING || (!isOfBackend && OF_PROXIES.includes(response.status));
  return new (isAway ? AwayError : RequestError)(message, isAway ? RESTARTING : kind, reason || message, response.status);
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
