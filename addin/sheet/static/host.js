/// <reference path="types.d.ts" />
// What functions.js expects of Excel: a place for the functions, their errors, and a program that shows dates as dates.
// And what the page needs first, asked for while the scripts behind this one are read: browsers differ in what they
// take from a preload.

globalThis.askedAhead = Object.fromEntries(["sheet/book", "registry.json", "status"].map((path) => [path, fetch(path).catch(() => null)]));

/** @type {Map<string, SheetFunction>} */
globalThis.sheetFunctions = new Map();

/** @type {any} */ (globalThis).CustomFunctions = {
  ErrorCode: { invalidValue: "#VALUE!", notAvailable: "#N/A" },
  Error: class extends Error {
    /** @param {string} code @param {string} message */
    constructor(code, message) {
      super(message);
      this.code = code;
    }
  },
  associate: (/** @type {string} */ id, /** @type {SheetFunction} */ body) => void sheetFunctions.set(id, body),
};

/** @type {any} */ (globalThis).Office = { context: { requirements: { isSetSupported: () => true } } };
