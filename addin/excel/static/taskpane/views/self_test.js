/// <reference path="../types.d.ts" />
// Diagnostics: a self-test in the user's own Excel, with a report to copy.

import { messageOf } from "../../client/exchange.js";
import { requestsIn } from "../data/cost.js";
import { button, copyableReport, notice, progress, section } from "../ui/components.js";
import { confirmed } from "../ui/dialogs.js";
import { fill, h } from "../ui/elements.js";

/** @param {Pane} pane */
export function selfTestSection(pane) {
  const outcome = h("div");
  const off = !pane.host.isExcel;
  const start = button("Self-test", () => void run(pane, outcome), { disabled: off });
  const words = "Enters a formula of each kind on a sheet of its own, refreshes and freezes them, compares, and removes the sheet.";
  return section("Diagnostics", h("p.muted", words), off ? h("p.muted.small", "Only in Excel.") : null, h("div.row", start), outcome);
}

/** @param {Pane} pane @param {HTMLElement} outcome */
async function run(pane, outcome) {
  try {
    const slug = await knownSlug(pane);
    const calls = /** @type {Call[]} */ ([["SIGNAL", slug], ["SIGNAL", slug, "observed_at"], ["SIGNAL_HISTORY", slug, "N3"]]);
    const cost = await pane.backend.cost(calls);
    const question = `It uses the signal ${slug} and spends ${requestsIn(cost, pane.format)}. A sheet is added and removed again.`;
    if (!(await confirmed("Start the self-test?", question, "Start"))) return;
    fill(outcome, progress("Testing…"));
    const { held, text } = await pane.host.selfTest(slug);
    fill(outcome, notice(held ? "good" : "error", held ? "All held" : "Not all held", "The report can be copied."), copyableReport(text));
  } catch (error) {
    fill(outcome, notice("error", "The self-test could not run", messageOf(error)));
  }
}

/** A signal that is fresh already, else any of the catalogue. @param {Pane} pane */
async function knownSlug(pane) {
  await pane.status.look();
  const fresh = pane.status.latest?.resources.find(({ resource, state }) => state === "fresh" && /^signal [^?]+$/.test(resource));
  if (fresh) return fresh.resource.slice("signal ".length);
  const [answer] = (await pane.backend.call([["SIGNALS", null, null, "slug"]])).answers;
  const [slug] = answer?.columns?.[0]?.values ?? [];
  if (typeof slug !== "string") throw new Error(answer?.message ?? "the service names no signal");
  return slug;
}
