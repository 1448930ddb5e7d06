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
  const formulaIn = (row) => `=DS.SIGNAL("s-${"x".repeat(200)}-${row}")`;
  for (let row = 1; row <= count; row++) book.put("Sheet1", `B${row}`, { formula: formulaIn(row), value: 1.5 });
  const { cells, refused, undo } = await freeze(new Language("DS", async () => null), "workbook");
  assert.deepEqual([cells, refused], [count, []]);
  assert.deepEqual(await undo(), { cells: count, left: [] });
  await book.settled();
  assert.equal(book.cell("Sheet1", `B${count}`).formula, formulaIn(count));
  const { largestRequest, largestResponse } = book.exchanges;
  assert.ok(Math.max(largestRequest, largestResponse) < 4_000_000, `${largestRequest} and ${largestResponse} characters`);
});
