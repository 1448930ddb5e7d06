/// <reference path="../types.d.ts" />
// Modal dialogs: Escape closes them, and the focus returns to where it was.

import { button } from "./components.js";
import { freshId, h } from "./elements.js";

/**
 * Show content above the page until it is closed.
 * @param {string} title
 * @param {...import("./elements.js").Child} content
 * @returns {HTMLDialogElement}
 */
export function dialog(title, ...content) {
  const id = freshId("dialog");
  const close = button("", () => shown.close(), { look: "quiet", sign: "close", label: "Close" });
  const head = h("header.dialog-head", h("h2", { id }, title), close);
  const shown = h("dialog.dialog", { "aria-labelledby": id }, head, h("div.dialog-body", ...content));
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  return shown;
}

/**
 * Ask for a decision.
 * @param {string} title
 * @param {string} explanation
 * @param {string} yes the label of the button that confirms
 * @param {{ look?: "primary" | "danger" }} [options]
 * @returns {Promise<boolean>} false when the dialog was closed in any other way
 */
export function confirmed(title, explanation, yes, { look = "primary" } = {}) {
  const cancel = button("Cancel", () => shown.close());
  const actions = h("div.row.end", cancel, button(yes, () => shown.close("yes"), { look }));
  const shown = dialog(title, h("p", explanation), actions);
  cancel.focus();
  return new Promise((resolve) => shown.addEventListener("close", () => resolve(shown.returnValue === "yes")));
}
