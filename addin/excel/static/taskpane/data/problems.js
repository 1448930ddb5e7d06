/// <reference path="../types.d.ts" />
// What is wrong, in words: what happened and what to do, from the backend's status and its messages.

/**
 * @typedef {object} Problem
 * @property {"unreachable" | "no-key" | "refused" | "tier" | "spent" | "offline" | "other"} kind
 * @property {"error" | "warning"} severity
 * @property {string} title what happened
 * @property {string} advice what to do
 * @property {"retry" | "account" | "refresh" | null} action where it is done
 */

/** How the message of each state begins (docs: the table of errors). @type {[RegExp, Problem["kind"]][]} */
const BEGINNINGS = [
  [/the add-in's backend (is not there|did not answer|gave no)/i, "unreachable"],
  [/^no API key/i, "no-key"],
  [/^the key was refused/i, "refused"],
  [/needs the Pro tier/i, "tier"],
  [/requests are used up|monthly (request )?cap|allowance/i, "spent"],
  [/^the service did not answer/i, "offline"],
];

/** @type {Record<Problem["kind"], Omit<Problem, "kind">>} */
const WORDS = {
  unreachable: {
    severity: "error",
    title: "The add-in’s backend does not answer",
    advice: "Start it on this computer with “addin serve”. Cells keep their values until it is back.",
    action: "retry",
  },
  "no-key": {
    severity: "warning",
    title: "No API key yet",
    advice: "Add your key under Account. It is kept by this computer, never in a workbook.",
    action: "account",
  },
  refused: {
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
  spent: {
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
  other: { severity: "warning", title: "Something went wrong", advice: "", action: null },
};

/**
 * The problem that a message of the backend tells of.
 * @param {string} message
 * @returns {Problem}
 */
export function problemOf(message) {
  const kind = BEGINNINGS.find(([beginning]) => beginning.test(message))?.[1] ?? "other";
  const words = WORDS[kind];
  return kind === "other" ? { kind, ...words, advice: message } : { kind, ...words };
}

/**
 * The one problem that concerns everything, null where there is none: a failure to reach the backend, then the key,
 * then the allowance, then the service. A tier that is too low concerns the wire alone.
 * @param {Status | null} status
 * @param {string | null} failure why the backend gave no status
 * @returns {Problem | null}
 */
export function foremost(status, failure) {
  if (failure !== null) {
    const problem = problemOf(failure);
    return problem.kind === "other" ? { kind: "unreachable", ...WORDS.unreachable, advice: failure } : problem;
  }
  if (status === null) return null;
  if (!status.key.set) return { kind: "no-key", ...WORDS["no-key"] };
  const kinds = new Set(status.resources.map(kindOf));
  if (kinds.has("refused")) return { kind: "refused", ...WORDS.refused };
  if (status.quota?.remaining === 0 || kinds.has("spent")) return { kind: "spent", ...WORDS.spent };
  return kinds.has("offline") ? { kind: "offline", ...WORDS.offline } : null;
}

/**
 * @param {ResourceReport} resource
 * @returns {Problem["kind"] | null}
 */
function kindOf(resource) {
  if (resource.state === "fresh") return null;
  if (resource.last_error) return problemOf(resource.last_error).kind;
  if (resource.state === "locked") return "tier";
  if (resource.state === "spent") return "spent";
  return resource.state === "offline" ? "offline" : null;
}
