/// <reference path="../types.d.ts" />
// Enters frozen formulas again.

import { cellBlock, numberOf, numbersIn } from "./blocks.js";
import { CHARACTERS, enter, isTable, keptValue, placeOf } from "./pieces.js";
import { blocksRead } from "./reading.js";

/** @typedef {import("./pieces.js").OfficeCells} OfficeCells */
/** @typedef {import("./pieces.js").Piece} Piece */

/** Characters that entering a formula takes in an exchange, beside itself. */
const ENTRY = 600;

/**
 * Enter formulas where their cells still show what was frozen: nothing that came there since is lost.
 * @param {Piece[]} pieces what was frozen
 * @param {OfficeCells} cells what they showed
 * @returns {Promise<{ cells: number, left: string[] }>} how many formulas were entered, and where others were
 */
export function enterAgain(pieces, cells) {
  return Excel.run(async (context) => {
    const { worksheets } = context.workbook;
    const sheets = new Map(pieces.map(({ sheet }) => [sheet, worksheets.getItemOrNullObject(sheet.id)]));
    for (const sheet of sheets.values()) sheet.load("id");
    await context.sync();
    const there = pieces.flatMap((piece) => {
      const sheet = /** @type {Excel.Worksheet} */ (sheets.get(piece.sheet));
      return sheet.isNullObject ? [] : [{ ...piece, sheet }];
    });
    const shown = new Map([...sheets].map(([before, sheet]) => [sheet, cells.get(before)]));
    /** @type {Map<Excel.Worksheet, Set<number>>} */
    const same = new Map(there.map(({ sheet }) => [sheet, new Set()]));
    for await (const blocks of blocksRead(context, there, "formulas,values")) {
      for (const { sheet, block, range } of blocks) {
        const now = [range.formulas.flat(), range.values.flat()];
        numbersIn(block).forEach((at, index) => {
          const kept = shown.get(sheet)?.get(at);
          if (kept && now.every((all) => [kept.value, keptValue(kept)].includes(all[index]))) same.get(sheet)?.add(at);
        });
      }
    }
    const again = there.flatMap((piece) => {
      const isSame = (/** @type {number} */ at) => same.get(piece.sheet)?.has(at);
      if (isTable(piece)) return numbersIn(piece.block).every(isSame) ? [piece] : [];
      const formulas = piece.formulas.filter(({ row, column }) => isSame(numberOf(row, column)));
      return formulas.map((each) => ({ ...piece, block: cellBlock(each.row, each.column), formulas: [each] }));
    });
    for (let [at, size] = [0, 0]; at < again.length; at++) {
      const piece = /** @type {Piece} */ (again[at]);
      enter(piece);
      size += ENTRY + (piece.formulas[0]?.formula.length ?? 0);
      if (size < CHARACTERS && at < again.length - 1) continue;
      await context.sync();
      size = 0;
    }
    const entered = new Set(again.flatMap(({ formulas }) => formulas));
    return { cells: entered.size, left: pieces.flatMap(({ formulas }) => formulas.filter((each) => !entered.has(each)).map(placeOf)) };
  });
}
