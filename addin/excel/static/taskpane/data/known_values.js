/// <reference path="../types.d.ts" />
// The latest values of signals that the backend holds fresh, so that a list can show them without a request.

import { cellOf } from "./answers.js";
import { isFree } from "./cost.js";

/** @typedef {{ value: string, day: string, readMs: number }} Known */

export class KnownValues {
  /**
   * @param {Pane} pane
   * @param {() => number} clock milliseconds
   */
  constructor(pane, clock = () => performance.now()) {
    this.pane = pane;
    this.clock = clock;
    /** @type {Map<string, Known>} */
    this.bySlug = new Map();
    this.reading = false;
  }

  /**
   * Read what the backend holds of these signals; true if there is anything new. Spends nothing.
   * @param {string[]} slugs
   */
  async read(slugs) {
    const wanted = this.reading ? [] : this.#newer(slugs);
    if (wanted.length === 0) return false;
    this.reading = true;
    try {
      const calls = callsFor(wanted);
      if (!isFree(await this.pane.backend.cost(calls))) return false;
      this.keep(wanted, (await this.pane.backend.call(calls)).answers);
      return true;
    } catch {
      return false; // the list is as useful without them; what is wrong stands at the head of the page
    } finally {
      this.reading = false;
    }
  }

  /**
   * Keep the answers to the calls for some signals.
   * @param {string[]} slugs
   * @param {(Answer | undefined)[]} answers
   */
  keep(slugs, answers) {
    slugs.forEach((slug, at) => {
      const [value, day] = [answers[2 * at], answers[2 * at + 1]];
      const shown = value && !value.error ? cellOf(value, this.pane.format).text : "";
      const dated = day && !day.error ? cellOf(day, this.pane.format).text.slice(0, 10) : "";
      this.bySlug.set(slug, { value: shown, day: dated, readMs: this.clock() });
    });
  }

  /** Of these signals, those with an answer that is fresh and younger than what was read. @param {string[]} slugs */
  #newer(slugs) {
    const resources = this.pane.status.latest?.resources ?? [];
    const ages = new Map(resources.filter(({ state }) => state === "fresh").map((each) => [each.resource, each.age_s]));
    return slugs.filter((slug) => {
      const age = ages.get(`signal ${slug}`);
      if (age === undefined) return false;
      return this.clock() - (age ?? 0) * 1000 > (this.bySlug.get(slug)?.readMs ?? -Infinity);
    });
  }
}

/**
 * The calls for the values and dates of signals.
 * @param {string[]} slugs
 * @returns {Call[]}
 */
export function callsFor(slugs) {
  return slugs.flatMap((slug) => /** @type {Call[]} */ ([["SIGNAL", slug], ["SIGNAL", slug, "observed_at"]]));
}
