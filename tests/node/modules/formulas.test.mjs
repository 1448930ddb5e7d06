// Formulas as the pages tell them apart, off their text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Language } from "../../../addin/excel/static/workbook/book.js";
import { namesIn } from "../../../addin/excel/static/workbook/formulas.js";

const NAMES = [
  ["=Rate*Sheet1!Base", ["RATE", "SHEET1!BASE"]],
  ["='My ''own'' sheet'!Base", ["MY 'OWN' SHEET!BASE"]],
  ['="Rate"&SUM(1)', []],
  ["=DS.SIGNAL(Place)", ["PLACE"]],
  ["=Größe+\\x", ["GRÖSSE", "\\X"]],
];
for (const [formula, names] of NAMES) test(`the names in ${formula}`, () => assert.deepEqual(namesIn(formula), names));

test("a formula is ours by a name that leads to a call, and not by its letters", () => {
  const names = new Map([["CALL", '=DS.SIGNAL("us-cpi")'], ["CALLED", "=Call*2"], ["SHEET2!CALL", "=5"], ["OTHER", '="Call"']]);
  const isOurs = new Language("DS", async () => null).test(names);
  for (const formula of ["=Call", "=called+1", "=1+Sheet1!Call"]) assert.ok(isOurs(formula, "Sheet1"), formula);
  for (const formula of ['="Call"', "=Other", "=CALL(1)", "=Calls", "Call", "=Sheet2!Call"]) assert.ok(!isOurs(formula, "Sheet1"), formula);
  assert.ok(!isOurs("=Call", "Sheet2"));
});
