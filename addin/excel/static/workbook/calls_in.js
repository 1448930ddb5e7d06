/// <reference path="../types.d.ts" />
// The calls of ours that a formula makes, with their arguments as far as these can be read off the formula. Pure.

import { columnOf, WIDTH } from "./blocks.js";

/** The rows of Excel's grid. */
const ROWS = 1_048_576;

/** Functions that may leave all arguments but the first alone; what stands in them is called perhaps. */
const CHOOSING = /^(?:IF|IFS|IFERROR|IFNA|CHOOSE|SWITCH|LAMBDA|MAP|REDUCE|SCAN|BYROW|BYCOL|MAKEARRAY)$/;

/** Functions whose first arguments are names of their own, which hide those of the book. */
const NAMING = /^(?:LET|LAMBDA)$/;

/** Functions whose value depends on more than their arguments. */
const VOLATILE = /^(?:NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|OFFSET|INDIRECT|CELL|INFO)$/;

const TOKEN = new RegExp(
  [
    String.raw`(?<blank>\s+)`,
    String.raw`(?<text>"(?:[^"]|"")*")`,
    String.raw`(?<sheet>(?:'(?:[^']|'')*'|[\p{L}\p{N}_.\[\]\\]+)!)`,
    String.raw`(?<error>#(?:N\/A|VALUE!|REF!|DIV\/0!|NUM!|NAME\?|NULL!|SPILL!|CALC!))`,
    String.raw`(?<number>(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?(?![\p{L}_:]))`,
    String.raw`(?<word>[$\p{L}_\\][$\p{L}\p{N}_.\\]*)`,
    String.raw`(?<sign><=|>=|<>|[(){},;:#@&+\-*/^=<>%\[\]!\d.])`,
  ].join("|"),
  "iuy",
);

const CELL = /^(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})$/i;
const COLUMN = /^\$?([A-Z]{1,3})$/i;

/**
 * @typedef {object} Area rows and columns counted from 0, the last ones included
 * @property {"area"} kind
 * @property {string | null} sheet null for the formula's own
 * @property {number} top
 * @property {number} bottom
 * @property {number} left
 * @property {number} right
 * @property {boolean} spill whatever the first cell spills into
 * @property {boolean} fixed whether it is the same wherever the formula stands
 */

/**
 * @typedef {{ kind: "value", value: Scalar | Scalar[][] } | Area | { kind: "name", name: string }
 *   | { kind: "join", parts: Read[] } | { kind: "unknown" }} Read an argument as far as it can be read off the formula
 */

/** @typedef {{ id: string, args: Read[], sure: boolean }} FoundCall `sure`: it is made whatever the cells hold */

/**
 * @typedef {object} ReadFormula
 * @property {FoundCall[]} calls
 * @property {Area[]} areas all that it refers to
 * @property {string[]} names all that it uses, in upper case, with a sheet before it where the formula has one
 * @property {boolean} closed whether its value depends on these and nothing else
 * @property {Read} whole what it is itself
 */

/** @type {Read} */
const UNKNOWN = { kind: "unknown" };

/**
 * A function that reads formulas with the calls of `namespace`.
 * @param {string} namespace
 * @returns {(formula: string) => ReadFormula}
 */
export function formulaReader(namespace) {
  const ours = new RegExp(`^(?:_xldudf_${namespace}_|${namespace}\\.)([A-Z]\\w*)$`, "i");
  return (formula) => new Reading(formula, ours).result();
}

/** One formula while it is read. */
class Reading {
  /** @param {string} formula @param {RegExp} ours */
  constructor(formula, ours) {
    this.ours = ours;
    this.tokens = tokensOf(formula.replace(/^=/, ""));
    this.at = 0;
    /** @type {ReadFormula} */
    this.read = { calls: [], areas: [], names: [], closed: this.tokens !== null, whole: UNKNOWN };
    this.sure = true;
    this.naming = 0;
  }

  result() {
    if (this.tokens !== null) this.read.whole = this.#expression();
    if (this.tokens !== null && this.at < this.tokens.length) this.read.closed = false;
    return this.read;
  }

  /** @returns {Token | undefined} */
  get #next() {
    return this.tokens?.[this.at];
  }

  /** Take the next sign if it is `sign`. @param {string} sign */
  #takes(sign) {
    const is = this.#next?.kind === "sign" && this.#next.text === sign;
    if (is) this.at += 1;
    return is;
  }

  /** What stands up to the next comma, semicolon or closing bracket. @returns {Read} */
  #expression() {
    /** @type {Read[]} */
    const operands = [];
    let onlyJoined = true;
    for (;;) {
      operands.push(this.#operand());
      const { kind, text } = this.#next ?? {};
      if (kind !== "sign" || !/^(?:[&+\-*/^=<>]|<=|>=|<>)$/.test(text ?? "")) break;
      onlyJoined &&= text === "&";
      this.at += 1;
    }
    const [first = UNKNOWN] = operands;
    if (operands.length === 1) return first;
    return onlyJoined ? { kind: "join", parts: operands } : UNKNOWN;
  }

  /** @returns {Read} */
  #operand() {
    if (this.#takes("@")) {
      this.#operand();
      return UNKNOWN;
    }
    if (this.#takes("+")) return this.#operand();
    if (this.#takes("-")) return negative(this.#operand());
    let read = this.#plain();
    while (this.#takes("%")) read = read.kind === "value" && typeof read.value === "number" ? { ...read, value: read.value / 100 } : UNKNOWN;
    return read;
  }

  /** @returns {Read} */
  #plain() {
    const token = this.#next;
    if (token === undefined || (token.kind === "sign" && /^[,;)}]$/.test(token.text))) return { kind: "value", value: null };
    this.at += 1;
    if (token.kind === "text") return { kind: "value", value: token.text.slice(1, -1).replaceAll('""', '"') };
    if (token.kind === "number") return { kind: "value", value: Number(token.text) };
    if (token.kind === "error") return { kind: "value", value: token.text.toUpperCase() };
    if (token.kind === "sheet" || token.kind === "word") {
      // A damaged call of ours stands behind the name of a file.
      const word = token.kind === "word" ? token : this.#next;
      const after = this.tokens?.[token.kind === "word" ? this.at : this.at + 1];
      if (word?.kind === "word" && after?.text === "(") {
        this.at += token.kind === "word" ? 1 : 2;
        return this.#call(word.text);
      }
      if (token.kind === "sheet") return this.#reference(sheetOf(token.text));
      this.at -= 1;
      return this.#reference(null);
    }
    if (token.text === "(") return this.#bracketed();
    if (token.text === "{") return this.#array();
    this.read.closed = false;
    return UNKNOWN;
  }

  /** @returns {Read} */
  #bracketed() {
    const inside = this.#expression();
    if (this.#takes(")")) return inside;
    this.#skipTo(")");
    return UNKNOWN;
  }

  /** Pass what cannot be read. @param {string} end */
  #skipTo(end) {
    this.read.closed = false;
    while (this.#next !== undefined && !this.#takes(end)) this.at += 1;
  }

  /** @returns {Read} */
  #array() {
    /** @type {Scalar[][]} */
    const rows = [[]];
    for (;;) {
      const read = this.#operand();
      rows[rows.length - 1]?.push(read.kind === "value" && !Array.isArray(read.value) ? read.value : "#N/A");
      if (this.#takes(";")) rows.push([]);
      else if (!this.#takes(",")) break;
    }
    if (this.#takes("}")) return { kind: "value", value: rows };
    this.#skipTo("}");
    return UNKNOWN;
  }

  /** The arguments of a function; the call is noted where it is ours. @param {string} name @returns {Read} */
  #call(name) {
    const id = this.ours.exec(name)?.[1]?.toUpperCase();
    const upper = name.toUpperCase().replace(/^_XLFN\.(?:_XLWS\.)?/, "");
    const [before, isNaming] = [this.sure, NAMING.test(upper)];
    if (isNaming) this.naming += 1;
    // What the function of another add-in returns, nobody can tell.
    if (VOLATILE.test(upper) || (id === undefined && upper.includes("."))) this.read.closed = false;
    /** @type {Read[]} */
    const args = [];
    if (!this.#takes(")")) {
      do {
        args.push(this.#expression());
        if (CHOOSING.test(upper)) this.sure = false;
      } while (this.#takes(",") || this.#takes(";"));
      if (!this.#takes(")")) this.#skipTo(")");
    }
    this.sure = before;
    if (isNaming) this.naming -= 1;
    if (id !== undefined) this.read.calls.push({ id, args, sure: this.sure });
    if (/^(?:TRUE|FALSE)$/.test(upper) && args.length === 0) return { kind: "value", value: upper === "TRUE" };
    return UNKNOWN;
  }

  /** A cell, a range, a name. @param {string | null} sheet @returns {Read} */
  #reference(sheet) {
    const first = this.#next;
    this.at += 1;
    if (first?.kind !== "word" || sheet?.includes("[") || sheet?.includes(":")) return this.#notRead();
    let last = first.text;
    if (this.#takes(":")) {
      last = this.#next?.text ?? "";
      this.at += 1;
    }
    const area = areaOf(sheet, first.text, last);
    if (area === null) return last === first.text ? this.#named(first.text, sheet) : this.#notRead();
    area.spill = this.#takes("#");
    if (this.#takes(":")) return this.#notRead();
    this.read.areas.push(area);
    return area;
  }

  #notRead() {
    this.read.closed = false;
    return UNKNOWN;
  }

  /** @param {string} word @param {string | null} sheet @returns {Read} */
  #named(word, sheet) {
    const upper = word.toUpperCase();
    if (upper === "TRUE" || upper === "FALSE") return { kind: "value", value: upper === "TRUE" };
    this.read.names.push(sheet === null ? upper : `${sheet.toUpperCase()}!${upper}`);
    // What follows a name, such as the columns of a table, is not read; nor is a name of the formula's own.
    if (this.#next?.text === "[" || this.#next?.text === "#" || this.naming > 0 || sheet !== null) return this.#rest();
    return { kind: "name", name: upper };
  }

  /** @returns {Read} */
  #rest() {
    this.read.closed = false;
    this.#takes("#");
    for (let depth = 0; this.#next?.text === "[" || depth > 0; this.at += 1) {
      if (this.#next === undefined) break;
      depth += this.#next.text === "[" ? 1 : this.#next.text === "]" ? -1 : 0;
    }
    return UNKNOWN;
  }
}

/** @typedef {{ kind: string, text: string }} Token */

/**
 * The tokens of a formula without blanks; null where one cannot be told.
 * @param {string} formula
 * @returns {Token[] | null}
 */
function tokensOf(formula) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < formula.length) {
    const found = TOKEN.exec(formula);
    if (found === null) return null;
    const [kind = ""] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    if (kind !== "blank") tokens.push({ kind, text: found[0] });
  }
  return tokens;
}

/** @param {Read} read @returns {Read} */
function negative(read) {
  return read.kind === "value" && typeof read.value === "number" ? { ...read, value: -read.value } : UNKNOWN;
}

/** @param {string} text a sheet's name as a formula writes it, with the sign after it */
function sheetOf(text) {
  const name = text.slice(0, -1);
  return name.startsWith("'") ? name.slice(1, -1).replaceAll("''", "'") : name;
}

/**
 * @param {string | null} sheet
 * @param {string} first
 * @param {string} last
 * @returns {Area | null}
 */
function areaOf(sheet, first, last) {
  const corners = [first, last].map((text) => CELL.exec(text));
  if (corners.every((each) => each !== null)) {
    const rows = corners.map((each) => Number(each?.[4]) - 1);
    const columns = corners.map((each) => columnOf(each?.[2] ?? ""));
    const fixed = corners.every((each) => each?.[1] === "$" && each[3] === "$");
    if (Math.max(...columns) >= WIDTH || Math.max(...rows) >= ROWS) return null;
    return { kind: "area", sheet, top: Math.min(...rows), bottom: Math.max(...rows), left: Math.min(...columns), right: Math.max(...columns), spill: false, fixed };
  }
  const [from, to] = [first, last].map((text) => COLUMN.exec(text)?.[1]);
  if (first === last || from === undefined || to === undefined) return null;
  const [left, right] = [columnOf(from), columnOf(to)].sort((a, b) => a - b);
  return { kind: "area", sheet, top: 0, bottom: ROWS - 1, left: left ?? 0, right: right ?? 0, spill: false, fixed: first.startsWith("$") && last.startsWith("$") };
}
