/// <reference path="types.d.ts" />
// The page: opens the book, and joins the component, our functions and the lines around them.
import { messageOf } from "../client/exchange.js";
import { cellsFor, listenBeside, toggleBeside } from "./beside.js";
import { Book } from "./book.js";
import { Calls } from "./calls.js";
import { described, Drafts } from "./drafts.js";
import { addLinksWithinBook, addMarks, enterWhatIsTyped, focusCells, improved, isDark, keepTypedText, measureFontsOnce, nameErrors, nameMonths, offerLists, splitPlace } from "./component.js";
import { computeCellsOnly } from "./filling.js";
import { judge, keepFiles, onlyShown } from "./keeping.js";
import { addFunctions, answerTo } from "./library.js";
import { addNames } from "./typing/names.js";
import { relyOnProof } from "./proof/compiling.js";
import { askBeforeSpending, askUser, watchQuestion } from "./question.js";
import { element, StatusLine } from "./status_line.js";
import { TextView } from "./text_view.js";
import { keepPastedTextText, readTables } from "./typing/pasted.js";
import { readAsExcel } from "./typing/typed.js";

const MOST_BYTES = 40 * 2 ** 20;

/** A backend that is away is looked for so often. */
const LOOK_AGAIN_MS = 3_000;
const AWAY = "the sheet's backend is not there. Start addin sheet, or addin demo, again; what you changed stays here meanwhile";
const NOT_THERE = /^the add-in's backend is not there/;
/** @type {Promise<void> | null} */
let looking = null;

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
  evaluate: (cells) => bookOf().evaluate(cells),
  contentOf: (cell) => bookOf().contentOf(cell),
  progressed: () => line.update(),
  later: (work, ms) => void setTimeout(work, ms),
  clock: () => performance.now(),
});
const line = new StatusLine(calls);
const text = new TextView();
/** The book with a cell that is computed: as long as another one is read, mostly that one. @param {any} [getters] the component's */
function bookOf(getters) {
  return coming === null || (book?.model && getters === book.model.getters) ? book : coming;
}

/** What works the ordinary formulas of a book out. */
const worker = {
  calls,
  get namespace() { return DataServiceAddin.configuration.namespace; },
  post: (/** @type {object} */ wanted, /** @type {AbortSignal} */ signal) => DataServiceAddin.backend.request("sheet/calculate", { body: JSON.stringify(wanted), signal }).catch(away),
  call: (/** @type {string} */ id, /** @type {unknown[]} */ values, /** @type {any} */ user, /** @type {boolean} */ isInFile) => answerTo(calls, id, values, user, isInFile),
  needRoom: makeRoom,
};
const drafts = new Drafts((problem) => line.complain(problem));

/** Say in the sheet's own words that its backend is away, and look for it until it is back. @param {any} error @returns {never} */
function away(error) {
  if (!NOT_THERE.test(error.message)) throw error; // it was stopped, or took too long
  looking ??= comeBack().finally(() => { looking = null; });
  throw new Error(AWAY, { cause: error });
}

/** Work out what had no answer, as soon as the backend gives one. */
async function comeBack() {
  do await new Promise((go) => setTimeout(go, LOOK_AGAIN_MS));
  while (!(await DataServiceAddin.ask("status").then(() => true, () => false)));
  book.workedOut.forgetFailures();
  book.evaluate(null);
}

async function start() {
  element("sheet").classList.add("waiting");
  const turn = chosen;
  const [xml, functions, opened, status] = await Promise.all([
    fetch(new URL("../component/o_spreadsheet.xml", import.meta.url)).then((answer) => answer.text()),
    askedFirst("registry.json"),
    askedFirst("sheet/book"),
    askedFirst("status"),
    ...["16px Roboto", "bold 16px Roboto"].map((font) => document.fonts.load(font)), // what is drawn before stays in another one
  ]);
  templates = improved(xml);
  addFunctions(functions, DataServiceAddin.configuration.namespace, calls, bookOf, makeRoom);
  addNames(functions, DataServiceAddin.configuration.namespace, () => performance.now());
  addLinksWithinBook(pressed);
  relyOnProof(bookOf);
  computeCellsOnly();
  measureFontsOnce();
  nameErrors();
  addMarks((place) => book?.workedOut.differing.get(place)?.isShown ?? false, () => line.tell(book.notes));
  keepFiles((sentence) => line.complain(sentence), changed, (cell) => setTimeout(() => void book.advise(cell), 0));
  keepPastedTextText();
  readTables(document);
  keepTypedText();
  enterWhatIsTyped();
  readAsExcel();
  offerLists();
  nameMonths();
  isDark.addEventListener("change", () => void display());
  DataServiceAddin.on("reply", (reply) => line.showQuota(reply.quota));
  line.showQuota(status.quota);
  watchQuestion((problem) => line.complain(problem));
  DataServiceAddin.on("answered", () => bookOf().evaluate(null));
  if (!status.key.set) line.complain("No API key is set: cells will say so. Keep one with: addin key set");
  globalThis.sheet = { calls, drafts, refresh, open, copy, stop: () => calls.stop(), host: cellsFor(() => book.model), get book() { return book; } };
  listen();
  if (turn === chosen) await show(new Book(opened, opened.content ?? "", worker), turn);
  document.documentElement.dataset.ready = "";
  void offerDraft();
}

/** What was asked for ahead; what failed there is asked for again, and says why it fails. @param {string} path */
async function askedFirst(path) {
  const answer = await askedAhead[path];
  return answer?.ok ? answer.json() : DataServiceAddin.ask(path);
}

/** Ask what to do with the newest draft that was left by a page that is gone. */
async function offerDraft() {
  const [draft] = await drafts.left();
  if (draft === undefined) return askUser("draft", null);
  askUser("draft", described(draft), () => void restore(draft), () => void drafts.remove(draft.id).then(offerDraft));
}

/** @param {import("./drafts.js").Draft} draft */
async function restore(draft) {
  if (!mayLeave()) return offerDraft();
  const turn = ++chosen;
  try {
    const opened = await DataServiceAddin.ask("sheet/open", { name: draft.name, content: draft.content });
    if (turn !== chosen) return;
    await show(new Book({ ...opened, is_blank: draft.isBlank }, draft.content, worker), turn, draft);
  } catch (error) {
    if (turn === chosen) line.complain(`The draft cannot be opened. ${whyNotOpened(draft.name, error)}`);
  }
  void offerDraft();
}

/** Whether the open book may be left: nothing of it is unsaved, or the user says so. A draft of it stays. */
function mayLeave() {
  return !drafts.isUnsaved || confirm(`${book.name} has changes that are not downloaded. Leave it? They stay here as a draft.`);
}

/**
 * Show a book in place of the one that is open, which stays if this one cannot be read, or another is chosen meanwhile.
 * @param {Book} next
 * @param {number} turn its number
 * @param {import("./drafts.js").Draft} [draft] what had been changed in it
 */
async function show(next, turn, draft) {
  const wasUnsaved = drafts.isUnsaved;
  let isWanted = false;
  try {
    coming = next;
    calls.holding = true;
    calls.held.clear();
    next = await readable(next, turn);
    if (draft !== undefined) next.changes?.apply(draft.sheets);
    await drafts.write();
    // Who changed the open book meanwhile was not asked before.
    isWanted = turn === chosen && (wasUnsaved || mayLeave());
  } catch (error) {
    if (turn === chosen) throw error;
  } finally {
    if (turn === chosen) {
      coming = null;
      void line.busyWith("");
      if (!isWanted) goOn();
    }
  }
  if (!isWanted) return;
  judge(next);
  book?.close();
  book = next;
  drafts.follow(book, draft?.id);
  element("name").textContent = book.name;
  document.title = `${book.name} – Data Service`;
  await display();
  line.tell(book.notes);
  book.model.on("update", text, () => {
    text.follow(book.model);
    calls.lookForUnused();
    book.workedOut.lookAtRows();
    watchButton();
  });
  active = activeCell();
  text.follow(book.model);
  line.update();
  await book.begin();
  if (book === next) line.tell(book.notes);
  void askBeforeSpending(calls);
}

/** Go on with the open book after another one was not shown: what was answered meanwhile is shown now. */
function goOn() {
  calls.held.clear();
  book?.evaluate(null); // what waits because the file has its value is held again
  void askBeforeSpending(calls);
}

/** The user changed something. */
function changed() {
  drafts.changed();
  book.workedOut.touched();
}

/** Draw the open book, in the colours of the system. */
async function display() {
  book.close();
  element("sheet").classList.remove("waiting");
  element("sheet").replaceChildren();
  await book.show(element("sheet"), templates, (problem) => line.complain(problem));
}

/**
 * The book as it is read: without its charts, tables and rules if the component cannot read them.
 * @param {Book} next
 * @param {number} turn its number; the reading ends when another one is chosen
 */
async function readable(next, turn) {
  const progressed = (/** @type {number} */ part) => {
    if (turn !== chosen) throw new Error("another book was chosen");
    line.progressed(`Reading ${next.name}`, part);
  };
  try {
    await next.read(progressed);
    return next;
  } catch (error) {
    if (turn !== chosen) throw error;
    const { name, content, isBlank } = next;
    const opened = await DataServiceAddin.ask("sheet/open", { name, content, plain: true });
    if (turn !== chosen) throw error;
    coming = new Book({ ...opened, is_blank: isBlank, is_plain: true }, content, worker);
    const plain = coming;
    try {
      await plain.read(progressed);
    } catch (cause) {
      throw new Error("the sheet's component cannot read it. The file is unchanged; open it in Excel or LibreOffice Calc", { cause });
    }
    return plain;
  }
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

/**
 * A table needs so many rows and columns from its formula on; the sheet grows once the calculation has ended.
 * @param {any} getters the component's
 * @param {{ sheetId: string, col: number, row: number }} position
 * @param {number} rows
 * @param {number} columns
 */
function makeRoom(getters, { sheetId, col, row }, rows, columns) {
  if (row + rows <= getters.getNumberRows(sheetId) && col + columns <= getters.getNumberCols(sheetId)) return;
  const grown = bookOf(getters);
  setTimeout(() => grown.growTo(sheetId, row + rows, col + columns), 0);
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
  book.workedOut.forgetFailures();
  calls.release();
  askUser("held", null);
  book.evaluate(null);
}

/** @param {File} file */
async function open(file) {
  if (!mayLeave()) return;
  if (file.size > MOST_BYTES) return line.complain(`${file.name} is larger than 40 MB`);
  const turn = ++chosen;
  try {
    await line.busyWith(`Opening ${file.name} …`);
    const content = base64(new Uint8Array(await file.arrayBuffer()));
    const opened = await DataServiceAddin.ask("sheet/open", { name: file.name, content });
    if (turn !== chosen) return; // another one was chosen meanwhile
    await show(new Book(opened, content, worker), turn);
  } catch (error) {
    if (turn === chosen) line.complain(whyNotOpened(file.name, error));
  } finally {
    if (turn === chosen) void line.busyWith("");
  }
}

/** A sentence about a book that cannot be opened, in the backend's own words. @param {string} name @param {unknown} error */
function whyNotOpened(name, error) {
  const reason = String(/** @type {any} */ (error).reason ?? messageOf(error)); // the class is another module's of the same name
  const told = reason.replace("press Refresh to ask again", "open it again"); // Refresh opens nothing
  return told.startsWith(name) ? told : `${name} cannot be opened: ${told}`;
}

/** The file that was opened with what was changed since, as the backend writes it. */
async function copy() {
  const answer = await fetch(new URL("sheet/save", DataServiceAddin.base), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(book.edited()),
  }).catch((cause) => {
    throw new Error(AWAY, { cause }); // browsers have words of their own for it
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.blob();
}

async function download() {
  if (calls.waiting > 0) return line.complain("Cells are still loading; download again when they are there, or press Stop.");
  try {
    await line.busyWith("Making the copy …");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await copy());
    link.download = book.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    line.tell(onlyShown(book.model.getters));
    await drafts.downloaded();
  } catch (error) {
    line.complain(`The workbook cannot be downloaded: ${messageOf(error)}`);
  } finally {
    void line.busyWith("");
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
  element("search").addEventListener("click", toggleBeside);
  element("as-text").addEventListener("click", () => text.toggle());
  addEventListener("keydown", onKey, { capture: true });
  listenBeside(onKey);
}

function stop() {
  DataServiceAddin.stop();
  calls.stop();
  book.workedOut.stop();
  line.showStopped();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  // AltGr, which types signs, comes as Ctrl and Alt.
  const control = (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");
  if (event.key === "F9") void refresh();
  else if (control && !event.altKey && event.key.toLowerCase() === "s") void download();
  else if (control && event.altKey && event.code === "KeyT") text.toggle();
  else if (control && event.altKey && event.code === "KeyF") toggleBeside();
  else if (event.key === "F6") leaveOrEnter();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The way out of the cells, where Tab moves to the next one, and back. */
function leaveOrEnter() {
  if (element("sheet").contains(document.activeElement)) element("search").focus();
  else focusCells();
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
