/// <reference path="types.d.ts" />
// What the component is told to do otherwise, before a book is opened.

/**
 * Links within a book, as HYPERLINK("#'Start'!B4", …) makes them, lead to their cell and not to another page.
 * @param {(place: string) => void} reached called with the place, such as "Start!B4"
 */
export function addLinksWithinBook(reached) {
  const { urlRegistry } = o_spreadsheet.registries;
  urlRegistry.add("place_in_book", {
    sequence: 1,
    title: "Cells",
    match: (/** @type {string} */ url) => url.startsWith("#"),
    createLink: (/** @type {string} */ url, /** @type {string} */ label) => ({ url, label, isExternal: false, isUrlEditable: false }),
    urlRepresentation: (/** @type {string} */ url) => url.slice(1),
    getLinkProposals: () => [],
    open(/** @type {string} */ url, /** @type {any} */ env) {
      const place = url.slice(1);
      const [sheetName, cell] = splitPlace(place);
      const { model } = env;
      const sheetId = model.getters.getSheetIdByName(sheetName) ?? model.getters.getActiveSheetId();
      if (sheetId !== model.getters.getActiveSheetId()) {
        model.dispatch("ACTIVATE_SHEET", { sheetIdFrom: model.getters.getActiveSheetId(), sheetIdTo: sheetId });
      }
      const { col, row } = o_spreadsheet.helpers.toCartesian(cell.split(":")[0] ?? "A1");
      model.selection.selectCell(col, row);
      reached(`${sheetName}!${cell}`);
    },
  });
}

/**
 * @param {string} place such as "'Start here'!$B$4"
 * @returns {[string, string]} the sheet's name and the cell
 */
export function splitPlace(place) {
  const at = place.lastIndexOf("!");
  const name = place.slice(0, Math.max(0, at)).replace(/^'(.*)'$/, "$1").replaceAll("''", "'");
  return [name, place.slice(at + 1).replaceAll("$", "").toUpperCase()];
}

/** Pasted as values, text that looks like a formula stays text. */
export function keepPastedTextText() {
  const { cellHandlers } = o_spreadsheet.registries.clipboardHandlersRegistries;
  cellHandlers.replace(
    "cell",
    class extends cellHandlers.get("cell") {
      /** @param {any} origin @param {any} target @param {any} options */
      pasteCell(origin, target, options) {
        const value = origin?.evaluatedCell?.value;
        if (options?.pasteOption !== "asValue" || typeof value !== "string" || !/^[='[]/.test(value)) {
          super.pasteCell(origin, target, options);
          return;
        }
        this.dispatch("UPDATE_CELL", { ...target, content: `'${value}` });
      }
    },
  );
}

/**
 * What a cell holds, to be compared with what it holds later: its text, or its formula without texts and references, so
 * that it stays the same where rows are inserted. Undefined where there is no cell.
 * @param {any} cell
 * @returns {string | undefined}
 */
export function contentOf(cell) {
  return cell?.compiledFormula?.normalizedFormula ?? cell?.content;
}
