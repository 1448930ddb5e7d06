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
      showSheet(model, sheetId);
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

/** A line of text is as high as any other in its font: the component would measure each, for half of the time of a paste. */
export function measureFontsOnce() {
  const { coreViewsPluginRegistry } = o_spreadsheet.registries;
  /** @type {Map<string, number>} */
  const heights = new Map();
  coreViewsPluginRegistry.replace(
    "row_size",
    class extends coreViewsPluginRegistry.get("row_size") {
      /** @param {any} position */
      getCellHeight(position) {
        const { getters } = /** @type {any} */ (this);
        const { content, style = {}, isFormula } = getters.getCell(position) ?? {};
        const isLine = content && !isFormula && style.wrapping !== "wrap" && !style.rotation && !content.includes("\n") && !getters.getMerge(position);
        if (!isLine) return super.getCellHeight(position);
        const font = `${style.bold} ${style.italic} ${style.fontSize}`;
        if (!heights.has(font)) heights.set(font, super.getCellHeight(position));
        return heights.get(font);
      }
    },
  );
}

/** What screen readers need to know of the component's fields, and the order in which Tab reaches them. @type {[string, string][]} */
const FOR_ALL = [
  ['tabindex="1"', 'tabindex="0"'],
  ['t-ref="o_composer"', 'role="textbox" aria-label="Content of the cell" t-ref="o_composer"'],
  ['class="o-grid-add-rows-input', 'aria-label="Rows to add" class="o-grid-add-rows-input'],
  ['class="o-font-size o-number-input', 't-att-aria-label="props.title || \'Size\'" class="o-font-size o-number-input'],
  ['t-att-class="inputClass"', 't-att-aria-label="props.placeholder || \'Cell or name\'" t-att-class="inputClass"'],
  ['t-on-click="closeAssistant"', 'aria-label="Close the help" t-on-click="closeAssistant"'],
];

/**
 * The component's templates for all users, with the help on arguments open while a formula is typed; it can be closed.
 * @param {string} templates
 */
export function improved(templates) {
  const help = /<t t-name="o-spreadsheet-FunctionDescriptionProvider">.*?<\/Collapse>/s;
  const open = templates.replace(help, (found) => found.replaceAll("state.isCollapsed", "!state.isCollapsed"));
  return FOR_ALL.reduce((text, [from, to]) => text.replaceAll(from, to), open);
}

/** A cell with a list offers it also while it holds a formula, until that is changed. */
export function offerLists() {
  const { autoCompleteProviders } = o_spreadsheet.registries;
  const usual = autoCompleteProviders.get("dataValidation");
  autoCompleteProviders.replace("dataValidation", {
    ...usual,
    /** @this {any} */
    getProposals(/** @type {any} */ token, /** @type {string} */ content) {
      const edited = this.composer.currentEditedCell;
      const isUnchanged = edited && this.getters.getCellText(edited, { showFormula: true }) === content;
      return usual.getProposals.call(this, token, isUnchanged ? "" : content);
    },
  });
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

/**
 * A formula with its `=`, as the file and the backend know it: in place of names that only this page has stand their cells.
 * @param {any} formula the component's
 * @param {any} getters
 * @returns {string}
 */
export function writtenOut(formula, getters) {
  const text = formula.toFormulaString(getters);
  if (formula.getNamedRangesInFormula(getters).length === 0) return text;
  return o_spreadsheet.tokenize(text).map((/** @type {any} */ { type, value }) => {
    const named = type === "SYMBOL" ? getters.getNamedRange(value) : undefined;
    return named ? getters.getRangeString(named.range, formula.sheetId) : value;
  }).join("");
}

/** Let a reference to nothing be written as Excel writes it, typed and shown. */
export function nameErrors() {
  o_spreadsheet.CellErrorType.InvalidReference = "#REF!";
}

/** Let keys reach the cells. */
export function focusCells() {
  /** @type {HTMLElement | null} */ (document.querySelector("#sheet .o-grid-composer .o-composer, #sheet .o-grid [contenteditable]"))?.focus();
}

/** Whether the system's colours are dark. */
export const isDark = matchMedia("(prefers-color-scheme: dark)");

/**
 * Let rules change colours only, never the size of letters, and lines have no points, as Excel draws them; and protect a
 * sheet cell by cell, which is done elsewhere.
 * @param {any} sheet as the component read it
 */
export function asExcelShows(sheet) {
  sheet.isLocked = false;
  for (const { rule } of sheet.conditionalFormats) {
    delete rule.style?.fontSize;
    delete rule.style?.wrapping;
  }
  for (const figure of sheet.figures) if (figure.data?.type === "line") figure.data.hideDataMarkers = true;
}

/** Axes name each month once. */
export function nameMonths() {
  const beforeUpdate = (/** @type {any} */ { options }) => {
    const { time, ticks } = options.scales.x ?? {};
    if (time?.unit === "month") time.displayFormats = { month: "LLL yyyy" };
    if (ticks?.callback && !ticks.callback.namesOnce) ticks.callback = namedOnce(ticks.callback);
  };
  /** @type {any} */ (globalThis).Chart.register({ id: "named_months", beforeUpdate });
}

/** The labels without those that say what the one before says. @param {(...given: any[]) => any} label */
function namedOnce(label) {
  /** @this {any} @param {number} value @param {number} at @param {any[]} all */
  const once = function (value, at, all) {
    const named = label.call(this, value, at, all);
    return at > 0 && named === label.call(this, all[at - 1].value, at - 1, all) ? "" : named;
  };
  return Object.assign(once, { namesOnce: true });
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

const MARK = { width: 10, height: 10, paths: [{ fillColor: "#b3541e", path: "M0 0 L10 0 L0 10 Z" }] };

/**
 * Mark the cells that show the file's value.
 * @param {(place: string) => boolean} isHeld
 * @param {() => void} explain
 */
export function addMarks(isHeld, explain) {
  o_spreadsheet.registries.iconsOnCellRegistry.add("value_of_file", (/** @type {any} */ _, /** @type {{ sheetId: string, col: number, row: number }} */ position) => {
    const place = `${position.sheetId}!${o_spreadsheet.helpers.toXC(position.col, position.row)}`;
    if (!isHeld(place)) return undefined;
    return { type: "value_of_file", svg: MARK, priority: 1, horizontalAlign: "left", size: 8, margin: 1, position, onClick: explain };
  });
}

/** Let every key meet the field as it will be drawn: keys come faster, and it takes what is still seen there for what is in it. */
export function keepTypedText() {
  const { Composer } = o_spreadsheet.Spreadsheet.components.Grid.components.GridComposer.components;
  const { onInput, onKeydown, onKeyup, processContent } = Composer.prototype;
  Object.assign(Composer.prototype, {
    /** @this {any} */
    processContent() {
      processContent.call(this);
      this.showsEdit = this.props.focus !== "inactive" && this.props.composerStore.editionMode !== "inactive";
    },
    /** @this {any} @param {InputEvent} event */
    onInput(event) {
      const { composerStore, onComposerCellFocused } = this.props;
      const begins = onComposerCellFocused && composerStore.editionMode === "inactive" && this.shouldProcessInputEvents;
      if (!begins || event.isComposing) return onInput.call(this, event);
      event.stopPropagation();
      const typed = event.data ?? "";
      onComposerCellFocused(typed);
      draw(this, typed, { start: typed.length, end: typed.length });
    },
    /** @this {any} @param {KeyboardEvent} event */
    onKeydown(event) {
      if (this.props.composerStore.editionMode === "inactive") this.showsEdit = false;
      drawWhatBegan(this, event);
      return onKeydown.call(this, event);
    },
    /** @this {any} @param {KeyboardEvent} event */
    onKeyup(event) {
      drawWhatBegan(this, event);
      return onKeyup.call(this, event);
    },
  });
}

/** Enter keeps what was typed, unless it begins a proposal's name or the user chose one: Total is no SUBTOTAL. */
export function enterWhatIsTyped() {
  const { Composer } = o_spreadsheet.Spreadsheet.components.Grid.components.GridComposer.components;
  const { processEnterKey } = Composer.prototype;
  /** @this {any} @param {KeyboardEvent} event @param {string} direction */
  Composer.prototype.processEnterKey = function (event, direction) {
    const { composerStore } = this.props;
    if (isMeant(composerStore, this.env.model.getters)) return processEnterKey.call(this, event, direction);
    event.preventDefault();
    event.stopPropagation();
    composerStore.stopEdition(direction);
  };
}

/** Whether the proposal that is marked may be what the user means. @param {any} composer @param {any} getters */
function isMeant({ tokenAtCursor: token, autoCompleteProposals, autoCompleteSelectedIndex: at }, getters) {
  if (at !== 0 || token?.type !== "SYMBOL") return true;
  const begins = autoCompleteProposals[0].text.toUpperCase().startsWith(token.value.toUpperCase());
  return begins && getters.getNamedRange(token.value) === undefined;
}

/** Draw the content of a cell whose editing began since the last drawing, with the cursor. @param {any} field @param {KeyboardEvent} event */
function drawWhatBegan(field, event) {
  const { composerStore, onComposerCellFocused } = field.props;
  if (!onComposerCellFocused || composerStore.editionMode === "inactive" || field.showsEdit || event.isComposing) return;
  draw(field, composerStore.currentContent, composerStore.composerSelection);
}

/** @param {any} field @param {string} content @param {{ start: number, end: number }} selection */
function draw(field, content, { start, end }) {
  field.contentHelper.setText(content === "" ? [] : field.splitHtmlContentIntoLines([{ value: content, classes: [] }]));
  field.contentHelper.selectRange(start, end);
  field.showsEdit = true;
}
