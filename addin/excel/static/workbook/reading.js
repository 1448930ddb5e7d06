/// <reference path="../types.d.ts" />
// Reads a workbook in blocks: Excel on the web takes and gives at most about 5 MB in one exchange.

import { cellCount } from "./blocks.js";

/** Characters of one exchange to aim at, and cells of the first one, when nobody knows how long they are. */
const CHARACTERS = 1_500_000;
const FIRST_CELLS = 5_000;
const MOST_CELLS = 20_000;

/** Ranges of one exchange: each takes some hundred characters by itself. */
const MOST_RANGES = 500;

/** A sheet with no more areas of formulas is read area by area, and not what lies between them. */
const FEW_AREAS = 200;

/** What a number, an empty cell or the type of a value takes in an exchange. */
const SHORT = 12;

/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {{ sheet: Excel.Worksheet, block: Block }} Place */

const SIZE = "rowIndex,columnIndex,rowCount,columnCount";

/**
 * The rectangles that hold all formulas within some ranges: no cell that is merely formatted is read, and none is
 * left out because its formula shows nothing.
 * @param {Excel.RequestContext} context
 * @param {{ sheet: Excel.Worksheet, range: Excel.Range }[]} ranges those of used cells
 * @returns {Promise<Place[]>}
 */
export async function formulaPlaces(context, ranges) {
  for (const { range } of ranges) range.load(SIZE);
  await context.sync();
  const used = ranges.filter(({ range }) => !range.isNullObject).map(({ sheet, range }) => ({ sheet, block: blockOf(range) }));
  try {
    return await placesOfFormulas(context, used);
  } catch (error) {
    console.warn(error); // an older Excel, or a protected sheet: everything that is used is read
    return used;
  }
}

/**
 * @param {Excel.RequestContext} context
 * @param {Place[]} places
 * @returns {Promise<Place[]>}
 */
async function placesOfFormulas(context, places) {
  /** @type {Place[]} */
  const found = [];
  for (let open = places; open.length > 0; ) {
    const large = open.filter(({ block }) => cellCount([block]) > FEW_AREAS);
    found.push(...open.filter(({ block }) => cellCount([block]) <= FEW_AREAS));
    const looks = large.map((place) => ({ place, special: rangeOf(place).getSpecialCellsOrNullObject("Formulas") }));
    for (const { special } of looks) special.load("areaCount");
    await context.sync();
    const some = looks.filter(({ special }) => !special.isNullObject);
    const few = some.filter(({ special }) => special.areaCount <= FEW_AREAS).map((look) => ({ ...look, areas: look.special.areas }));
    for (const { areas } of few) areas.load(SIZE.replaceAll(/\w+/g, "items/$&"));
    await context.sync();
    for (const { place, areas } of few) found.push(...areas.items.map((area) => ({ ...place, block: blockOf(area) })));
    const many = some.filter(({ special }) => special.areaCount > FEW_AREAS).map(({ place }) => place);
    found.push(...many.filter(({ block }) => cellCount([block]) <= MOST_CELLS));
    open = many.filter(({ block }) => cellCount([block]) > MOST_CELLS).flatMap((place) => cut(place, cellCount([place.block]) / 16));
  }
  return found;
}

/**
 * Read properties of places, in blocks of a size that one exchange can take.
 * @param {Excel.RequestContext} context
 * @param {Place[]} places
 * @param {string} properties such as "formulas,valueTypes"; each is an array of rows
 * @param {string} [more] others, which are short
 * @returns {AsyncGenerator<(Place & { range: Excel.Range })[]>}
 */
export async function* blocksRead(context, places, properties, more = "") {
  const names = properties.split(",");
  let most = FIRST_CELLS / names.length;
  const queue = [...places].reverse();
  while (queue.length > 0) {
    /** @type {(Place & { range: Excel.Range })[]} */
    const read = [];
    let room = most;
    while (queue.length > 0 && room >= 1 && read.length < MOST_RANGES) {
      const [place, ...rest] = cut(/** @type {Place} */ (queue.pop()), room);
      queue.push(...rest.reverse());
      if (place === undefined) break;
      room -= cellCount([place.block]);
      read.push({ ...place, range: rangeOf(place) });
    }
    for (const { range } of read) range.load(more ? `${properties},${more}` : properties);
    try {
      await context.sync();
    } catch (error) {
      if (most <= 1 || !isTooLarge(error)) throw error;
      most = Math.max(1, Math.floor(most / 8));
      queue.push(...read.reverse());
      continue;
    }
    const size = read.reduce((sum, { range }) => sum + names.reduce((all, name) => all + sizeOf(/** @type {any} */ (range)[name]), 0), 0);
    most = Math.max(1, Math.min(MOST_CELLS, Math.floor((CHARACTERS * cellCount(read.map(({ block }) => block))) / size)));
    yield read;
  }
}

/** @param {Place} place */
export function rangeOf({ sheet, block: { top, bottom, left, right } }) {
  return sheet.getRangeByIndexes(top, left, bottom - top + 1, right - left + 1);
}

/** @param {{ rowIndex: number, columnIndex: number, rowCount: number, columnCount: number }} range @returns {Block} */
export function blockOf({ rowIndex: top, columnIndex: left, rowCount, columnCount }) {
  return { top, bottom: top + rowCount - 1, left, right: left + columnCount - 1 };
}

/**
 * A place in pieces of at most so many cells, one below the other; single rows are cut as well.
 * @param {Place} place
 * @param {number} cells
 * @returns {Place[]}
 */
function cut({ sheet, block }, cells) {
  const { top, bottom, left, right } = block;
  const rows = Math.floor(cells / (right - left + 1));
  const pieces = [];
  if (rows < 1) {
    const columns = Math.max(1, Math.floor(cells));
    const row = { top, bottom: top, left, right: left + columns - 1 };
    pieces.push(row, { ...row, left: left + columns, right });
    if (top < bottom) pieces.push({ ...block, top: top + 1 });
  } else {
    for (let row = top; row <= bottom; row += rows) pieces.push({ top: row, bottom: Math.min(bottom, row + rows - 1), left, right });
  }
  return pieces.map((piece) => ({ sheet, block: piece }));
}

/** Characters that rows of cells take. @param {unknown[][]} rows */
function sizeOf(rows) {
  let size = 0;
  for (const row of rows) for (const cell of row) size += typeof cell === "string" ? cell.length + 3 : typeof cell === "object" ? 150 : SHORT;
  return size;
}

/** @param {unknown} error */
function isTooLarge(error) {
  return /PayloadSize|TooLarge|ResourceLimit/i.test(`${/** @type {any} */ (error)?.code} ${error}`);
}
