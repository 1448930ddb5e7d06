/// <reference path="../types.d.ts" />
// Every formula that the component reads passes here: whoever can be relied on works it out, and no function is unknown.

import { UNKNOWN } from "./saved_value.js";

/** One end of a range: a cell, a column or a row. */
const END = /^(?:.*!)?\$?(?:[A-Z]{1,3}(?:\$?\d{1,7})?|\d{1,7})$/i;

/**
 * Let every formula that is read from now on be worked out by whom it can be left to.
 * @param {(getters: any) => import("../book.js").Book | null} bookOf
 */
export function relyOnProof(bookOf) {
  const { CompiledFormula } = o_spreadsheet;
  const compile = CompiledFormula.Compile;
  CompiledFormula.Compile = (/** @type {string} */ text, /** @type {any[]} */ ...rest) => {
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
    if (!formula.isBadExpression) return Object.assign(formula, { execute });
    // What the component cannot read, as an error's name or LOG10, may be a formula all the same.
    const [sheetId, getters] = rest;
    const ranges = referencesIn(text).map((xc) => getters.getRangeFromSheetXC(sheetId, xc));
    return new CompiledFormula(sheetId, formula.tokens, formula.literalValues, formula.symbols, ranges, true, text, execute);
  };
}

/** The references of a formula that the component cannot read, ranges as a whole. @param {string} text @returns {string[]} */
function referencesIn(text) {
  const tokens = o_spreadsheet.tokenize(text).filter((/** @type {any} */ { type }) => type !== "SPACE");
  const found = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at + 1]?.value === ":" && END.test(tokens[at].value) && END.test(tokens[at + 2]?.value)) {
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
