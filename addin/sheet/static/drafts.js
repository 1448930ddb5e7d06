/// <reference path="types.d.ts" />
// What was changed and not downloaded yet is kept in the browser's own storage, so that neither a reload nor a crash loses it.

import { counted } from "./status_line.js";

const DATABASE = "data-service-sheet";
const STORE = "drafts";

/** A draft follows so long after the last change. */
const PAUSE_MS = 400;

/** Drafts that nobody asked for are removed after so long. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** @typedef {{ id: string, name: string, content: string, isBlank: boolean, sheets: SheetEdits[], timeMs: number }} Draft */

export class Drafts {
  /** @param {(problem: string) => void} complain */
  constructor(complain) {
    this.complain = complain;
    /** @type {import("./book.js").Book | null} */
    this.book = null;
    this.id = "";
    /** Whether something was changed since the last download. */
    this.isUnsaved = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Whether a change of this task is counted already. */
    this.isCounting = false;
    /** Ends the lock on the draft. */
    this.release = () => {};
    addEventListener("beforeunload", (event) => {
      if (!this.isUnsaved) return;
      void this.write();
      event.preventDefault();
    });
    addEventListener("visibilitychange", () => {
      if (document.hidden && this.timer !== undefined) void this.write();
    });
  }

  /**
   * Follow a book, whose changes are those of a draft if `id` names one.
   * @param {import("./book.js").Book} book
   * @param {string} [id]
   */
  follow(book, id) {
    clearTimeout(this.timer);
    this.book = book;
    this.id = id ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
    this.isUnsaved = id !== undefined;
    this.release();
    // Held as long as this page lives, so that no other page takes its draft for one that was left.
    void navigator.locks?.request(this.id, () => new Promise((resolve) => (this.release = () => resolve(undefined))));
  }

  /** Something was changed. */
  changed() {
    if (this.book === null) return;
    this.isUnsaved = true;
    if (this.isCounting) return; // of thousands of cells that are pasted the first one is enough
    this.isCounting = true;
    queueMicrotask(() => {
      this.isCounting = false;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.write(), PAUSE_MS);
    });
  }

  /** What was changed is in a file now. */
  async downloaded() {
    clearTimeout(this.timer);
    this.isUnsaved = false;
    await this.remove(this.id);
  }

  /** Keep what was changed until now. */
  async write() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { book } = this;
    if (book?.changes === undefined) return;
    const sheets = book.changes.edits({ isDraft: true });
    if (sheets.length === 0) {
      this.isUnsaved = false;
      return this.remove(this.id);
    }
    /** @type {Draft} */
    const draft = { id: this.id, name: book.name, content: book.content, isBlank: book.isBlank, sheets, timeMs: Date.now() };
    try {
      await stored("readwrite", (store) => store.put(draft));
    } catch (error) {
      this.complain(`This browser keeps no drafts, so download before you leave (${error instanceof Error ? error.message : error}).`);
    }
  }

  /** @param {string} id */
  async remove(id) {
    try {
      await stored("readwrite", (store) => store.delete(id));
    } catch {
      // A browser that keeps no drafts has none to remove.
    }
  }

  /**
   * The drafts of other pages that were left, the newest first.
   * @returns {Promise<Draft[]>}
   */
  async left() {
    try {
      /** @type {Draft[]} */
      const drafts = await stored("readonly", (store) => store.getAll());
      for (const draft of drafts.filter(isOld)) await this.remove(draft.id);
      const held = new Set((await navigator.locks?.query())?.held?.map(({ name }) => name));
      const left = drafts.filter((draft) => !isOld(draft) && draft.id !== this.id && !held.has(draft.id));
      return left.sort((one, other) => other.timeMs - one.timeMs);
    } catch {
      return [];
    }
  }
}

/** @param {Draft} draft */
function isOld({ timeMs }) {
  return Date.now() - timeMs > KEPT_MS;
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} work
 * @returns {Promise<any>}
 */
function stored(mode, work) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(STORE, mode, { durability: "strict" });
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => {
        database.close();
        resolve(request.result);
      };
      transaction.onerror = transaction.onabort = () => {
        database.close();
        reject(transaction.error);
      };
    };
  });
}

/** How many cells of a draft are changed, and when, for a question. @param {Draft} draft */
export function described({ name, sheets, timeMs }) {
  const cells = sheets.reduce((sum, sheet) => sum + Object.keys(sheet.cells).length, 0);
  const when = new Date(timeMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return `${counted(cells, "changed cell")} of ${name}, ${when}, not downloaded yet`;
}
