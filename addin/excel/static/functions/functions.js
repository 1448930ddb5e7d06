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
  clock: () => performance.now(),
  maxCalls: CONFIGURATION.maxCalls,
  maxBytes: CONFIGURATION.maxBytes,
});

/**
 * The result of a call as Excel made it.
 * @param {string} id
 * @param {unknown[]} values
 * @returns {Promise<Result>}
 */
function called(id, values) {
  totals.calls += 1;
  let key;
  try {
    key = JSON.stringify(callOf(id, values));
  } catch (error) {
    return Promise.reject(error);
  }
  const known = memo.get(key);
  if (known === undefined) return asked(key);
  totals.remembered += 1;
  return known;
}

/**
 * @param {string} key the call as JSON
 * @returns {Promise<Result>}
 */
function asked(key) {
  waiting += 1;
  // Freshness counts from when the call is made, so that no answer is kept longer than the backend allows.
  const askedMs = memo.clock();
  /** @type {Known} */
  let known;
  const result = new Promise((resolve, reject) => {
    batches.add({
      text: key,
      answered(answer) {
        waiting -= 1;
        const cells = settled(answer, resolve, reject);
        memo.landed(key, known, { askedMs, freshMs: cells === 0 ? 0 : 1000 * answer.fresh_s, cells });
      },
      failed(reason) {
        waiting -= 1;
        memo.landed(key, known, { askedMs, freshMs: 0, cells: 0 });
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
 * @param {(result: Result) => void} resolve
 * @param {(reason: unknown) => void} reject
 * @returns {number} how many cells it has, 0 for an answer that cannot be read
 */
function settled(answer, resolve, reject) {
  try {
    const result = resultOf(answer);
    resolve(result);
    return result.length * (result[0]?.length ?? 1);
  } catch (error) {
    const known = error instanceof CustomFunctions.Error;
    reject(known ? error : cellError("#N/A", `the add-in's backend gave an answer that is none (${messageOf(error)})`));
    return known ? 1 : 0;
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

for (const id of CONFIGURATION.functions) {
  CustomFunctions.associate(id, (/** @type {unknown[]} */ ...values) => called(id, values));
}
