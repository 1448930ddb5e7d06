/// <reference path="../types.d.ts" />
// The tab Refresh: its cost, the refresh itself, the log of refreshes, and what is not fresh.

import { requestsIn } from "../data/cost.js";
import { messageOf } from "../../client/exchange.js";
import { freezeSection } from "./freeze.js";
import { button, notice, progress, quotaMeter, radios, section } from "../ui/components.js";
import { fill, h } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";
import { logTable, withEntry } from "../ui/refresh_log.js";
import { resourceList, resourceSummary } from "../ui/resource_list.js";

/** @type {[Scope, string][]} */
const SCOPES = [
  ["workbook", "Workbook"],
  ["sheet", "Sheet"],
  ["selection", "Selection"],
];

/** What to refresh, in words, and a hint. @type {["stale" | "force", string, string][]} */
const MODES = [
  ["stale", "What is stale", "Fresh values stay as they are."],
  ["force", "Everything", "Fresh values are asked for again, too."],
];

/** What is worked out within this time is not worth a word. */
const SLOW_MS = 2_000;

/** The refresh button and everything around it. */
export class Refreshing {
  /**
   * @param {Pane} pane
   * @param {HTMLElement} panel
   */
  constructor(pane, panel) {
    this.pane = pane;
    /** @type {import("../ui/refresh_log.js").LogEntry[]} */
    this.entries = [];
    /** Plans are numbered: reading a large workbook may take longer than choosing otherwise. */
    this.plans = 0;
    this.quota = h("div");
    this.plan = h("p.cost", { role: "status" });
    this.outcome = h("div");
    this.log = h("div");
    this.resources = h("div");
    this.button = button("Refresh", () => void this.#run(), { look: "primary", sign: "refresh" });
    this.scope = radios("Scope", "scope", pane.host.isExcel ? SCOPES : [], () => void this.#plan());
    this.mode = radios("Refresh", "mode", MODES, () => void this.#plan());
    this.hint = h("p.muted.small");
    fill(panel, ...this.#sections());
    pane.status.watch(() => this.#draw());
    if (pane.host.isExcel) DataServiceRefresh.onReport((/** @type {RefreshReport | Error} */ report) => this.#reported(report));
  }

  #sections() {
    const note = "Outside Excel there are no cells to calculate: this tells the backend to ask the service again.";
    const outside = this.pane.host.isExcel ? null : h("p.muted.small", note);
    const { scope, mode, hint, plan, outcome } = this;
    return [
      section("Allowance", this.quota),
      section("Refresh", scope.element, mode.element, hint, outside, plan, h("div.row", this.button), outcome),
      section("Freshness", this.resources),
      section("Last refreshes", this.log),
      freezeSection(this.pane),
    ];
  }

  /** Ask for the status and the cost again. */
  async open() {
    await this.pane.status.look();
    await this.#plan();
  }

  #draw() {
    const { format, status } = this.pane;
    const resources = status.latest?.resources ?? [];
    fill(this.quota, quotaMeter(status.quota, format));
    const summary = status.failure === null ? resourceSummary(resources, format) : "As last seen from the backend.";
    // Redrawn after every look: what was unfolded stays unfolded.
    const unfolded = this.resources.querySelector("details")?.open ?? false;
    const list = resources.length ? resourceList(resources, { format, unfolded }) : null;
    fill(this.resources, h("p.muted", summary), list);
    fill(this.log, logTable(this.entries, format));
  }

  async #plan() {
    const turn = ++this.plans;
    const mode = this.mode.value();
    fill(this.hint, MODES.find(([value]) => value === mode)?.[2] ?? "");
    const slow = setTimeout(() => turn === this.plans && fill(this.plan, "Reading the workbook to tell its cost…"), SLOW_MS);
    const words = await this.#planned().catch(() => ""); // the banner says what is wrong
    clearTimeout(slow);
    if (turn === this.plans) fill(this.plan, words);
  }

  /** What the formulas of the workbook would spend right after the refresh. */
  async #planned() {
    const { format, host } = this.pane;
    const mode = this.#mode();
    if (!host.isExcel) {
      const what = mode === "force" ? "everything" : "what is stale";
      return `No request now: ${what} is asked for when it is next used.`;
    }
    const cost = await DataServiceRefresh.cost(mode, this.#scope());
    if (!cost.allowed && cost.reason) return cost.reason;
    const words = requestsIn(cost, format);
    const left = cost.quota ? `, ${format.count(cost.quota.remaining)} left` : "";
    const spent = `${words.charAt(0).toUpperCase()}${words.slice(1)} for ${format.counted(cost.calls, "formula")}${left}`;
    return mode === "force" || cost.fresh_calls === 0 ? spent : `${spent}, ${format.count(cost.fresh_calls)} already fresh`;
  }

  async #run() {
    this.button.disabled = true;
    fill(this.outcome, progress("Refreshing…"));
    try {
      if (this.pane.host.isExcel) await DataServiceRefresh.run({ scope: this.#scope(), mode: this.#mode() });
      else await this.#runAlone();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.button.disabled = false;
      await this.open();
    }
  }

  #scope() {
    return /** @type {Scope} */ (this.scope.value());
  }

  async #runAlone() {
    const mode = this.#mode();
    const { quota } = await this.pane.backend.ask("refresh", { mode });
    this.#enter({ what: mode === "force" ? "everything" : "stale", quota });
    const news = "The backend asks again from now on";
    fill(this.outcome, notice("good", news, "Nothing was lost, and no request was spent yet."));
  }

  #mode() {
    return this.mode.value() === "force" ? "force" : "stale";
  }

  /**
   * A refresh ended, whatever started it: this tab, the ribbon, or the button on a sheet.
   * @param {RefreshReport | Error} report
   */
  #reported(report) {
    if (report instanceof Error) return this.#failed(report);
    const { scope, mode, cells, requests, unanswered, damaged, quota, text } = report;
    this.#enter({ what: mode === "force" ? `${scope}, all` : scope, cells, requests, unanswered, quota });
    fill(this.outcome, notice(damaged ? "warning" : "good", "Refreshed", `${text}.`));
  }

  /** @param {unknown} error */
  #failed(error) {
    const failure = messageOf(error);
    const { quota } = this.pane.status;
    if (this.entries[0]?.failure !== failure) this.#enter({ what: "", quota, failure });
    void showFailure(this.pane, this.outcome, error, () => void this.#run(), "Not refreshed");
  }

  /**
   * Add an entry to the log.
   * @param {{ what: string, cells?: number, requests?: number, unanswered?: boolean, quota: Quota | null,
   *   failure?: string }} refresh
   */
  #enter({ what, cells, requests = 0, unanswered = false, quota, failure }) {
    this.entries = withEntry(this.entries, {
      atMs: Date.now(),
      what,
      cells,
      requests,
      unanswered,
      left: quota?.remaining,
      failure,
    });
    fill(this.log, logTable(this.entries, this.pane.format));
  }
}
