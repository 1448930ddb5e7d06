/// <reference path="../types.d.ts" />
// Rectangles of cells, and their addresses in brief. Pure.

/** The columns of Excel's grid, which make a number of a place. */
export const WIDTH = 16_384;

/** Excel refuses longer lists of addresses. */
const LONGEST_ADDRESS = 8_000;

/**
 * @typedef {object} Block rows and columns counted from 0, the last ones included
 * @property {number} top
 * @property {number} bottom
 * @property {number} left
 * @property {number} right
 */

/**
 * Cells as rectangles: runs of a row, which grow downwards as long as the next row has the same.
 * @param {{ row: number, column: number }[]} cells of one sheet, each once
 * @returns {Block[]}
 */
export function blocksOf(cells) {
  const sorted = [...cells].sort((a, b) => a.row - b.row || a.column - b.column);
  /** @type {Block[]} */
  const runs = [];
  for (const { row, column } of sorted) {
    const last = runs[runs.length - 1];
    if (last !== undefined && last.top === row && last.right === column - 1) last.right = column;
    else runs.push({ top: row, bottom: row, left: column, right: column });
  }
  /** @type {Map<string, Block>} */
  const open = new Map();
  return runs.filter((run) => {
    const key = `${run.left}:${run.right}`;
    const above = open.get(key);
    const grows = above !== undefined && above.bottom === run.top - 1;
    if (grows) above.bottom = run.bottom;
    else open.set(key, run);
    return !grows;
  });
}

/**
 * The blocks' addresses in lists that Excel accepts.
 * @param {Block[]} blocks
 * @returns {string[]}
 */
export function addressLists(blocks) {
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
export function addressOf({ top, bottom, left, right }) {
  const first = `${columnName(left)}${top + 1}`;
  return top === bottom && left === right ? first : `${first}:${columnName(right)}${bottom + 1}`;
}

/**
 * @param {number} column from 0
 * @returns {string}
 */
export function columnName(column) {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

/** The block of one cell. @param {number} row @param {number} column @returns {Block} */
export function cellBlock(row, column) {
  return { top: row, bottom: row, left: column, right: column };
}

/** A cell of a sheet as one number. @param {number} row @param {number} column */
export function numberOf(row, column) {
  return row * WIDTH + column;
}

/** The cells of a block as numbers, row by row. @param {Block} block */
export function numbersIn({ top, bottom, left, right }) {
  const numbers = [];
  for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) numbers.push(numberOf(row, column));
  return numbers;
}

/** @param {Block} inner @param {Block} outer */
export function isWithin(inner, outer) {
  return inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right;
}

/** @param {Block[]} blocks */
export function cellCount(blocks) {
  return blocks.reduce((sum, { top, bottom, left, right }) => sum + (bottom - top + 1) * (right - left + 1), 0);
}
