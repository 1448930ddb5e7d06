/// <reference path="../types.d.ts" />
// Putting a formula where it belongs: into Excel's active cell, or in a browser into the clipboard.

import { messageOf } from "../data/api.js";
import { confirmed, dialog } from "../ui/dialogs.js";
import { h } from "../ui/elements.js";
import { copyable, notice } from "../ui/components.js";
import { Preview } from "./preview.js";

/** More of a cell's text than this says nothing about whether it may be replaced. */
const SHOWN_TEXT = 40;

/**
 * Insert a formula, after asking where the cell holds something.
 * @param {Pane} pane
 * @param {string} formula
 * @param {Call | null} call the same as a call; null where it depends on cells
 */
export async function insert(pane, formula, call) {
  if (!pane.host.isExcel) return handOut(pane, formula, call);
  try {
    const { address, holds } = await pane.host.target();
    const question = `${address} holds “${holds.slice(0, SHOWN_TEXT)}”.`;
    if (holds && !(await confirmed("Replace the cell?", question, "Replace"))) return;
    pane.announce(`Inserted into ${await pane.host.insert(formula)}`);
  } catch (error) {
    dialog("The formula was not inserted", notice("error", "Excel refused", messageOf(error)), copyable(formula));
  }
}

/**
 * @param {Pane} pane
 * @param {string} formula
 * @param {Call | null} call
 */
function handOut(pane, formula, call) {
  const preview = new Preview(pane);
  const hint = "The pane runs outside Excel: copy the formula and paste it into a cell.";
  dialog("Formula", h("p.muted", hint), copyable(formula), preview.element);
  if (call) void preview.show(call, { pauseMs: 0 });
  else preview.idle("The result depends on cells of the sheet.");
}
