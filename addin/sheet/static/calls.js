/// <reference path="types.d.ts" />
// The component computes cells at once, our functions answer later: what is known of each call stands here. A call that
// is not known is made, and the cells that need it are told when it is.

/** Calls so soon after a post wait for each other, so that quick edits make few posts. */
const JOIN_MS = 250;

/** Results lead to further calls, as a slug that another formula returns; a formula that never settles ends here. */
const MOST_ROUNDS = 12;

/** @type {Failure} */
export const LOADING = { code: "Loading…", message: "on its way" };
/** @type {Failure} */
export const WORKING = { code: "Working…", message: "being worked out" };
/** @type {Failure} */
const NO_PREVIEW = { code: "#N/A", message: "not loaded yet; press Enter to see the value (a preview sends no request)" };
/** @type {Failure} */
const NEVER_SETTLES = { code: "#N/A", message: "the arguments change with every calculation; use fixed ones" };
/** @type {Failure} */
const STOPPED = { code: "#N/A", message: "stopped; press Refresh to load it" };

/** Whether cells still need what is on its way is looked at so long after an edit. */
const LOOK_MS = 100;

/** @typedef {{ result: Promise<Result>, cancel: () => void }} Asked */

/**
 * @typedef {object} User a cell that used a call: in which calculation, and with which content
 * @property {number} run
 * @property {string} content
 */

/**
 * @typedef {object} KnownCall
 * @property {() => Asked} ask
 * @property {Result | Failure | undefined} result
 * @property {boolean} pending
 * @property {() => void} cancel end it while it is pending
 * @property {Map<string, User>} cells those that used it, by the component's id
 */

export class Calls {
  /**
   * @param {object} options
   * @param {(cells: string[]) => void} options.evaluate compute these cells again
   * @param {(cell: string) => string | undefined} options.contentOf what a cell holds; undefined if it was deleted
   * @param {() => void} options.progressed called when calls are made or answered
   * @param {(work: () => void, ms: number) => void} options.later
   * @param {() => number} options.clock milliseconds, never set back
   */
  constructor({ evaluate, contentOf, progressed, later, clock }) {
    this.evaluate = evaluate;
    this.contentOf = contentOf;
    this.progressed = progressed;
    this.later = later;
    this.clock = clock;
    this.postedMs = -Infinity;
    /** @type {Map<string, KnownCall>} */
    this.known = new Map();
    /** @type {Set<KnownCall>} */
    this.queue = new Set();
    /** @type {Set<string>} */
    this.outdated = new Set();
    this.delivering = false;
    this.rounds = 0;
    this.underWay = 0;
    this.asked = 0;
    this.answered = 0;
    this.flushing = false;
    this.epoch = 0;
    this.run = 0;
    this.running = false;
    this.looking = false;
    /** Whether calls wait whose value the file has, and those that do. */
    this.holding = false;
    /** @type {Map<string, KnownCall>} */
    this.held = new Map();
    /** Formulas that the backend works out now. */
    this.workingOut = 0;
    /** Whether the cell that is computed shows the file's value, until there is another one. */
    this.hasValue = false;
    /** Whether what is known is enough, so that no call is made. */
    this.isPreviewing = false;
    /** What functions returned since this was set, beside numbers. */
    this.returned = { texts: false, failures: false };
    /** The calculation in which a cell was computed last. @type {Map<string, number>} */
    this.computed = new Map();
  }

  /** What has no answer yet: calls, and formulas that the backend works out. */
  get waiting() {
    return this.queue.size + this.underWay + this.workingOut;
  }

  /**
   * The result of a call, the last known one, or why there is none yet.
   * @param {string} key the call as text
   * @param {() => Asked} ask
   * @param {{ id: string, content: string } | undefined} cell the cell that needs it, and what it holds
   * @param {boolean} isInFile whether the file has its value
   * @returns {Result | Failure}
   */
  result(key, ask, cell, isInFile = false) {
    let call = this.known.get(key);
    if (call === undefined) {
      call = { ask, result: undefined, pending: false, cancel: () => {}, cells: new Map() };
      this.known.set(key, call);
    }
    if (cell !== undefined) this.#use(call, cell);
    if (this.holding && isInFile && call.result === undefined) this.held.set(key, call);
    else if (!call.pending && (!this.delivering || call.result === undefined)) {
      if (!this.delivering) this.rounds = 0;
      if (this.rounds > MOST_ROUNDS) return call.result ?? NEVER_SETTLES;
      this.#make(call);
    }
    return call.result ?? LOADING;
  }

  /**
   * What is known of a call without making it.
   * @param {string} key
   * @returns {Result | Failure}
   */
  preview(key) {
    return this.known.get(key)?.result ?? NO_PREVIEW;
  }

  /** Make the calls that wait because the file has their values. */
  release() {
    this.holding = false;
    const calls = [...this.held.values()];
    this.held.clear();
    this.rounds = 0;
    for (const call of calls) if (!call.pending) this.#make(call);
  }

  /**
   * Compute without asking for what is known already.
   * @param {() => void} work
   */
  quietly(work) {
    const before = this.delivering;
    this.delivering = true;
    try {
      work();
    } finally {
      this.delivering = before;
    }
  }

  /** Wait for nothing any more: cells keep the last known value, or say that they were stopped. */
  stop() {
    this.epoch += 1;
    this.queue.clear();
    for (const call of this.known.values()) {
      if (!call.pending) continue;
      call.pending = false;
      if (call.result === undefined) this.#settle(call, STOPPED);
    }
    this.underWay = 0;
    this.#deliverSoon();
  }

  /** Forget calls that no formula makes any more: those without a cell since the last calculation of everything. */
  forgetCells() {
    for (const [key, call] of this.known) {
      if (call.cells.size === 0 && !call.pending) this.known.delete(key);
      call.cells.clear();
    }
  }

  /** Cells were changed: end what none of them needs any more. */
  lookForUnused() {
    if (this.looking || this.waiting === 0) return;
    this.looking = true;
    this.later(() => {
      this.looking = false;
      this.#cancelUnused();
    }, LOOK_MS);
  }

  /** @param {KnownCall} call @param {{ id: string, content: string }} cell */
  #use(call, { id, content }) {
    if (!this.running) {
      this.running = true;
      this.run += 1;
      // The component computes its cells in one go.
      queueMicrotask(() => (this.running = false));
      this.lookForUnused();
    }
    this.computed.set(id, this.run);
    call.cells.set(id, { run: this.run, content });
  }

  /** End calls whose cells were deleted, hold something else, or made other calls when they were computed last. */
  #cancelUnused() {
    for (const call of this.known.values()) {
      if (!call.pending || call.cells.size === 0) continue;
      for (const [cell, user] of call.cells) {
        if (this.computed.get(cell) !== user.run || this.contentOf(cell) !== user.content) call.cells.delete(cell);
      }
      if (call.cells.size === 0) this.#cancel(call);
    }
    this.progressed();
  }

  /** @param {KnownCall} call */
  #cancel(call) {
    call.pending = false;
    this.asked -= 1;
    if (this.queue.delete(call)) return;
    this.underWay -= 1;
    call.cancel();
  }

  /** @param {KnownCall} call */
  #make(call) {
    if (this.waiting === 0) this.asked = this.answered = 0;
    call.pending = true;
    this.asked += 1;
    this.queue.add(call);
    if (this.flushing) return;
    this.flushing = true;
    // What an answer leads to is a part of the same edit, so it does not wait.
    const waitMs = this.delivering ? 0 : this.postedMs + JOIN_MS - this.clock();
    if (waitMs <= 0) queueMicrotask(() => this.#flush());
    else this.later(() => this.#flush(), waitMs);
  }

  #flush() {
    this.flushing = false;
    const calls = [...this.queue];
    this.queue.clear();
    if (calls.length === 0) return;
    this.rounds += 1;
    this.postedMs = this.clock();
    this.underWay += calls.length;
    for (const call of calls) void this.#ask(call, this.epoch);
    this.progressed();
  }

  /** @param {KnownCall} call @param {number} epoch */
  async #ask(call, epoch) {
    const asked = call.ask();
    const { cancel } = asked;
    call.cancel = cancel;
    /** @type {Result | Failure} */
    let result;
    try {
      result = await asked.result;
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      result = { code: typeof code === "string" ? code : "#N/A", message: String(message) };
    }
    if (epoch !== this.epoch || !call.pending || call.cancel !== cancel) return; // stopped or cancelled meanwhile
    call.pending = false;
    this.underWay -= 1;
    this.answered += 1;
    this.#settle(call, result);
    this.#deliverSoon();
  }

  /** @param {KnownCall} call @param {Result | Failure} result */
  #settle(call, result) {
    if (JSON.stringify(call.result) === JSON.stringify(result)) return;
    call.result = result;
    for (const cell of call.cells.keys()) this.outdated.add(cell);
  }

  /** All answers of a reply settle within one turn, so the cells are computed once for all of them. */
  #deliverSoon() {
    if (this.promised) return;
    this.promised = true;
    this.later(() => {
      this.promised = false;
      this.#deliver();
    }, 0);
  }

  #deliver() {
    const cells = [...this.outdated];
    this.outdated.clear();
    if (cells.length > 0) this.quietly(() => this.evaluate(cells));
    this.progressed();
  }

  promised = false;
}

/**
 * @param {Result | Failure} result
 * @returns {result is Failure}
 */
export function isFailure(result) {
  return !Array.isArray(result);
}
