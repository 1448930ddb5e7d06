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

/** @type {Worker | null} */
let worker = null;
let asked = 0;

/**
 * Resolves after `ms`. In a hidden page a worker counts them, because its timers are on time.
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function pause(ms) {
  if (typeof document === "undefined" || !document.hidden) return new Promise((go) => setTimeout(go, ms));
  return new Promise((go) => {
    try {
      worker ??= new Worker(new URL("./timer_worker.js", import.meta.url));
      const [heard, turn] = [worker, ++asked];
      const over = (/** @type {MessageEvent} */ { data }) => {
        if (data !== turn) return;
        heard.removeEventListener("message", over);
        go();
      };
      heard.addEventListener("message", over);
      heard.postMessage([turn, ms]);
    } catch {
      setTimeout(go, ms); // a frame may have no workers
    }
  });
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
