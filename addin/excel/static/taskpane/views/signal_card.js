/// <reference path="../types.d.ts" />
// A signal's card: what it is, its latest value with its history, and the formulas that bring it into a sheet.

import { cellOf, numberIn, seriesOf } from "../data/answers.js";
import { isFree } from "../data/cost.js";
import { RequestError } from "../../client/exchange.js";
import { span } from "../data/format.js";
import { asTyped } from "../data/formula.js";
import { asksFirst } from "../data/host.js";
import { formulaOffers } from "./formula_offers.js";
import { costWords } from "./insert.js";
import { chart } from "../ui/chart.js";
import { revisionNote } from "../ui/revision_note.js";
import { badge, button, factRows, loading, notice, priced, radios, staleness } from "../ui/components.js";
import { fill, h, icon } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** The window that needs no further request: the last year of what comes with the value. */
const RECENT = "N365";

/** The windows of the chart. @type {[string, string][]} */
const WINDOWS = [
  [RECENT, "Recent"],
  ["-5Y", "5Y"],
  ["-10Y", "10Y"],
  ["MAX", "Max"],
];

const RECENT_DAYS = 366;

const FIELDS = ["value", "observed_at", "change", "pct_change", "age"];

/** @type {import("../data/formula.js").Offer[]} */
const FORMULAS = [
  ["Latest value", "SIGNAL", []],
  ["Date of the value", "SIGNAL", ["observed_at"]],
  ["Change in percent", "SIGNAL", ["pct_change"]],
  ["History, one year", "SIGNAL_HISTORY", ["-1Y"]],
  ["Sparkline", "SPARK", []],
  ["What was revised", "REVISIONS", []],
  ["Where it comes from", "EXPLAIN", []],
];

/** One signal, opened. */
export class Card {
  /**
   * @param {Pane} pane
   * @param {import("../data/catalogue.js").SignalEntry} entry
   */
  constructor(pane, entry) {
    this.pane = pane;
    this.entry = entry;
    this.reading = h("div.reading");
    this.windows = radios("Window of the chart", "window", WINDOWS, () => void this.#showWindow());
    this.picture = h("div");
    this.history = h("div.history", { hidden: true }, this.windows.element, this.picture);
    this.element = h("article.card", this.#head(), this.reading, this.history, this.#facts(), this.#formulas());
  }

  /** Show the value: at once where it is cached, or where the user does not want to be asked before a request. */
  async open() {
    fill(this.reading, loading(3));
    try {
      const cost = await this.pane.backend.cost(this.#calls());
      if (isFree(cost) || (cost.allowed && !asksFirst())) return await this.#load();
      fill(this.reading, priced("Load the value", cost, this.pane.format, () => void this.#load()));
      this.pane.status.offer(this.reading, () => void this.open());
    } catch (error) {
      void showFailure(this.pane, this.reading, error, () => void this.open());
    }
  }

  #calls() {
    const { slug } = this.entry;
    const fields = FIELDS.map((field) => ["SIGNAL", slug, field]);
    return /** @type {Call[]} */ ([...fields, this.#windowCall(this.windows.value()), ["REVISIONS", slug]]);
  }

  async #load() {
    this.pane.status.offer(this.reading, null);
    fill(this.reading, loading(3));
    try {
      const reply = await this.pane.backend.call(this.#calls());
      const [value, day, change, percent, age, history, revisions] = reply.answers;
      if (!value || value.error) throw new RequestError(value?.message ?? "there is no value", value?.kind);
      this.#show({ value, day, change: numberIn(change), percent: numberIn(percent), seconds: numberIn(age), requests: reply.requests });
      if (revisions?.columns) this.reading.append(revisionNote(revisions, this.pane.format) ?? "");
      this.history.hidden = false;
      if (history) this.#draw(history);
    } catch (error) {
      void showFailure(this.pane, this.reading, error, () => void this.open());
    }
  }

  /** @param {{ value: Answer, day: Answer | undefined, change: number | null, percent: number | null, seconds: number | null, requests: number }} seen */
  #show({ value, day, change, percent, seconds, requests }) {
    const { format } = this.pane;
    const source = seconds === null ? null : seconds < 2 ? "fetched just now" : `fetched ${span(seconds)} ago`;
    const spent = requests ? format.counted(requests, "request") : "from the cache";
    fill(
      this.reading,
      h("p.value", h("strong", cellOf(value, format).text), h("span.unit", this.entry.unit)),
      h(
        "p.row.tight",
        this.#change(change, percent),
        h("span.muted", day ? cellOf(day, format).text.slice(0, 10) : ""),
      ),
      h("p.muted.small", [source, spent].filter(Boolean).join(" · ")),
      staleness(value.stale),
    );
  }

  /**
   * @param {number | null} change
   * @param {number | null} percent
   */
  #change(change, percent) {
    if (change === null) return null;
    const { format } = this.pane;
    const tone = change > 0 ? "up" : change < 0 ? "down" : "flat";
    const share = percent === null ? "" : ` (${format.percent(percent)})`;
    const words = `${format.signed(change)}${share}`;
    return h(`span.change.${tone}`, tone === "flat" ? null : icon(tone), words);
  }

  /**
   * Show the chosen window of the history, unless another one is chosen meanwhile. Where that costs requests, it first
   * offers to load the window, unless the user has already agreed.
   * @param {{ agreed?: boolean }} [options]
   */
  async #showWindow({ agreed = false } = {}) {
    const start = this.windows.value();
    const { backend } = this.pane;
    const calls = [this.#windowCall(start)];
    try {
      const cost = agreed ? null : await backend.cost(calls);
      if (this.windows.value() !== start) return;
      if (cost && !isFree(cost)) return fill(this.picture, this.#price(cost));
      fill(this.picture, loading(4));
      const { answers } = await backend.call(calls);
      if (answers[0] && this.windows.value() === start) this.#draw(answers[0]);
    } catch (error) {
      if (this.windows.value() === start) void showFailure(this.pane, this.picture, error, () => void this.#showWindow());
    }
  }

  /**
   * @param {string} start
   * @returns {Call}
   */
  #windowCall(start) {
    return ["SIGNAL_HISTORY", this.entry.slug, start];
  }

  /**
   * What a window of the history would cost, with the button that loads it.
   * @param {Cost} cost
   */
  #price(cost) {
    const words = h("p", ...costWords(cost, this.pane.format));
    const load = button("Load", () => void this.#showWindow({ agreed: true }), { disabled: !cost.allowed });
    return h("div.empty", words, cost.reason && h("p", cost.reason), load);
  }

  /** @param {Answer} answer */
  #draw(answer) {
    if (answer.error) return fill(this.picture, notice("warning", answer.error, answer.message ?? ""));
    const all = seriesOf(answer);
    const points = this.windows.value() === RECENT ? lastYear(all) : all;
    const { name, unit } = this.entry;
    const none = h("p.muted", "Too few observations for a chart.");
    fill(this.picture, points.length > 1 ? chart(points, { name, unit, format: this.pane.format }) : none);
  }

  #head() {
    const { name, slug, shortcode, premium } = this.entry;
    const names = [slug, shortcode].filter(Boolean).join(" · ");
    return h(
      "header",
      h("div.row.tight", h("h2", { tabindex: -1 }, name), premium ? badge("Premium", "accent") : null),
      h("p.mono.muted.small", names),
    );
  }

  #facts() {
    const { category, source, description, unit } = this.entry;
    /** @type {[string, string][]} */
    const facts = [
      ["Measures", description],
      ["Unit", unit],
      ["Category", category],
      ["Source", source],
    ];
    return h("dl.facts", ...factRows(facts.filter(([, text]) => text)));
  }

  #formulas() {
    const more = button("All arguments…", () => this.pane.openFunction("SIGNAL_HISTORY", { slug: asTyped(this.entry.slug) }), {
      look: "quiet",
    });
    const offers = formulaOffers(this.pane, this.entry.slug, FORMULAS);
    return h("section.formulas", h("div.row.spread", h("h3", "Formulas"), more), offers);
  }
}

/**
 * The last year of a series; all of it where it has no two values in that time.
 * @param {import("../data/answers.js").Point[]} points
 */
function lastYear(points) {
  const last = points.at(-1)?.day ?? 0;
  const recent = points.filter(({ day }) => day > last - RECENT_DAYS);
  return recent.length > 1 ? recent : points;
}
