// The sheets of the stand-in for Excel: what cells hold, what a sheet accepts, and what it calculates. excel.js shows them
// as Office does. `book.put(sheet, address, cell)` fills a cell, `book.cell(sheet, address)` shows it.
// A cell is { formula, value, type, format, json, spill, array, stuck, due }: `spill` is the address that it fills,
// `array` that of the old array formula it is a part of, `stuck` one that shows #NAME? until its formula is entered anew.
(() => {
  const WIDTH = 16_384;
  const BLANK = { formula: "", value: "", type: "Empty", format: "General" };
  const functions = {};
  const listeners = { selection: [], activated: [] };
  const sheets = [];
  const defined = [];
  const exchanges = { count: 0, largestRequest: 0, largestResponse: 0 };

  const book = {
    sheets,
    names: {},
    active: 0,
    selection: ["A1"],
    selected: [],
    calculations: [],
    recalculated: [],
    entered: [],
    refuses: new Set(),
    exchanges,
    busy: 0,
    call: (id, ...values) => functions[id](...values, {}),
    put(sheet, address, cell) {
      const { top, left } = areaOf(address);
      const { cells } = sheetOf(sheet);
      const full = { ...BLANK, ...cell };
      if (!("type" in cell)) full.type = typeOf(full.value);
      if (cell.value === undefined && cell.formula) full.value = "";
      cells.set(top * WIDTH + left, full);
    },
    cell(sheet, address) {
      const { top, left } = areaOf(address);
      return sheetOf(sheet).cells.get(top * WIDTH + left);
    },
    /** Enter a formula or a constant as a user does: it is calculated. */
    enter(sheet, address, content) {
      const { top, left } = areaOf(address);
      return enter(sheetOf(sheet), top * WIDTH + left, content);
    },
    remove(sheet, address) {
      const own = sheetOf(sheet);
      const { top, left } = areaOf(address);
      clearSpill(own, top * WIDTH + left);
      own.cells.delete(top * WIDTH + left);
      return recalculate([...dependents(own, [top * WIDTH + left])]);
    },
    addSheet(id, cells, { stuck = [], arrays = [], locked = false } = {}) {
      if (sheets[0]?.isDefault && sheets[0].cells.size === 0) sheets.splice(0, 1);
      const sheet = sheetOf(id);
      sheet.locked = locked;
      for (const [place, formula] of Object.entries(cells)) {
        const [row, column] = place.split(",").map(Number);
        const isStuck = stuck.includes(place) || /_xldudf_/.test(formula);
        const value = isStuck ? "#NAME?" : formula.startsWith("=") ? 1 : formula;
        const type = isStuck ? "Error" : typeOf(value);
        sheet.cells.set(row * WIDTH + column, { ...BLANK, formula: formula.startsWith("=") ? formula : "", value, type, stuck: isStuck, array: arrays.includes(place) });
      }
    },
    removeSheet(id) {
      sheets.splice(sheets.findIndex((sheet) => sheet.id === id), 1);
      book.active = 0;
    },
    lock: (id, locked = true) => void (sheetOf(id).locked = locked),
    /** Cells without content that are formatted: the sheet's used range reaches so far. */
    format: (id, address) => void (sheetOf(id).formatted = areaOf(address)),
    /** A name for an area or, with one that begins with "=", for a formula. */
    define(owner, name, sheet, area) {
      const formula = sheet.startsWith("=") ? sheet : `='${sheet}'!${area.replace(/([A-Z]+)(\d+)/g, "$$$1$$$2")}`;
      defined.push({ owner, name, sheet, area, formula });
    },
    undefine: (name) => void defined.splice(defined.findIndex((each) => each.name === name), 1),
    /** Resolves when nothing is calculated any more. */
    async settled() {
      while (book.busy > 0) await new Promise((go) => setTimeout(go, 1));
    },
  };

  function sheetOf(id) {
    let sheet = sheets.find((each) => each.id === id);
    if (sheet === undefined) {
      sheet = { id, cells: new Map(), locked: false, formatted: null, dirty: [] };
      sheets.push(sheet);
    }
    return sheet;
  }

  const columnOf = (letters) => [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  const nameOf = (column) => (column < 26 ? "" : nameOf(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

  function areaOf(address) {
    const [first, last = first] = address.replaceAll("$", "").split(":");
    const corner = (text) => {
      const [, letters, digits] = /^([A-Z]*)(\d*)$/.exec(text);
      return [digits === "" ? null : Number(digits) - 1, letters === "" ? null : columnOf(letters)];
    };
    const [[top, left], [bottom, right]] = [corner(first), corner(last)];
    return { top: top ?? 0, left: left ?? 0, bottom: bottom ?? 1_048_575, right: right ?? WIDTH - 1 };
  }

  function addressOf({ top, left, bottom, right }) {
    const first = `${nameOf(left)}${top + 1}`;
    return top === bottom && left === right ? first : `${first}:${nameOf(right)}${bottom + 1}`;
  }

  function typeOf(value) {
    if (value === "" || value === undefined) return "Empty";
    if (typeof value === "number") return "Double";
    if (typeof value === "boolean") return "Boolean";
    return /^#[A-Z/0!?]+/.test(value) ? "Error" : "String";
  }

  const holds = (area, at) => {
    const [row, column] = [Math.floor(at / WIDTH), at % WIDTH];
    return row >= area.top && row <= area.bottom && column >= area.left && column <= area.right;
  };

  function* placesIn({ top, bottom, left, right }) {
    for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) yield row * WIDTH + column;
  }

  const sizeOf = ({ top, bottom, left, right }) => (bottom - top + 1) * (right - left + 1);

  function intersection(a, b) {
    const area = { top: Math.max(a.top, b.top), left: Math.max(a.left, b.left), bottom: Math.min(a.bottom, b.bottom), right: Math.min(a.right, b.right) };
    return area.top <= area.bottom && area.left <= area.right ? area : null;
  }

  function bounds(places) {
    let area = null;
    for (const at of places) {
      const [row, column] = [Math.floor(at / WIDTH), at % WIDTH];
      area ??= { top: row, bottom: row, left: column, right: column };
      area.top = Math.min(area.top, row);
      area.bottom = Math.max(area.bottom, row);
      area.left = Math.min(area.left, column);
      area.right = Math.max(area.right, column);
    }
    return area;
  }

  /** The used part within an area; with `valuesOnly` cells that show nothing do not count, whatever they hold. */
  function usedWithin(sheet, area, valuesOnly) {
    const places = [...sheet.cells].filter(([at, cell]) => holds(area, at) && (!valuesOnly || cell.value !== "")).map(([at]) => at);
    let used = bounds(places);
    const formatted = valuesOnly || sheet.formatted === null ? null : intersection(sheet.formatted, area);
    if (formatted !== null) {
      used = used === null ? formatted : { top: Math.min(used.top, formatted.top), left: Math.min(used.left, formatted.left), bottom: Math.max(used.bottom, formatted.bottom), right: Math.max(used.right, formatted.right) };
    }
    return used;
  }

  /** Runs of formulas in columns, as Excel lists special cells. */
  function formulaAreas(sheet, area) {
    const places = [...sheet.cells].filter(([at, cell]) => cell.formula && holds(area, at)).map(([at]) => at);
    places.sort((a, b) => (a % WIDTH) - (b % WIDTH) || a - b);
    const areas = [];
    for (const at of places) {
      const [row, column] = [Math.floor(at / WIDTH), at % WIDTH];
      const last = areas.at(-1);
      if (last !== undefined && last.left === column && last.bottom === row - 1) last.bottom = row;
      else areas.push({ top: row, bottom: row, left: column, right: column });
    }
    return areas;
  }

  const rowsOf = (sheet, area, pick) =>
    Array.from({ length: area.bottom - area.top + 1 }, (_, y) =>
      Array.from({ length: area.right - area.left + 1 }, (_, x) => pick(sheet.cells.get((area.top + y) * WIDTH + area.left + x) ?? BLANK)),
    );

  // What a sheet accepts, and what it calculates.

  function write(sheet, area, what, given) {
    if (sheet.locked || (what === "values" && area.bottom >= (book.refusesBelow ?? Infinity))) throw failure("AccessDenied");
    const places = [...placesIn(area)];
    for (const at of what === "numberFormat" ? [] : places) {
      const { array } = sheet.cells.get(at) ?? {};
      const covers = typeof array === "string" && [...placesIn(areaOf(array))].every((each) => holds(area, each));
      if (array && !covers) throw failure("InvalidOperation: a part of an array");
    }
    places.forEach((at, index) => {
      const width = area.right - area.left + 1;
      const value = given[Math.floor(index / width)][index % width];
      const before = sheet.cells.get(at) ?? BLANK;
      if (what === "numberFormat") sheet.cells.set(at, { ...before, format: value });
      else if (what === "formulas" && String(value).startsWith("=")) {
        book.entered.push(value);
        void enter(sheet, at, value);
      } else {
        clearSpill(sheet, at);
        const { due: _due, array: _array, json: _json, ...rest } = before;
        sheet.cells.set(at, { ...rest, formula: "", value, type: typeOf(value), stuck: false });
      }
    });
  }

  let entering = null;
  const entered = [];
  function enter(sheet, at, content) {
    clearSpill(sheet, at);
    const before = sheet.cells.get(at) ?? BLANK;
    const isFormula = typeof content === "string" && content.startsWith("=");
    const value = isFormula ? (before.formula ? before.value : 1) : content;
    sheet.cells.set(at, { ...BLANK, format: before.format, formula: isFormula ? content : "", value, type: typeOf(value) });
    // What is entered in one go is calculated together.
    entering ??= Promise.resolve().then(() => {
      const all = entered.splice(0);
      entering = null;
      const own = [...new Set(all.map(([each]) => each))];
      return recalculate([...all, ...own.flatMap((each) => [...dependents(each, all.filter(([other]) => other === each).map(([, place]) => place))])]);
    });
    entered.push([sheet, at]);
    return entering;
  }

  function clearSpill(sheet, at) {
    const cell = sheet.cells.get(at);
    if (!cell?.spill) return;
    for (const each of placesIn(areaOf(cell.spill))) if (each !== at && sheet.cells.get(each)?.filledBy === at) sheet.cells.delete(each);
    delete cell.spill;
  }

  /** What a formula refers to, by the cells of its sheets; texts do not count. */
  const REFERENCE = /(?:'((?:[^']|'')+)'!|([A-Za-z_]\w*)!)?\$?([A-Z]{1,3})\$?(\d+)(?::\$?([A-Z]{1,3})\$?(\d+))?(#?)(?![\w(])/g;
  const known = new Map();
  function referencesOf(sheet, formula) {
    const named = defined.filter(({ name }) => new RegExp(`(?<![\\w.])${name}(?![\\w.(])`).test(formula)).map((each) => each.formula);
    const text = [formula, ...named].join(" ").replace(/"(?:[^"]|"")*"/g, '""');
    const key = `${sheet.id}|${text}`;
    let found = known.get(key);
    if (found === undefined) {
      found = [...text.matchAll(REFERENCE)].map(([, quoted, plain, left, top, right = left, bottom = top, spill]) => ({
        sheet: (quoted ?? plain ?? sheet.id).replaceAll("''", "'"),
        area: areaOf(`${left}${top}:${right}${bottom}`),
        spill: spill === "#",
      }));
      known.set(key, found);
    }
    return found;
  }

  /** The formulas that depend on cells of a sheet, all the way. */
  function* dependents(sheet, places) {
    const seen = new Set();
    let open = places.map((at) => [sheet, at]);
    while (open.length > 0) {
      const next = [];
      for (const other of sheets) {
        for (const [at, cell] of other.cells) {
          const id = `${other.id}!${at}`;
          if (!cell.formula || seen.has(id) || cell.stuck) continue;
          const references = referencesOf(other, cell.formula);
          const touches = references.length > 0 && references.some((ref) => open.some(([own, place]) => ref.sheet === own.id && (holds(ref.area, place) || ref.spill)));
          if (!touches) continue;
          seen.add(id);
          next.push([other, at]);
          yield [other, at];
        }
      }
      open = next.flatMap(([own, at]) => [[own, at], ...[...placesIn(own.cells.get(at)?.spill ? areaOf(own.cells.get(at).spill) : areaOf(addressOf({ top: 0, left: 0, bottom: 0, right: 0 })))].filter((each) => own.cells.get(each)?.filledBy === at).map((each) => [own, each])]);
    }
  }

  function calculate(kind) {
    book.calculations.push(kind);
    const dirty = [];
    for (const sheet of sheets) {
      const areas = sheet.dirty.splice(0);
      const places = kind === "Full" ? [...sheet.cells.keys()] : areas.flatMap((area) => (sizeOf(area) < 5_000 ? [...placesIn(area)] : [...sheet.cells.keys()].filter((at) => holds(area, at))));
      for (const at of places) {
        const cell = sheet.cells.get(at);
        if (cell?.formula && !cell.stuck) dirty.push([sheet, at]);
      }
      // `due` is what a cell shows once it is calculated, in an Excel that does so only on request.
      for (const cell of sheet.cells.values()) if ("due" in cell) cell.value = cell.due;
    }
    book.recalculated = dirty.map(([sheet, at]) => sheet.cells.get(at).formula);
    void recalculate(dirty);
  }

  /** Calculate formulas a moment later, each after those that it depends on; what depends on a change follows. */
  async function recalculate(dirty) {
    book.busy += 1;
    await new Promise((go) => setTimeout(go, book.delayMs ?? 5));
    const circles = new Set();
    const open = new Map(dirty.map(([sheet, at]) => [`${sheet.id}!${at}`, [sheet, at]]));
    while (open.size > 0) {
      const isOpen = (sheet, at) => open.has(`${sheet}!${at}`) || open.has(`${sheet}!${sheetOf(sheet).cells.get(at)?.filledBy}`);
      const waits = ([sheet, at]) =>
        referencesOf(sheet, sheet.cells.get(at)?.formula ?? "").some((ref) => {
          if (ref.spill) return open.has(`${ref.sheet}!${ref.area.top * WIDTH + ref.area.left}`);
          return sizeOf(ref.area) > 10_000 ? false : [...placesIn(ref.area)].some((each) => isOpen(ref.sheet, each));
        });
      let ready = open.size > 2_000 && !book.chained ? [...open.values()] : [...open.values()].filter((each) => !waits(each));
      if (ready.length === 0) {
        // Cells that depend on themselves: each is calculated once, and does not grow for ever.
        ready = [...open.values()];
        for (const id of open.keys()) circles.add(id);
      }
      for (const [sheet, at] of ready) open.delete(`${sheet.id}!${at}`);
      const changed = await Promise.all(ready.map(([sheet, at]) => calculated(sheet, at)));
      const by = new Map();
      ready.forEach(([sheet, at], index) => changed[index] && by.set(sheet, [...(by.get(sheet) ?? []), at]));
      if (book.chained) for (const [sheet, places] of by) for (const [other, at] of dependents(sheet, places)) if (!circles.has(`${other.id}!${at}`)) open.set(`${other.id}!${at}`, [other, at]);
    }
    book.busy -= 1;
  }

  /** Calculate one cell; whether what it shows has changed. */
  async function calculated(sheet, at) {
    const cell = sheet.cells.get(at);
    if (!cell?.formula || cell.stuck || !sheets.includes(sheet)) return false;
    let result;
    try {
      result = await valueOf(cell.formula, sheet);
    } catch (error) {
      result = error.code ?? "#VALUE!";
    }
    if (sheet.cells.get(at) !== cell && sheet.cells.get(at)?.formula !== cell.formula) return false; // edited meanwhile
    return show(sheet, at, result);
  }

  function show(sheet, at, result) {
    const rows = !Array.isArray(result) ? [[result]] : book.spills === false ? [[result[0][0]]] : result; // an old Excel
    const before = sheet.cells.get(at);
    const [row, column] = [Math.floor(at / WIDTH), at % WIDTH];
    const area = { top: row, left: column, bottom: row + rows.length - 1, right: column + rows[0].length - 1 };
    const blocked = sizeOf(area) > 1 && [...placesIn(area)].some((each) => each !== at && sheet.cells.has(each) && sheet.cells.get(each).filledBy !== at && sheet.cells.get(each).value !== "");
    clearSpill(sheet, at);
    const set = (place, shown, more) => {
      const value = shown?.basicValue ?? (shown?.type === "Error" ? "#N/A" : shown);
      sheet.cells.set(place, { ...BLANK, format: sheet.cells.get(place)?.format ?? "General", value, type: typeOf(value), ...(typeof shown === "object" && { json: shown }), ...more });
    };
    if (blocked) set(at, "#SPILL!", { formula: before.formula });
    else {
      for (const each of placesIn(area)) {
        const shown = rows[Math.floor(each / WIDTH) - row][(each % WIDTH) - column];
        if (each === at) set(at, shown, { formula: before.formula, array: before.array, ...(sizeOf(area) > 1 && { spill: addressOf(area) }) });
        else set(each, shown, { filledBy: at });
      }
    }
    return sheet.cells.get(at).value !== before.value || sizeOf(area) > 1;
  }

  // A small calculator: texts, numbers, cells, names, our functions, IF, SUM and what joins them.

  const TOKEN = /\s*("(?:[^"]|"")*"|'(?:[^']|'')*'!|[A-Za-z_]\w*!|\d+(?:\.\d+)?|#N\/A|[$A-Za-z_][$\w.]*|<>|<=|>=|[-+*/&=<>(),;:{}#@%])/gy;

  async function valueOf(formula, sheet) {
    const tokens = [...formula.slice(1).matchAll(TOKEN)].map(([, token]) => token);
    let at = 0;
    const takes = (token) => tokens[at] === token && ++at > 0;
    const LEVELS = [["=", "<>", "<", ">"], ["&"], ["+", "-"], ["*", "/"]];
    const scalar = (value) => (Array.isArray(value) ? value[0][0] : value);
    const wrong = (code) => Object.assign(new Error(code), { code });
    const plain = (value) => {
      const one = scalar(value)?.basicValue ?? scalar(value);
      if (typeOf(one) === "Error") throw wrong(one);
      return one;
    };
    const joined = (operator, left, right) => {
      const [a, b] = [plain(left), plain(right)];
      if (operator === "&") return `${a}${b}`;
      if ("=<><>".includes(operator)) return operator === "=" ? a === b : operator === "<>" ? a !== b : operator === "<" ? a < b : a > b;
      const [x, y] = [Number(a), Number(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) throw wrong("#VALUE!");
      return operator === "+" ? x + y : operator === "-" ? x - y : operator === "*" ? x * y : x / y;
    };
    // Each part gives a function that computes it: IF computes one branch only.
    const expression = (level = 0) => {
      if (level === LEVELS.length) return primary();
      let left = expression(level + 1);
      while (LEVELS[level].includes(tokens[at])) {
        const [operator, first, second] = [tokens[at++], left, expression(level + 1)];
        left = async () => joined(operator, await first(), await second());
      }
      return left;
    };
    const area = (own, first) => {
      let last = first;
      if (takes(":")) last = tokens[at++];
      const place = areaOf(`${first}:${last}`.replaceAll("$", ""));
      const isSpill = takes("#");
      return () => {
        const spilled = isSpill ? own.cells.get(place.top * WIDTH + place.left)?.spill : undefined;
        const used = spilled ? areaOf(spilled) : place;
        const rows = rowsOf(own, used, ({ value }) => value);
        return sizeOf(used) === 1 ? rows[0][0] : rows;
      };
    };
    const primary = () => {
      const token = tokens[at++];
      if (token === "(") {
        const inside = expression();
        takes(")");
        return inside;
      }
      if (token === "@") return primary();
      if (token === "-") {
        const of = primary();
        return async () => -plain(await of());
      }
      if (token.startsWith('"')) return () => token.slice(1, -1).replaceAll('""', '"');
      if (/^\d/.test(token)) return () => Number(token);
      if (token.startsWith("#")) return () => token;
      if (token === "{") {
        const rows = [[]];
        for (;;) {
          rows.at(-1).push(expression());
          if (takes(";")) rows.push([]);
          else if (!takes(",")) break;
        }
        takes("}");
        return async () => Promise.all(rows.map((row) => Promise.all(row.map((item) => item()))));
      }
      if (token.endsWith("!")) return area(sheetOf(token.slice(0, -1).replace(/^'(.*)'$/, "$1").replaceAll("''", "'")), tokens[at++]);
      if (takes("(")) return call(token.toUpperCase());
      if (/^(TRUE|FALSE)$/i.test(token)) return () => token.toUpperCase() === "TRUE";
      const alike = defined.filter((each) => each.name.toUpperCase() === token.toUpperCase());
      const name = alike.find((each) => each.owner === sheet.id) ?? alike.find((each) => each.owner === "workbook");
      if (name) return () => valueOf(name.formula, sheet);
      if (/^\$?[A-Z]{1,3}\$?\d+$/i.test(token)) return area(sheet, token);
      return () => {
        throw wrong("#NAME?");
      };
    };
    const call = (name) => {
      const args = [];
      if (!takes(")")) {
        do args.push([",", ")"].includes(tokens[at]) ? () => null : expression());
        while (takes(","));
        takes(")");
      }
      const own = /^DS\.(\w+)$/.exec(name);
      if (own) {
        return async () => {
          const values = [];
          for (const each of args) values.push(await each());
          return functions[own[1]](...values, { functionName: own[1] });
        };
      }
      if (name === "IF") return async () => ((plain(await args[0]()) ? args[1] : (args[2] ?? (() => false)))());
      if (name === "IFERROR") return async () => args[0]().then((value) => (plain(value), value)).catch(() => args[1]());
      if (name === "SUM") return async () => (await Promise.all(args.map((each) => each()))).flat(2).reduce((sum, each) => sum + (Number(each?.basicValue ?? each) || 0), 0);
      if (name === "LEN") return async () => String(plain(await args[0]())).length;
      return () => {
        throw wrong("#NAME?");
      };
    };
    return expression()();
  }

  globalThis.standIn = { WIDTH, BLANK, book, sheets, defined, listeners, exchanges, functions, areaOf, addressOf, typeOf, holds, placesIn, sizeOf, intersection, usedWithin, formulaAreas, write, calculate, clearSpill, sheetOf, rowsOf };
})();
