/// <reference path="../types.d.ts" />
// Freezing: replaces our formulas by their values, for sharing a workbook with someone who has no add-in.

import { messageOf } from "../../client/exchange.js";
import { button, notice, section } from "../ui/components.js";
import { confirmed } from "../ui/dialogs.js";
import { fill, h } from "../ui/elements.js";

/** So many addresses are listed. */
const LISTED = 10;

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
  const where = scope === "sheet" ? "this sheet" : "the whole workbook";
  const counted = (/** @type {number} */ count) => pane.format.counted(count, "formula");
  try {
    const { count, locked } = await pane.host.countFormulas(scope);
    if (count === 0) return fill(outcome, notice("info", "Nothing to freeze", `There is no formula of ours on ${where}.`));
    if (locked === count) return fill(outcome, notice("warning", "Nothing to freeze", `${counted(locked)} on protected sheets: unprotect them first.`));
    const loss = `${counted(count - locked)} on ${where} will be replaced by values and no longer refresh.`;
    const kept = locked ? ` ${counted(locked)} on protected sheets will be left.` : "";
    const warning = `${loss}${kept} Save a copy first: Excel may not undo this, and this pane only until it is closed.`;
    if (!(await confirmed(`Freeze ${where}?`, warning, `Freeze ${counted(count - locked)}`, { look: "danger" }))) return;
    fill(outcome); // what was said of an earlier freeze is not of this one
    tell(pane, outcome, await pane.host.freeze(scope));
  } catch (error) {
    fill(outcome, notice("error", "Not all was frozen", `${messageOf(error)}. Formulas that still stand were not replaced.`));
  }
}

/**
 * Say what was frozen and what was not.
 * @param {Pane} pane
 * @param {HTMLElement} outcome
 * @param {import("../../workbook/freeze.js").Frozen} frozen
 */
function tell(pane, outcome, { cells, busy, refused, locked, names, emptied, kept, failure, undo }) {
  const { format } = pane;
  const left = (/** @type {string[]} */ places, /** @type {string} */ one, /** @type {string} */ many) =>
    places.length > 0 && `${format.counted(places.length, one, many)}: ${places.slice(0, LISTED).join(", ")}${places.length > LISTED ? " …" : ""}.`;
  const rest = [
    left(busy, "formula still calculates; not frozen", "formulas still calculate; not frozen"),
    left(refused, "formula was refused by Excel, as a part of an array", "formulas were refused by Excel, as parts of arrays"),
    left(locked, "formula is on a protected sheet", "formulas are on protected sheets"),
    left(names, "name still calls a function of ours", "names still call functions of ours"),
    emptied && "The refresh button, first steps, quota and status are gone too.",
    left(kept, "area is kept, though a name says it is of no use in a copy", "areas are kept, though names say they are of no use in a copy"),
    failure && `What is of no use without formulas was not emptied: ${failure}.`,
  ].filter(Boolean);
  const all = busy.length + refused.length + locked.length === 0 && failure === null;
  const back = button("Undo", () => {
    back.disabled = true;
    undo().then(
      (again) => {
        const words = [left(again.left, "cell has changed since, and stays", "cells have changed since, and stay"), emptied && "What else was emptied stays empty."];
        fill(outcome, notice(again.left.length ? "warning" : "info", `${format.counted(again.cells, "formula")} entered again`, words.filter(Boolean).join(" ")));
      },
      (error) => {
        back.disabled = false;
        fill(outcome, notice("error", "Not all was undone", messageOf(error), back));
      },
    );
  });
  fill(outcome, notice(all ? "good" : "warning", `${format.counted(cells, "formula")} replaced by values`, rest.join(" "), cells > 0 && back));
}
