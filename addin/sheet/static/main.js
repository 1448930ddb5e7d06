/// <reference path="types.d.ts" />
// The page: opens the book, and joins the component, our functions and the lines around them.
import { messageOf } from "../client/exchange.js";
import { Book } from "./book.js";
import { Calls } from "./calls.js";
import { addLinksWithinBook, keepPastedTextText, splitPlace } from "./component.js";
import { judge, keepFiles, onlyShown } from "./keeping.js";
import { addFunctions } from "./library.js";
import { addNames } from "./names.js";
import { watchQuestion } from "./question.js";
import { element, StatusLine } from "./status_line.js";
import { TextView } from "./text_view.js";

const MOST_BYTES = 40 * 2 ** 20;

/** @type {Book} */
let book;
/** The book that is being read, until it is shown: its formulas are computed before it takes the place of the other. */
/** @type {Book | null} */
let coming = null;
/** @type {string} */
let templates;
/** Books are numbered as they are chosen: the last one is shown, however long each takes. */
let chosen = 0;
/** The cell that was active when the model last said that something happened. */
let active = "";

const calls = new Calls({
  evaluate: (cells) => book.evaluate(cells),
  contentOf: (cell) => book.contentOf(cell),
  progressed: () => line.update(),
  later: (work, ms) => void setTimeout(work, ms),
  clock: () => performance.now(),
});
const line = new StatusLine(calls);
const text = new TextView();

async function start() {
  element("sheet").classList.add("waiting");
  const turn = chosen;
  const [xml, described, opened, status] = await Promise.all([
    fetch(new URL("../component/o_spreadsheet.xml", import.meta.url)).then((answer) => answer.text()),
    DataServiceAddin.ask("registry.json"),
    DataServiceAddin.ask("sheet/book"),
    DataServiceAddin.ask("status"),
  ]);
  templates = xml;
  addFunctions(described, DataServiceAddin.configuration.namespace, calls, (...place) => (coming ?? book).valueInFile(...place));
  addNames(described, DataServiceAddin.configuration.namespace, () => performance.now());
  addLinksWithinBook(pressed);
  keepFiles((sentence) => line.complain(sentence));
  keepPastedTextText();
  DataServiceAddin.onReply((reply) => line.showQuota(reply.quota));
  line.showQuota(status.quota);
  watchQuestion((problem) => line.complain(problem));
  DataServiceAddin.onAnswered(() => book.evaluate(null));
  if (!status.key.set) line.complain("No API key is set: cells will say so. Keep one with: addin key set");
  listen();
  if (turn === chosen) await show(new Book(opened, opened.content ?? ""));
  globalThis.sheet = { calls, refresh, open, copy, stop: () => calls.stop(), get book() { return book; } };
  document.documentElement.dataset.ready = "";
}

/**
 * Show a book in place of the one that is open, which stays if this one cannot be read.
 * @param {Book} next
 */
async function show(next) {
  try {
    coming = next;
    judge(null);
    next.read();
  } finally {
    coming = null;
    judge(book ?? null);
  }
  judge(next);
  book?.close();
  book = next;
  element("sheet").classList.remove("waiting");
  element("sheet").replaceChildren();
  element("name").textContent = book.name;
  document.title = `${book.name} – Data Service`;
  await book.show(element("sheet"), templates, (problem) => line.complain(problem));
  book.model.on("update", text, () => {
    text.follow(book.model);
    calls.lookForUnused();
    watchButton();
  });
  active = activeCell();
  text.follow(book.model);
  line.update();
}

function activeCell() {
  const { sheetId, col, row } = book.model.getters.getActivePosition();
  return `${book.model.getters.getSheetName(sheetId)}!${o_spreadsheet.helpers.toXC(col, row)}`;
}

/** Selecting the book's button presses it, as in Excel. */
function watchButton() {
  const now = activeCell();
  if (now === active) return;
  active = now;
  pressed(now);
}

/** @param {string} place */
function pressed(place) {
  if (book.button !== null && place === splitPlace(book.button).join("!")) void refresh();
}

/** Ask again for what is stale. */
async function refresh() {
  try {
    const { quota } = await DataServiceAddin.ask("refresh", { mode: "stale" });
    line.showQuota(quota);
    line.complain(null);
  } catch (error) {
    line.complain(messageOf(error));
    return;
  }
  DataServiceAddin.forget();
  calls.forgetCells();
  book.evaluate(null);
}

/** @param {File} file */
async function open(file) {
  if (file.size > MOST_BYTES) return line.complain(`${file.name} is larger than 40 MB`);
  const turn = ++chosen;
  try {
    const content = base64(new Uint8Array(await file.arrayBuffer()));
    const opened = await DataServiceAddin.ask("sheet/open", { name: file.name, content });
    if (turn !== chosen) return; // another one was chosen meanwhile
    await show(new Book(opened, content));
    line.complain(null);
  } catch (error) {
    if (turn === chosen) line.complain(`${file.name} cannot be opened: ${messageOf(error)}`);
  }
}

/** The file that was opened with what was changed since, as the backend writes it. */
async function copy() {
  const answer = await fetch(new URL("sheet/save", DataServiceAddin.base), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(book.edited()),
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.blob();
}

async function download() {
  if (calls.waiting > 0) return line.complain("Cells are still loading; download again when they are there, or press Stop.");
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await copy());
    link.download = book.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    line.tell(onlyShown(book.model.getters));
  } catch (error) {
    line.complain(`The workbook cannot be downloaded: ${messageOf(error)}`);
  }
}

function listen() {
  const file = /** @type {HTMLInputElement} */ (element("file"));
  file.addEventListener("change", () => {
    if (file.files?.[0]) void open(file.files[0]);
    file.value = "";
  });
  element("open").addEventListener("click", () => file.click());
  element("refresh").addEventListener("click", () => void refresh());
  element("download").addEventListener("click", () => void download());
  element("stop").addEventListener("click", stop);
  element("as-text").addEventListener("click", () => text.toggle());
  addEventListener("keydown", onKey, { capture: true });
}

function stop() {
  DataServiceAddin.stop();
  calls.stop();
  line.showStopped();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  // AltGr, which types signs, comes as Ctrl and Alt.
  const control = (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (event.key === "F9") void refresh();
  else if (control && !event.altKey && event.key.toLowerCase() === "s") void download();
  else if (control && event.altKey && event.code === "KeyT") text.toggle();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

start().catch((error) => {
  element("sheet").classList.remove("waiting");
  line.complain(`The sheet cannot be shown: ${messageOf(error)}`);
});
