/// <reference path="../types.d.ts" />
// A formula before it is in the sheet: its cost, its result (at once where it is free, else when the user asks for it),
// and inserting it into Excel's active cell; in a browser it can be copied instead.

import { isFree, requestsIn } from "../data/cost.js";
import { messageOf } from "../../client/exchange.js";
import { LONGEST_FORMULA } from "../data/formula.js";
import { copyable, loading, notice, priced, resultTable } from "../ui/components.js";
import { confirmed, dialog } from "../ui/dialogs.js";
import { fill, h } from "../ui/elements.js";
import { problemNotice, showFailure, waysOf } from "../ui/notices.js";
import { lockedFor } from "../data/problems.js";

/** Characters of a cell's text that are quoted in the question whether to replace it. */
const SHOWN_TEXT = 40;

/** A pause in typing this long means that the call's cost is worth asking for. */
const PAUSE_MS = 250;

/** Shows one call's cost and result; a newer call replaces an older one. */
export class Preview {
  /**
   * @param {Pane} pane
   * @param {(answer: Answer | null) => void} [judged] called with the answer to the latest call; null: it has none yet
   */
  constructor(pane, judged = () => {}) {
    this.pane = pane;
    this.judged = judged;
    this.cost = h("p.cost", { role: "status" });
    this.result = h("div.preview-result");
    this.element = h("section.preview", { "aria-label": "Preview" }, this.cost, this.result);
    this.latest = 0;
  }

  /**
   * Say why there is nothing to show.
   * @param {string} words
   */
  idle(words) {
    this.latest += 1;
    this.pane.status.offer(this.element, null);
    fill(this.cost, h("span.idle", words));
    fill(this.result);
    this.judged(null);
  }

  /**
   * Show a call's cost after a pause in typing, and its result where that is free.
   * @param {Call} call
   * @param {{ pauseMs?: number }} [options]
   */
  async show(call, { pauseMs = PAUSE_MS } = {}) {
    const turn = ++this.latest;
    this.pane.status.offer(this.element, null);
    this.cost.querySelector(".idle")?.remove(); // what was missing is there
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (turn !== this.latest) return;
    try {
      const cost = await this.pane.backend.cost([call]);
      if (turn === this.latest) await this.#offer(call, cost, turn);
    } catch (error) {
      if (turn === this.latest) this.#failed(call, error);
    }
  }

  /**
   * @param {Call} call
   * @param {Cost} cost
   * @param {number} turn
   */
  async #offer(call, cost, turn) {
    fill(this.cost, ...costWords(cost, this.pane.format));
    if (isFree(cost)) return this.#fetch(call, turn);
    this.judged(null);
    const locked = lockedFor(call[0], this.pane.status.latest);
    if (locked) {
      fill(this.cost);
      return fill(this.result, problemNotice(locked, waysOf(this.pane, () => {})));
    }
    fill(this.result, priced("Preview", cost, this.pane.format, () => void this.#fetch(call, turn, { paid: true })));
    this.pane.status.offer(this.element, () => void this.show(call, { pauseMs: 0 }));
  }

  /**
   * @param {Call} call
   * @param {number} turn
   * @param {{ paid?: boolean }} [options] whether its cost was announced
   */
  async #fetch(call, turn, { paid = false } = {}) {
    this.pane.status.offer(this.element, null);
    fill(this.result, loading(3));
    this.result.setAttribute("aria-busy", "true");
    try {
      const reply = await this.pane.backend.call([call]);
      if (turn !== this.latest) return;
      const [answer] = reply.answers;
      fill(this.result, answer ? resultTable(answer, this.pane.format) : null);
      this.judged(answer ?? null);
      const spent = reply.requests ? this.pane.format.counted(reply.requests, "request") : "no request";
      if (paid || reply.requests) fill(this.cost, `Spent ${spent}`);
    } catch (error) {
      if (turn === this.latest) this.#failed(call, error);
    } finally {
      this.result.removeAttribute("aria-busy");
    }
  }

  /**
   * @param {Call} call
   * @param {unknown} error
   */
  #failed(call, error) {
    fill(this.cost);
    this.judged(null);
    void showFailure(this.pane, this.result, error, () => void this.show(call, { pauseMs: 0 }));
  }
}

/**
 * @param {Cost} cost
 * @param {import("../data/format.js").Formatter} format
 * @returns {import("../ui/elements.js").Child[]}
 */
export function costWords(cost, format) {
  if (isFree(cost)) return ["Costs ", h("strong", "no request")];
  const left = cost.quota ? ` · ${format.count(cost.quota.remaining)} left this month` : "";
  return ["Costs ", h("strong", requestsIn(cost, format)), left];
}

/**
 * Insert a formula; where the cell is not blank, ask first.
 * @param {Pane} pane
 * @param {string} formula
 * @param {Call | null} call the same as a call; null where it depends on cells
 */
export async function insert(pane, formula, call) {
  if (!pane.host.hasCells) return handOut(pane, formula, call);
  try {
    if (formula.length > LONGEST_FORMULA) throw new Error(`it has more than ${LONGEST_FORMULA} characters`);
    const { address, holds } = await pane.host.target();
    // By characters: half of one would be shown as a question mark.
    const question = `${address} holds “${Array.from(holds).slice(0, SHOWN_TEXT).join("")}”.`;
    if (holds && !(await confirmed("Replace the cell?", question, "Replace"))) return;
    pane.announce(`Inserted into ${await pane.host.insert(formula)}`);
  } catch (error) {
    dialog("The formula was not inserted", notice("error", "The cell refused it", messageOf(error)), copyable(formula));
  }
}

/**
 * @param {Pane} pane
 * @param {string} formula
 * @param {Call | null} call
 */
function handOut(pane, formula, call) {
  const preview = new Preview(pane);
  const hint = "The pane runs outside Excel: copy the formula and paste it into a cell.";
  dialog("Formula", h("p.muted", hint), copyable(formula), preview.element);
  if (call) void preview.show(call, { pauseMs: 0 });
  else preview.idle("The result depends on cells of the sheet.");
}
