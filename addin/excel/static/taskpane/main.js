/// <reference path="./types.d.ts" />
// The task pane put together.

import { Account } from "./views/account.js";
import { Backend } from "./data/api.js";
import { fill } from "./ui/elements.js";
import { Figures } from "./data/format.js";
import { header } from "./views/header.js";
import { browser, followTheme, hostHere } from "./data/host.js";
import { Live } from "./data/status.js";
import { Refreshing } from "./views/refresh.js";
import { Search } from "./views/search.js";
import { Tabs } from "./ui/tabs.js";
import { Wizard } from "./views/wizard.js";

/** How often the backend is asked how it stands while the pane is seen; that costs no request. */
const LOOK_EVERY_MS = 30_000;

/** How long something said in passing stays. */
const TOAST_MS = 4_000;

/** @param {string} id */
function place(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}

/** Show words for a moment; screen readers say them. */
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

/** Let the backend's quota be seen as soon as Excel's own calls bring it. @param {Live} live */
function listenToFunctions(live) {
  if (typeof DataServiceAddin !== "undefined") DataServiceAddin.onReply(() => live.lookSoon());
}

/** @param {Live} live */
function keepLooking(live) {
  const look = () => void (document.visibilityState === "visible" && live.look());
  setInterval(look, LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", look);
}

async function start() {
  const host = await hostHere(async () => (await import("./data/excel.js")).excel).catch(() => browser);
  followTheme();
  const backend = new Backend({ base: new URL("..", import.meta.url).href });
  const live = new Live(backend);
  /** @type {Tabs} */
  let tabs;
  /** @type {Pane} */
  const pane = {
    backend,
    host,
    live,
    figures: new Figures(navigator.language),
    catalogue: null,
    announce: announcer(),
    show: (tab) => tabs.show(tab, { focus: true }),
    openFunction: (id, values) => {
      tabs.show("insert");
      void wizard.fill(id, values);
    },
  };
  header(pane, { state: place("state"), banner: place("banner") });
  const wizard = new Wizard(pane, place("panel-insert"));
  const views = {
    search: new Search(pane, place("panel-search")),
    insert: wizard,
    refresh: new Refreshing(pane, place("panel-refresh")),
    account: new Account(pane, place("panel-account")),
  };
  tabs = new Tabs(place("tabs"), (name) => void views[/** @type {keyof typeof views} */ (name)].open());
  await live.look();
  tabs.show(live.status && !live.status.key.set && !live.status.shared ? "account" : "search");
  listenToFunctions(live);
  keepLooking(live);
  document.documentElement.dataset["ready"] = "yes";
}

void start();
