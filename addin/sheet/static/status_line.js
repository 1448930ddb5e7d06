/// <reference path="types.d.ts" />
// The line below the sheet: what was spent, what is left, and how far loading is.

/** Only what takes longer is worth a word. */
const PATIENCE_MS = 300;

/** A page that nobody sees is not drawn, so it waits no longer than this. */
const HIDDEN_MS = 100;

export class StatusLine {
  /** @param {import("./calls.js").Calls} calls */
  constructor(calls) {
    this.calls = calls;
    this.beganMs = 0;
    this.loading = element("loading");
    this.progress = /** @type {HTMLProgressElement} */ (element("progress"));
    this.stop = element("stop");
    /** What stands in place of the progress while nothing loads. */
    this.note = "";
    /** What is done with the whole book now, and takes as long as it takes. */
    this.work = "";
  }

  /**
   * Say what is done with the book, and let that be seen before it keeps the page busy.
   * @param {string} work empty as soon as it is done
   */
  async busyWith(work) {
    this.work = work;
    this.update();
    if (work === "") return;
    await new Promise((go) => {
      requestAnimationFrame(() => setTimeout(go));
      setTimeout(go, HIDDEN_MS);
    });
  }

  /** Say what is done with the book, and how much of it is done. @param {string} work @param {number} part 1 at most */
  progressed(work, part) {
    this.work = `${work}: ${Math.round(100 * part)} %`;
    this.update();
    this.progress.max = 1;
    this.progress.value = part;
  }

  /** Show how far loading is. */
  update() {
    const { waiting, asked, answered } = this.calls;
    const now = performance.now();
    if (waiting > 0) this.note = "";
    if (waiting === 0) {
      const stale = this.#showLastKnown();
      if (this.beganMs > 0) element("done").textContent = `${counted(answered, "formula")} loaded${stale && `. ${stale}`}`;
      this.beganMs = 0;
    } else if (this.beganMs === 0) {
      this.beganMs = now;
      setTimeout(() => this.update(), PATIENCE_MS);
    }
    const shown = waiting > 0 && now - this.beganMs >= PATIENCE_MS - 1;
    this.stop.hidden = !shown;
    this.progress.hidden = !shown && this.work === "";
    this.progress.max = Math.max(1, asked);
    if (this.work === "") this.progress.value = answered;
    else this.progress.removeAttribute("value");
    const { workingOut } = this.calls;
    const done = DataServiceAddin.loading.text || `${number(answered)} of ${number(asked)}`;
    const what = waiting === workingOut ? `Working out ${counted(workingOut, "formula")}` : `Loading: ${done}`;
    this.loading.textContent = this.work || (shown ? what : this.note);
    element("spent").textContent = `${counted(DataServiceAddin.spent.requests, "request")} spent by this page`;
  }

  /** Say that values are the last known ones, and why no newer ones came. */
  #showLastKnown() {
    const { staleReasons, configuration } = DataServiceAddin;
    const [first = ""] = staleReasons;
    const others = staleReasons.size > 1 ? `; =${configuration.namespace}.STATUS() lists the other reasons` : "";
    return (element("last-known").textContent = first && `Last known values: ${first}${others}`);
  }

  /** Loading was stopped: say how far it came. */
  showStopped() {
    const { asked, answered } = this.calls;
    this.note = `Stopped: ${number(answered)} of ${number(asked)} loaded; Refresh loads the rest`;
    element("done").textContent = this.note;
    this.beganMs = 0;
    this.update();
  }

  /** @param {Quota | null | undefined} quota */
  showQuota(quota) {
    if (quota) element("left").textContent = `${number(quota.remaining)} of ${number(quota.cap)} left this month (${quota.tier})`;
  }

  /** Show a problem above the cells. @param {string | null} text */
  complain(text) {
    this.#say(text ?? "", false);
  }

  /** Show there what is no problem, but good to know. @param {string} text */
  tell(text) {
    this.#say(text, true);
  }

  /** @param {string} text @param {boolean} isNote */
  #say(text, isNote) {
    const message = element("message");
    message.hidden = text === "";
    message.classList.toggle("note", isNote);
    message.textContent = text;
  }
}

/** @param {string} id */
export function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en-US");
}

/** @param {number} count @param {string} one @param {string} [more] */
export function counted(count, one, more = `${one}s`) {
  return count === 1 ? `1 ${one}` : `${number(count)} ${more}`;
}
