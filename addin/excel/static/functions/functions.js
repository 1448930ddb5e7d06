/// <reference path="../types.d.ts" />
// Every function of the library, tied to its id, and what the rest of the page may use of all this.

/** A workbook of 100,000 different cells fits, at about 50 MB. */
const MEMO_LIMITS = { maxEntries: 200_000, maxCells: 4_000_000, clock: () => Date.now() };

const memo = new Memo(MEMO_LIMITS);
const totals = { calls: 0, remembered: 0 };
/** @type {Set<(reply: Reply) => void>} */
const listeners = new Set();
let generation = -1;
let waiting = 0;

const batches = new Batches({
  post: (body) => exchange("functions/call", body, addin.deadlineMs),
  replied,
  clock: MEMO_LIMITS.clock,
  maxCalls: CONFIGURATION.maxCalls,
  maxBytes: CONFIGURATION.maxBytes,
});

/**
 * The result of a call as Excel made it.
 * @param {string} id
 * @param {"scalar" | "matrix"} dimensionality
 * @param {unknown[]} values
 * @returns {Promise<Result>}
 */
function called(id, dimensionality, values) {
  totals.calls += 1;
  let key;
  try {
    key = JSON.stringify(callOf(id, values));
  } catch (error) {
    return Promise.reject(error);
  }
  const known = memo.get(key);
  if (known === undefined) return asked(key, dimensionality);
  totals.remembered += 1;
  return known;
}

/**
 * @param {string} key the call as JSON
 * @param {"scalar" | "matrix"} dimensionality
 * @returns {Promise<Result>}
 */
function asked(key, dimensionality) {
  waiting += 1;
  /** @type {Known} */
  let known;
  const result = new Promise((resolve, reject) => {
    batches.add({
      text: key,
      answered(answer, sentMs) {
        waiting -= 1;
        const [shown, cells] = settled(answer, dimensionality, resolve, reject);
        // Counted from when it was asked for, so that no answer is kept longer than the backend allows.
        memo.landed(key, known, shown ? sentMs + 1000 * Number(answer.fresh_s || 0) : 0, cells);
      },
      failed(reason) {
        waiting -= 1;
        memo.landed(key, known, 0, 1);
        reject(cellError("#N/A", reason.message));
      },
    });
  });
  known = memo.await(key, result);
  return result;
}

/**
 * Settle a call; whatever the answer is, only this call suffers from it.
 * @param {Answer} answer
 * @param {"scalar" | "matrix"} dimensionality
 * @param {(result: Result) => void} resolve
 * @param {(reason: unknown) => void} reject
 * @returns {[boolean, number]} whether the answer could be read, and how many cells it has
 */
function settled(answer, dimensionality, resolve, reject) {
  try {
    const result = resultOf(answer, dimensionality);
    resolve(result);
    return [true, Array.isArray(result) ? result.length * (result[0]?.length ?? 1) : 1];
  } catch (error) {
    const known = error instanceof CustomFunctions.Error;
    reject(known ? error : cellError("#N/A", `the add-in's backend gave an answer that is none (${messageOf(error)})`));
    return [known, 1];
  }
}

/** @param {Reply} reply */
function replied(reply) {
  if (typeof reply.generation === "number" && reply.generation !== generation) {
    // Someone pressed Refresh elsewhere: what was kept from before is no longer what the backend would say.
    if (generation >= 0) memo.clearLanded();
    generation = reply.generation;
  }
  for (const listener of listeners) {
    try {
      listener(reply);
    } catch (error) {
      // A fault in the task pane must not cost a cell its value.
      console.error(error);
    }
  }
}

/** @type {PageAddin} */
const addin = {
  configuration: CONFIGURATION,
  base: BASE,
  deadlineMs: CONFIGURATION.deadlineMs,
  get waiting() {
    return waiting;
  },
  get totals() {
    return { ...totals, batches: batches.sent };
  },
  calls: () => Array.from(memo.entries.keys(), (key) => JSON.parse(key)),
  forget: () => memo.clear(),
  useKey(key) {
    memo.clear();
    if (key) headers["x-data-service-key"] = key;
    else delete headers["x-data-service-key"];
  },
  onReply(listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  ask: (path, body) => exchange(path, body === undefined ? undefined : JSON.stringify(body), addin.deadlineMs),
};
globalThis.DataServiceAddin = addin;

for (const [id, dimensionality] of Object.entries(CONFIGURATION.functions)) {
  CustomFunctions.associate(id, (/** @type {unknown[]} */ ...values) => called(id, dimensionality, values));
}
