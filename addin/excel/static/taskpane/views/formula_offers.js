/// <reference path="../types.d.ts" />
// Formulas that a card offers to insert.

import { callOf, formulaOf } from "../data/formula.js";
import { insert } from "./insert.js";
import { button, formulaCode } from "../ui/components.js";
import { h } from "../ui/elements.js";

const TEXTS = [{ type: "string" }, { type: "string" }];

/**
 * @param {Pane} pane
 * @param {string | null} name the first argument; null where the functions have none
 * @param {import("../data/formula.js").Offer[]} offers
 */
export function formulaOffers(pane, name, offers) {
  const first = name === null ? [] : [{ text: name }];
  return h("ul.list", ...offers.map(([words, id, rest]) => h("li", offer(pane, words, id, [...first, ...rest]))));
}

/**
 * @param {Pane} pane
 * @param {string} words
 * @param {string} id
 * @param {(string | { text: string })[]} typed
 */
function offer(pane, words, id, typed) {
  const formula = formulaOf(pane.status.namespace, id, typed, TEXTS);
  const put = button("Insert", () => void insert(pane, formula, callOf(id, typed, TEXTS)), {
    label: `Insert ${words}: ${formula}`,
  });
  return h("div.formula-item", h("span", words), put, h("div.small", formulaCode(formula)));
}
