// The functions of a page without Excel: cells recover when the backend is back, and memory is weighed.

import assert from "node:assert/strict";
import { test } from "node:test";

import "../sheets.js";
import "../excel.js";
import { ResultCache } from "../../../addin/excel/static/client/result_cache.js";
import { FunctionsPage } from "../../../addin/excel/static/functions/page.js";

const CONFIGURATION = { version: "1", namespace: "DS", functions: ["SIGNAL"], maxCalls: 10_000, maxBytes: 8_000_000, maxValues: 500_000, maxCells: 50_000, deadlineMs: 40_000 };

test("cells that failed because the backend was away are calculated again when it is back", async () => {
  let isAway = true;
  const send = async (address) => {
    if (isAway) throw new TypeError("Failed to fetch");
    const answer = String(address).includes("/health") ? { ok: true } : { answers: [{ value: 7, fresh_s: 900 }], requests: 1, quota: null, generation: 1 };
    return new Response(JSON.stringify(answer));
  };
  const page = new FunctionsPage(CONFIGURATION, { base: "http://backend/", send });
  await assert.rejects(page.resultOfCall("SIGNAL", ["a", {}]), /is not there/);
  const back = new Promise((end) => page.on("answered", end));
  isAway = false;
  await back;
  assert.deepEqual(await page.resultOfCall("SIGNAL", ["a", {}]), [[7]]);
});

const OUTAGES = {
  "a proxy whose backend restarts": () => new Response("<h1>Service unavailable</h1>", { status: 503 }),
  "a proxy whose backend hangs": () => new Response("<h1>Gateway time-out</h1>", { status: 504 }),
  "a network that swallows everything": () => new Promise(() => {}),
};

for (const [what, outage] of Object.entries(OUTAGES)) {
  test(`cells that failed by ${what} are calculated again when it is over`, async () => {
    let isAway = true;
    const send = async (address) => {
      if (isAway) return outage();
      const answer = String(address).includes("/health") ? { ok: true } : { answers: [{ value: 7, fresh_s: 900 }], requests: 1, quota: null, generation: 1 };
      return new Response(JSON.stringify(answer));
    };
    const page = new FunctionsPage({ ...CONFIGURATION, deadlineMs: 300 }, { base: "http://backend/", send });
    await assert.rejects(page.resultOfCall("SIGNAL", ["a", {}]));
    const back = new Promise((end) => page.on("answered", end));
    isAway = false;
    await back;
    assert.deepEqual(await page.resultOfCall("SIGNAL", ["a", {}]), [[7]]);
  });
}

test("half a character in a range is sent as a sign for it, and spoils nothing beside it", async () => {
  const sent = [];
  const send = async (_, { body }) => {
    sent.push(body);
    return new Response(JSON.stringify({ answers: [{ value: 1, fresh_s: 900 }], requests: 0, quota: null, generation: 1 }));
  };
  const page = new FunctionsPage(CONFIGURATION, { base: "http://backend/", send });
  await page.resultOfCall("SIGNAL", [[["us-cpi"], ["\ud83d"], ["😀"], ["a\udc00b"]], {}]);
  assert.deepEqual(JSON.parse(sent[0]).calls, [["SIGNAL", [["us-cpi"], ["\ufffd"], ["😀"], ["a\ufffdb"]]]]);
});

test("arguments are weighed with the results that they lead to", () => {
  const cache = new ResultCache({ maxEntries: 1_000, maxSize: 10_000, clock: () => 0 });
  for (let n = 0; n < 50; n++) {
    const entry = cache.expect({ text: `${n}${"x".repeat(1_000)}`, freshUntilMs: Infinity, size: 10 });
    entry.freshUntilMs = 9;
    cache.arrived(entry);
  }
  assert.ok(cache.size <= 10_000 && cache.entries.size <= 10, `${cache.entries.size} entries of ${cache.size} characters`);
});

test("a working day with ten thousand formulas ends with as much memory as it began", async () => {
  const send = async (_, { body }) => new Response(JSON.stringify({ answers: JSON.parse(body).calls.map(() => ({ value: 1.5, fresh_s: 900 })), requests: 0, quota: null, generation: 1 }));
  const page = new FunctionsPage(CONFIGURATION, { base: "http://backend/", send });
  const round = () => Promise.all(Array.from({ length: 10_000 }, (_, n) => page.resultOfCall("SIGNAL", [`s-${n}`, {}])));
  await round();
  const held = [page.cache.entries.size, page.cache.size];
  for (let refresh = 0; refresh < 5; refresh++) {
    page.forget();
    await round();
  }
  assert.deepEqual([page.cache.entries.size, page.cache.size], held);
  assert.equal(page.waiting, 0);
});
