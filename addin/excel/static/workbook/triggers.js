/// <reference path="../types.d.ts" />
// What starts a refresh: the ribbon's buttons, the keyboard shortcut, and the button on a sheet.

/** The workbook's name for the cell that acts as a button. */
const BUTTON_NAME = "DS_Refresh_Button";

/** @type {Record<string, RefreshOptions>} */
const REFRESH_ACTIONS = {
  refreshWorkbook: {},
  refreshSheet: { scope: "sheet" },
  refreshSelection: { scope: "selection" },
  refreshForce: { mode: "force" },
};

/** @type {import("./refresh.js").Refreshes} */
let refreshes;

/** Let the ribbon, the keyboard and the sheet start refreshes. @param {import("./refresh.js").Refreshes} started */
export function startedBy(started) {
  refreshes = started;
  if (typeof Office === "undefined") return;
  associateActions();
  void Office.onReady(({ host }) => {
    if (host === Office.HostType.Excel) watchSheetButton().catch((error) => console.warn(error));
  });
}

function associateActions() {
  for (const [action, options] of Object.entries(REFRESH_ACTIONS)) {
    Office.actions.associate(action, async (/** @type {Office.AddinCommands.Event | undefined} */ event) => {
      // Listeners show a failure. The event must be completed either way, or the button stays pressed.
      await refreshes.run(options).catch(() => undefined);
      event?.completed?.();
    });
  }
}

/** Listen to selections: selecting the button's cell presses it. */
async function watchSheetButton() {
  if (!Office.context.requirements.isSetSupported("ExcelApi", "1.9")) return;
  await Excel.run(async (context) => {
    const { worksheets } = context.workbook;
    worksheets.onSelectionChanged.add(onSelectionChanged);
    worksheets.onActivated.add(findButtonSheet);
    await context.sync();
  });
  await findButtonSheet();
}

/** @type {string | undefined} */
let buttonSheetId;

/** Only selections on the button's sheet are looked at, so that selecting elsewhere costs nothing. */
async function findButtonSheet() {
  await Excel.run(async (context) => {
    const button = context.workbook.names.getItemOrNullObject(BUTTON_NAME);
    button.load("type");
    await context.sync();
    buttonSheetId = undefined;
    if (button.isNullObject || button.type !== "Range") return;
    const sheet = button.getRange().worksheet;
    sheet.load("id");
    await context.sync();
    buttonSheetId = sheet.id;
  });
}

/** @param {Excel.WorksheetSelectionChangedEventArgs} event */
async function onSelectionChanged(event) {
  if (event.worksheetId !== buttonSheetId) return;
  const pressed = await Excel.run(async (context) => {
    const button = context.workbook.names.getItem(BUTTON_NAME).getRange();
    const selection = context.workbook.worksheets.getItem(event.worksheetId).getRange(event.address);
    const common = button.getIntersectionOrNullObject(selection);
    common.load("address");
    selection.load("address");
    await context.sync();
    if (common.isNullObject || common.address !== selection.address) return false;
    // Off the button, so that the next click selects it again.
    button.getRowsBelow(1).getCell(0, 0).select();
    await context.sync();
    return true;
  });
  if (pressed) await refreshes.run().catch(() => undefined);
}
