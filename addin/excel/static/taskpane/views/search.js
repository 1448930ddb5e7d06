/// <reference path="../types.d.ts" />
// The tab Search: the catalogue, searched while the user types, and the card of a signal.

import { CATALOGUE_CALL, categoriesOf, entriesOf, found, marked, wordsOf } from "../data/catalogue.js";
import { RequestError } from "../data/exchange.js";
import { Card } from "./signal_card.js";
import { badge, button, loading, notice } from "../ui/components.js";
import { fill, h, icon } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** @typedef {import("../data/catalogue.js").SignalEntry} SignalEntry */

/** Signals shown at a time; a long list is slow to build and nobody reads it. */
const PAGE = 60;

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
    /** Where the list was scrolled to when a card covered it. */
    this.scrolledTo = 0;
    /** @type {Promise<void> | null} */
    this.loading = null;
    const typed = () => this.#typed();
    this.query = h("input", {
      id: "search-query",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Name, slug or shortcode",
      input: typed,
      keydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event),
    });
    this.category = h("select", { "aria-label": "Category", change: typed });
    this.#offer([]);
    this.count = h("p.muted.small", { role: "status" });
    this.list = h("div.search-results", { keydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event) });
    this.card = h("div.search-card");
    this.#build();
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
    const options = categories.map((name) => h("option", { value: name }, name));
    fill(this.category, h("option", { value: "" }, "All categories"), ...options);
  }

  /** Show the catalogue where it is already cached, else offer to load it: opening the pane spends nothing. */
  async open() {
    if (this.pane.catalogue || this.loading) return;
    fill(this.list, loading(6));
    try {
      const cost = await this.pane.backend.cost([CATALOGUE_CALL]);
      if (cost.requests === 0) return void this.load();
      if (!this.pane.catalogue && !this.loading) this.#invite(cost);
    } catch (error) {
      void showFailure(this.pane, this.list, error, () => void this.load());
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
    } catch (error) {
      void showFailure(this.pane, this.list, error, () => void this.load());
    }
  }

  /** @param {Cost} cost */
  #invite(cost) {
    const advice = "It is kept for a day. Searching in it is free.";
    const words = cost.allowed
      ? button(`Load the catalogue (${cost.text})`, () => void this.load(), { look: "primary" })
      : notice("warning", "Not enough requests left", cost.reason ?? "");
    fill(
      this.list,
      h(
        "div.empty",
        icon("search"),
        h("h2", "Find a signal"),
        h("p", "Load the catalogue, or just type. ", advice),
        words,
      ),
    );
  }

  #typed() {
    this.shown = PAGE;
    if (this.pane.catalogue) this.#draw();
    else void this.load();
  }

  #draw() {
    const entries = found(this.pane.catalogue ?? [], this.query.value, this.category.value);
    const words = wordsOf(this.query.value);
    fill(this.count, this.pane.format.counted(entries.length, "signal"));
    const items = entries.slice(0, this.shown).map((entry) => h("li", this.#item(entry, words)));
    const more = entries.length > this.shown ? button("Show more", () => this.#more()) : null;
    fill(this.list, entries.length ? h("ul.list", ...items) : this.#nothing(), more);
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
    const words = `No signal has “${this.query.value}” in its name, slug, source or description.`;
    return h("div.empty", h("h2", "Nothing found"), h("p", words), button("Clear the search", clear));
  }

  /**
   * @param {SignalEntry} entry
   * @param {string[]} words
   */
  #item(entry, words) {
    const text = (/** @type {string} */ value) =>
      marked(value, words).map(([piece, hit]) => (hit ? h("mark", piece) : piece));
    const unit = entry.unit ? h("span", entry.unit) : null;
    return h(
      "button",
      { type: "button", class: "list-item", "data-slug": entry.slug, click: () => void this.show(entry) },
      h(
        "span.list-body",
        h("span.list-title", h("span", ...text(entry.name)), entry.premium ? badge("Premium", "accent") : null),
        h("span.meta", h("span.mono", ...text(entry.slug)), unit),
      ),
      icon("next"),
    );
  }

  /**
   * Open the card of a signal.
   * @param {SignalEntry} entry
   */
  async show(entry) {
    for (const item of this.list.querySelectorAll("[data-slug]"))
      item.toggleAttribute("data-open", item.getAttribute("data-slug") === entry.slug);
    const covered = !this.panel.classList.contains("has-card");
    if (covered) this.scrolledTo = window.scrollY;
    this.panel.classList.add("has-card");
    // A narrow pane shows the card in the list's place, from its top.
    if (covered && this.list.offsetParent === null) window.scrollTo(0, 0);
    const card = new Card(this.pane, entry);
    fill(
      this.card,
      button("Signals", () => this.#close(entry), { look: "quiet", sign: "back" }),
      card.element,
    );
    card.element.querySelector("h2")?.focus();
    await card.open();
  }

  /** @param {SignalEntry} entry */
  #close(entry) {
    this.panel.classList.remove("has-card");
    const item = [...this.list.querySelectorAll("[data-slug]")].find(
      (each) => each.getAttribute("data-slug") === entry.slug,
    );
    window.scrollTo(0, this.scrolledTo);
    if (item instanceof HTMLElement) item.focus({ preventScroll: true });
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
