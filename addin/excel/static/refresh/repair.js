/// <reference path="../types.d.ts" />
// Enters formulas again that Excel has damaged. While the add-in is not loaded, Excel may show a call of ours as
// `'C:\…\FUNCRES.XLAM'!_xldudf_DS_SIGNAL("x")`, or as #NAME? for good. No recalculation heals that; entering does.

/**
 * @typedef {object} Damaged
 * @property {number} row counted from 0
 * @property {number} column
 * @property {string} formula what to enter
 */

/** @typedef {{ repaired: number, damaged: number }} Repairs formulas entered again, and those that could not be */

/**
 * Enter the damaged formulas of a part of a sheet again, as far as the sheet accepts it.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet} sheet
 * @param {{ part: Excel.Range, top: number, left: number }} place a range with its formulas and value types loaded
 * @returns {Promise<Repairs>}
 */
async function repair(context, sheet, { part, top, left }) {
  const { formulas, valueTypes } = part;
  const found = [
    ...misnamed(formulas, top, left),
    ...(await stuck(context, sheet, { formulas, valueTypes, top, left })),
  ];
  if (found.length === 0) return { repaired: 0, damaged: 0 };
  sheet.protection.load("protected");
  await context.sync();
  const repaired = sheet.protection.protected ? 0 : await entered(context, sheet, found);
  return { repaired, damaged: found.length - repaired };
}

/**
 * The formulas with a call of ours that is named as no user types it.
 * @param {unknown[][]} formulas
 * @param {number} top
 * @param {number} left
 * @returns {Damaged[]}
 */
function misnamed(formulas, top, left) {
  return formulas.flatMap((row, y) =>
    row.flatMap((formula, x) => {
      if (!isOurs(formula)) return [];
      const typed = asEntered(String(formula));
      return typed === formula ? [] : [{ row: top + y, column: left + x, formula: typed }];
    }),
  );
}

/**
 * The formulas of ours that are right and show #NAME?.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet} sheet
 * @param {{ formulas: unknown[][], valueTypes: unknown[][], top: number, left: number }} part
 * @returns {Promise<Damaged[]>}
 */
async function stuck(context, sheet, { formulas, valueTypes, top, left }) {
  // Errors are short: their values are read, those of other cells could be too much for one exchange.
  const suspects = formulas.map((row, y) =>
    row.map((formula, x) =>
      valueTypes[y]?.[x] === "Error" && isOurs(formula) && asEntered(String(formula)) === formula ? formula : "",
    ),
  );
  const ranges = blocksOf(suspects, isOurs, top, left).map((block) => {
    const size = /** @type {const} */ ([block.bottom - block.top + 1, block.right - block.left + 1]);
    const range = sheet.getRangeByIndexes(block.top, block.left, ...size);
    range.load("values");
    return { range, block };
  });
  if (ranges.length) await context.sync();
  return ranges.flatMap(({ range, block }) =>
    range.values.flatMap((row, y) =>
      row.flatMap((value, x) => {
        const place = { row: block.top + y, column: block.left + x };
        return value === "#NAME?" ? [{ ...place, formula: String(suspects[place.row - top]?.[place.column - left]) }] : [];
      }),
    ),
  );
}

/**
 * Enter formulas; returns how many the sheet accepted. One that it refuses, such as a part of an array, stops no other.
 * @param {Excel.RequestContext} context
 * @param {Excel.Worksheet} sheet
 * @param {Damaged[]} cells
 */
async function entered(context, sheet, cells) {
  const enter = (/** @type {Damaged} */ { row, column, formula }) => {
    sheet.getRangeByIndexes(row, column, 1, 1).formulas = [[formula]];
  };
  try {
    cells.forEach(enter);
    await context.sync();
    return cells.length;
  } catch {
    // Excel does not say which one it refused.
  }
  let accepted = 0;
  for (const cell of cells) {
    try {
      enter(cell);
      await context.sync();
      accepted += 1;
    } catch (error) {
      console.warn(error);
    }
  }
  return accepted;
}
