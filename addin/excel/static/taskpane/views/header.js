/// <reference path="../types.d.ts" />
// The head of the page: where the pane runs, what is left of the month, and what is wrong, if anything is.

import { fill, h } from "../ui/elements.js";
import { toneOf } from "../ui/quota_meter.js";
import { generalProblem, problemNotice } from "../ui/notices.js";
import { badge } from "../ui/components.js";

/**
 * Keep the head of the page up to date.
 * @param {Pane} pane
 * @param {{ state: HTMLElement, banner: HTMLElement }} places
 */
export function header(pane, { state, banner }) {
  let told = "";
  pane.live.watch(() => {
    fill(state, pane.host.isExcel ? null : preview(), allowance(pane));
    const problem = generalProblem(pane);
    // Drawn again only when it changed, so that a screen reader does not repeat it.
    const key = problem ? problem.kind + problem.advice : "";
    if (key === told) return;
    told = key;
    fill(banner, problem && problemNotice(problem, { retry: () => void pane.live.look(), show: pane.show }));
  });
}

/** That the pane runs as a page in a browser. */
function preview() {
  const mark = badge("Preview", "calm");
  mark.title = "Outside Excel: formulas can be tried here and copied into a sheet";
  return mark;
}

/** @param {Pane} pane */
function allowance({ live, figures }) {
  if (live.failure !== null) return badge("Offline", "bad");
  const { quota } = live;
  if (quota === null) return null;
  const tone = toneOf(quota.cap > 0 ? quota.remaining / quota.cap : 0);
  const words = `${figures.count(quota.remaining)} left`;
  return h(
    "span",
    { class: `left ${tone}`, title: `${words} of ${figures.count(quota.cap)} requests this month` },
    words,
  );
}
