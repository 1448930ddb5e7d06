// Excel as an add-in sees it, over the sheets of sheets.js, which is loaded before. It keeps Office's rules: a property can
// be read after it was loaded and the context was synchronised, what was asked happens at the next synchronisation, and
// no exchange is larger than 5 MB.
(() => {
  const { WIDTH, BLANK, book, sheets, defined, listeners, exchanges, functions, areaOf, addressOf, placesIn, sizeOf, intersection, usedWithin, formulaAreas, write, calculate, clearSpill, sheetOf, rowsOf } = globalThis.standIn;
  const LARGEST_EXCHANGE = 5_000_000;

  // What a script holds of the workbook: objects that are resolved, loaded and changed when the context is synchronised.

  class Context {
    constructor() {
      this.steps = [];
      this.request = 0;
      this.response = 0;
      this.application = { calculate: (kind) => this.then(() => calculate(kind), 100) };
      this.workbook = workbook(this);
    }

    then(step, size) {
      this.steps.push(step);
      this.request += size;
    }

    async sync() {
      await null;
      const [steps, request] = [this.steps.splice(0), this.request];
      this.request = this.response = 0;
      exchanges.count += 1;
      exchanges.largestRequest = Math.max(exchanges.largestRequest, request);
      if (request > LARGEST_EXCHANGE) throw failure("RequestPayloadSizeLimitExceeded");
      for (const step of steps) step();
      exchanges.largestResponse = Math.max(exchanges.largestResponse, this.response);
      if (this.response > LARGEST_EXCHANGE) throw failure("ResponsePayloadSizeLimitExceeded");
    }
  }

  function failure(code) {
    return Object.assign(new Error(code), { code });
  }

  /** An object with properties that can be read once they were loaded. An object takes some hundred characters itself. */
  function proxy(context, resolve, properties, members = {}) {
    let resolved;
    const get = () => (resolved ??= { is: resolve() }).is;
    const loaded = new Map();
    context.then(get, 250);
    const object = {
      ...members,
      get isNullObject() {
        if (resolved === undefined) throw failure("PropertyNotLoaded");
        return resolved.is === null;
      },
      load(names) {
        const list = (Array.isArray(names) ? names : names.split(",")).map((name) => name.trim());
        context.then(() => {
          if (get() === null) return;
          for (const name of list) {
            if (name.startsWith("items/")) object.items.forEach((item) => item.loadNow(name.slice("items/".length)));
            else object.loadNow(name);
          }
        }, 250);
        return object;
      },
      loadNow(name) {
        const value = properties[name](get());
        loaded.set(name, value);
        context.response += 60 + (typeof value === "object" ? JSON.stringify(value).length : String(value).length);
      },
      where: get,
    };
    for (const name of Object.keys(properties)) {
      const own = Object.getOwnPropertyDescriptor(members, name);
      Object.defineProperty(object, name, {
        get() {
          if (!loaded.has(name)) throw failure(`PropertyNotLoaded: ${name}`);
          return loaded.get(name);
        },
        ...(own?.set && { set: own.set }),
      });
    }
    for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
      if ((own.get || own.set) && !(name in properties)) Object.defineProperty(object, name, own);
    }
    return object;
  }


  function range(context, sheet, resolve) {
    const rows = (pick, name) => (area) => {
      if (book.refuses.has(name)) throw failure("AccessDenied");
      if (sizeOf(area) > 3_000_000) throw failure("ResponsePayloadSizeLimitExceeded");
      return rowsOf(sheet, area, pick);
    };
    const part = (make) => range(context, sheet, () => (object.where() === null ? null : make(object.where())));
    const change = (what) => (given) => context.then(() => write(sheet, object.where(), what, given), JSON.stringify(given).length + 250);
    const members = {
      set formulas(given) {
        change("formulas")(given);
      },
      set values(given) {
        change("values")(given);
      },
      set numberFormat(given) {
        change("numberFormat")(given);
      },
      sheet,
      get worksheet() {
        return worksheet(context, sheet);
      },
      getUsedRangeOrNullObject: (valuesOnly = false) => part((area) => usedWithin(sheet, area, valuesOnly)),
      getSpecialCellsOrNullObject: () => {
        let found;
        const areas = () => (found ??= formulaAreas(sheet, sizeOf(object.where()) === 1 ? { top: 0, left: 0, bottom: 1_048_575, right: WIDTH - 1 } : object.where()));
        return proxy(
          context,
          () => {
            if (book.refuses.has("special")) throw failure("ApiNotFound");
            return areas().length === 0 ? null : areas();
          },
          { areaCount: (list) => list.length },
          {
            areas: collection(context, () => areas().map((area) => range(context, sheet, () => area))),
          },
        );
      },
      getSpillingToRangeOrNullObject: () => part(({ top, left }) => (sheet.cells.get(top * WIDTH + left)?.spill ? areaOf(sheet.cells.get(top * WIDTH + left).spill) : null)),
      getIntersectionOrNullObject: (other) => part((area) => (other.sheet === sheet ? intersection(area, other.where()) : null)),
      getRowsBelow: () => part(({ bottom, left, right }) => ({ top: bottom + 1, bottom: bottom + 1, left, right })),
      getCell: (y, x) => part(({ top, left }) => ({ top: top + y, bottom: top + y, left: left + x, right: left + x })),
      select: () => context.then(() => book.selected.push(`${sheet.id}!${addressOf(object.where())}`), 100),
      clear: (what) =>
        context.then(() => {
          for (const at of placesIn(object.where())) {
            clearSpill(sheet, at);
            if (what === "Contents" && sheet.cells.has(at)) sheet.cells.set(at, { ...BLANK, format: sheet.cells.get(at).format });
            else sheet.cells.delete(at);
          }
        }, 100),
    };
    const object = proxy(
      context,
      resolve,
      {
        address: (area) => `${sheet.id}!${addressOf(area)}`,
        rowIndex: (area) => area.top,
        columnIndex: (area) => area.left,
        rowCount: (area) => area.bottom - area.top + 1,
        columnCount: (area) => area.right - area.left + 1,
        formulas: rows((cell) => cell.formula || cell.value, "formulas"),
        values: rows((cell) => cell.value, "values"),
        valueTypes: rows((cell) => cell.type, "valueTypes"),
        text: rows((cell) => String(cell.value), "text"),
        numberFormat: rows((cell) => cell.format, "numberFormat"),
        valuesAsJson: rows((cell) => cell.json ?? { type: cell.type, basicType: cell.type, basicValue: cell.value }, "valuesAsJson"),
        hasSpill: (area) => {
          const spills = [...placesIn(area)].map((at) => spillsAt(sheet, at));
          return spills.every(Boolean) ? true : spills.some(Boolean) ? null : false;
        },
      },
      members,
    );
    return object;
  }

  function spillsAt(sheet, at) {
    if (sheet.cells.get(at)?.spill) return true;
    return sheet.cells.get(at)?.filledBy !== undefined;
  }

  function collection(context, items, members = {}) {
    let made;
    const object = proxy(context, () => items, {}, {
      ...members,
      get items() {
        return (made ??= items());
      },
    });
    return object;
  }

  function worksheet(context, sheet) {
    return proxy(
      context,
      () => sheet,
      { id: () => sheet.id, name: () => sheet.id },
      {
        protection: proxy(context, () => sheet, { protected: () => sheet.locked }),
        names: namesOf(context, sheet.id),
        getUsedRangeOrNullObject: (valuesOnly = false) => range(context, sheet, () => usedWithin(sheet, areaOf("A:XFD"), valuesOnly)),
        getRange: (address = "A1:XFD1048576") => range(context, sheet, () => areaOf(address)),
        getRangeByIndexes: (top, left, height, width) => range(context, sheet, () => ({ top, left, bottom: top + height - 1, right: left + width - 1 })),
        getRanges: (list) => ({
          setDirty() {
            if (book.refuses.has("setDirty")) throw failure("ApiNotFound");
            if (list.length > 8192) throw failure("InvalidArgument");
            context.then(() => sheet.dirty.push(...list.split(",").map(areaOf)), list.length + 250);
          },
        }),
        delete: () => context.then(() => book.removeSheet(sheet.id), 100),
        activate: () => context.then(() => (book.active = sheets.indexOf(sheet)), 100),
      },
    );
  }

  /** The names that belong to a sheet, or to the workbook. */
  function namesOf(context, owner) {
    const item = (each) =>
      proxy(
        context,
        () => each ?? null,
        { name: () => each.name, formula: () => each.formula, type: () => (each.area ? "Range" : "String") },
        {
          getRange: () => range(context, sheetOf(each.sheet), () => areaOf(each.area)),
          getRangeOrNullObject: () => range(context, sheetOf(each.area ? each.sheet : sheets[0].id), () => (each.area ? areaOf(each.area) : null)),
          delete: () => context.then(() => book.undefine(each.name), 100),
        },
      );
    const named = (name) => {
      const place = book.names[name];
      return item(place ? { name, sheet: place.sheet, area: place.address, formula: "" } : defined.find((each) => each.owner === owner && each.name === name));
    };
    return collection(context, () => defined.filter((each) => each.owner === owner).map(item), {
      getItem: named,
      getItemOrNullObject: named,
      add: (name, formula) => context.then(() => book.define(owner, name, formula), 300),
    });
  }

  function workbook(context) {
    // A workbook has one sheet at least, until a test adds its own.
    const active = () => (sheets.length === 0 ? Object.assign(sheetOf("Sheet1"), { isDefault: true }) : sheets[book.active]);
    const selected = () => range(context, active(), () => areaOf(book.selection[0]));
    const items = () => (active(), sheets.map((sheet) => worksheet(context, sheet)));
    return {
      worksheets: collection(context, items, {
        getActiveWorksheet: () => worksheet(context, active()),
        getItem: (id) => worksheet(context, sheetOf(id)),
        getItemOrNullObject: (id) => (sheets.some((each) => each.id === id) ? worksheet(context, sheetOf(id)) : proxy(context, () => null, { name: () => "" })),
        add: (name) => worksheet(context, sheetOf(name)),
        onSelectionChanged: { add: (listener) => context.then(() => listeners.selection.push(listener), 100) },
        onActivated: { add: (listener) => context.then(() => listeners.activated.push(listener), 100) },
      }),
      names: namesOf(context, "workbook"),
      getActiveCell: () => range(context, active(), () => areaOf(book.selection[0].split(":")[0])),
      getSelectedRange: selected,
      getSelectedRanges: () => ({ areas: collection(context, () => book.selection.map((address) => range(context, active(), () => areaOf(address)))) }),
    };
  }

  globalThis.book = book;
  globalThis.addSheet = book.addSheet;
  globalThis.listeners = listeners;
  globalThis.actions = {};
  globalThis.Excel = {
    async run(work) {
      const context = new Context();
      const result = await work(context);
      await context.sync();
      return result;
    },
  };
  globalThis.CustomFunctions ??= {
    ErrorCode: { invalidValue: "#VALUE!", notAvailable: "#N/A" },
    Error: class extends Error {
      constructor(code, message) {
        super(message);
        this.code = code;
      }
    },
    associate: (id, body) => void (functions[id] = body),
  };
  // A page that had functions before has them still.
  if (globalThis.functions) for (const [id, body] of Object.entries(globalThis.functions)) functions[id] = body;
  globalThis.Office = {
    HostType: { Excel: "Excel" },
    onReady: (then) => Promise.resolve({ host: "Excel" }).then((info) => (then?.(info), info)),
    actions: { associate: (name, action) => void (globalThis.actions[name] = action) },
    context: {
      diagnostics: { host: "Excel", platform: "OfficeOnline", version: "16.0" },
      requirements: { isSetSupported: (name, version) => !(globalThis.lacks ?? []).includes(`${name} ${version}`) },
      officeTheme: { bodyBackgroundColor: globalThis.themeColour ?? "#ffffff" },
    },
  };
})();
