/// <reference path="../types.d.ts" />
// Finds the cells that hold our formulas, and lists their addresses briefly. Pure.

/** Excel refuses longer lists of addresses. */
const LONGEST_ADDRESS = 8_000;

/**
 * @typedef {object} Block rows and columns counted from 0, the last ones included
 * @property {number} top
 * @property {number} bottom
 * @property {number} left
 * @property {number} right
 */

/** A text literal in a formula, or the name of a sheet or a file; quotes inside of either are doubled. */
const QUOTED = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g;

/**
 * A test whether a cell's content is a formula that calls a function of `namespace`, as typed or as Excel stores it
 * while the add-in is not loaded. Text literals inside the formula do not count.
 * @param {string} namespace
 * @returns {(formula: unknown) => boolean}
 */
function ourFormulas(namespace) {
  const call = new RegExp(`[^\\w.](?:_xldudf_${namespace}_|${namespace}\\.)[A-Z]\\w*\\s*\\(`, "i");
  return (formula) =>
    typeof formula === "string" &&
    formula.startsWith("=") &&
    call.test(formula) &&
    call.test(formula.replace(QUOTED, (text) => text.charAt(0).repeat(2)));
}

/**
 * A function that gives a formula with the calls of `namespace` as a user types them. Excel may have left them in the
 * form in which files hold them, also as the function of some other add-in's file.
 * @param {string} namespace
 * @returns {(formula: string) => string}
 */
function formulasAsEntered(namespace) {
  const file = String.raw`(?:'(?:[^']|'')*'|[\w.:\\[\]]+)!`;
  const call = String.raw`(?:${file})?_xldudf_${namespace}_([A-Z]\w*)(?=\s*\()`;
  // What is quoted comes before what looks like a call inside of it.
  const token = new RegExp(String.raw`"(?:[^"]|"")*"|${call}|'(?:[^']|'')*'|[\w.]+`, "gi");
  return (formula) => formula.replace(token, (found, id) => (id ? `${namespace}.${String(id).toUpperCase()}` : found));
}

/**
 * The rectangles of cells whose formula matches.
 * @param {unknown[][]} formulas rows of a range
 * @param {(formula: unknown) => boolean} isOurs
 * @param {number} top the range's first row
 * @param {number} left the range's first column
 * @returns {Block[]}
 */
function blocksOf(formulas, isOurs, top, left) {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Map<string, Block>} */
  let above = new Map();
  formulas.forEach((row, index) => {
    /** @type {Map<string, Block>} */
    const here = new Map();
    for (const [first, last] of runsOf(row, isOurs)) {
      const key = `${first}:${last}`;
      let block = above.get(key);
      if (block === undefined) {
        block = { top: top + index, bottom: top + index, left: left + first, right: left + last };
        blocks.push(block);
      }
      block.bottom = top + index;
      here.set(key, block);
    }
    above = here;
  });
  return blocks;
}

/**
 * @param {unknown[]} row
 * @param {(formula: unknown) => boolean} isOurs
 * @returns {[number, number][]} the first and last column of every run of our formulas
 */
function runsOf(row, isOurs) {
  /** @type {[number, number][]} */
  const runs = [];
  row.forEach((formula, column) => {
    if (!isOurs(formula)) return;
    const last = runs[runs.length - 1];
    if (last !== undefined && last[1] === column - 1) last[1] = column;
    else runs.push([column, column]);
  });
  return runs;
}

/**
 * The blocks' addresses in lists that Excel accepts.
 * @param {Block[]} blocks
 * @returns {string[]}
 */
function addressLists(blocks) {
  /** @type {string[]} */
  const lists = [];
  for (const address of blocks.map(addressOf)) {
    const last = lists.length - 1;
    const list = lists[last];
    if (list === undefined || list.length + address.length >= LONGEST_ADDRESS) lists.push(address);
    else lists[last] = `${list},${address}`;
  }
  return lists;
}

/** @param {Block} block */
function addressOf({ top, bottom, left, right }) {
  const first = `${columnName(left)}${top + 1}`;
  return top === bottom && left === right ? first : `${first}:${columnName(right)}${bottom + 1}`;
}

/**
 * @param {number} column from 0
 * @returns {string}
 */
function columnName(column) {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

/** @param {Block[]} blocks */
function cellCount(blocks) {
  return blocks.reduce((sum, { top, bottom, left, right }) => sum + (bottom - top + 1) * (right - left + 1), 0);
}
