/// <reference path="../types.d.ts" />
// One exchange of JSON with the backend, which ends in an answer or in a reason a user can read. `functions.js`
// contains it, too. The pane cannot use that copy, which waits for Microsoft's office.js; it may be slow or out of reach.

/**
 * Pauses before a request is sent again whose connection broke. Where a worker of the backend has died, another one
 * answers at once, and what the first one fetched is in their cache.
 */
const PAUSES_MS = [50, 200];

/** The same where the backend said that it is restarting, which takes some seconds. */
const RESTART_PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** The kind of refusal after which the same request is sent again. */
const RESTARTING = "restarting";

/** Why a request has no answer. */
export class RequestError extends Error {
  /**
   * @param {string} message a sentence that a cell can show
   * @param {string | null} [kind] the kind of error as the backend names it; "backend" where the backend itself failed
   * @param {string} [reason] the backend's own words, where the message has others around them
   */
  constructor(message, kind = null, reason = message) {
    super(message);
    this.kind = kind;
    this.reason = reason;
  }
}

/** The connection broke: the same request may well be answered by another worker. */
class BrokenError extends RequestError {}

/**
 * Send a request; the promise settles within `deadlineMs`, whatever happens, and rejects with a `RequestError`.
 * @param {URL} address
 * @param {object} options
 * @param {string | null} [options.body] JSON to post; without it the address is read
 * @param {string} [options.method]
 * @param {string | null} options.key the user's own key, in a shared deployment
 * @param {number} options.deadlineMs
 * @param {AbortSignal | null} [options.signal] ends it before
 * @returns {Promise<any>}
 */
export async function exchange(address, options) {
  const { body = null, method = body === null ? "GET" : "POST", key, deadlineMs, signal = null } = options;
  const abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let stop = () => {};
  const end = new Promise((_, reject) => {
    stop = () => {
      reject(new RequestError("stopped; press Refresh to load it", "backend"));
      abort.abort();
    };
    signal?.addEventListener("abort", stop);
    timer = setTimeout(() => {
      // Rejected first, so that the reason is the deadline and not the connection that breaks by it.
      reject(noAnswer(`did not answer within ${deadlineMs / 1000} s; press Refresh to ask again`));
      abort.abort();
    }, deadlineMs);
  });
  const headers = { "content-type": "application/json", ...(key && { "x-data-service-key": key }) };
  const request = answerTo(address, { method, headers, body, cache: "no-store", signal: abort.signal });
  try {
    return await Promise.race([request, end]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * @param {URL} address
 * @param {RequestInit} request
 */
async function answerTo(address, request) {
  const text = await textOf(address, request);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw noWholeAnswer(error);
  }
}

/**
 * @param {URL} address
 * @param {RequestInit} request
 */
async function textOf(address, request) {
  let pausesMs = PAUSES_MS;
  for (let broken = 0; ; broken += 1) {
    try {
      return await receivedText(address, request);
    } catch (error) {
      if (!(error instanceof BrokenError) || request.signal?.aborted) throw error;
      if (error.kind === RESTARTING && pausesMs !== RESTART_PAUSES_MS) [pausesMs, broken] = [RESTART_PAUSES_MS, 0];
      if (broken === pausesMs.length) throw error;
    }
    await new Promise((go) => setTimeout(go, pausesMs[broken]));
  }
}

/**
 * @param {URL} address
 * @param {RequestInit} request
 */
async function receivedText(address, request) {
  let response;
  try {
    response = await fetch(address, request);
  } catch (error) {
    throw noAnswer(`is not there (${messageOf(error)}); start it with: addin serve`, BrokenError);
  }
  if (!response.ok) throw await refusalOf(response);
  try {
    return await response.text();
  } catch (error) {
    throw noWholeAnswer(error, BrokenError);
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
  try {
    const refusal = JSON.parse(body);
    reason = String(refusal.error ?? "");
    kind = refusal.kind === RESTARTING ? RESTARTING : null;
  } catch {
    // A page instead of JSON: its status says enough.
  }
  const message = `the add-in's backend refused (${response.status}${reason && `: ${reason}`})`;
  return new (kind === null ? RequestError : BrokenError)(message, kind, reason || message);
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
