/// <reference path="../types.d.ts" />
// The tab Search: the catalogue and what else is cached, searched while the user types, and the card of what was opened.

import { CATALOGUE_CALL, categoriesOf, entriesOf, found, wordsOf } from "../data/catalogue.js";
import { recordsOf } from "../data/answers.js";
import { isFree } from "../data/cost.js";
import { RequestError } from "../../client/exchange.js";
import { OtherResults } from "./other_results.js";
import { recordCard } from "./record_card.js";
import { keyOf, KIND, ResultLines } from "./result_lines.js";
import { button, loading, priced } from "../ui/components.js";
import { fill, h, icon, onEscape } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** @typedef {import("../data/catalogue.js").SignalEntry} SignalEntry */
/** @typedef {import("../data/records.js").RecordEntry} RecordEntry */

/** Signals shown at a time; a long list is slow to build and nobody reads it. */
const PAGE = 60;

/** The card and its chart are not needed for the first picture of the pane: they come behind the list. */
const cards = () => import("./signal_card.js");

/** Characters of a category's name that fit into the list. */
const SHOWN_NAME = 60;

/** The list of signals and, beside or over it, the card of the one that was opened. */
export class Search {
  /**
   * @param {Pane} pane
   * @param {HTMLElement} panel
   */
  constructor(pane, panel) {
    this.pane = pane;
    this.panel = panel;
    this.shown = PAGE;
    /** What the backend found for a search that nothing here matches, and for which other search. */
    this.meant = { query: "", words: "", entries: /** @type {SignalEntry[]} */ ([]) };
    /** Where the list was scrolled to when a card covered it. */
    this.scrolledTo = 0;
    /** @type {Promise<void> | null} */
    this.loading = null;
    const failed = (/** @type {unknown} */ error, /** @type {() => void} */ retry) =>
      void showFailure(pane, this.list, error, retry);
    const redraw = () => this.#redraw();
    this.lines = new ResultLines(pane, { open: (entry) => void this.show(entry).catch((error) => failed(error, () => void this.show(entry))), redraw, failed });
    this.others = new OtherResults(pane, { changed: redraw, failed });
    const typed = () => this.#typed();
    this.query = h("input", {
      id: "search-query",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Name, slug, shortcode or headline",
      input: typed,
      keydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event),
    });
    this.category = h("select", { "aria-label": "Category", change: typed });
    this.#offer([]);
    this.count = h("p.muted.small", { role: "status" });
    this.list = h("div.search-results", { keydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event) });
    /** Leaves the open card. */
    this.close = () => {};
    this.card = h("div.search-card", { keydown: onEscape(() => this.close()) });
    this.#build();
    pane.status.watch(() => void this.lines.showValues(this.list));
  }

  #build() {
    const box = h("div.search-box", icon("search"), this.query);
    const label = h("label", { for: "search-query", class: "unseen" }, "Search signals");
    this.filters = h("div.row.spread", { hidden: true }, this.category, this.count);
    fill(this.panel, h("div.search", h("div.search-side", label, box, this.filters, this.list), this.card));
    const hint = "Open a signal to see its latest value, its history and its formulas.";
    fill(this.card, h("div.empty.wide-only", icon("chart"), h("p", hint)));
  }

  /** @param {string[]} categories */
  #offer(categories) {
    const options = categories.map((name) => h("option", { value: name }, Array.from(name).slice(0, SHOWN_NAME).join("")));
    const kinds = this.others.allowed().map(({ kind, title }) => h("option", { value: KIND + kind }, title));
    const others = h("optgroup", { label: "Other than signals" }, ...kinds);
    fill(this.category, h("option", { value: "" }, "All categories"), ...options, others);
  }

  /** Show the catalogue where it is already cached, else offer to load it: opening the pane spends nothing. */
  async open() {
    if (this.pane.catalogue || this.loading) return;
    fill(this.list, loading(6));
    try {
      const cost = await this.pane.backend.cost([CATALOGUE_CALL]);
      if (isFree(cost)) return void this.load();
      if (!this.pane.catalogue && !this.loading) this.#invite(cost);
    } catch (error) {
      void showFailure(this.pane, this.list, error, () => void this.open());
    }
  }

  /** Load the catalogue, once. */
  load() {
    this.loading ??= this.#fetch().finally(() => {
      if (!this.pane.catalogue) this.loading = null;
    });
    return this.loading;
  }

  async #fetch() {
    fill(this.list, loading(6));
    try {
      const { answers } = await this.pane.backend.call([CATALOGUE_CALL]);
      const answer = answers[0];
      if (!answer || answer.error)
        throw new RequestError(answer?.message ?? "the catalogue is not there", answer?.kind);
      this.pane.catalogue = entriesOf(answer);
      this.#offer(categoriesOf(this.pane.catalogue));
      if (this.filters) this.filters.hidden = false;
      this.#draw();
      void cards().catch(() => undefined);
      void this.others.look();
    } catch (error) {
      void showFailure(this.pane, this.list, error, () => void this.load());
    }
  }

  /** @param {Cost} cost */
  #invite(cost) {
    const advice = "Load the catalogue, or just type. It is kept for a day. Searching in it is free.";
    const load = priced("Load the catalogue", cost, this.pane.format, () => void this.load(), { look: "primary" });
    fill(this.list, h("div.empty", icon("search"), h("h2", "Find a signal"), h("p", advice), load));
  }

  #typed() {
    this.shown = PAGE;
    if (this.pane.catalogue) this.#draw();
    else void this.load();
  }

  #redraw() {
    if (this.pane.catalogue) this.#draw();
  }

  #draw() {
    const focused = this.list.contains(document.activeElement) ? document.activeElement?.getAttribute("data-slug") : null;
    const chosen = this.category.value;
    if (chosen.startsWith(KIND)) this.#drawKind(chosen.slice(KIND.length));
    else this.#drawSignals(chosen);
    // What arrives while somebody walks through the list does not take the place away from them.
    if (focused) this.#lineOf(focused)?.focus({ preventScroll: true });
    void this.lines.showValues(this.list);
  }

  /** The line of an entry in the list, where it is shown. @param {string} key */
  #lineOf(key) {
    const lines = /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll("[data-slug]"));
    return [...lines].find((each) => each.getAttribute("data-slug") === key);
  }

  /** @param {string} category */
  #drawSignals(category) {
    const query = this.query.value;
    const matching = found(this.pane.catalogue ?? [], query, category);
    const searching = wordsOf(query).length > 0;
    const { meant } = this;
    if (matching.length === 0 && meant.query !== query) void this.#findMeant(query);
    const entries = matching.length || meant.query !== query ? matching : meant.entries.filter((entry) => !category || entry.category === category);
    const instead = matching.length === 0 && entries.length > 0 && meant.words ? `for “${meant.words}”` : "";
    fill(this.count, `${this.pane.format.counted(entries.length, "signal")} ${instead}`);
    const marked = searching || category ? [] : entries.filter((entry) => this.lines.isFavourite(entry));
    const rest = marked.length ? entries.filter((entry) => !marked.includes(entry)) : entries;
    const others = searching && !category ? this.#others(query) : [];
    const more = rest.length > this.shown ? button("Show more", () => this.#more()) : null;
    const list = rest.length ? h("ul.list", ...rest.slice(0, this.shown).map((entry) => this.lines.listed(entry, wordsOf(query)))) : null;
    const empty = entries.length || others.some((each) => each?.querySelector("li")) ? null : this.#nothing();
    fill(this.list, this.lines.favouritesFirst(marked), marked.length ? h("h2.list-head", "All signals") : null, list, empty, more, ...others);
  }

  /**
   * Ask the backend, which knows other words for the same thing, and what mistyped ones may mean. That spends nothing.
   * @param {string} query
   * @param {string} [words] what it was taken for
   * @returns {Promise<void>}
   */
  async #findMeant(query, words = "") {
    if (query.startsWith("=")) {
      const { advice } = await this.pane.backend.advice(query).catch(() => ({ advice: null }));
      this.meant = { query, words: advice ?? "", entries: [] };
      return this.#draw();
    }
    const { answers } = await this.pane.backend.call([["SIGNALS", words || query, null, "slug"]]).catch(() => ({ answers: [] }));
    const answer = answers[0];
    if (query !== this.query.value || answer === undefined) return;
    if (answer.instead && !words) return this.#findMeant(query, answer.instead);
    const slugs = recordsOf(answer).map(({ slug }) => slug);
    const entries = slugs.flatMap((slug) => this.pane.catalogue?.find((entry) => entry.slug === slug) ?? []);
    this.meant = { query, words, entries };
    this.#draw();
  }

  /** @param {string} query */
  #others(query) {
    const all = (/** @type {string} */ kind) => {
      this.category.value = KIND + kind;
      this.#typed();
    };
    return this.others.sections(query, (entry) => this.lines.item(entry, wordsOf(query)), all);
  }

  /** The list of one kind beside signals, or the button that loads it. @param {string} kind */
  #drawKind(kind) {
    const about = this.others.allowed().find((each) => each.kind === kind);
    const entries = this.others.matches(kind, this.query.value);
    if (!about || !entries) {
      fill(this.count);
      return fill(this.list, h("div.empty", icon("search"), h("p", "Not loaded yet."), this.others.loader(kind)));
    }
    fill(this.count, this.pane.format.counted(entries.length, about.one, about.many));
    const words = wordsOf(this.query.value);
    const items = entries.slice(0, this.shown).map((entry) => h("li", this.lines.item(entry, words)));
    const more = entries.length > this.shown ? button("Show more", () => this.#more()) : null;
    fill(this.list, items.length ? h("ul.list", ...items) : this.#nothing(), more);
  }

  #more() {
    this.shown += PAGE;
    this.#draw();
  }

  #nothing() {
    const clear = () => {
      this.query.value = this.category.value = "";
      this.#draw();
      this.query.focus();
    };
    const what = this.category.value.startsWith(KIND) ? "Nothing here" : "No signal";
    const { query, words: advice } = this.meant;
    const isFormula = query.startsWith("=") && query === this.query.value && advice !== "";
    const words = isFormula ? advice : `${what} has “${this.query.value}” in its name, slug, source or description.`;
    return h("div.empty", h("h2", "Nothing found"), h("p", words), button("Clear the search", clear));
  }

  /**
   * Open the card of a signal, or of another record.
   * @param {SignalEntry | RecordEntry} entry
   */
  async show(entry) {
    const card = "kind" in entry ? null : await cards().then(({ Card }) => new Card(this.pane, entry));
    for (const item of this.list.querySelectorAll("[data-slug]"))
      item.toggleAttribute("data-open", item.getAttribute("data-slug") === keyOf(entry));
    const covered = !this.panel.classList.contains("has-card");
    if (covered) this.scrolledTo = window.scrollY;
    this.panel.classList.add("has-card");
    // A narrow pane shows the card in the list's place, from its top.
    if (covered && this.list.offsetParent === null) window.scrollTo(0, 0);
    const element = card?.element ?? recordCard(this.pane, /** @type {RecordEntry} */ (entry));
    this.close = () => this.#close(entry);
    const back = button("kind" in entry ? "Back" : "Signals", this.close, { look: "quiet", sign: "back" });
    fill(this.card, h("div.row.spread.card-top", back, "kind" in entry ? null : this.lines.star(entry)), element);
    element.querySelector("h2")?.focus();
    await card?.open();
  }

  /** @param {SignalEntry | RecordEntry} entry */
  #close(entry) {
    this.panel.classList.remove("has-card");
    this.#redraw();
    window.scrollTo(0, this.scrolledTo);
    this.#lineOf(keyOf(entry))?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target === this.category) return;
    const stops = [this.query, .../** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll("[data-slug]"))];
    const next = stops[stops.findIndex((stop) => stop === document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}
