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
 * @property {(row: Record<string, string>) => Partial<RecordEntry>} read
 */

/** @type {KindAbout[]} */
export const KINDS = [
  {
    kind: "index",
    title: "Indices",
    one: "index",
    many: "indices",
    call: ["INDICES", "slug, name, value, observed_at, category, scale"],
    read: (row) => ({
      ...named(row),
      category: row["category"] ?? "",
      value: row["value"] ?? "",
      day: row["observed_at"] ?? "",
      facts: [["Scale", row["scale"] ?? ""], ["Category", row["category"] ?? ""]],
      offers: [
        ["Current reading", "INDEX", []],
        ["Date of the reading", "INDEX", ["observed_at"]],
        ["Components", "INDEX", ["components"]],
      ],
    }),
  },
  {
    kind: "current",
    title: "Currents",
    one: "current",
    many: "currents",
    call: ["CURRENTS", null, "slug, name, family, momentum_score, belief_score, maturity_stage, phrase"],
    read: (row) => ({
      ...named(row),
      category: row["family"] ?? "",
      description: row["phrase"] ?? "",
      value: row["momentum_score"] ?? "",
      facts: [
        ["In a phrase", row["phrase"] ?? ""],
        ["Momentum", row["momentum_score"] ?? ""],
        ["Belief", row["belief_score"] ?? ""],
        ["Stage", row["maturity_stage"] ?? ""],
        ["Family", row["family"] ?? ""],
      ],
      offers: [
        ["Momentum", "CURRENT", ["momentum_score"]],
        ["Belief", "CURRENT", ["belief_score"]],
        ["Stage", "CURRENT", ["maturity_stage"]],
      ],
    }),
  },
  {
    kind: "wire",
    title: "Wire",
    one: "item of the wire",
    many: "items of the wire",
    call: ["WIRE", ...blanks(4), 200, ...blanks(2), "id, published_at, kind, headline, source, primary_url, tickers"],
    read: (row) => ({
      slug: row["id"] ?? "",
      name: row["headline"] ?? "",
      category: row["kind"] ?? "",
      source: row["source"] ?? "",
      shortcode: row["tickers"] ?? "",
      day: row["published_at"] ?? "",
      url: row["primary_url"] ?? "",
      facts: [
        ["Published", `${row["published_at"] ?? ""} UTC`],
        ["Kind", row["kind"] ?? ""],
        ["Source", row["source"] ?? ""],
        ["Tickers", row["tickers"] ?? ""],
      ],
      offers: [["The newest items", "WIRE", []]],
    }),
  },
  {
    kind: "post",
    title: "Posts",
    one: "post",
    many: "posts",
    call: ["CODEX", ...blanks(3), 200, null, "slug, published_at, story_type, title, subtitle, display_name, url"],
    read: (row) => ({
      slug: row["slug"] ?? "",
      name: row["title"] ?? "",
      category: row["story_type"] ?? "",
      source: row["display_name"] ?? "",
      description: row["subtitle"] ?? "",
      day: row["published_at"] ?? "",
      url: row["url"] ?? "",
      facts: [
        ["About", row["subtitle"] ?? ""],
        ["Published", `${row["published_at"] ?? ""} UTC`],
        ["Author", row["display_name"] ?? ""],
        ["Type", row["story_type"] ?? ""],
      ],
      offers: [
        ["Text of the post", "CODEX_POST", []],
        ["Its citations", "CODEX_POST", ["citations"]],
      ],
    }),
  },
];

/**
 * The records in an answer.
 * @param {KindAbout} about
 * @param {Answer} answer
 * @param {import("./format.js").Formatter} format
 * @returns {RecordEntry[]}
 */
export function recordEntries(about, answer, format) {
  const { header, rows } = tableOf(answer, format, Infinity);
  const names = header ?? [];
  const entries = rows.map((cells) => about.read(Object.fromEntries(names.map((name, at) => [name, cells[at]?.text ?? ""]))));
  return entries.filter((entry) => entry.slug).map((entry) => ({ ...BLANK, ...entry, kind: about.kind }));
}

/** @type {Omit<RecordEntry, "kind">} */
const BLANK = {
  slug: "",
  shortcode: "",
  name: "",
  category: "",
  unit: "",
  source: "",
  description: "",
  premium: false,
  value: "",
  day: "",
  url: "",
  facts: [],
  offers: [],
};

/** @param {Record<string, string>} row */
function named(row) {
  return { slug: row["slug"] ?? "", name: row["name"] ?? "" };
}

/** @param {number} count @returns {null[]} */
function blanks(count) {
  return Array.from({ length: count }, () => null);
}
