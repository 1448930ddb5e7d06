// Time in a page that sleeps or is busy: what was begun ends, and no later than it must.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange } from "../../../addin/excel/static/client/exchange.js";
import { after, pause } from "../../../addin/excel/static/client/timing.js";

const hold = (ms) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test("an answer that came while the page did not move is taken, although its deadline has passed", async () => {
  const send = () => pause(30).then(() => pause(20)).then(() => new Response('{"ok":true}'));
  const asked = exchange(new URL("http://backend/"), { key: null, deadlineMs: 200, send });
  setTimeout(() => hold(500), 10);
  assert.deepEqual(await asked, { ok: true });
});

test("a request without an answer ends at its deadline, in a page that slept at the second one", async () => {
  const send = () => new Promise(() => {});
  const asked = exchange(new URL("http://backend/"), { key: null, deadlineMs: 50, send });
  setTimeout(() => hold(150), 1);
  await assert.rejects(asked, /did not answer within 0.05 s/);
});

test("what is to happen later can be cancelled, and happens once", async () => {
  let [happened, cancelled] = [0, 0];
  after(5, () => (cancelled += 1))();
  after(1, () => (happened += 1));
  await pause(20);
  assert.deepEqual([happened, cancelled], [1, 0]);
});
