// As much of Office.js as the task pane and the refresh use, over sheets that a test fills: `book.put(sheet, address, cell)`.
// A cell is { formula, value, type, format, json, spill }; spill is the address of the range it fills.
(() => {
  const functions = {};
  const sheets = new Map([
    ["Sheet1", new Map()],
    ["Sheet2", new Map()],
  ]);
  const BLANK = { formula: "", value: "", type: "Empty", format: "General" };
  const at = (address) => {
    const [, letters, row] = /^([A-Z]+)(\d+)$/.exec(address);
    return [Number(row) - 1, [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1];
  };
  const name = (row, column) => String.fromCharCode(65 + column) + (row + 1);
  const dirty = [];

  class FakeRange {
    constructor(sheet, top, left, height = 1, width = 1) {
      Object.assign(this, {
        sheet,
        rowIndex: top,
        columnIndex: left,
        rowCount: height,
        columnCount: width,
        isNullObject: false,
      });
      this.worksheet = worksheet(sheet);
    }
    static of(sheet, address) {
      const [first, last = first] = address.split(":");
      const [[top, left], [bottom, right]] = [at(first), at(last)];
      return new FakeRange(sheet, top, left, bottom - top + 1, right - left + 1);
    }
    cells() {
      return Array.from({ length: this.rowCount }, (_, y) =>
        Array.from({ length: this.columnCount }, (_, x) => name(this.rowIndex + y, this.columnIndex + x)),
      );
    }
    read(pick) {
      return this.cells().map((row) =>
        row.map((address) => pick({ ...BLANK, ...sheets.get(this.sheet).get(address) })),
      );
    }
    write(change) {
      this.cells().forEach((row, y) =>
        row.forEach((address, x) => {
          const cells = sheets.get(this.sheet);
          cells.set(address, { ...BLANK, ...cells.get(address), ...change(y, x) });
        }),
      );
    }
    load() {}
    get address() {
      return `${this.sheet}!${this.cells()[0][0]}${this.rowCount * this.columnCount > 1 ? `:${this.cells().at(-1).at(-1)}` : ""}`;
    }
    get formulas() {
      return this.read((cell) => cell.formula || cell.value);
    }
    get values() {
      return this.read((cell) => cell.value);
    }
    get text() {
      return this.read((cell) => String(cell.value));
    }
    get valueTypes() {
      return this.read((cell) => cell.type);
    }
    get numberFormat() {
      return this.read((cell) => cell.format);
    }
    get valuesAsJson() {
      return this.read((cell) => cell.json ?? { type: "Double" });
    }
    set formulas(rows) {
      this.write((y, x) => ({ formula: rows[y][x] }));
    }
    set values(rows) {
      this.write((y, x) => ({ formula: "", value: rows[y][x], json: undefined }));
    }
    set numberFormat(rows) {
      this.write((y, x) => ({ format: rows[y][x] }));
    }
    getCell(y, x) {
      return new FakeRange(this.sheet, this.rowIndex + y, this.columnIndex + x);
    }
    getUsedRangeOrNullObject() {
      return this;
    }
    clear() {
      for (const address of this.cells().flat()) sheets.get(this.sheet).delete(address);
    }
    getSpillingToRangeOrNullObject() {
      const { spill } = sheets.get(this.sheet).get(this.cells()[0][0]) ?? {};
      return spill ? FakeRange.of(this.sheet, spill) : { isNullObject: true, load() {} };
    }
  }

  const defined = [];

  /** The names that belong to a sheet, or to the workbook. */
  const namesOf = (owner) => ({
    load() {},
    get items() {
      return defined
        .filter((each) => each.owner === owner)
        .map(({ name, sheet, area }) => ({ name, getRangeOrNullObject: () => FakeRange.of(sheet, area) }));
    },
    getItemOrNullObject: () => ({ isNullObject: true, load() {} }),
  });

  function worksheet(sheet) {
    return {
      names: namesOf(sheet),
      id: sheet,
      name: sheet,
      load() {},
      protection: { load() {}, protected: false },
      getUsedRangeOrNullObject() {
        const places = [...sheets.get(sheet).keys()].map(at);
        if (places.length === 0) return { isNullObject: true, load() {} };
        const [bottom, right] = [0, 1].map((axis) => Math.max(...places.map((place) => place[axis])));
        return new FakeRange(sheet, 0, 0, bottom + 1, right + 1);
      },
      getRangeByIndexes: (...place) => new FakeRange(sheet, ...place),
      getRanges: (list) => ({
        setDirty: () =>
          dirty.push(
            ...list.split(",").flatMap((each) =>
              FakeRange.of(sheet, each)
                .cells()
                .flat()
                .map((address) => [sheet, address]),
            ),
          ),
      }),
    };
  }

  async function calculate(sheet, address) {
    const [, id, args] = /^=DS\.(\w+)\((.*)\)$/.exec(sheets.get(sheet).get(address).formula);
    const result = await functions[id](...JSON.parse(`[${args}]`), { functionName: id }).catch((error) => error.code);
    const value = Array.isArray(result) ? result[0][0] : result;
    sheets.get(sheet).get(address).value = value?.basicValue ?? value;
  }

  const selection = { sheet: "Sheet1", address: "A1" };
  const selected = () => FakeRange.of(selection.sheet, selection.address);
  const events = { add() {} };
  const context = {
    sync: async () => {},
    application: {
      calculate() {
        dirty.splice(0).forEach(([sheet, address]) => void calculate(sheet, address));
        // `due` is what a cell shows once it is calculated, in an Excel that does so only on request.
        for (const cell of [...sheets.values()].flatMap((cells) => [...cells.values()]))
          if ("due" in cell) cell.value = cell.due;
      },
    },
    workbook: {
      getActiveCell: selected,
      getSelectedRange: selected,
      getSelectedRanges: () => ({ areas: { load() {}, items: [selected()] } }),
      names: namesOf("workbook"),
      worksheets: {
        load() {},
        onSelectionChanged: events,
        onActivated: events,
        get items() {
          return [...sheets.keys()].map(worksheet);
        },
        getActiveWorksheet: () => worksheet(selection.sheet),
      },
    },
  };

  globalThis.book = {
    selection,
    call: (id, ...values) => functions[id](...values, {}),
    put: (sheet, address, cell) => sheets.get(sheet).set(address, { ...BLANK, ...cell }),
    define: (owner, name, sheet, area) => defined.push({ owner, name, sheet, area }),
    cell: (sheet, address) => sheets.get(sheet).get(address),
  };
  globalThis.Excel = { run: (work) => work(context) };
  globalThis.CustomFunctions = {
    ErrorCode: { invalidValue: "#VALUE!", notAvailable: "#N/A" },
    Error: class extends Error {
      constructor(code, message) {
        super(message);
        this.code = code;
      }
    },
    associate: (id, body) => void (functions[id] = body),
  };
  globalThis.Office = {
    HostType: { Excel: "Excel" },
    onReady: (then) => Promise.resolve({ host: "Excel" }).then((info) => (then?.(info), info)),
    actions: { associate() {} },
    context: {
      requirements: { isSetSupported: () => true },
      officeTheme: { bodyBackgroundColor: globalThis.themeColour ?? "#ffffff" },
    },
  };
})();
