/// <reference path="types.d.ts" />
// The task pane beside the cells: search, and functions with their arguments explained. It inserts what it makes here.
import { element } from "./status_line.js";

/**
 * What the pane does in the sheet.
 * @param {() => any} model the component's
 * @returns {Partial<import("../../excel/static/taskpane/data/host.js").Host>}
 */
export function cellsFor(model) {
  const at = () => model().getters.getActivePosition();
  const { toXC } = o_spreadsheet.helpers;
  return {
    functions: DataServiceAddin,
    target: async () => {
      const { getters } = model();
      const { formattedValue } = getters.getEvaluatedCell(at());
      // A formula may show nothing.
      return { address: toXC(at().col, at().row), holds: formattedValue || getters.getCellText(at(), { showFormula: true }) };
    },
    insert: async (formula) => {
      const { isSuccessful } = model().dispatch("UPDATE_CELL", { ...at(), content: formula });
      if (!isSuccessful) throw new Error("its cell cannot be changed; the line below the cells says why");
      return toXC(at().col, at().row);
    },
    selection: async () => {
      const { left, top, right, bottom } = model().getters.getSelectedZone();
      const [first, last] = [toXC(left, top), toXC(right, bottom)];
      return first === last ? first : `${first}:${last}`;
    },
  };
}

/** Show the pane, or hide it. */
export function toggleBeside() {
  const frame = /** @type {HTMLIFrameElement} */ (element("beside").firstElementChild);
  const shown = element("beside").toggleAttribute("hidden") === false;
  if (shown && !frame.src) frame.src = "sheet_pane.html";
  element("search").setAttribute("aria-pressed", String(shown));
  fit("calc(100% - 1px)");
  // Below a certain width it is built anew, and counts its tools only where the width changes after that.
  requestAnimationFrame(() => requestAnimationFrame(() => fit("")));
  if (shown) frame.focus();
}

/** Let the page's keys work in the pane, too, which is a page of its own. @param {(event: KeyboardEvent) => void} onKey */
export function listenBeside(onKey) {
  const frame = /** @type {HTMLIFrameElement} */ (element("beside").firstElementChild);
  frame.addEventListener("load", () => frame.contentWindow?.addEventListener("keydown", onKey, { capture: true }));
}

/** Let the component fit itself into what is left. @param {string} width */
function fit(width) {
  element("sheet").style.width = width;
  dispatchEvent(new Event("resize"));
}
