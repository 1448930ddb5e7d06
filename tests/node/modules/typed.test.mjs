// What typed text becomes in the browser's sheet, as in Excel with US English.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asExcelReads } from "../../../addin/sheet/static/typing/typed.js";

const TODAY = new Date(2026, 10, 26);
const read = (text) => asExcelReads(text, TODAY);
const value = (text) => Number((read(text) ?? { content: text }).content);
const serial = (year, month, day) => Date.UTC(year, month - 1, day) / 86_400_000 + 25_569;

const NUMBERS = {
  "5": 5, "-5": -5, "+5": 5, "- 5": -5, "(5)": -5, "(1,000)": -1000, "1,234.5": 1234.5, " 7 ": 7, "1.": 1, ".5": 0.5, "1e3": 1000, "1.5E-3": 0.0015,
  "5%": 0.05, "(5%)": -0.05, "-5 %": -0.05, "7.1%": 0.071, "$5": 5, "($5)": -5, "-$5.10": -5.1, "$ - 5": -5, "$1,000": 1000,
  "1 1/2": 1.5, "-1 1/2": -1.5, "0 1/4": 0.25, "12 3/16": 12.1875, "12345678901234567890": 12345678901234500000,
  "10 am": 10 / 24, "12:30 AM": 0.5 / 24, "12 pm": 0.5, "5:15:30 p": (17 * 3600 + 930) / 86_400, "1:02:03.5": 3723.5 / 86_400,
};
for (const [text, number] of Object.entries(NUMBERS)) test(`${text} is a number`, () => assert.equal(value(text), number));

const DAYS = {
  "Jan 2026": [2026, 1, 1], "january-2026": [2026, 1, 1], "Feb 5": [2026, 2, 5], "Jan-26": [2026, 1, 26], "Jan-32": [1932, 1, 1], "5 Jan": [2026, 1, 5],
  "5-Sep-26": [2026, 9, 5], "5 January 2026": [2026, 1, 5], "January 5, 2026": [2026, 1, 5], "May 1 1999": [1999, 5, 1], "29 Feb 2028": [2028, 2, 29],
  "1/2/30": [1930, 1, 2], "12-31-99": [1999, 12, 31],
};
for (const [text, day] of Object.entries(DAYS)) test(`${text} is a day`, () => assert.equal(value(text), serial(...day)));

test("a day may have a time", () => {
  assert.equal(value("5 Jan 2026 10:30"), serial(2026, 1, 5) + 10.5 / 24);
  assert.equal(value("Jan 5, 2026 3 pm"), serial(2026, 1, 5) + 15 / 24);
});

for (const text of ["1 234", "1 5 2026", "5 5", "1/1/1900", "1899-12-31", "1 1/0"]) test(`${text} stays text`, () => assert.equal(read(text).content, `'${text}`));

for (const text of ["abc", "5-", "1,2", "1,,000", "(5", "5)", "-(5)", "$5%", "(-5)", "1E400", "29 Feb 2026", "Jan 0, 2026", "Marchioness 5", "13 pm", "10:70 am", "", "1_0", "٣"]) {
  test(`nothing is made of ${text}`, () => assert.equal(read(text), null));
}

test("errors are values", () => assert.deepEqual([read("#N/A"), read("#div/0!"), read("#spill!")], [{ content: "=#N/A" }, { content: "=#DIV/0!" }, null]));
