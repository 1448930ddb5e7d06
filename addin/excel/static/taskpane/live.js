/// <reference path="./types.d.ts" />
// What is known of the backend right now; views are told when it changes.

import { messageOf } from "./backend.js";

/** The backend's status as last seen, or why there is none. */
export class Live {
  /** @param {import("./backend.js").Backend} backend */
  constructor(backend) {
    this.backend = backend;
    /** @type {Status | null} */
    this.status = null;
    /** Why the last look failed; null when it did not. @type {string | null} */
    this.failure = null;
    /** @type {Set<() => void>} */
    this.views = new Set();
    backend.onQuota((quota) => this.#quotaSeen(quota));
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

  /** @param {Quota} quota */
  #quotaSeen(quota) {
    if (this.status === null || sameQuota(this.status.quota, quota)) return;
    this.status = { ...this.status, quota };
    this.#tell();
  }

  #tell() {
    for (const draw of this.views) draw();
  }
}

/**
 * @param {Quota | null} a
 * @param {Quota} b
 */
function sameQuota(a, b) {
  return a !== null && a.tier === b.tier && a.cap === b.cap && a.remaining === b.remaining && a.used_here === b.used_here;
}
