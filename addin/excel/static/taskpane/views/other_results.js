/// <reference path="../types.d.ts" />
// What a search finds beside signals. What is cached is searched at once; the rest is offered with its price.

import { found } from "../data/catalogue.js";
import { isFree, requestsIn } from "../data/cost.js";
import { RequestError } from "../../client/exchange.js";
import { lockedFor } from "../data/problems.js";
import { KINDS, recordEntries } from "../data/records.js";
import { button } from "../ui/components.js";
import { h } from "../ui/elements.js";

/** Matches of a kind below those of signals. */
const FEW = 5;

/** @typedef {import("../data/records.js").Kind} Kind */
/** @typedef {import("../data/records.js").RecordEntry} RecordEntry */

export class OtherResults {
  /**
   * @param {Pane} pane
   * @param {{ changed: () => void, failed: (error: unknown, retry: () => void) => void }} told
   */
  constructor(pane, told) {
    this.pane = pane;
    this.told = told;
    /** @type {Map<Kind, RecordEntry[]>} */
    this.records = new Map();
    /** What loading a kind would cost. @type {Map<Kind, Cost>} */
    this.costs = new Map();
  }

  /** Find out what is cached, and load that; spends nothing. */
  async look() {
    await Promise.all(
      this.offered().map(async (about) => {
        const cost = await this.pane.backend.cost([about.call]).catch(() => null);
        if (cost) this.costs.set(about.kind, cost);
        // Nobody asked for it: what cannot be read is offered to be loaded, and the signals stay in view.
        if (cost && isFree(cost)) await this.#read(about).catch(() => {});
      }),
    );
    this.told.changed();
  }

  /** The kinds that are not loaded and that the key's tier can have. */
  offered() {
    return KINDS.filter(({ kind, call }) => !this.records.has(kind) && !this.#locked(call));
  }

  /** The kinds that the key's tier can have. */
  allowed() {
    return KINDS.filter(({ call }) => !this.#locked(call));
  }

  /** @param {Call} call */
  #locked(call) {
    return lockedFor(call[0], this.pane.status.latest) !== null;
  }

  /** @param {Kind} kind */
  async load(kind) {
    const about = KINDS.find((each) => each.kind === kind);
    if (!about || this.records.has(kind)) return;
    try {
      await this.#read(about);
      this.told.changed();
    } catch (error) {
      this.told.failed(error, () => void this.load(kind));
    }
  }

  /** @param {typeof KINDS[number]} about */
  async #read(about) {
    const { answers } = await this.pane.backend.call([about.call]);
    const [answer] = answers;
    if (!answer || answer.error) throw new RequestError(answer?.message ?? "there is no answer", answer?.kind);
    this.records.set(about.kind, recordEntries(about, answer, this.pane.format));
  }

  /**
   * The matches of one kind, of wire and posts the newest first; null where it is not loaded.
   * @param {string} kind
   * @param {string} query
   */
  matches(kind, query) {
    const records = this.records.get(/** @type {Kind} */ (kind));
    if (!records) return null;
    const matches = found(records, query);
    return kind === "wire" || kind === "post" ? matches.sort((a, b) => b.day.localeCompare(a.day)) : matches;
  }

  /**
   * The matches of every loaded kind, the best few of each, and the offer to load the others.
   * @param {string} query
   * @param {(entry: RecordEntry) => HTMLElement} item
   * @param {(kind: Kind) => void} all
   */
  sections(query, item, all) {
    const sections = KINDS.map(({ kind, title }) => {
      const matches = this.matches(kind, query) ?? [];
      if (matches.length === 0) return null;
      const more = matches.length > FEW ? button(`All ${matches.length}`, () => all(kind), { look: "quiet" }) : null;
      const head = h("div.row.spread", h("h2", title), more);
      return h("section.others", head, h("ul.list", ...matches.slice(0, FEW).map((entry) => h("li", item(entry)))));
    });
    return [...sections, this.#offer()];
  }

  #offer() {
    const offers = this.offered().map(({ kind }) => this.loader(kind)).filter(Boolean);
    return offers.length ? h("section.others", h("h2", "Not searched yet"), h("div.row.tight", ...offers)) : null;
  }

  /** The button that loads a kind. @param {string} kind */
  loader(kind) {
    const about = this.offered().find((each) => each.kind === kind);
    const cost = about && this.costs.get(about.kind);
    if (!about || !cost) return null;
    const words = `${about.title} (${requestsIn(cost, this.pane.format)})`;
    return button(words, () => void this.load(about.kind), { disabled: !cost.allowed, label: `Load and search ${words}` });
  }
}
