// The calls that formulas make, read off their text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formulaReader } from "../../../addin/excel/static/workbook/calls_in.js";

const read = formulaReader("DS");
const callsOf = (formula) => read(formula).calls.map(({ id, args, sure }) => [id, args.map((arg) => (arg.kind === "value" ? arg.value : arg.kind)), sure]);

const CASES = [
  ['=DS.SIGNAL("us-cpi")', [["SIGNAL", ["us-cpi"], true]]],
  ['=ds.signal( "say ""x""" , 5 )', [["SIGNAL", ['say "x"', 5], true]]],
  ["=DS.SIGNAL(A1)+DS.INDEX($B$2:C3)", [["SIGNAL", ["area"], true], ["INDEX", ["area"], true]]],
  ['=DS.WIRE(,,-5,TRUE,"x"&A1)', [["WIRE", [null, null, -5, true, "join"], true]]],
  ['=IF(DS.SIGNAL("a")>1,DS.SIGNAL("b"),0)', [["SIGNAL", ["a"], true], ["SIGNAL", ["b"], false]]],
  ['=IFERROR(DS.SIGNAL("a"),DS.SIGNAL("b"))', [["SIGNAL", ["a"], true], ["SIGNAL", ["b"], false]]],
  ['="DS.SIGNAL(1)"&DS.SIGNAL({"a","b";"c","d"})', [["SIGNAL", [[["a", "b"], ["c", "d"]]], true]]],
  ["='C:\\it''s\\A.XLAM'!_xldudf_DS_SIGNAL(\"x\")", [["SIGNAL", ["x"], true]]],
  ["=DS.SIGNAL('My sheet'!A1)", [["SIGNAL", ["area"], true]]],
  ["=DS.SIGNAL(Place)", [["SIGNAL", ["name"], true]]],
  ["=LET(x,A1,DS.SIGNAL(x))", [["SIGNAL", ["unknown"], true]]],
  ["=DS.SIGNAL(Table1[Slug])", [["SIGNAL", ["unknown"], true]]],
  ["=DS.SIGNAL(DS.SIGNAL(A1))", [["SIGNAL", ["area"], true], ["SIGNAL", ["unknown"], true]]],
  ["=DS.SIGNAL(#N/A)", [["SIGNAL", ["#N/A"], true]]],
  ["=DS.SIGNAL(50%)", [["SIGNAL", [0.5], true]]],
  ["=XDS.SIGNAL(1)+SUM(A1)", []],
];

for (const [formula, calls] of CASES) test(`the calls of ${formula}`, () => assert.deepEqual(callsOf(formula), calls));

test("areas are told with their sheets and corners, whole columns to the end", () => {
  const [first, second, third] = read("=DS.SIGNAL('It''s'!$B$2:A1)&B7#&SUM(C:D)").areas;
  assert.deepEqual(first, { kind: "area", sheet: "It's", top: 0, bottom: 1, left: 0, right: 1, spill: false, fixed: false });
  assert.deepEqual([second.top, second.left, second.spill], [6, 1, true]);
  assert.deepEqual([third.top, third.bottom, third.left, third.right], [0, 1_048_575, 2, 3]);
});

test("what depends on more than the cells it names is told", () => {
  for (const formula of ["=TODAY()", "=OFFSET(A1,1,1)", "=Other.ADDIN(1)", "=A1:INDEX(A:A,5)", "=[Book.xlsx]Sheet1!A1", "=Sheet1:Sheet3!A1"]) {
    assert.equal(read(formula).closed, false, formula);
  }
  for (const formula of ["=A1&B1", '=UPPER("x")', "=SUM(A1:A9)*2", "=1"]) assert.equal(read(formula).closed, true, formula);
});

test("any text is read to its end, whatever it holds", () => {
  const pieces = ['"', "'", "!", "(", ")", ",", ";", "{", "}", "#", "A1", ":", "DS.SIGNAL(", "[", "]", "%", "@", "&", "1", "é", "\u0000", "IF(", "-"];
  let seed = 3;
  const random = (most) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % most;
  for (let round = 0; round < 20_000; round++) read(`=${Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join("")}`);
});
