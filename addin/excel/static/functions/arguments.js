/// <reference path="../types.d.ts" />
// Turns what Excel passes to a function into a call for the backend.

import { cellError } from "./results.js";

const CELL_ERROR = /^#(N\/A|VALUE!|REF!|DIV\/0!|NUM!|NAME\?|NULL!|SPILL!|CALC!|GETTING_DATA)/;

/** Half a character, as a text function may leave it: no JSON can hold it, and a whole range would fail with it. */
export const HALF_CHARACTER = /\p{Surrogate}/gu;

/** A range with more rows is taken for a whole column, and its blank end is dropped. */
const LONG_RANGE_ROWS = 10_000;

/**
 * The call of function `id`; throws a cell error where an argument, and not a place in a range, is itself an error.
 * Office may have metadata of an older version than this script, so the number of arguments is not fixed.
 * @param {string} id
 * @param {unknown[]} values
 * @returns {Call}
 */
export function callOf(id, values) {
  const call = /** @type {Call} */ (Array(1 + values.length));
  call[0] = id;
  for (let index = 0; index < values.length; index++) call[1 + index] = argumentOf(values[index]);
  while (call.length > 1 && call[call.length - 1] === null) call.pop();
  return call;
}

/**
 * What Excel passes after the arguments: whether it only previews a part of a formula that someone is editing, which older
 * versions do not say, and what is to be called when the cell wants its result no more.
 * @typedef {{ isInValuePreview?: boolean, onCanceled?: () => void }} Invocation
 */

/**
 * Take the invocation object from the end of what Excel passed.
 * @param {unknown[]} values
 * @returns {Invocation}
 */
export function takeInvocation(values) {
  const last = values[values.length - 1];
  if (typeof last !== "object" || last === null || Array.isArray(last)) return {};
  if ("basicValue" in last || "type" in last || "code" in last) return {};
  return /** @type {Invocation} */ (values.pop());
}

/**
 * @param {unknown} value
 * @returns {Argument}
 */
function argumentOf(value) {
  if (!Array.isArray(value)) return unlessError(scalarOf(value));
  const rows = value.map((row) => (Array.isArray(row) ? row : [row]).map(scalarOf));
  if (rows.length > LONG_RANGE_ROWS) dropBlankEnd(rows);
  return rows.length === 1 && rows[0]?.length === 1 ? unlessError(rows[0][0] ?? null) : rows;
}

/**
 * An argument that is an error itself ends the call; inside a range it only fails its own place.
 * @param {Scalar} value
 * @returns {Scalar}
 */
function unlessError(value) {
  if (typeof value !== "string" || !CELL_ERROR.test(value)) return value;
  const code = value.split(" ")[0] ?? "#N/A";
  throw cellError(code === "#VALUE!" ? code : "#N/A", `an argument is an error itself (${code})`);
}

/** @param {Scalar[][]} rows */
function dropBlankEnd(rows) {
  while (rows.length > 1 && isBlankRow(rows[rows.length - 1] ?? [])) rows.pop();
}

/** @param {Scalar[]} row */
function isBlankRow(row) {
  return row.every((value) => value === null);
}

/**
 * @param {unknown} value
 * @returns {Scalar}
 */
function scalarOf(value) {
  switch (typeof value) {
    case "string":
      return value === "" ? null : value.replace(HALF_CHARACTER, "\ufffd");
    case "number":
      // Excel for Windows passes an empty cell as 0, and no argument of ours gives 0 a meaning.
      return value === 0 || !Number.isFinite(value) ? null : value;
    case "boolean":
      return value;
    case "object":
      return value === null ? null : plainOf(/** @type {Record<string, unknown>} */ (value));
    default:
      return null;
  }
}

/**
 * The plain value of one of Excel's data types: a formatted number, an entity by its text, an error as what it is.
 * @param {Record<string, unknown>} value
 * @returns {Scalar}
 */
function plainOf(value) {
  if (typeof value.text === "string") return scalarOf(value.text);
  if (value.type === "Error" || typeof value.code === "string") {
    const code = String(value.code ?? value.basicValue);
    return CELL_ERROR.test(code) ? code : "#N/A"; // an error that the library does not know is no name of a signal
  }
  return typeof value.basicValue === "object" ? null : scalarOf(value.basicValue);
}
