/// <reference path="../types.d.ts" />
// Every function of the library under its id, and what this script offers to the rest of the page.

/** The backend's address: where this script came from, else the page's, else what the server calls itself. */
const BASE = new URL(".", scriptAddress()).href;

/** Room for a workbook of 100,000 different cells, and for a hundred of the longest histories. */
const cache = new ResultCache({
  maxEntries: 200_000,
  maxSize: 100_000_000,
  clock: longestClock(
    () => Date.now(),
    () => performance.now(),
  ),
});
const limiter = new RateLimiter(() => performance.now());
const totals = { calls: 0, remembered: 0 };
let requestsSpent = 0;
/** @type {Set<(reply: Reply) => void>} */
const listeners = new Set();
/** @type {Set<() => void>} */
const loadingListeners = new Set();
/** @type {Set<() => void>} */
const answerListeners = new Set();
const loading = new Loading(() => tell(loadingListeners));
/** Calls on their way that nobody wants any more, which the backend is told at the end of this turn. @type {Set<string>} */
const unwanted = new Set();
const dropSoon = turns(dropUnwanted);
/** @type {string | null} */
let userKey = null;
let generation = -1;
let waiting = 0;
let stopping = new AbortController();

const NO_PREVIEW = "not loaded yet; press Enter to see the value (a preview sends no request)";

const batches = new Batches({
  post: (body) => request("functions/call?pending=yes&asks=yes", body),
  replied,
  clock: () => performance.now(),
  maxCalls: CONFIGURATION.maxCalls,
  maxBytes: CONFIGURATION.maxBytes,
});

function scriptAddress() {
  if (typeof document !== "undefined" && document.currentScript instanceof HTMLScriptElement) {
    if (document.currentScript.src) return document.currentScript.src;
  }
  return typeof location !== "undefined" && location.protocol.startsWith("http") ? location.href : CONFIGURATION.base;
}

/**
 * @param {string} path
 * @param {string | null} body JSON to post; null to read the path
 */
function request(path, body) {
  return exchange(new URL(path, BASE), { body, key: userKey, deadlineMs: addin.deadlineMs, signal: stopping.signal });
}

/**
 * The result of a call as Excel made it.
 * @param {string} id
 * @param {unknown[]} values
 * @returns {Promise<Result>}
 */
function resultOfCall(id, values) {
  let key;
  try {
    key = JSON.stringify(callOf(id, values));
  } catch (error) {
    return Promise.reject(error);
  }
  if (isValuePreview(values)) return previewOf(key);
  totals.calls += 1;
  const cached = cache.get(key);
  if (cached === undefined) return whenWanted(send(key), values);
  totals.remembered += 1;
  return hasArrived(cached) ? delivered(cached) : whenWanted(cached, values);
}

/**
 * A result that is on its way, unless every cell that waits for it is deleted or recalculated before it is there.
 * @param {CachedResult} entry
 * @param {unknown[]} values what Excel passed, its invocation object last
 */
function whenWanted(entry, values) {
  const invocation = values[values.length - 1];
  let counts = true;
  entry.wanted += 1;
  if (isInvocation(invocation)) {
    /** @type {any} */ (invocation).onCanceled = () => {
      if (counts) entry.wanted -= 1;
      counts = false;
      if (entry.wanted === 0 && !hasArrived(entry)) entry.cancel();
    };
  }
  return whenArrived(entry);
}

/**
 * The result for Excel's preview of a part of a formula that someone is editing: what the page holds, even if it is no
 * longer fresh. Every click and key could ask for another preview, so none of them asks the backend.
 * @param {string} key the call as JSON
 * @returns {Promise<Result>}
 */
function previewOf(key) {
  const known = cache.lastKnown(key);
  return known === undefined ? Promise.reject(cellError("#N/A", NO_PREVIEW)) : whenArrived(known);
}

/**
 * A result that is on its way, when Excel has room for it: equal calls share an answer, but each uses its own room.
 * @param {CachedResult} entry
 * @returns {Promise<Result>}
 */
async function whenArrived(entry) {
  await entry.result;
  return delivered(entry);
}

/**
 * @param {CachedResult} entry
 * @returns {Promise<Result>}
 */
function delivered(entry) {
  return limiter.tryAcquire(entry.size) ? entry.result : limiter.acquire(entry.size).then(() => entry.result);
}

/**
 * @param {string} key the call as JSON
 * @returns {CachedResult}
 */
function send(key) {
  waiting += 1;
  loading.begin();
  // Freshness counts from when the call is made, so that no answer is kept longer than the backend allows.
  const askedMs = cache.clock();
  /** @type {CachedResult} */
  let entry;
  /** @type {(reason: unknown) => void} */
  let end;
  /** @type {PendingCall} */
  let call;
  const result = new Promise((resolve, reject) => {
    end = reject;
    call = {
      text: key,
      answered(answer) {
        waiting -= 1;
        const size = settled(answer, resolve, reject);
        cache.arrived(key, entry, { askedMs, freshMs: size === 0 ? 0 : 1000 * answer.fresh_s, size });
        loading.end();
      },
      failed(reason) {
        waiting -= 1;
        cache.arrived(key, entry, { askedMs, freshMs: 0, size: 0 });
        reject(cellError("#N/A", reason.message));
        loading.end();
      },
    };
    batches.add(call);
  });
  entry = cache.expect(key, result, () => {
    if (call.dropped) return;
    call.dropped = true;
    waiting -= 1;
    end(cellError("#N/A", "not wanted any more"));
    unwanted.add(key);
    dropSoon();
    loading.cancel();
  });
  return entry;
}

/** Let the backend fetch nothing more for calls that no cell made again in the meantime. */
function dropUnwanted() {
  const keys = [...unwanted].filter((key) => cache.get(key) === undefined);
  unwanted.clear();
  const calls = keys.map((text) => /** @type {PendingCall} */ ({ text }));
  for (const body of batches.bodies(calls)) void request("functions/drop", body).catch(() => undefined);
}

/** @param {Set<() => void>} told */
function tell(told) {
  for (const listener of told) {
    try {
      listener();
    } catch (error) {
      // A fault in the task pane must not cost a cell its value.
      console.error(error);
    }
  }
}

/**
 * Settle a call; whatever the answer is, no other call is affected.
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
    if (error instanceof CustomFunctions.Error) {
      reject(error);
      return CELL_SIZE;
    }
    reject(cellError("#N/A", `the add-in's backend gave an answer that is none (${messageOf(error)})`));
    return 0;
  }
}

/** @param {Reply} reply */
function replied(reply) {
  requestsSpent += Number(reply.requests) || 0;
  const asked = loading.question;
  loading.replied(reply);
  if (asked !== null && loading.question?.id !== asked.id) tell(answerListeners);
  watchQuestion();
  if (typeof reply.generation === "number" && reply.generation !== generation) {
    // Someone pressed Refresh elsewhere: the backend would not give the cached answers any more.
    if (generation >= 0) cache.clearArrived();
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
  get spent() {
    return { requests: requestsSpent, unanswered: batches.unanswered };
  },
  calls: () => Array.from(cache.entries.keys(), (key) => JSON.parse(key)),
  get loading() {
    return loading.state;
  },
  onLoading(listener) {
    loadingListeners.add(listener);
    return () => void loadingListeners.delete(listener);
  },
  onAnswered(listener) {
    answerListeners.add(listener);
    return () => void answerListeners.delete(listener);
  },
  async answerQuestion(id, load) {
    await request("functions/consent", JSON.stringify({ question: id, load }));
    loading.question = null;
    tell(loadingListeners);
    tell(answerListeners);
  },
  forget: () => cache.clear(),
  stop() {
    stopping.abort();
    stopping = new AbortController();
  },
  useKey(key) {
    cache.clear();
    userKey = key;
  },
  onReply(listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  ask: (path, body) => request(path, body === undefined ? null : JSON.stringify(body)),
};
globalThis.DataServiceAddin = addin;

// In a browser, where the task pane runs as well, there are no custom functions.
for (const id of typeof CustomFunctions === "undefined" ? [] : CONFIGURATION.functions) {
  CustomFunctions.associate(id, (/** @type {unknown[]} */ ...values) => resultOfCall(id, values));
}
