/// <reference path="../types.d.ts" />
// The lines of a list of results: names with what is known of their values, and the favourites among them.

import { marked } from "../data/catalogue.js";
import { isFree, requestsIn } from "../data/cost.js";
import { Favourites } from "../data/favourites.js";
import { callsFor, KnownValues } from "../data/known_values.js";
import { badge, button } from "../ui/components.js";
import { fill, h, icon } from "../ui/elements.js";

/** @typedef {import("../data/catalogue.js").SignalEntry} SignalEntry */
/** @typedef {import("../data/records.js").RecordEntry} RecordEntry */

/** Before the name of what is no signal, where both stand in one list. */
export const KIND = "\u0000";

export class ResultLines {
  /**
   * @param {Pane} pane
   * @param {object} told
   * @param {(entry: SignalEntry | RecordEntry) => void} told.open
   * @param {() => void} told.redraw
   * @param {(error: unknown, retry: () => void) => void} told.failed
   */
  constructor(pane, { open, redraw, failed }) {
    this.pane = pane;
    this.open = open;
    this.redraw = redraw;
    this.failed = failed;
    this.favourites = new Favourites();
    this.values = new KnownValues(pane);
  }

  /** @param {SignalEntry} entry */
  isFavourite({ slug }) {
    return this.favourites.has(`signal ${slug}`);
  }

  /**
   * The favourites among the signals, with the offer to load values that are not fresh; null where there are none.
   * @param {SignalEntry[]} entries
   */
  favouritesFirst(entries) {
    if (entries.length === 0) return null;
    const update = h("span");
    void this.#offerUpdate(entries, update);
    const list = h("ul.list", ...entries.map((entry) => this.listed(entry, [])));
    return h("section", h("div.row.spread.list-head", h("h2", "Favourites"), update), list);
  }

  /**
   * Offer to load the values of favourites that are not fresh.
   * @param {SignalEntry[]} entries
   * @param {HTMLElement} place
   */
  async #offerUpdate(entries, place) {
    const slugs = entries.map(({ slug }) => slug);
    const cost = await this.pane.backend.cost(callsFor(slugs)).catch(() => null);
    fill(place);
    if (!cost || isFree(cost) || !cost.allowed) return;
    this.pane.status.offer(place, () => void this.#offerUpdate(entries, place));
    const words = `Update (${requestsIn(cost, this.pane.format)})`;
    fill(place, button(words, () => void this.#update(slugs), { look: "quiet" }));
  }

  /** @param {string[]} slugs */
  async #update(slugs) {
    try {
      const { answers } = await this.pane.backend.call(callsFor(slugs));
      this.values.keep(slugs, answers);
      this.redraw();
    } catch (error) {
      this.failed(error, () => void this.#update(slugs));
    }
  }

  /**
   * @param {SignalEntry} entry
   * @param {string[]} words
   */
  listed(entry, words) {
    return h("li.starred", this.item(entry, words), this.star(entry));
  }

  /** The button that marks a signal as a favourite. @param {SignalEntry} entry */
  star({ slug, name }) {
    const key = `signal ${slug}`;
    const toggled = () => {
      this.favourites.toggle(key);
      star.setAttribute("aria-pressed", String(this.favourites.has(key)));
    };
    const star = h("button.star", { type: "button", "aria-pressed": String(this.favourites.has(key)), click: toggled }, icon("star"));
    star.title = star.ariaLabel = `Favourite: ${name}`;
    return star;
  }

  /**
   * The line of an entry; the words of the search are marked in it.
   * @param {SignalEntry | RecordEntry} entry
   * @param {string[]} words
   */
  item(entry, words) {
    const text = (/** @type {string} */ value) =>
      marked(value, words).map(([piece, hit]) => (hit ? h("mark", piece) : piece));
    const isSignal = !("kind" in entry);
    const isItem = "kind" in entry && (entry.kind === "wire" || entry.kind === "post");
    const unit = entry.unit ? h("span", entry.unit) : null;
    const about = isItem ? [h("span", entry.category), h("span", entry.source)] : [h("span.mono", ...text(entry.slug)), unit];
    const value = "kind" in entry ? [h("span", isItem ? "" : entry.value), h("span.muted.small", entry.day.slice(0, 10))] : [];
    const open = () => this.open(entry);
    const data = { "data-slug": keyOf(entry), "data-signal": isSignal && entry.slug };
    return h(
      "button.list-item",
      { type: "button", ...data, click: open },
      h(
        "span.list-body",
        h("span.list-title", h("span", ...text(entry.name)), entry.premium ? badge("Premium", "accent") : null),
        h("span.meta", ...about),
      ),
      h("span.list-value", ...value),
      icon("next"),
    );
  }

  /**
   * Show the values of the signals in a list, as far as they are known without a request.
   * @param {HTMLElement} list
   */
  async showValues(list) {
    const items = [...list.querySelectorAll("[data-signal]")];
    const slugs = items.map((item) => item.getAttribute("data-signal") ?? "");
    if (slugs.length === 0) return;
    await this.values.read([...new Set(slugs)]);
    for (const item of list.querySelectorAll("[data-signal]")) {
      const known = this.values.bySlug.get(item.getAttribute("data-signal") ?? "");
      const place = item.querySelector(".list-value");
      if (known && place) fill(place, h("span", known.value), h("span.muted.small", known.day));
    }
  }
}

/** What tells an entry from all others. @param {SignalEntry | RecordEntry} entry */
export function keyOf(entry) {
  return "kind" in entry ? `${KIND}${entry.kind} ${entry.slug}` : entry.slug;
}
