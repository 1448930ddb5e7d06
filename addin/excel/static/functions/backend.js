/// <reference path="../types.d.ts" />
// The way to the backend: one exchange of JSON, which ends in an answer or in a reason a user can read.

/** The backend's address: where this script came from, else the page, else what the server knows itself by. */
const BASE = new URL(".", scriptAddress()).href;

/** @type {Record<string, string>} */
const headers = { "content-type": "application/json" };

function scriptAddress() {
  if (typeof document !== "undefined" && document.currentScript instanceof HTMLScriptElement) {
    if (document.currentScript.src) return document.currentScript.src;
  }
  return typeof location !== "undefined" && location.protocol.startsWith("http") ? location.href : CONFIGURATION.base;
}

/**
 * Ask the backend; the promise settles within `deadlineMs`, whatever happens.
 * @param {string} path
 * @param {string | undefined} body JSON to post; without one the path is read
 * @param {number} deadlineMs
 * @returns {Promise<any>}
 */
async function exchange(path, body, deadlineMs) {
  const abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => {
      // Rejected first, so that the reason is the deadline and not the connection that breaks by it.
      reject(
        new Error(`the add-in's backend did not answer within ${deadlineMs / 1000} s; press Refresh to ask again`),
      );
      abort.abort();
    }, deadlineMs);
  });
  const request = body === undefined ? { headers } : { method: "POST", headers, body };
  try {
    return await Promise.race([answerTo(path, { ...request, cache: "no-store", signal: abort.signal }), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} path
 * @param {RequestInit} request
 */
async function answerTo(path, request) {
  let response;
  try {
    response = await fetch(new URL(path, BASE), request);
  } catch (error) {
    throw new Error(`the add-in's backend is not there (${messageOf(error)}); start it with: addin serve`);
  }
  if (!response.ok) throw new Error(await refusalOf(response));
  try {
    return JSON.parse(await response.text());
  } catch (error) {
    throw new Error(`the add-in's backend gave no whole answer (${messageOf(error)}); press Refresh to ask again`);
  }
}

/** @param {Response} response */
async function refusalOf(response) {
  const body = await response.text().catch(() => "");
  let reason = "";
  try {
    reason = String(JSON.parse(body).error ?? "");
  } catch {
    // A page instead of JSON: its status says enough.
  }
  return `the add-in's backend refused (${response.status}${reason && `: ${reason}`})`;
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
