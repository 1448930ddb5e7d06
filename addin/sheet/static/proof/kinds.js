/// <reference path="../types.d.ts" />
// Whose arithmetic a formula can be left to. The component's own is not Excel's in one formula of twenty, so it does
// sums, products and the four operations on plain numbers; what else is calculated, the backend's engines work out.

/** What works a formula out: nothing but references and our own calls is in it; only arithmetic; anything else. */
export const Kind = { PLAIN: 0, ARITHMETIC: 1, OTHER: 2 };

/** One of these is one value: a number, a text, a cell, a range, a spill. */
const VALUE = String.raw`\|[NSCR]\|#?`;
const PLAIN = new RegExp(String.raw`^=[(+]*(?:${VALUE})\)*$|^=HYPERLINK\((?:\|[SC]\|)(?:,\|[SC]\|)?\)$`, "i");

/** Functions of numbers in which no difference to Excel was ever seen, where all their arguments are numbers or blank. */
const SUM = /(?<![\w.])(?:SUM|AVERAGE|MIN|MAX)\(\|[NCR]\|#?(?:,\|[NCR]\|#?)*\)/gi;
/** The same of the rows that are seen, as the first argument says. */
const SUBTOTAL = /^=SUBTOTAL\(\|N\|(?:,\|[CR]\|)+\)$/i;
/** Averages, counts, largest, smallest and sums. */
const SUBTOTALS = [1, 2, 4, 5, 9, 101, 102, 104, 105, 109];
/** What has another value each time, so that none is wrong. */
const CHANGING = /(?<![\w.])(?:(?:NOW|TODAY|RAND)\(\)|RANDBETWEEN\(-?\|[NC]\|,-?\|[NC]\|\))/gi;
const ARITHMETIC = /^=[-+*/()]*(?:\|[NC]\|[-+*/()]*)+$/;

/** Between so many times the largest number in it and nothing, a sum may be what rounding left, of which Excel makes 0. */
const ROUNDING = 1e-13;

/** @type {Map<string, number>} */
const kinds = new Map();

/**
 * What has to work a formula out.
 * @param {string} normalized the formula with signs in place of its values, as the component has it
 * @param {string} namespace of our functions
 */
export function kindOf(normalized, namespace) {
  let kind = kinds.get(normalized);
  if (kind === undefined) kinds.set(normalized, (kind = found(normalized, namespace)));
  return kind;
}

/** @param {string} normalized @param {string} namespace */
function found(normalized, namespace) {
  const ours = new RegExp(String.raw`(?<![\w.])${namespace}\.\w+\((?:(?:-?${VALUE}|TRUE|FALSE)?,?)*\)`, "gi");
  const plain = normalized.replace(CHANGING, "|N|").replace(ours, "|C|");
  if (PLAIN.test(plain)) return Kind.PLAIN;
  return SUBTOTAL.test(plain) || ARITHMETIC.test(plain.replace(SUM, "|C|")) ? Kind.ARITHMETIC : Kind.OTHER;
}

/**
 * What is known of the values that a formula refers to.
 * @typedef {object} Seen
 * @property {string} hash of all of them
 * @property {boolean} isLoading
 * @property {boolean} isWorking whether one is being worked out
 * @property {boolean} isUnproven
 * @property {boolean} isCircular
 * @property {boolean} isNumeric whether they are numbers, or blank
 * @property {number} largest the largest number, 1 at least
 * @property {number} smallest the smallest but zero, 1 at most
 * @property {number} count
 */

/** @type {Seen} */
const NOTHING = { hash: "", isLoading: false, isWorking: false, isUnproven: false, isCircular: false, isNumeric: true, largest: 1, smallest: 1, count: 0 };

const words = new Uint32Array(2);
const double = new Float64Array(words.buffer);

/**
 * @param {ComponentMatrix} matrix
 * @param {{ loading: string, working: string, isUnproven: (cell: any) => boolean }} codes
 * @returns {Seen}
 */
export function look(matrix, { loading, working, isUnproven }) {
  const seen = { ...NOTHING };
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  const mix = (/** @type {number} */ word) => {
    one = Math.imul(one ^ word, 2654435761);
    other = Math.imul(other ^ word, 1597334677);
    one ^= one >>> 15;
    other ^= other >>> 13;
  };
  for (const column of matrix) {
    mix(column.length);
    for (const cell of column) {
      const { value } = cell;
      if (typeof value === "number") {
        double[0] = value;
        mix(words[0] ?? 0);
        mix(words[1] ?? 0);
        const size = Math.abs(value);
        if (size > seen.largest) seen.largest = size;
        if (size > 0 && size < seen.smallest) seen.smallest = size;
        seen.count += 1;
      } else if (value === null) mix(1);
      else {
        seen.isNumeric = false;
        const text = String(value);
        mix(typeof value === "boolean" ? 2 : /** @type {any} */ (cell).type === "error" ? 3 : 4 + text.length);
        for (let at = 0; at < text.length; at += 1) mix(text.charCodeAt(at));
        if (value === loading) seen.isLoading = true;
        else if (value === working) seen.isWorking = true;
        else if (value === "#CYCLE") seen.isCircular = true;
        else if (isUnproven(cell)) seen.isUnproven = true;
      }
    }
  }
  seen.hash = `${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}`;
  return seen;
}

/** @param {Seen[]} all @returns {Seen} */
export function together(all) {
  if (all.length === 1) return /** @type {Seen} */ (all[0]); // as nearly always
  const seen = { ...NOTHING };
  for (const each of all) {
    seen.hash += `${seen.hash && " "}${each.hash}`;
    seen.isLoading ||= each.isLoading;
    seen.isWorking ||= each.isWorking;
    seen.isUnproven ||= each.isUnproven;
    seen.isCircular ||= each.isCircular;
    seen.isNumeric &&= each.isNumeric;
    seen.largest = Math.max(seen.largest, each.largest);
    seen.smallest = Math.min(seen.smallest, each.smallest);
    seen.count += each.count;
  }
  return seen;
}

/**
 * Whether what the component's arithmetic came to is what Excel shows: a number, or a division by nothing, and no
 * remainder of a difference, of which Excel makes 0.
 * @param {any} result
 * @param {Seen} seen
 * @param {any} formula the component's
 */
export function isArithmetic(result, seen, formula) {
  if (Array.isArray(result)) return false;
  const value = result?.value ?? 0;
  const numbers = formula.literalValues.numbers.map((/** @type {any} */ number) => number.value);
  if (SUBTOTAL.test(formula.normalizedFormula) && !SUBTOTALS.includes(numbers[0])) return false;
  if (value === "#DIV/0!") return true;
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (value === 0 || !/[-+]|SUM|SUBTOTAL|AVERAGE/i.test(formula.normalizedFormula)) return true;
  const factors = (formula.normalizedFormula.match(/[*/]/g)?.length ?? 0) + 1;
  const largest = Math.max(seen.largest, ...numbers.map(Math.abs)) / (formula.normalizedFormula.includes("/") ? Math.min(seen.smallest, 1) : 1);
  return Math.abs(value) > ROUNDING * (seen.count + 1) * largest ** factors;
}
