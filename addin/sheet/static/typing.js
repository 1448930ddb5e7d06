/// <reference path="types.d.ts" />
// Keys that come faster than the component draws: it takes what is still seen in the field for what is in it.

/** Let every key meet the field as it will be drawn. */
export function keepTypedText() {
  const { Composer } = o_spreadsheet.Spreadsheet.components.Grid.components.GridComposer.components;
  const { onInput, onKeydown, onKeyup } = Composer.prototype;
  Object.assign(Composer.prototype, {
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

/** Draw the content of a cell whose editing began since the last drawing, with the cursor. @param {any} field @param {KeyboardEvent} event */
function drawWhatBegan(field, event) {
  const { composerStore, onComposerCellFocused, focus } = field.props;
  if (!onComposerCellFocused || composerStore.editionMode === "inactive" || focus !== "inactive" || event.isComposing) return;
  draw(field, composerStore.currentContent, composerStore.composerSelection);
}

/** @param {any} field @param {string} content @param {{ start: number, end: number }} selection */
function draw(field, content, { start, end }) {
  field.contentHelper.setText(content === "" ? [] : field.splitHtmlContentIntoLines([{ value: content, classes: [] }]));
  field.contentHelper.selectRange(start, end);
}
