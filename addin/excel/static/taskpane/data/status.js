/// <reference path="../types.d.ts" />
// The backend's status as last seen; views are redrawn when it changes.

/** Long enough for the calls of one recalculation to come in. */
const SOON_MS = 250;

/** Keeps the backend's latest status, or why there is none. */
export class StatusMonitor {
  /** @param {import("../../client/backend.js").BackendClient} backend */
  constructor(backend) {
    this.backend = backend;
    /** @type {Status | null} */
    this.latest = null;
    /** Why the last look failed; null when it did not. @type {unknown} */
    this.failure = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.due = undefined;
    /** @type {(() => void)[]} */
    this.views = [];
    /** Looks are numbered: how many were begun, and which one is shown. */
    this.asked = 0;
    this.seen = 0;
    /** What is offered for requests, and how it is offered anew. @type {Map<Element, () => void>} */
    this.offers = new Map();
    /** How many requests were left when these were made. @type {number | undefined} */
    this.left = undefined;
    backend.onReply = (quota) => this.#replied(quota);
  }

  /**
   * Draw a view now and after every change.
   * @param {() => void} draw
   */
  watch(draw) {
    this.views.push(draw);
    draw();
  }

  /**
   * Offer something for requests; its price may be another one as soon as cells, or another view, have spent some.
   * @param {Element} place
   * @param {(() => void) | null} anew offers it again; null: it is offered no longer
   */
  offer(place, anew) {
    if (anew === null) this.offers.delete(place);
    else this.offers.set(place, anew);
  }

  /** Ask the backend for its status; never rejects. */
  async look() {
    const turn = ++this.asked;
    const seen = await this.backend.status().then((latest) => ({ latest, failure: null }), (failure) => ({ latest: this.latest, failure }));
    if (turn < this.seen) return; // a later look was answered before
    this.seen = turn;
    Object.assign(this, seen);
    this.#redraw();
  }

  /** Look once in a moment, however often this is called until then. */
  lookSoon() {
    this.due ??= setTimeout(() => {
      this.due = undefined;
      void this.look();
    }, SOON_MS);
  }

  get quota() {
    return this.latest?.quota ?? null;
  }

  get namespace() {
    return this.latest?.namespace ?? "DS";
  }

  /**
   * Calls were answered: the quota is known at once, the rest after another look.
   * @param {Quota | null} quota
   */
  #replied(quota) {
    if (this.latest !== null && quota !== null) this.latest = { ...this.latest, quota };
    this.#redraw();
    this.lookSoon();
  }

  #redraw() {
    for (const draw of this.views) draw();
    const left = this.quota?.remaining;
    if (left === this.left) return;
    this.left = left;
    const offers = [...this.offers];
    this.offers.clear();
    for (const [place, anew] of offers) if (place.isConnected) anew();
  }
}
