/// <reference path="../types.d.ts" />
// One refresh, whatever started it: the backend is told, answers are forgotten, our cells are recalculated, and the
// report says what that cost.

import { addressLists, blocksOf } from "./blocks.js";
import { covers, Language, readBook, targetOf } from "./book.js";
import { costOf, expectedCalls } from "./cost.js";
import { repair } from "./repair.js";

/** @typedef {import("./book.js").Target} Target */
/**
 * What was found in the book: `expected` calls will surely be made; further ones may follow if some cells `depend` on others.
 * @typedef {{ cells: number, repaired: number, damaged: number, expected: number, depend: boolean }} Marked
 */
/** @typedef {{ target: Target, mode: "stale" | "force", report: Promise<RefreshReport> }} Turn */

const LEFT_DAMAGED = "unprotect the sheet or the array that holds them and refresh again";

/** Refreshes the workbook of a page, one refresh after the other. */
export class Refreshes {
  /** @param {import("../functions/page.js").FunctionsPage} page */
  constructor(page) {
    this.page = page;
    this.language = new Language(page.configuration.namespace, (path, body) => page.ask(path, body));
    this.isOurs = this.language.callsOurs;
    /** The refreshes that run or wait, in their order. @type {Turn[]} */
    this.turns = [];
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve();
    /** @type {Set<(report: RefreshReport | Error) => void>} */
    this.listeners = new Set();
    // A question was answered, or the backend is back: only what is not fresh is asked for.
    page.on("answered", () => void this.#inTurn(() => this.#recalculated(WHOLE)).catch((error) => console.warn(error)));
  }

  /**
   * Recalculate our cells. One refresh follows another; one that another covers, which runs or waits, is the same.
   * @param {RefreshOptions} [options]
   * @returns {Promise<RefreshReport>}
   */
  async run({ scope = "workbook", mode = "stale" } = {}) {
    // Where Excel cannot say what is selected, everything is recalculated.
    const target = scope === "workbook" ? WHOLE : await Excel.run((context) => targetOf(context, scope)).catch(() => ({ ...WHOLE, scope }));
    const same = this.turns.find((turn) => covers(turn.target, target) && (turn.mode === mode || turn.mode === "force"));
    if (same !== undefined) return same.report;
    const report = this.#inTurn(() => this.#refreshed(target, mode));
    const turn = { target, mode, report };
    this.turns.push(turn);
    return report.finally(() => void this.turns.splice(this.turns.indexOf(turn), 1));
  }

  /**
   * What the backend says a refresh would spend now, for the formulas of the workbook.
   * @param {"stale" | "force"} [mode]
   * @param {Scope} [scope]
   */
  cost(mode = "stale", scope = "workbook") {
    return Excel.run(async (context) => {
      const book = await readBook(context, this.language, await targetOf(context, scope), { whole: true });
      return costOf(context, book, mode, this.language.ask);
    });
  }

  /** @param {(report: RefreshReport | Error) => void} listener */
  onReport(listener) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  /** @param {Target} target @param {"stale" | "force"} mode */
  async #refreshed(target, mode) {
    const { page } = this;
    try {
      await page.lookForLost();
      const { requests: before } = page.spent;
      await page.ask("refresh", { mode });
      page.forget();
      const marked = await this.#recalculated(target);
      await page.lookForLost();
      const { quota } = await page.ask("status");
      // Counted by the answers to this page: others may use the backend at the same time.
      const { requests, unanswered } = page.spent;
      const report = { scope: target.scope, mode, ...marked, requests: requests - before, unanswered: unanswered > 0, quota, text: "" };
      report.text = summaryOf(report);
      return this.#published(report);
    } catch (error) {
      throw this.#published(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /**
   * Recalculate our cells, and wait until each has its answer.
   * @param {Target} target
   * @returns {Promise<Marked & { how: "marked" | "full" }>}
   */
  async #recalculated(target) {
    const before = this.page.totals.calls;
    try {
      const marked = await Excel.run((context) => this.#marked(context, target));
      if (marked.cells > 0) await this.page.answersAreIn({ before, ...marked });
      return { how: "marked", ...marked };
    } catch (error) {
      // An older Excel, or a sheet that cannot be read: everything is recalculated instead, in all open workbooks.
      console.warn(error);
      await Excel.run((context) => {
        context.application.calculate("Full");
        return context.sync();
      });
      await this.page.answersAreIn({ before, expected: 0, depend: true });
      return { how: "full", cells: this.page.totals.calls - before, repaired: 0, damaged: 0, expected: 0, depend: true };
    }
  }

  /**
   * Mark our cells and nothing else, enter again what is damaged, and have Excel calculate.
   * @param {Excel.RequestContext} context
   * @param {Target} target
   * @returns {Promise<Marked>}
   */
  async #marked(context, target) {
    const book = await readBook(context, this.language, target);
    const ours = book.formulas.filter(({ inScope }) => inScope);
    const expected = expectedCalls({ ...book, formulas: ours }, this.language.ask);
    const repairs = await repair(context, this.language, ours);
    for (const sheet of book.sheets) {
      const blocks = blocksOf(ours.filter((each) => each.sheet === sheet));
      for (const list of addressLists(blocks)) {
        sheet.getRanges(list).setDirty();
        await context.sync();
      }
    }
    context.application.calculate("Recalculate");
    await context.sync();
    return { cells: ours.length, ...repairs, ...(await expected) };
  }

  /** @template {RefreshReport | Error} T @param {T} outcome @returns {T} */
  #published(outcome) {
    for (const listener of this.listeners) listener(outcome);
    return outcome;
  }
}

/** @type {Target} */
const WHOLE = { scope: "workbook", sheetId: null, areas: null };

/** @param {RefreshReport} report */
function summaryOf({ cells, how, repaired, damaged, requests, unanswered, quota }) {
  const counted = (/** @type {number} */ count, /** @type {string} */ word) => `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;
  const spent = unanswered && requests === 0 ? "0 or more requests" : `${unanswered ? "at least " : ""}${counted(requests, "request")}`;
  const parts = [`${counted(cells, "cell")} refreshed`, spent];
  if (repaired) parts.push(`${counted(repaired, "damaged formula")} entered again`);
  if (damaged) parts.push(`${counted(damaged, "damaged formula")} left: ${LEFT_DAMAGED}`);
  if (how === "full") parts.push("this Excel recalculated everything");
  if (quota) parts.push(`${quota.remaining.toLocaleString()} of ${quota.cap.toLocaleString()} left this month`);
  return parts.join(", ");
}
