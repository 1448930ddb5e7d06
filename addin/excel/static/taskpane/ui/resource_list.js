/// <reference path="../types.d.ts" />
// The backend's resources: which are fresh, which are not, and why.

import { badge, sentence } from "./components.js";
import { span } from "../data/format.js";
import { h } from "./elements.js";

/** @type {Record<string, "good" | "warn" | "bad" | "calm">} */
const TONES = { fresh: "good", stale: "warn", missing: "calm", locked: "bad", spent: "bad", offline: "bad" };

/** The order of the list: the worst state first. */
const ORDER = ["offline", "spent", "locked", "stale", "missing", "fresh"];

/** So many of one kind are listed: nobody reads further, and the list is drawn again after every look. */
const LISTED = 200;

/**
 * @param {ResourceReport[]} resources
 */
function sortedResources(resources) {
  const rank = (/** @type {ResourceReport} */ each) => ORDER.indexOf(each.state);
  return [...resources].sort((a, b) => rank(a) - rank(b) || a.resource.localeCompare(b.resource));
}

/**
 * One sentence: how much is fresh, how much is not.
 * @param {ResourceReport[]} resources
 * @param {import("../data/format.js").Formatter} format
 */
export function resourceSummary(resources, format) {
  if (resources.length === 0) return "Nothing was asked of the service yet.";
  const fresh = resources.filter((each) => each.state === "fresh").length;
  const others = resources.length - fresh;
  const answers = format.counted(resources.length, "answer");
  return others === 0
    ? `All of ${answers} held are fresh.`
    : `${format.count(others)} of ${answers} held ${others === 1 ? "is" : "are"} not fresh.`;
}

/**
 * What is not fresh, each with its reason; what is fresh is folded away, because nobody needs to act on it.
 * @param {ResourceReport[]} resources
 * @param {{ format: import("../data/format.js").Formatter, unfolded: boolean }} options
 */
export function resourceList(resources, { format, unfolded }) {
  const sorted = sortedResources(resources);
  const others = sorted.filter((each) => each.state !== "fresh");
  const fresh = sorted.filter((each) => each.state === "fresh");
  const summary = h("summary", format.counted(fresh.length, "fresh answer"));
  const folded = h("details.fresh-resources", { open: unfolded }, summary, listOf(fresh, format));
  return h("div.stack", others.length ? listOf(others, format) : null, fresh.length ? folded : null);
}

/** @param {ResourceReport[]} resources @param {import("../data/format.js").Formatter} format */
function listOf(resources, format) {
  const items = resources.slice(0, LISTED).map((each) => {
    const detail = [each.age_s === null ? null : `${span(each.age_s)} old`, each.source ? `from ${each.source}` : null];
    return h(
      "li.resource",
      h("div.resource-head", h("span.mono", each.resource), badge(each.state, TONES[each.state] ?? "calm")),
      h("p.muted.small", detail.filter(Boolean).join(" · ")),
      each.last_error ? h("p.small.reason", ...sentence(each.last_error)) : null,
    );
  });
  const more = resources.length - items.length;
  return h("ul.list.flush", ...items, more > 0 && h("li.muted.small", `and ${format.count(more)} more`));
}
