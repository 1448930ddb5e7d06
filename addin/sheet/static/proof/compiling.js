/// <reference path="../types.d.ts" />
// Every formula that the component reads passes here: whoever can be relied on works it out, and no function is unknown.

import { NOT_READ, UNKNOWN } from "./saved_value.js";

/** One end of a range: a cell, a column or a row. */
const END = /^(?:.*!)?\$?(?:[A-Z]{1,3}(?:\$?\d{1,7})?|\d{1,7})$/i;

/**
 * Let every formula that is read from now on be worked out by whom it can be left to.
 * @param {(getters: any) => import("../book.js").Book | null} bookOf
 */
export function relyOnProof(bookOf) {
  const { CompiledFormula } = o_spreadsheet;
  const compile = CompiledFormula.Compile;
  CompiledFormula.Compile = (/** @type {string} */ typed, /** @type {any[]} */ ...rest) => {
    const text = withCommas(typed);
    addMissing(text);
    const formula = compile(text, ...rest);
    const original = formula.execute;
    /** @this {any} */
    const execute = function (/** @type {any} */ references, /** @type {any} */ cell, /** @type {any} */ range, /** @type {any} */ symbol, /** @type {any} */ context) {
      const run = () => original.call(this, references, cell, range, symbol, context);
      const isInCell = context.__originCellPosition !== undefined && context.updateDependencies !== undefined;
      const book = isInCell ? bookOf(context.getters) : null;
      return book === null ? run() : book.workedOut.resultOf(this, context, run, range, book.isReading);
    };
    const [sheetId, getters] = rest;
    if (isForeign(text)) {
      const refused = () => ({ value: "#BAD_EXPR", message: NOT_READ });
      return new CompiledFormula(sheetId, formula.tokens, formula.literalValues, formula.symbols, [], true, text, refused);
    }
    if (!formula.isBadExpression) return Object.assign(formula, { execute });
    // What the component cannot read, as an error's name or LOG10, may be a formula all the same.
    const ranges = referencesIn(text).map((xc) => getters.getRangeFromSheetXC(sheetId, xc));
    return new CompiledFormula(sheetId, formula.tokens, formula.literalValues, formula.symbols, ranges, true, text, execute);
  };
}

/** What may stand between two arguments, beside what may contain it. */
const SEPARATOR = /"[^"]*"|'[^']*'|\{[^{}]*\}|[,;]/g;

/** A formula with Excel's separators, if it has semicolons only: a comma beside them may be a decimal one. @param {string} text */
function withCommas(text) {
  if (typeof text !== "string" || !text.startsWith("=") || !text.includes(";")) return text;
  if ([...text.matchAll(SEPARATOR)].some(([found]) => found === ",")) return text;
  return text.replace(SEPARATOR, (found) => (found === ";" ? "," : found));
}

/** What a reference looks like, among other things, that Excel's sheets have no cells for, or its grammar no place. */
const MAY_BE_FOREIGN = /[A-Z]{3}\$?[:\d]|\d{7}|[A-Z]\$?\d+:\$?(?:[A-Z]+(?![A-Z$\d])|\d)|(?:[^A-Z][A-Z]{1,3}|\W\d+):\$?[A-Z]+\$?\d/i;
const LAST_ROW = 1_048_576;
const LAST_COLUMN = 16_383;

/** Whether a formula refers to an area such as A1:A, which only the component has, or to what is outside of a sheet. @param {string} text */
function isForeign(text) {
  return typeof text === "string" && text.startsWith("=") && MAY_BE_FOREIGN.test(text) && referencesIn(text).some((reference) => {
    const cells = reference.slice(reference.lastIndexOf("!") + 1).replaceAll("$", "").toUpperCase();
    const ends = cells.split(":").map((end) => /^([A-Z]*)(\d*)$/.exec(end) ?? []);
    const kinds = new Set(ends.map(([, column, row]) => `${Boolean(column)} ${Boolean(row)}`));
    return kinds.size > 1 || ends.some(([, column, row]) => Number(row) > LAST_ROW || (column && o_spreadsheet.helpers.toCartesian(`${column}1`).col > LAST_COLUMN));
  });
}

/** The references of a formula that the component cannot read, ranges as a whole. @param {string} text @returns {string[]} */
function referencesIn(text) {
  const tokens = o_spreadsheet.tokenize(text).filter((/** @type {any} */ { type }) => type !== "SPACE");
  const found = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at + 1]?.value === ":" && END.test(tokens[at].value) && END.test(tokens[at + 2]?.value) && tokens[at + 3]?.value !== "(") {
      found.push(`${tokens[at].value}:${tokens[at + 2].value}`);
      at += 2;
    } else if (tokens[at].type === "REFERENCE" && tokens[at + 1]?.value !== "(") found.push(tokens[at].value);
  }
  return found;
}

const CALL = /([A-Z_][A-Z0-9_.]*)\(/gi;

/**
 * Let the component know every function in a formula by its name, so that it knows what the formula refers to.
 * @param {string} content
 */
function addMissing(content) {
  if (typeof content !== "string" || !content.startsWith("=") || missingIn(content).length === 0) return;
  for (const name of missingIn(content.replace(/"[^"]*"|'[^']*'/g, ""))) {
    const args = [o_spreadsheet.helpers.arg("value (any, range<any>, optional, repeating)", "as in Excel")];
    const compute = () => ({ value: "#NAME?", message: `${UNKNOWN}"${name}"` });
    o_spreadsheet.addFunction(name, { description: "worked out by the backend", hidden: true, isExported: true, args, compute });
  }
}

/** The functions in a text that the component does not know. @param {string} text */
function missingIn(text) {
  const { content: known } = o_spreadsheet.registries.functionRegistry;
  const names = [...text.matchAll(CALL)].map(([, written = ""]) => written.toUpperCase());
  return [...new Set(names)].filter((name) => !(name in known));
}
