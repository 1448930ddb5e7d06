// What is sent to the backend: batches within its limits, and what lost answers had told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BackendClient } from "../../../addin/excel/static/client/backend.js";
import { Batches, split } from "../../../addin/excel/static/client/batches.js";
import { RequestError } from "../../../addin/excel/static/client/exchange.js";

const LIMITS = { maxCalls: 10_000, maxBytes: 8_000_000, maxValues: 500_000, maxCells: 50_000 };
const valuesOf = (body) => body.split(",").length;

/** The answers to calls, by the text of each, as a page gets them. */
function asked(texts, { post, limits = LIMITS }) {
  const batches = new Batches({ post, replied: () => {}, clock: () => performance.now(), limits });
  return Promise.all(
    texts.map((text) => new Promise((end) => batches.add({ text, answered: end, failed: (error) => end({ failed: error }) }))),
  );
}

const answering = (bodies) => async (body) => {
  bodies.push(body);
  return { answers: JSON.parse(body).calls.map((call) => ({ value: call[1], fresh_s: 9 })), requests: 0, quota: null, generation: 1 };
};

test("a million values of arguments are answered, in batches of no more than the backend takes", async () => {
  const range = JSON.stringify(Array.from({ length: 100 }, (_, row) => Array.from({ length: 100 }, (_, column) => row * column + 1)));
  const bodies = [];
  const answers = await asked(Array.from({ length: 100 }, (_, n) => `["SIGNAL",${n},${range}]`), { post: answering(bodies) });
  assert.deepEqual(answers.map(({ value }) => value), Array.from({ length: 100 }, (_, n) => n));
  assert.ok(bodies.length > 1);
  assert.ok(bodies.every((body) => valuesOf(body) <= LIMITS.maxValues && body.length <= LIMITS.maxBytes));
});

test("the first calls of a large recalculation are sent while the others are made", async () => {
  const sizes = [];
  const post = async (body) => {
    sizes.push(JSON.parse(body).calls.length);
    return answering([])(body);
  };
  const batches = new Batches({ post, replied: () => {}, clock: () => performance.now(), limits: LIMITS });
  const answered = [];
  for (let n = 0; n < 30_000; n += 1) {
    answered.push(new Promise((end) => batches.add({ text: `["SIGNAL",${n}]`, answered: end, failed: end })));
    if (n === 10_000) assert.deepEqual(sizes, [10_000]);
  }
  assert.deepEqual((await Promise.all(answered)).map(({ value }) => value), Array.from({ length: 30_000 }, (_, n) => n));
  assert.deepEqual(sizes, [10_000, 10_000, 10_000]);
});

test("posts under way hold no more values together than the backend has room for", async () => {
  let [now, most] = [0, 0];
  const post = async (body) => {
    now += valuesOf(body);
    most = Math.max(most, now);
    await new Promise((go) => setTimeout(go, 2));
    now -= valuesOf(body);
    return answering([])(body);
  };
  const limits = { ...LIMITS, maxValues: 1_000 };
  await asked(Array.from({ length: 200 }, (_, n) => `["SIGNAL",${n},[[${Array(99).fill(1)}]]]`), { post, limits });
  assert.ok(most <= 1_000, `${most} values at a time`);
});

test("a call that is too large fails alone, and says why", async () => {
  const large = `["SIGNAL",[[${Array(900_000).fill(1)}]]]`;
  const bodies = [];
  const [first, second, third] = await asked(['["SIGNAL","a"]', large, '["SIGNAL","b"]'], { post: answering(bodies) });
  assert.deepEqual([first.value, third.value], ["a", "b"]);
  assert.equal(second.error, "#VALUE!");
  assert.match(second.message, /hold 900,000 values, more than 50,000 in one formula \(setting max_cells\)/);
  assert.deepEqual(bodies, ['{"calls":[["SIGNAL","a"],["SIGNAL","b"]]}']);
});

test("texts are measured in the bytes that they take", async () => {
  const bodies = [];
  const texts = Array.from({ length: 3 }, (_, n) => `["SIGNAL","${"é".repeat(100)}${n}"]`);
  const answers = await asked(texts, { post: answering(bodies), limits: { ...LIMITS, maxBytes: 250 } });
  assert.deepEqual([answers.map(({ error }) => error), bodies.length], [[undefined, undefined, undefined], 3]);
});

test("what a proxy finds too large is sent in halves, until what is too large stands alone", async () => {
  const post = async (body) => {
    if (body.length > 120) throw new RequestError("too large", null, "too large", 413);
    return answering([])(body);
  };
  const texts = [...Array.from({ length: 9 }, (_, n) => `["SIGNAL","${n}"]`), `["SIGNAL","${"x".repeat(200)}"]`];
  const answers = await asked(texts, { post });
  assert.deepEqual(answers.slice(0, 9).map(({ value }) => value), [..."012345678"]);
  assert.match(answers[9].failed.message, /too large/);
});

test("batches keep every call, in its order, within all limits", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % most;
  for (let round = 0; round < 200; round++) {
    const limits = { maxCalls: 1 + random(5), maxBytes: 40 + random(200), maxValues: 3 + random(20), maxCells: 3 };
    const calls = Array.from({ length: random(30) }, (_, n) => ({ text: `["${n}"${",1".repeat(random(3))}]` }));
    const { batches } = split(calls, limits);
    assert.deepEqual(batches.flatMap(({ batch }) => batch), calls);
    for (const { batch, values } of batches) {
      assert.ok(batch.length <= limits.maxCalls && values <= limits.maxValues);
      assert.ok(16 + batch.reduce((sum, { text }) => sum + text.length + 1, 0) <= limits.maxBytes);
    }
  }
});

test("a post is named, sent again under its name, and named once more if its answer never came", async () => {
  const seen = [];
  let away = 3;
  const send = async (address) => {
    seen.push(new URL(address).searchParams);
    if (away-- > 0) throw new TypeError("Failed to fetch");
    return new Response('{"answers":[],"requests":5,"quota":null,"generation":1}');
  };
  const backend = new BackendClient("http://backend/", { send });
  await assert.rejects(backend.post('{"calls":[]}'), /is not there/);
  assert.equal(new Set(seen.map((query) => query.get("post"))).size, 1);
  assert.equal(await backend.lookForLost(), 5);
  assert.equal(seen[3].get("lost"), seen[0].get("post"));
  assert.equal(await backend.lookForLost(), 0);
  assert.equal(seen.length, 4);
});

test("a lost post is named in three answered posts, because it may end after the first of them", async () => {
  const seen = [];
  let away = 3;
  const send = async (address) => {
    seen.push(new URL(address).searchParams);
    if (away-- > 0) throw new TypeError("Failed to fetch");
    return new Response('{"answers":[],"requests":0,"quota":null,"generation":1}');
  };
  const backend = new BackendClient("http://not-started/", { send });
  await assert.rejects(backend.post('{"calls":[]}'), /is not there/);
  assert.equal(backend.unanswered, 1);
  for (let n = 0; n < 5; n++) await backend.post('{"calls":[]}');
  assert.equal(backend.unanswered, 0);
  const lost = seen[0].get("post");
  assert.deepEqual(seen.slice(3).map((query) => query.get("lost")), [lost, lost, lost, null, null]);
});

test("a refused post has spent nothing, and is not named again", async () => {
  const backend = new BackendClient("http://backend/", { send: async () => new Response('{"error":"no"}', { status: 400 }) });
  await assert.rejects(backend.post("{}"), /refused \(400: no\)/);
  assert.deepEqual(backend.lost, []);
});
