// Time in a page that is hidden most of the time: browsers delay its timers, by a second and then by up to a minute.

/**
 * A function that runs `look` once in a later turn of the event loop: by a channel, which nobody delays.
 * @param {() => void} look
 * @returns {() => void}
 */
export function turns(look) {
  if (typeof document === "undefined") return () => void setTimeout(look, 0);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = look;
  return () => port2.postMessage(null);
}

/** What is to happen later, by its turn. @type {Map<number, { dueMs: number, go: () => void }>} */
const open = new Map();
let asked = 0;

/** @type {Worker | undefined} */
let worker;

/**
 * Call `go` after `ms`, by a worker in a hidden page: its timers are on time. The page's own timer runs as well, because
 * a frame may have no workers, and a backend that is away none to give.
 * @param {number} ms
 * @param {() => void} go
 * @returns {() => void} cancels it
 */
export function after(ms, go) {
  const turn = ++asked;
  const timer = setTimeout(() => over(turn), ms);
  const cancel = () => {
    clearTimeout(timer);
    open.delete(turn);
  };
  open.set(turn, { dueMs: performance.now() + ms, go: () => (cancel(), go()) });
  if (typeof document !== "undefined" && document.hidden) askWorker(turn, ms);
  return cancel;
}

/** @param {number} turn */
function over(turn) {
  open.get(turn)?.go();
}

/** @param {number} turn @param {number} ms */
function askWorker(turn, ms) {
  try {
    worker ??= new Worker(new URL("./timer_worker.js", import.meta.url));
    worker.onmessage = ({ data }) => over(data);
    worker.postMessage([turn, ms]);
  } catch {
    // The page's own timer is late, but it comes.
  }
}

// What waits already when the page is hidden is on time as well.
globalThis.document?.addEventListener("visibilitychange", () => {
  if (document.hidden) for (const [turn, { dueMs }] of open) askWorker(turn, Math.max(0, dueMs - performance.now()));
});

/**
 * Resolves after `ms`.
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function pause(ms) {
  return new Promise((go) => void after(ms, go));
}

/**
 * A clock by which nothing stays fresh for too long. It advances by the larger of what two clocks measured, because the
 * wall clock may be set back, and the page's own clock stands still while the machine sleeps.
 * @param {() => number} wall milliseconds
 * @param {() => number} steady milliseconds
 * @returns {() => number}
 */
export function longestClock(wall, steady) {
  let wallMs = wall();
  let steadyMs = steady();
  let passedMs = 0;
  return () => {
    const [wallBeforeMs, steadyBeforeMs] = [wallMs, steadyMs];
    wallMs = wall();
    steadyMs = steady();
    passedMs += Math.max(0, wallMs - wallBeforeMs, steadyMs - steadyBeforeMs);
    return passedMs;
  };
}
