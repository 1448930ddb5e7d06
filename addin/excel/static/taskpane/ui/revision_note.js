/// <reference path="../types.d.ts" />
// The last revision of a signal that was seen: which value changed, by how much, and between which two looks.

import { recordsOf } from "../data/answers.js";
import { isoDate } from "../data/format.js";
import { h } from "./elements.js";

/**
 * A note of the revision seen last, of several seen at once that of the newest observation; null if there is none. New
 * observations, which have no value before, are no revisions.
 * @param {Answer} answer what REVISIONS answers: oldest observation first
 * @param {import("../data/format.js").Formatter} format
 */
export function revisionNote(answer, format) {
  const revised = recordsOf(answer).filter((row) => typeof row["value_before"] === "number");
  const seen = (/** @type {Record<string, Item>} */ row) => Number(row["first_seen"]);
  const last = revised.reduce((/** @type {Record<string, Item> | null} */ best, row) => (best && seen(best) > seen(row) ? best : row), null);
  if (last === null) return null;
  const [before, value] = [Number(last["value_before"]), last["value"]];
  const change =
    typeof value === "number"
      ? `from ${format.number(before)} to ${format.number(value)} (${format.signed(value - before)})`
      : `${format.number(before)} vanished`;
  const words = `${isoDate(Number(last["observed_at"]), false)}: ${change}`;
  const times = (/** @type {boolean} */ withTime) =>
    `seen ${isoDate(seen(last), withTime)}, not before ${isoDate(Number(last["not_before"]), withTime)}`;
  const between = h("span.muted", { title: `${times(true)} (UTC)` }, times(false));
  return h("p.revision.small", h("strong", "Revised"), ` ${words}`, h("br"), between);
}
