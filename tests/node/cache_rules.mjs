// The page's functions as a host of the table of cache rules: one step a line comes in as JSON, its outcome goes out.

import { createInterface } from "node:readline";

import "./sheets.js";
import "./excel.js";
import { FunctionsPage } from "../../addin/excel/static/functions/page.js";

// The clocks go on by themselves, as timers do; what passes in a rule comes on top.
const ahead = { steady: 0, wall: 0 };
const [wall, steady] = [Date.now, performance.now.bind(performance)];
Date.now = () => wall() + ahead.wall;
performance.now = () => steady() + ahead.steady;

const LIMITS = { maxCalls: 10_000, maxBytes: 8_000_000, maxValues: 500_000, maxCells: 50_000, deadlineMs: 40_000 };
const CONFIGURATION = { version: "1", namespace: "DS", functions: ["SIGNAL"], ...LIMITS };

let manner = { fresh_s: 900, generation: 1, is_away: false };
let asked = [];

/** The backend: it notes what it is asked for. */
async function send(address, { body }) {
  if (!String(address).includes("/functions/call")) return new Response(JSON.stringify({ ok: true }));
  const { calls } = JSON.parse(body);
  asked.push(...calls);
  if (manner.is_away) return new Response(JSON.stringify({ error: "full", kind: null }), { status: 429 });
  const answers = calls.map(() => ({ value: 1, fresh_s: manner.fresh_s }));
  return new Response(JSON.stringify({ answers, requests: 0, quota: null, generation: manner.generation }));
}

const page = new FunctionsPage(CONFIGURATION, { base: "http://backend/", send });

for await (const line of createInterface({ input: process.stdin })) {
  const { passes, answers, shows } = JSON.parse(line);
  asked = [];
  if (passes) {
    ahead.wall += 1_000 * (passes.seconds + passes.wall_s);
    ahead.steady += passes.is_asleep ? 0 : 1_000 * passes.seconds;
  }
  if (answers) manner = answers;
  if (shows) await Promise.allSettled([...shows].map((name) => page.resultOfCall("SIGNAL", [name, {}])));
  console.log(JSON.stringify(asked.length));
}
process.exit(0);
