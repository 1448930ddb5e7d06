/// <reference path="../types.d.ts" />
// The month's allowance as a meter.

import { h } from "./elements.js";

/** Below this share of the cap the meter warns. */
const LOW_SHARE = 0.1;

/**
 * @param {Quota | null} quota
 * @param {import("../data/format.js").Figures} figures
 */
export function meter(quota, figures) {
  if (quota === null) return h("p.muted", "Known after the first request.");
  const share = quota.cap > 0 ? quota.remaining / quota.cap : 0;
  const label = `${figures.count(quota.remaining)} of ${figures.count(quota.cap)} requests left`;
  const level = h("div.meter-level");
  level.style.inlineSize = `${Math.max(0, Math.min(100, share * 100))}%`;
  const bar = h("div", { class: `meter ${toneOf(share)}`, role: "img", "aria-label": label }, level);
  return h(
    "div.allowance",
    h(
      "p.row.spread",
      h("span", h("strong.big", figures.count(quota.remaining)), " left this month"),
      h("span.badge.calm.tier", quota.tier),
    ),
    bar,
    h(
      "p.row.spread.muted.small",
      h("span", `of ${figures.count(quota.cap)}`),
      h("span", `${figures.count(quota.used_here)} used here`),
    ),
  );
}

/** @param {number} share */
export function toneOf(share) {
  return share <= 0 ? "bad" : share < LOW_SHARE ? "warn" : "good";
}
