/// <reference path="../types.d.ts" />
// How far the calls of this page are, and the backend's question whether so many requests may be sent.

export class Loading {
  /** @param {() => void} changed called after every change that a user may see */
  constructor(changed) {
    this.changed = changed;
    this.of = 0;
    this.done = 0;
    /** @type {number | null} */
    this.leftS = null;
    /** @type {Question | null} */
    this.question = null;
  }

  /** A call begins; when all before it have ended, the count begins again. */
  begin() {
    if (this.done === this.of) {
      this.of = this.done = 0;
      this.leftS = null;
    }
    this.of += 1;
  }

  /** A call has ended. */
  end() {
    this.done += 1;
    if (this.done === this.of) this.changed();
  }

  /** A call is not wanted any more. */
  cancel() {
    this.of -= 1;
    if (this.done === this.of) this.changed();
  }

  /** @param {Reply} reply */
  replied(reply) {
    if (reply.progress) this.leftS = reply.progress.left_s;
    this.question = reply.question ?? null;
    this.changed();
  }

  /** "2,473 of 10,000, about 20 s"; empty while nothing loads. */
  get text() {
    if (this.done === this.of) return "";
    const counted = `${this.done.toLocaleString("en-US")} of ${this.of.toLocaleString("en-US")}`;
    return this.leftS === null ? counted : `${counted}, about ${duration(this.leftS)}`;
  }

  get state() {
    return { done: this.done, of: this.of, text: this.text, question: this.question };
  }
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
