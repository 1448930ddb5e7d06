/// <reference path="../types.d.ts" />
// What the pane does in a workbook, through Office.js.

import { countFormulas, freeze } from "../../workbook/freeze.js";

/** @type {import("./host.js").Host} */
export const excel = {
  isExcel: true,
  hasCells: true,

  target: () =>
    Excel.run(async (context) => {
      const cell = context.workbook.getActiveCell();
      cell.load(["address", "text", "formulas"]);
      await context.sync();
      // A formula may show nothing.
      const [text, formula] = [cell.text, cell.formulas].map((rows) => String(rows[0]?.[0] ?? ""));
      return { address: local(cell.address), holds: text || formula || "" };
    }),

  insert: (formula) =>
    Excel.run(async (context) => {
      const cell = context.workbook.getActiveCell();
      cell.load(["address", "numberFormat"]);
      await context.sync();
      // A cell in the format of text would show the formula instead of its value.
      if (cell.numberFormat[0]?.[0] === "@") cell.numberFormat = [["General"]];
      cell.formulas = [[formula]];
      await context.sync();
      return local(cell.address);
    }),

  selection: () =>
    Excel.run(async (context) => {
      const range = context.workbook.getSelectedRange();
      range.load("address");
      await context.sync();
      return local(range.address);
    }),

  countFormulas: (scope) => countFormulas(DataServiceRefresh.language, scope),

  selfTest: async (slug) => (await import("../../workbook/self_test.js")).selfTest(DataServiceRefresh, slug),

  freeze: (scope) => freeze(DataServiceRefresh.language, scope),
};

/**
 * An address without its sheet, as a formula on the same sheet writes it.
 * @param {string} address
 */
function local(address) {
  return address.slice(address.lastIndexOf("!") + 1);
}
