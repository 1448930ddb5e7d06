/// <reference path="types.d.ts" />
// How books look in the component: as in Excel where it would show them otherwise, and in the colours of the system.

/** Whether the system's colours are dark. */
export const isDark = matchMedia("(prefers-color-scheme: dark)");

/**
 * Let rules change colours only, never the size of letters, and lines have no points, as Excel draws them.
 * @param {any} sheet as the component read it
 */
export function asExcelShows(sheet) {
  for (const { rule } of sheet.conditionalFormats) {
    delete rule.style?.fontSize;
    delete rule.style?.wrapping;
  }
  for (const figure of sheet.figures) if (figure.data?.type === "line") figure.data.hideDataMarkers = true;
}

/** Axes name each month once. */
export function nameMonths() {
  const beforeUpdate = (/** @type {any} */ { options }) => {
    const time = options.scales?.x?.time;
    if (time?.unit === "month") time.displayFormats = { month: "LLL yyyy" };
  };
  /** @type {any} */ (globalThis).Chart.register({ id: "named_months", beforeUpdate });
}

/**
 * Bring a sheet to the front.
 * @param {any} model
 * @param {string} sheetIdTo
 */
export function showSheet(model, sheetIdTo) {
  const sheetIdFrom = model.getters.getActiveSheetId();
  if (sheetIdFrom !== sheetIdTo) model.dispatch("ACTIVATE_SHEET", { sheetIdFrom, sheetIdTo });
}
