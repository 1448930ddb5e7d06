// Freezing and its undo in the stand-in for Excel, whose exchanges hold at most 5 MB.

import assert from "node:assert/strict";
import { test } from "node:test";

import "../sheets.js";
import "../excel.js";
import { Language } from "../../../addin/excel/static/workbook/book.js";
import { freeze } from "../../../addin/excel/static/workbook/freeze.js";

test("a large book is frozen and entered again in exchanges below 4 MB", async () => {
  const count = 20_000;
  CustomFunctions.associate("SIGNAL", async () => [[1.5]]);
  for (let row = 1; row <= count; row++) book.put("Sheet1", `B${row}`, { formula: `=DS.SIGNAL("s-${row}")`, value: 1.5 });
  const { cells, refused, undo } = await freeze(new Language("DS"), "workbook");
  assert.deepEqual([cells, refused], [count, []]);
  assert.deepEqual(await undo(), { cells: count, left: [] });
  await book.settled();
  assert.equal(book.cell("Sheet1", `B${count}`).formula, `=DS.SIGNAL("s-${count}")`);
  assert.ok(book.exchanges.largestRequest < 4_000_000, `${book.exchanges.largestRequest} characters`);
});
