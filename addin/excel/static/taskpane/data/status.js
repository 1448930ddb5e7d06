/// <reference path="../types.d.ts" />
// What is known of the backend right now; views are told when it changes.

import { messageOf } from "./api.js";

/** Long enough for the calls of one recalculation to come in. */
const SOON_MS = 250;

/** The backend's status as last seen, or why there is none. */
export class Live {
  /** @param {import("./api.js").Backend} backend */
  constructor(backend) {
    this.backend = backend;
    /** @type {Status | null} */
    this.status = null;
    /** Why the last look failed; null when it did not. @type {string | null} */
    this.failure = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.due = undefined;
    /** @type {Set<() => void>} */
    this.views = new Set();
    backend.onReply((quota) => this.#replied(quota));
  }

  /**
   * Draw a view now and whenever something changed.
   * @param {() => void} draw
   */
  watch(draw) {
    this.views.add(draw);
    draw();
  }

  /** Ask the backend how it stands; never rejects. */
  async look() {
    try {
      this.status = await this.backend.status();
      this.failure = null;
    } catch (error) {
      this.failure = messageOf(error);
    }
    this.#tell();
  }

  get quota() {
    return this.status?.quota ?? null;
  }

  get namespace() {
    return this.status?.namespace ?? "DS";
  }

  /**
   * Calls were answered: the allowance is known at once, the rest after another look.
   * @param {Quota | null} quota
   */
  #replied(quota) {
    if (this.status !== null && quota !== null) this.status = { ...this.status, quota };
    this.#tell();
    this.lookSoon();
  }

  /** Look once in a moment, however often this is called until then. */
  lookSoon() {
    this.due ??= setTimeout(() => {
      this.due = undefined;
      void this.look();
    }, SOON_MS);
  }

  #tell() {
    for (const draw of this.views) draw();
  }
}
