// The small stores of the pane: numbers of a column, the backend's status, favourites.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Favourites } from "../../../addin/excel/static/taskpane/data/favourites.js";
import { Formatter } from "../../../addin/excel/static/taskpane/data/format.js";
import { Scale } from "../../../addin/excel/static/taskpane/ui/chart.js";
import { StatusMonitor } from "../../../addin/excel/static/taskpane/data/status.js";

test("a long column is written in linear time", () => {
  const format = new Formatter("en-US");
  const timed = (count) => {
    const values = Array.from({ length: count }, (_, n) => n / 7);
    const began = process.cpuUsage(); // not the time of day: the machine may be busy with something else
    const write = format.column(values);
    for (const value of values) assert.ok(write(value).includes("."));
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  timed(1_000);
  assert.ok(timed(100_000) < 60 * Math.max(5, timed(5_000)), "twenty times the values take about twenty times as long");
});

test("the line of a long history is short, and leaves out none of its peaks", () => {
  const points = Array.from({ length: 500_000 }, (_, n) => ({ day: n / 1_440, value: n === 123_456 ? 9 : Math.sin(n) }));
  const scale = new Scale(points, { left: 0, top: 0, width: 300, height: 100 });
  const line = scale.line();
  assert.ok(line.length < 50_000, `${line.length} characters`);
  const heights = line.split(/[ML]/).slice(1).map((place) => Number(place.split(" ")[1]));
  assert.ok(Math.min(...heights) < 10 && heights.filter((height) => height < 50).length <= 2);
  const few = points.slice(0, 1_000);
  assert.equal(new Scale(few, scale.frame).line().split("L").length, few.length);
});

test("an older status that comes late replaces no newer one", async () => {
  const answers = [];
  const backend = { status: () => new Promise((end) => answers.push(end)), onReply: () => {} };
  const status = new StatusMonitor(backend);
  const looks = [status.look(), status.look()];
  answers[1]({ requests_total: 2 });
  await looks[1];
  answers[0]({ requests_total: 1 });
  await looks[0];
  assert.equal(status.latest.requests_total, 2);
});

test("what is offered for requests is offered anew when others spent some, once, and only where it is still seen", async () => {
  const backend = { status: async () => ({ quota: { remaining } }), onReply: () => {} };
  let remaining = 10;
  const status = new StatusMonitor(backend);
  await status.look();
  const made = [];
  const [seen, gone, taken] = [{ isConnected: true }, { isConnected: false }, { isConnected: true }];
  for (const [place, name] of [[seen, "seen"], [gone, "gone"], [taken, "taken"]]) status.offer(place, () => made.push(name));
  status.offer(taken, null);
  await status.look();
  assert.deepEqual(made, [], "nothing was spent");
  remaining = 9;
  await status.look();
  remaining = 8;
  await status.look();
  assert.deepEqual(made, ["seen"]);
});

test("what one window has marked stays when another one marks more", () => {
  const stored = new Map();
  globalThis.localStorage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => void stored.set(key, value) };
  const [first, second] = [new Favourites(), new Favourites()];
  first.toggle("signal a");
  second.toggle("signal b");
  assert.deepEqual([...new Favourites().names], ["signal a", "signal b"]);
  second.toggle("signal b");
  assert.deepEqual([...new Favourites().names], ["signal a"]);
});
