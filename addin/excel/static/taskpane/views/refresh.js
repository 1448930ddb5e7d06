/// <reference path="../types.d.ts" />
// The tab Refresh: what it would cost, doing it, what it did, and what is not fresh.

import { messageOf } from "../data/api.js";
import { fill, h } from "../ui/elements.js";
import { freezeSection } from "./freeze.js";
import { holdingsList, holdingsSummary } from "../ui/resource_list.js";
import { entered, ledgerTable } from "../ui/refresh_log.js";
import { meter } from "../ui/quota_meter.js";
import { showFailure } from "../ui/notices.js";
import { button, notice, section } from "../ui/components.js";

/** @type {[Scope, string][]} */
const SCOPES = [
  ["workbook", "Workbook"],
  ["sheet", "Sheet"],
  ["selection", "Selection"],
];

/** @type {["stale" | "force", string, string][]} */
const MODES = [
  ["stale", "What is stale", "Fresh values stay as they are."],
  ["force", "Everything", "Fresh values are asked for again, too."],
];

/** The refresh button with all that surrounds it. */
export class Refreshing {
  /**
   * @param {Pane} pane
   * @param {HTMLElement} panel
   */
  constructor(pane, panel) {
    this.pane = pane;
    /** @type {import("../ui/refresh_log.js").LedgerEntry[]} */
    this.entries = [];
    this.allowance = h("div");
    this.plan = h("p.cost", { role: "status" });
    this.outcome = h("div");
    this.log = h("div");
    this.holdings = h("div");
    this.button = button("Refresh", () => void this.#run(), { look: "primary", sign: "refresh" });
    this.scope = radios("Scope", "scope", pane.host.isExcel ? SCOPES : [], () => void this.#plan());
    this.mode = radios(
      "Refresh",
      "mode",
      MODES.map(([value, words]) => [value, words]),
      () => void this.#plan(),
    );
    this.hint = h("p.muted.small");
    fill(panel, ...this.#sections());
    pane.live.watch(() => this.#draw());
    if (pane.host.isExcel) DataServiceRefresh.onReport((report) => this.#reported(report));
  }

  #sections() {
    const outside = this.pane.host.isExcel
      ? null
      : h(
          "p.muted.small",
          "Outside Excel there are no cells to calculate: this tells the backend to ask the service again.",
        );
    return [
      section("Allowance", this.allowance),
      section(
        "Refresh",
        this.scope.element,
        this.mode.element,
        this.hint,
        outside,
        this.plan,
        h("div.row", this.button),
        this.outcome,
      ),
      section("Freshness", this.holdings),
      section("Last refreshes", this.log),
      freezeSection(this.pane),
    ];
  }

  /** Look at everything anew. */
  async open() {
    await this.pane.live.look();
    await this.#plan();
  }

  #draw() {
    const { figures, live } = this.pane;
    const resources = live.status?.resources ?? [];
    fill(this.allowance, meter(live.quota, figures));
    const summary = live.failure === null ? holdingsSummary(resources, figures) : "As last seen from the backend.";
    // Drawn anew with every look: what was unfolded stays so.
    const unfolded = this.holdings.querySelector("details")?.open ?? false;
    const list = resources.length ? holdingsList(resources, { figures, unfolded }) : null;
    fill(this.holdings, h("p.muted", summary), list);
    fill(this.log, ledgerTable(this.entries, figures));
  }

  async #plan() {
    const mode = this.mode.value();
    fill(this.hint, MODES.find(([value]) => value === mode)?.[2] ?? "");
    try {
      fill(this.plan, mode === "force" ? this.#planForce() : await this.#planStale());
    } catch {
      fill(this.plan); // the banner says what is wrong
    }
  }

  #planForce() {
    const { figures, live } = this.pane;
    const held = live.status?.resources.length ?? 0;
    return `About ${figures.counted(held, "request")} in all, for what is held${this.#left(live.quota)}.`;
  }

  async #planStale() {
    const { figures, host } = this.pane;
    if (!host.isExcel) return "No request now: what is stale is asked for when it is next used.";
    /** @type {Cost} */
    const cost = await DataServiceRefresh.cost();
    if (!cost.allowed && cost.reason) return cost.reason;
    const fresh = `${figures.counted(cost.fresh_calls, "formula")} already fresh`;
    return `${figures.counted(cost.requests, "request")}${this.#left(cost.quota)}, ${fresh}`;
  }

  /** @param {Quota | null} quota */
  #left(quota) {
    return quota ? `, ${this.pane.figures.count(quota.remaining)} left` : "";
  }

  async #run() {
    this.button.disabled = true;
    fill(this.outcome, h("div.progress", { role: "status" }, h("span.unseen", "Refreshing…")));
    try {
      await (this.pane.host.isExcel ? this.#runInExcel() : this.#runAlone());
    } catch (error) {
      this.#failed(error);
    } finally {
      this.button.disabled = false;
      await this.open();
    }
  }

  async #runInExcel() {
    const scope = /** @type {Scope} */ (this.scope.value());
    await DataServiceRefresh.run({ scope, mode: this.#mode() });
  }

  async #runAlone() {
    const mode = this.#mode();
    const { quota } = await this.pane.backend.refresh(mode);
    this.#enter({
      what: mode === "force" ? "everything" : "stale",
      cells: null,
      requests: 0,
      left: quota?.remaining ?? null,
      failure: null,
    });
    fill(
      this.outcome,
      notice("good", "The backend asks again from now on", "Nothing was lost, and no request was spent yet."),
    );
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
    const { scope, mode, how, cells, requests, quota } = report;
    const { figures } = this.pane;
    const rest = how === "full" ? " This Excel recalculated everything." : "";
    const done = `${figures.counted(cells, "cell")} refreshed, ${figures.counted(requests, "request")}`;
    const text = `${done}${this.#left(quota)}.${rest}`;
    this.#enter({
      what: mode === "force" ? `${scope}, all` : scope,
      cells,
      requests,
      left: quota?.remaining ?? null,
      failure: null,
    });
    fill(this.outcome, notice("good", "Refreshed", text));
  }

  /** @param {unknown} error */
  #failed(error) {
    const message = messageOf(error);
    if (this.entries[0]?.failure !== message)
      this.#enter({
        what: "",
        cells: null,
        requests: 0,
        left: this.pane.live.quota?.remaining ?? null,
        failure: message,
      });
    void showFailure(this.pane, this.outcome, error, () => void this.#run(), "Not refreshed");
  }

  /** @param {Omit<import("../ui/refresh_log.js").LedgerEntry, "atMs">} entry */
  #enter(entry) {
    this.entries = entered(this.entries, { atMs: Date.now(), ...entry });
    fill(this.log, ledgerTable(this.entries, this.pane.figures));
  }
}

/**
 * Choices of which one holds, side by side; the first one at the start.
 * @param {string} title
 * @param {string} name
 * @param {[string, string][]} choices
 * @param {() => void} changed
 */
function radios(title, name, choices, changed) {
  const inputs = choices.map(([value], index) =>
    h("input", { type: "radio", name, value, checked: index === 0, change: changed }),
  );
  const labels = choices.map(([, words], index) => h("label", inputs[index], h("span", words)));
  const element = choices.length ? h("fieldset.segments", h("legend.unseen", title), ...labels) : null;
  return { element, value: () => inputs.find((input) => input.checked)?.value ?? "" };
}
