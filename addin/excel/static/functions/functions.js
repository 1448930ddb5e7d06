/// <reference path="../types.d.ts" />
// Every function of the library, tied to its id, and what the rest of the page may use of all this.

/** A workbook of 100,000 different cells fits, and a hundred of the longest histories. */
const memo = new Memo({
  maxEntries: 200_000,
  maxSize: 100_000_000,
  clock: longestClock(
    () => Date.now(),
    () => performance.now(),
  ),
});
const delivery = new Delivery(() => performance.now());
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
  if (known === undefined) return arrival(asked(key));
  totals.remembered += 1;
  return hasLanded(known) ? delivered(known) : arrival(known);
}

/**
 * A result that is on its way, when Excel has room for it: equal calls share an answer, but each takes its room.
 * @param {Known} known
 * @returns {Promise<Result>}
 */
async function arrival(known) {
  await known.result;
  return delivered(known);
}

/**
 * @param {Known} known
 * @returns {Promise<Result>}
 */
function delivered(known) {
  return delivery.take(known.size) ? known.result : delivery.turn(known.size).then(() => known.result);
}

/**
 * @param {string} key the call as JSON
 * @returns {Known}
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
        const size = settled(answer, resolve, reject);
        memo.landed(key, known, { askedMs, freshMs: size === 0 ? 0 : 1000 * answer.fresh_s, size });
      },
      failed(reason) {
        waiting -= 1;
        memo.landed(key, known, { askedMs, freshMs: 0, size: 0 });
        reject(cellError("#N/A", reason.message));
      },
    });
  });
  known = memo.await(key, result);
  return known;
}

/**
 * Settle a call; whatever the answer is, only this call suffers from it.
 * @param {Answer} answer
 * @param {(result: Result) => void} resolve
 * @param {(reason: unknown) => void} reject
 * @returns {number} the size of the result, 0 for an answer that cannot be read
 */
function settled(answer, resolve, reject) {
  try {
    const { result, size } = resultOf(answer);
    resolve(result);
    return size;
  } catch (error) {
    const known = error instanceof CustomFunctions.Error;
    reject(known ? error : cellError("#N/A", `the add-in's backend gave an answer that is none (${messageOf(error)})`));
    return known ? CELL_SIZE : 0;
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

// A page in a browser, where the task pane runs as well, has no custom functions.
for (const id of typeof CustomFunctions === "undefined" ? [] : CONFIGURATION.functions) {
  CustomFunctions.associate(id, (/** @type {unknown[]} */ ...values) => called(id, values));
}
