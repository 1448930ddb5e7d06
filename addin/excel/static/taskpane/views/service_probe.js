/// <reference path="../types.d.ts" />
// How the service answers what its contract leaves open: found out in a few requests, which are told before.

import { button, notice, progress, section } from "../ui/components.js";
import { confirmed } from "../ui/dialogs.js";
import { fill, h } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** The most that it asks; the backend says the same. */
const MOST_REQUESTS = 11;

/** @param {Pane} pane */
export function serviceProbe(pane) {
  const outcome = h("div");
  const start = button("Find out", () => void run(pane, start, outcome), { sign: "search" });
  const words = `Services differ where their contract is silent. This asks the service how it answers, in at most ${MOST_REQUESTS} requests, and the add-in goes by what it finds for 30 days.`;
  return section("How the service answers", h("p.muted", words), h("div.row", start), outcome);
}

/** @param {Pane} pane @param {HTMLButtonElement} start @param {HTMLElement} outcome */
async function run(pane, start, outcome) {
  const quota = pane.status.quota;
  const left = quota === null ? "" : ` of the ${pane.format.counted(quota.remaining, "request")} that are left`;
  const question = `It spends at most ${MOST_REQUESTS}${left}. No cell changes by it; those that failed are tried again.`;
  if (!(await confirmed("Ask the service how it answers?", question, "Ask"))) return;
  start.disabled = true;
  fill(outcome, progress("Asking the service…"));
  try {
    const verdict = await pane.backend.ask("contract", {});
    fill(outcome, ...(verdict.ok ? found(pane, verdict) : [notice("error", "Not found out", verdict.message)]));
    if (verdict.ok && typeof DataServiceAddin !== "undefined") DataServiceAddin.forget();
  } catch (error) {
    void showFailure(pane, outcome, error, () => start.click(), "Not found out");
  }
  start.disabled = false;
  await pane.status.look();
}

/** @param {Pane} pane @param {ProbeVerdict} verdict */
function found(pane, { requests, findings }) {
  const spent = `${pane.format.counted(requests, "request")} spent.`;
  if (findings.length === 0) return [notice("good", "It answers as documented", spent)];
  const title = `${pane.format.counted(findings.length, "answer")} not as documented`;
  const rows = findings.flatMap((each) => [h("dt", each.question), h("dd", `${each.found} — the add-in ${each.does}`)]);
  return [notice("info", title, `The add-in goes by this from now on. ${spent}`), h("dl.facts.findings", ...rows)];
}
