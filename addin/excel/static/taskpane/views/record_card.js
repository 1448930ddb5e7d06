/// <reference path="../types.d.ts" />
// The card of an index, a current, an item of the wire or a post: what the answer at hand says of it, and formulas.

import { formulaOffers } from "./formula_offers.js";
import { factRows } from "../ui/components.js";
import { h, icon } from "../ui/elements.js";

/**
 * @param {Pane} pane
 * @param {import("../data/records.js").RecordEntry} entry
 */
export function recordCard(pane, entry) {
  const { kind, name, slug, value, day, url, facts, offers } = entry;
  const reading = kind === "index" && value ? h("p.value", h("strong", value)) : null;
  const dated = reading && day ? h("p.muted", day.slice(0, 10)) : null;
  const isItem = kind === "wire";
  const link = /^https?:\/\//i.test(url) ? { href: url, target: "_blank", rel: "noopener" } : null;
  return h(
    "article.card",
    h("header", h("h2", { tabindex: -1 }, name), isItem ? null : h("p.mono.muted.small", slug)),
    reading && h("div.reading", reading, dated),
    h("dl.facts", ...factRows(facts.filter(([, text]) => text))),
    link && h("p", h("a", link, "Open in the browser ", icon("open"))),
    h("section.formulas", h("h3", "Formulas"), formulaOffers(pane, isItem ? null : slug, offers)),
  );
}
