/// <reference path="../types.d.ts" />
// What can be searched beside signals: indices, currents, items of the wire and posts. Each is one call, whose answer
// other cells and this page share.

import { tableOf } from "./answers.js";

/** @typedef {"index" | "current" | "wire" | "post"} Kind */

/**
 * @typedef {import("./catalogue.js").SignalEntry & {
 *   kind: Kind, value: string, day: string, url: string, facts: [string, string][], offers: import("./formula.js").Offer[]
 * }} RecordEntry
 */

/**
 * @typedef {object} KindAbout
 * @property {Kind} kind
 * @property {string} title
 * @property {string} one
 * @property {string} many
 * @property {Call} call
 * @property {Partial<Record<keyof RecordEntry, string>>} members and the columns in which they stand
 * @property {Record<string, string>} facts by their titles, the same
 * @property {import("./formula.js").Offer[]} offers
 */

/** @type {KindAbout[]} */
export const KINDS = [
  {
    kind: "index",
    ...{ title: "Indices", one: "index", many: "indices" },
    call: ["INDICES", "slug, name, value, observed_at, category, scale"],
    members: { slug: "slug", name: "name", category: "category", value: "value", day: "observed_at" },
    facts: { Scale: "scale", Category: "category" },
    offers: [["Current reading", "INDEX", []], ["Date of the reading", "INDEX", ["observed_at"]], ["Components", "INDEX", ["components"]]],
  },
  {
    kind: "current",
    ...{ title: "Currents", one: "current", many: "currents" },
    call: ["CURRENTS", null, "slug, name, family, momentum_score, belief_score, maturity_stage, phrase"],
    members: { slug: "slug", name: "name", category: "family", description: "phrase", value: "momentum_score" },
    facts: { "In a phrase": "phrase", Momentum: "momentum_score", Belief: "belief_score", Stage: "maturity_stage", Family: "family" },
    offers: [["Momentum", "CURRENT", ["momentum_score"]], ["Belief", "CURRENT", ["belief_score"]], ["Stage", "CURRENT", ["maturity_stage"]]],
  },
  {
    kind: "wire",
    ...{ title: "Wire", one: "item of the wire", many: "items of the wire" },
    call: ["WIRE", null, null, null, null, 200, null, null, "id, published_at, kind, headline, source, primary_url, tickers"],
    members: { slug: "id", name: "headline", category: "kind", source: "source", shortcode: "tickers", day: "published_at", url: "primary_url" },
    facts: { "Published (UTC)": "published_at", Kind: "kind", Source: "source", Tickers: "tickers" },
    offers: [["The newest items", "WIRE", []]],
  },
  {
    kind: "post",
    ...{ title: "Posts", one: "post", many: "posts" },
    call: ["CODEX", null, null, null, 200, null, "slug, published_at, story_type, title, subtitle, display_name, url"],
    members: { slug: "slug", name: "title", category: "story_type", source: "display_name", description: "subtitle", day: "published_at", url: "url" },
    facts: { About: "subtitle", "Published (UTC)": "published_at", Author: "display_name", Type: "story_type" },
    offers: [["Text of the post", "CODEX_POST", []], ["Its citations", "CODEX_POST", ["citations"]]],
  },
];

const BLANK = { slug: "", shortcode: "", name: "", category: "", unit: "", source: "", description: "", premium: false, value: "", day: "", url: "" };

/**
 * The records in an answer.
 * @param {KindAbout} about
 * @param {Answer} answer
 * @param {import("./format.js").Formatter} format
 * @returns {RecordEntry[]}
 */
export function recordEntries({ kind, members, facts, offers }, answer, format) {
  const { header, rows } = tableOf(answer, format, Infinity);
  const entries = rows.map((cells) => {
    const read = (/** @type {Record<string, string>} */ columns) =>
      Object.entries(columns).map(([name, column]) => /** @type {[string, string]} */ ([name, cells[header?.indexOf(column) ?? -1]?.text ?? ""]));
    return { ...BLANK, ...Object.fromEntries(read(members)), kind, facts: read(facts), offers };
  });
  return entries.filter(({ slug }) => slug);
}
