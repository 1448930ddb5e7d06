/// <reference path="../types.d.ts" />
// Which argument of a form is wrong, from the error of its call.

/** Kinds of errors that come from the formula; the others pass: the formula is right and its cell recovers by itself. */
const OF_THE_FORMULA = ["argument", "not_found", "no_data"];

/**
 * @typedef {object} Fault
 * @property {string} message what was given and what is allowed
 * @property {string | null} argument the argument's name, or `option` and that of an option; null where it is not told
 */

/**
 * What is wrong with a formula, null where it is right.
 * @param {Answer} answer the answer to its call
 * @param {string[]} names those of its arguments and, after the word `option`, of its options
 * @returns {Fault | null}
 */
export function faultOf(answer, names) {
  if (!answer.error) return null;
  if (answer.error !== "#VALUE!" && !OF_THE_FORMULA.includes(answer.kind ?? "")) return null;
  return { message: answer.message ?? answer.error, argument: names.find((name) => name === answer.argument) ?? null };
}
