// As much of Excel's API as a refresh uses, on sheets of formulas. As in Excel, a property can be read only after it
// was loaded and the context was synchronised, and what was asked happens at the next synchronisation.

const book = { sheets: [], names: {}, active: 0, selection: [], selected: [], calculations: [], entered: [], refuses: new Set() };
const listeners = { selection: [], activated: [] };

/** An object whose `values` can be read once they are loaded; `isNullObject` needs no loading. */
function proxy(queue, values, members = {}) {
  const loaded = new Set();
  const object = {
    ...members,
    load(names) {
      for (const name of names.split(",")) queue.push(() => loaded.add(name.replace("items/", "").trim()));
      return object;
    },
  };
  for (const name of Object.keys(values)) {
    Object.defineProperty(object, name, {
      set(written) {
        if (name !== "formulas") throw new Error(`${name} cannot be written`);
        queue.push(() => enter(members.sheet, members.area, written[0][0]));
      },
      get() {
        if (!loaded.has(name)) throw new Error(`${name} was read before it was loaded`);
        return values[name];
      },
    });
  }
  return object;
}

function ranges(context, sheet, queue, area) {
  const [top, left, bottom, right] = area;
  const refs = { address: `${sheet.id}!${JSON.stringify(area)}`, rowIndex: top, columnIndex: left };
  const values = { ...refs, rowCount: bottom - top + 1, columnCount: right - left + 1 };
  Object.defineProperty(values, "formulas", { enumerable: true, get: () => formulasOf(sheet, area) });
  Object.defineProperty(values, "values", { enumerable: true, get: () => contentOf(sheet, area).map((row) => row.map(({ value }) => value)) });
  Object.defineProperty(values, "valueTypes", { enumerable: true, get: () => contentOf(sheet, area).map((row) => row.map(({ type }) => type)) });
  return proxy(queue, values, {
    isNullObject: false,
    area,
    sheet,
    get worksheet() {
      return worksheet(context, sheet, queue);
    },
    getUsedRangeOrNullObject: () => used(context, sheet, queue, area),
    getIntersectionOrNullObject(other) {
      const common = intersection(area, other.area);
      return common && other.sheet === sheet ? ranges(context, sheet, queue, common) : proxy(queue, { address: "" }, { isNullObject: true });
    },
    getRowsBelow: () => ranges(context, sheet, queue, [bottom + 1, left, bottom + 1, right]),
    getCell: (row, column) => ranges(context, sheet, queue, [top + row, left + column, top + row, left + column]),
    select: () => queue.push(() => book.selected.push(values.address)),
  });
}

/** What cells show: #NAME? where Excel does not find the function of a formula, else a number. */
function contentOf(sheet, [top, left, bottom, right]) {
  const content = (key) => {
    if (sheet.stuck.has(key) || /_xldudf_/.test(sheet.cells[key])) return { value: "#NAME?", type: "Error" };
    return sheet.cells[key] === undefined ? { value: "", type: "Empty" } : { value: 1, type: "Double" };
  };
  const row = (r) => Array.from({ length: right - left + 1 }, (_, c) => content(`${r},${left + c}`));
  return Array.from({ length: bottom - top + 1 }, (_, r) => row(top + r));
}

/** As in Excel, entering a formula finds its function again, and calls it. */
function enter(sheet, [row, column], formula) {
  const key = `${row},${column}`;
  if (sheet.protected || sheet.arrays.has(key)) throw new Error("AccessDenied");
  sheet.cells[key] = formula;
  sheet.stuck.delete(key);
  book.entered.push(formula);
  callLater([formula]);
}

function formulasOf(sheet, [top, left, bottom, right]) {
  if (book.refuses.has("formulas")) throw new Error("AccessDenied");
  const row = (r) => Array.from({ length: right - left + 1 }, (_, c) => sheet.cells[`${r},${left + c}`] ?? "");
  return Array.from({ length: bottom - top + 1 }, (_, r) => row(top + r));
}

function intersection(a, b) {
  const [top, left] = [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  const [bottom, right] = [Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  return top <= bottom && left <= right ? [top, left, bottom, right] : null;
}

function used(context, sheet, queue, within = [0, 0, 1_048_575, 16_383]) {
  const places = Object.keys(sheet.cells).map((key) => key.split(",").map(Number));
  const inside = places.filter(([row, column]) => intersection(within, [row, column, row, column]));
  if (inside.length === 0) return proxy(queue, {}, { isNullObject: true, worksheet: worksheet(context, sheet, queue) });
  const rows = inside.map(([row]) => row);
  const columns = inside.map(([, column]) => column);
  const area = [rows, columns].map((line) => line.reduce((a, b) => Math.min(a, b)));
  const end = [rows, columns].map((line) => line.reduce((a, b) => Math.max(a, b)));
  return ranges(context, sheet, queue, [...area, ...end]);
}

function worksheet(context, sheet, queue) {
  return proxy(queue, { id: sheet.id }, {
    protection: proxy(queue, { protected: sheet.protected }),
    getUsedRangeOrNullObject: () => used(context, sheet, queue),
    getRangeByIndexes: (row, column, height, width) =>
      ranges(context, sheet, queue, [row, column, row + height - 1, column + width - 1]),
    getRange: (address) => ranges(context, sheet, queue, areaOf(address)),
    getRanges: (list) => ({
      setDirty() {
        if (book.refuses.has("setDirty")) throw new Error("ApiNotFound");
        if (list.length > 8192) throw new Error("InvalidArgument");
        queue.push(() => list.split(",").forEach((address) => sheet.dirty.push(areaOf(address))));
      },
    }),
  });
}

/** @returns {[number, number, number, number]} */
function areaOf(address) {
  const [first, last = first] = address.split(":");
  const corner = (text) => {
    const [, letters, digits] = /^([A-Z]+)(\d+)$/.exec(text);
    return [Number(digits) - 1, [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1];
  };
  return [...corner(first), ...corner(last)];
}

function contextOf() {
  const queue = [];
  const context = {
    async sync() {
      await null;
      for (const step of queue.splice(0)) step();
    },
    application: { calculate: (kind) => queue.push(() => calculate(kind)) },
  };
  const items = book.sheets.map((sheet) => worksheet(context, sheet, queue));
  context.workbook = {
    worksheets: proxy(queue, {}, {
      items,
      getActiveWorksheet: () => items[book.active],
      getItem: (id) => items[book.sheets.findIndex((sheet) => sheet.id === id)],
      onSelectionChanged: { add: (listener) => queue.push(() => listeners.selection.push(listener)) },
      onActivated: { add: (listener) => queue.push(() => listeners.activated.push(listener)) },
    }),
    getSelectedRanges: () => ({
      areas: proxy(queue, {}, {
        items: book.selection.map((address) => ranges(context, book.sheets[book.active], queue, areaOf(address))),
      }),
    }),
    names: {
      getItem: (name) => named(context, queue, name),
      getItemOrNullObject: (name) => named(context, queue, name),
    },
  };
  return context;
}

function named(context, queue, name) {
  const place = book.names[name];
  if (place === undefined) return proxy(queue, { type: "" }, { isNullObject: true });
  const sheet = book.sheets.find(({ id }) => id === place.sheet);
  return proxy(queue, { type: "Range" }, {
    isNullObject: false,
    getRange: () => ranges(context, sheet, queue, areaOf(place.address)),
  });
}

/** Excel calls the functions of dirty cells, or of all, a moment later. */
function calculate(kind) {
  book.calculations.push(kind);
  const cells = book.sheets.flatMap((sheet) =>
    Object.entries(sheet.cells).filter(([key]) => {
      if (sheet.stuck.has(key)) return false;
      const [row, column] = key.split(",").map(Number);
      return kind === "Full" || sheet.dirty.some((area) => intersection(area, [row, column, row, column]));
    }),
  );
  book.sheets.forEach((sheet) => sheet.dirty.splice(0));
  book.recalculated = cells.map(([, formula]) => formula);
  callLater(book.recalculated);
}

function callLater(formulas) {
  setTimeout(() => {
    for (const formula of formulas) {
      const call = /^=DS\.(\w+)\("([^"]*)"\)$/.exec(formula);
      if (call) functions[call[1]](call[2], {}).catch(() => undefined);
    }
  }, 10);
}

/** `stuck` are the cells that show #NAME? although their formula is right, `arrays` those that are part of an array. */
function addSheet(id, cells, { stuck = [], arrays = [], locked = false } = {}) {
  book.sheets.push({ id, cells, dirty: [], stuck: new Set(stuck), arrays: new Set(arrays), protected: locked });
}

globalThis.Excel = {
  async run(work) {
    const context = contextOf();
    const result = await work(context);
    await context.sync();
    return result;
  },
};
globalThis.actions = {};
globalThis.Office = {
  HostType: { Excel: "Excel" },
  context: { requirements: { isSetSupported: () => true } },
  actions: { associate: (name, action) => { actions[name] = action; } },
  onReady: (ready) => Promise.resolve().then(() => ready({ host: "Excel" })),
};
