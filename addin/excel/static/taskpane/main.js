/// <reference path="./types.d.ts" />
// Builds the task pane: its head, its tabs, and what keeps them up to date.

import { BackendClient } from "../client/backend.js";
import { Formatter } from "./data/format.js";
import { browser, followTheme, hostHere } from "./data/host.js";
import { StatusMonitor } from "./data/status.js";
import { badge, quotaTone } from "./ui/components.js";
import { fill, h } from "./ui/elements.js";
import { generalProblem, problemNotice, waysOf } from "./ui/notices.js";
import { watchLoading } from "./ui/loading_bar.js";
import { Tabs } from "./ui/tabs.js";
import { Account } from "./views/account.js";
import { Refreshing } from "./views/refresh.js";
import { Search } from "./views/search.js";
import { Wizard } from "./views/wizard.js";

/** How often the backend is asked for its status while the pane is visible; that costs no request. */
const LOOK_EVERY_MS = 30_000;

/** How long a short message stays. */
const TOAST_MS = 4_000;

/** @param {string} id */
function place(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}

/** Shows words for a moment; screen readers announce them. */
function announcer() {
  const toast = place("toast");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (/** @type {string} */ words) => {
    fill(toast, words);
    toast.classList.add("shown");
    clearTimeout(timer);
    timer = setTimeout(() => toast.classList.remove("shown"), TOAST_MS);
  };
}

/** @param {StatusMonitor} status */
function keepLooking(status) {
  const look = () => void (document.visibilityState === "visible" && status.look());
  setInterval(look, LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", look);
}

/**
 * Keep the head of the page up to date: where the pane runs, how many requests are left, and what is wrong.
 * @param {Pane} pane
 * @param {{ state: HTMLElement, banner: HTMLElement }} places
 */
function watchHeader(pane, { state, banner }) {
  let shown = "";
  pane.status.watch(() => {
    fill(state, pane.host.hasCells ? null : previewBadge(), quotaBadge(pane));
    const problem = generalProblem(pane);
    // Drawn again only when it changed, so that a screen reader does not repeat it.
    const key = problem ? problem.kind + problem.advice : "";
    if (key === shown) return;
    shown = key;
    fill(banner, problem && problemNotice(problem, waysOf(pane, () => void pane.status.look())));
  });
}

/** Says that the pane runs as a page in a browser. */
function previewBadge() {
  const mark = badge("Preview", "calm");
  mark.title = "Outside Excel: formulas can be tried here and copied into a sheet";
  return mark;
}

/** @param {Pane} pane */
function quotaBadge({ status, format }) {
  if (status.failure !== null) return badge("Offline", "bad");
  const { quota } = status;
  if (quota === null) return null;
  const words = `${format.count(quota.remaining)} left`;
  return h(
    `span.left.${quotaTone(quota)}`,
    { title: `${words} of ${format.count(quota.cap)} requests this month` },
    words,
  );
}

/** Beside the sheet, which gives the focus to the pane as a whole, it is in the first field from then on. */
function takeFocus() {
  const focus = () => {
    if (!document.hasFocus() || document.activeElement !== document.body) return;
    /** @type {HTMLElement | null} */ (document.querySelector("[role=tabpanel]:not([hidden]) input"))?.focus();
  };
  addEventListener("focus", focus);
  focus();
}

async function start() {
  const host = await hostHere(async () => (await import("./data/excel.js")).excel).catch(() => browser);
  followTheme();
  // The sheet has a button of its own.
  if (host.hasCells && !host.isExcel) place("tab-refresh").remove();
  const backend = new BackendClient(new URL(".", location.href).href);
  const status = new StatusMonitor(backend);
  /** @type {Pane} */
  const pane = {
    backend,
    host,
    status,
    format: new Formatter(navigator.language),
    catalogue: null,
    announce: announcer(),
    show: (tab) => tabs.show(tab, { focus: true }),
    openFunction: (id, values) => {
      tabs.show("insert");
      void wizard.fill(id, values);
    },
  };
  watchHeader(pane, { state: place("state"), banner: place("banner") });
  watchLoading(pane, place("loading"));
  const wizard = new Wizard(pane, place("panel-insert"));
  const views = {
    search: new Search(pane, place("panel-search")),
    insert: wizard,
    refresh: new Refreshing(pane, place("panel-refresh")),
    account: new Account(pane, place("panel-account")),
  };
  const tabs = new Tabs(place("tabs"), (name) => void views[/** @type {keyof typeof views} */ (name)].open());
  await status.look();
  tabs.show(status.latest && !status.latest.key.set && !status.latest.shared ? "account" : "search");
  host.functions?.on("reply", () => status.lookSoon());
  keepLooking(status);
  if (host.hasCells && !host.isExcel) takeFocus();
  document.documentElement.dataset["ready"] = "yes";
}

void start();
