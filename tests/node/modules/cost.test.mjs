// What the page hands over of a workbook so that the backend can tell its cost, in the stand-in for Excel.

import assert from "node:assert/strict";
import { test } from "node:test";

import "../sheets.js";
import "../excel.js";
import { RequestError } from "../../../addin/excel/static/client/exchange.js";
import { Language, readBook, targetOf } from "../../../addin/excel/static/workbook/book.js";
import { costOf, expectedCalls } from "../../../addin/excel/static/workbook/cost.js";

for (let row = 1; row <= 4; row++) book.put("Sheet1", `B${row}`, { formula: `=DS.SIGNAL(A${row})`, value: 1 });
book.put("Sheet1", "A1", { value: "half a \ud83d" });
book.put("Sheet1", "A2", { formula: '="us"&C1', value: "us" });

const COST = { requests: 4 };
const wanted = (top, bottom, left) => ({ sheet: 0, top, bottom, left, right: left });

/** Ask for the cost with a backend that answers in a way of its own. */
async function cost(ask) {
  const asked = [];
  const found = await Excel.run(async (context) => {
    const language = new Language("DS", async () => null);
    const read = await readBook(context, language, await targetOf(context, "workbook"), { whole: true });
    return costOf(context, read, "force", async (path, body) => {
      asked.push(JSON.parse(JSON.stringify({ path, ...body })));
      return ask(body, asked.length);
    });
  });
  return { found, asked };
}

test("cells are handed over as far as the backend asks for them", async () => {
  const answers = [{ wanted: [wanted(0, 1, 0)], cost: null }, { wanted: [wanted(0, 0, 2)], cost: null }, { wanted: [], cost: COST }];
  const { found, asked } = await cost((_, times) => answers[times - 1]);
  assert.equal(found, COST);
  assert.deepEqual(asked.map(({ path }) => path), Array(3).fill("functions/book/cost?refresh=force"));
  const [{ name, rows, formulas, others, cells }] = asked[2].sheets;
  assert.deepEqual([name, rows, Object.keys(formulas).length, others], ["Sheet1", 4, 4, {}]);
  const [first, second] = cells;
  assert.deepEqual([first.top, first.left, first.values, first.formulas], [0, 0, [["half a \ufffd"], ["us"]], [[null], ['="us"&C1']]]);
  assert.deepEqual([second.top, second.left, second.values], [0, 2, [[""]]]);
  assert.deepEqual(asked[0].sheets[0].cells, []);
});

test("of a book that is too large, or leads further and further, a part is handed over", async () => {
  const tooLarge = (body) => {
    if (body.sheets[0].cells.length > 0 || Object.keys(body.sheets[0].formulas).length > 1) throw new RequestError("too large", null, "too large", 413);
    return { wanted: body.is_part ? [] : [wanted(0, 0, 0)], cost: body.is_part ? COST : null };
  };
  const { found, asked } = await cost(tooLarge);
  assert.deepEqual([found, asked.at(-1).is_part, Object.keys(asked.at(-1).sheets[0].formulas).length], [COST, true, 1]);
  const further = await cost((body, times) => (body.is_part ? { wanted: [], cost: COST } : { wanted: [wanted(times, times, 3)], cost: null }));
  assert.equal(further.asked.length, 11);
  await assert.rejects(cost(() => Promise.reject(new RequestError("too large", null, "too large", 413))), /too large/);
});

test("where nobody tells how many calls to expect, any number may come", async () => {
  const empty = { sheets: [], names: new Map(), formulas: [] };
  assert.deepEqual(await expectedCalls(empty, () => Promise.reject(new Error("away"))), { expected: 0, depend: true });
});
