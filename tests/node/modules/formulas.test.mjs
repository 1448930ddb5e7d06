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

test("formulas are read once, in parts that a backend takes", async () => {
  const asked = [];
  const language = new Language("DS", async (_, { formulas }) => {
    asked.push(formulas);
    return { formulas: formulas.map((formula) => ({ calls: [formula] })) };
  });
  const formulas = Array.from({ length: 5_000 }, (_, at) => `=DS.SIGNAL("name-${at}")`);
  await language.learn([...formulas, ...formulas]);
  await language.learn(formulas);
  assert.deepEqual(asked.flat(), formulas);
  for (const part of asked) assert.ok(part.length <= 2_000 && JSON.stringify({ formulas: part }).length < 2 ** 16);
  assert.deepEqual(formulas.map((formula) => language.read(formula).calls[0]), formulas);
  assert.equal(language.read("=1").closed, false);
});

test("formulas in letters of three bytes fit into what a backend takes", async () => {
  const sizes = [];
  const language = new Language("DS", async (_, asked) => {
    sizes.push(new TextEncoder().encode(JSON.stringify(asked)).length);
    return { formulas: asked.formulas.map(() => ({})) };
  });
  await language.learn(Array.from({ length: 30 }, (_, at) => `=IF(A${at}>0,"${"数".repeat(8_000)}""",0)`));
  assert.equal(sizes.length, 15);
  assert.ok(Math.max(...sizes) <= 65_536, String(sizes));
});

test("of one book no reading is forgotten, however many formulas its cells lead to", async () => {
  const language = new Language("DS", async (_, { formulas }) => ({ formulas: formulas.map((formula) => ({ calls: [formula] })) }));
  const numbered = (count, what) => Array.from({ length: count }, (_, at) => `=${what}(A${at})`);
  const [ours, theirs] = [numbered(30_000, "DS.SIGNAL"), numbered(30_000, "SUM")];
  await language.learn(ours);
  await language.learn(theirs);
  for (const formula of [...ours, ...theirs]) assert.equal(language.read(formula).calls[0], formula);
  language.begin();
  assert.equal(language.read(ours[0]).closed, false);
});

test("a formula is ours by a name that leads to a call, and not by its letters", () => {
  const names = new Map([["CALL", '=DS.SIGNAL("us-cpi")'], ["CALLED", "=Call*2"], ["SHEET2!CALL", "=5"], ["OTHER", '="Call"']]);
  const isOurs = new Language("DS", async () => null).test(names);
  for (const formula of ["=Call", "=called+1", "=1+Sheet1!Call"]) assert.ok(isOurs(formula, "Sheet1"), formula);
  for (const formula of ['="Call"', "=Other", "=CALL(1)", "=Calls", "Call", "=Sheet2!Call"]) assert.ok(!isOurs(formula, "Sheet1"), formula);
  assert.ok(!isOurs("=Call", "Sheet2"));
});
