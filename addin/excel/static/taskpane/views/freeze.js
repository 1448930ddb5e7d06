/// <reference path="../types.d.ts" />
// Freezing: replaces our formulas by their values, for sharing a workbook with someone who has no add-in.

import { messageOf } from "../data/exchange.js";
import { button, notice, section } from "../ui/components.js";
import { confirmed } from "../ui/dialogs.js";
import { fill, h } from "../ui/elements.js";

/** @param {Pane} pane */
export function freezeSection(pane) {
  const outcome = h("div");
  const off = !pane.host.isExcel;
  const sheet = button("Freeze sheet", () => void freeze(pane, "sheet", outcome), { sign: "freeze", disabled: off });
  const workbook = button("Freeze workbook", () => void freeze(pane, "workbook", outcome), { disabled: off });
  return section(
    "Freeze to values",
    h("p.muted", "Replaces our formulas by the values they show now, for sharing with someone who has no add-in."),
    off ? h("p.muted.small", "Only in Excel: a page in a browser has no sheet.") : null,
    h("div.row", sheet, workbook),
    outcome,
  );
}

/**
 * @param {Pane} pane
 * @param {"sheet" | "workbook"} scope
 * @param {HTMLElement} outcome
 */
async function freeze(pane, scope, outcome) {
  const { isOurs } = DataServiceRefresh;
  const where = scope === "sheet" ? "this sheet" : "the whole workbook";
  try {
    const count = await pane.host.countFormulas(scope, isOurs);
    if (count === 0)
      return fill(outcome, notice("info", "Nothing to freeze", `There is no formula of ours on ${where}.`));
    const formulas = pane.format.counted(count, "formula");
    const loss = `${formulas} on ${where} will be replaced by values and no longer refresh.`;
    const warning = `${loss} Save a copy first: Excel may not undo this.`;
    if (!(await confirmed(`Freeze ${where}?`, warning, `Freeze ${formulas}`, { look: "danger" }))) return;
    const { cells, left, emptied } = await pane.host.freeze(scope, isOurs);
    const still = left ? `${pane.format.counted(left, "formula still calculates", "formulas still calculate")}; not frozen.` : "";
    const rest = emptied ? "The refresh button, first steps, quota and status are gone too." : still;
    fill(outcome, notice("good", `${pane.format.counted(cells, "formula")} replaced by values`, rest));
  } catch (error) {
    fill(outcome, notice("error", "Nothing was frozen", messageOf(error)));
  }
}
