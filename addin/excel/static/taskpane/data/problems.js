/// <reference path="../types.d.ts" />
// What is wrong, in words: what happened and what to do, from the backend's status and the kinds of its errors.

import { AwayError, messageOf, STARTS } from "../../client/exchange.js";

/**
 * @typedef {object} Problem
 * @property {keyof typeof PROBLEMS} kind
 * @property {"error" | "warning"} severity
 * @property {string} title what happened
 * @property {string} advice what to do
 * @property {"retry" | "account" | "refresh" | "sign_in" | "probe" | null} action where it is done
 */

/** The backend's kinds of errors that the pane has its own words for; "other" stands for all others. */
const PROBLEMS = {
  backend: {
    severity: "error",
    title: "The add-in’s backend does not answer",
    advice: `Start it on this computer with “${STARTS}”. Cells keep their values until it is back.`,
    action: "retry",
  },
  sign_in: {
    severity: "warning",
    title: "Sign in to use this",
    advice: "This backend answers people who have signed in. It opens a window of your firm’s sign-in.",
    action: "sign_in",
  },
  key_missing: {
    severity: "warning",
    title: "No API key yet",
    advice: "Add your key under Account. It is kept by this computer, never in a workbook.",
    action: "account",
  },
  key_refused: {
    severity: "error",
    title: "The key was refused",
    advice: "The service does not accept this key. Enter a valid one under Account, then refresh.",
    action: "account",
  },
  tier: {
    severity: "warning",
    title: "This needs the Pro tier",
    advice: "The key’s tier is too low for the wire. Everything else works; use a Pro key to unlock it.",
    action: "account",
  },
  quota: {
    severity: "error",
    title: "This month’s requests are used up",
    advice: "Cells keep their last known values. New requests come with the new month (UTC), or with another key.",
    action: "account",
  },
  offline: {
    severity: "warning",
    title: "The service does not answer",
    advice: "Cells show their last known values. Refresh tries again; nothing is lost.",
    action: "refresh",
  },
  form: {
    severity: "warning",
    title: "The service answers in a form of its own",
    advice: "Its answers cannot be used as they are. Under Account the add-in can find out how it answers, and goes by that.",
    action: "probe",
  },
  other: { severity: "warning", title: "Something went wrong", advice: "", action: null },
};

/** The functions that the service refuses with a Free key. */
const PRO_FUNCTIONS = ["WIRE"];

/**
 * The problem behind an error: its kind's words, or its own where the pane has none for it.
 * @param {unknown} error
 * @returns {Problem}
 */
export function problemOf(error) {
  if (error instanceof AwayError) return problem("backend");
  const { kind, reason } = /** @type {Partial<import("../../client/exchange.js").RequestError>} */ (error);
  if (kind && kind in PROBLEMS) return problem(/** @type {Problem["kind"]} */ (kind));
  return { ...problem("other"), advice: reason ?? messageOf(error) };
}

/**
 * The one problem that concerns everything, null where there is none: a failure to reach the backend, then the key,
 * then the quota, then the service. A tier that is too low concerns the wire alone.
 * @param {Status | null} status
 * @param {unknown} failure why the backend gave no status
 * @returns {Problem | null}
 */
export function foremost(status, failure) {
  if (failure !== null) {
    const found = problemOf(failure);
    return found.kind === "other" ? { ...problem("backend"), advice: found.advice } : found;
  }
  if (status === null) return null;
  if (!status.key.set) return problem("key_missing");
  const kinds = status.resources.filter(({ state }) => state !== "fresh").map((each) => each.last_error_kind);
  if (kinds.includes("key_refused")) return problem("key_refused");
  if (status.quota?.remaining === 0 || kinds.includes("quota")) return problem("quota");
  if (kinds.includes("form")) return problem("form");
  return kinds.includes("offline") ? problem("offline") : null;
}

/**
 * The problem that the key's tier is too low for a function, as far as it is known without asking; null where it is not.
 * @param {string} functionId
 * @param {Status | null} status
 */
export function lockedFor(functionId, status) {
  return PRO_FUNCTIONS.includes(functionId) && status?.quota?.tier.toLowerCase() === "free" ? problem("tier") : null;
}

/**
 * @param {Problem["kind"]} kind
 * @returns {Problem}
 */
function problem(kind) {
  return /** @type {Problem} */ ({ kind, ...PROBLEMS[kind] });
}
