/// <reference path="../types.d.ts" />
// What typed or pasted text becomes, as in Excel: the component takes some of it for another number, or for text.

/** @typedef {{ content: string, format?: string | null }} Read what a cell holds, with which number format; null for the one it has */

const MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
const MONTH = MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|");
const TIME = String.raw`(?: +(\d{1,2}(?:\:\d{2}){0,2}(?: +[ap]m?)?))?`;

const NUMBER = /^(\()? *([-+])? *(\$)? *([-+])? *(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)? *(%)? *(\))?$/i;
const FRACTION = /^([-+])? *(\d+) +(\d+)\/(\d{1,3})$/;
/** The component takes spaces between numbers for a date's. */
const SPACED = /^\d+ +\d+(?: +\d+)?(?: +\d+:.*)?$/;
/** Excel's days before March 1900 have other numbers than the component's. */
const YEAR = /^(?:(\d{4})[-/]\d{1,2}(?:[-/]\d{1,2})?|\d{1,2}[-/](?:\d{1,2}[-/])?(\d{4}))(?: .*)?$/;
const FIRST_YEAR = 1901;
const SHORT_YEAR = /^(\d{1,2})[-/](\d{1,2})[-/](\d{2})$/;
const MONTH_FIRST = new RegExp(`^(${MONTH})[ /-]+(\\d{1,4})(?:(?: *, *| +)(\\d{2,4}))?${TIME}$`, "i");
const DAY_FIRST = new RegExp(`^(\\d{1,2})[ /-]+(${MONTH})(?:[ /-]+(\\d{2,4}))?${TIME}$`, "i");
const CLOCK = /^(\d{1,2})(?::(\d{2})(?::(\d{2}(?:\.\d+)?))?)? +([ap])m?$/i;
const PARTS_OF_SECONDS = /^(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}\.\d+)$/;
const ERROR = /^#(?:N\/A|NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!)$/i;

/** What the component reads as Excel does: most of what is pasted. */
const PLAIN = /^(?:[^\d#]*|-?\d{1,15}|-?\d{1,7}\.\d{1,8})$/;

/** So many digits of a number count. */
const DIGITS = 15;
const DAY_S = 86_400;

/**
 * What a text becomes; null where the component is right, or where only a formula could be meant.
 * @param {string} typed
 * @param {Date} today whose year dates without one have
 * @returns {Read | null}
 */
export function asExcelReads(typed, today) {
  if (PLAIN.test(typed)) return null;
  const text = typed.trim();
  if (ERROR.test(text)) return { content: `=${text.toUpperCase()}` };
  if (SPACED.test(text) || isTooEarly(text)) return { content: `'${typed}`, format: null };
  return numberIn(text) ?? fractionIn(text) ?? dateIn(text, today.getFullYear()) ?? timeIn(text);
}

/** @param {string} text */
function isTooEarly(text) {
  const [, first, last] = YEAR.exec(text) ?? [];
  return Number(first ?? last ?? FIRST_YEAR) < FIRST_YEAR;
}

/** @param {string} text @returns {Read | null} */
function numberIn(text) {
  const [found, open, sign, currency, inner, digits = "", exponent = "", percent, close] = NUMBER.exec(text) ?? [];
  if (found === undefined || Boolean(open) !== Boolean(close) || [open, sign, inner].filter(Boolean).length > 1 || (currency && percent)) return null;
  const size = Number(asExact(digits.replaceAll(",", "")) + exponent);
  if (!Number.isFinite(size)) return null;
  const value = (open || sign === "-" || inner === "-" ? -1 : 1) * size;
  const decimals = digits.includes(".") ? ".00" : "";
  const content = String(percent ? Number((value / 100).toPrecision(DIGITS)) : value);
  if (percent) return { content, format: `0${decimals}%` };
  if (currency) return { content, format: `[$$]#,##0${decimals}` };
  return digits.includes(",") ? { content, format: `#,##0${decimals}` } : { content };
}

/** The digits that count, and nothing for the others. @param {string} digits */
function asExact(digits) {
  let count = 0;
  return digits.replace(/\d/g, (digit) => {
    if (count > 0 || digit !== "0") count += 1;
    return count > DIGITS ? "0" : digit;
  });
}

/** @param {string} text @returns {Read | null} */
function fractionIn(text) {
  const [found, sign, whole, over, under] = FRACTION.exec(text) ?? [];
  if (found === undefined) return null;
  if (Number(under) === 0) return { content: `'${text}`, format: null };
  return { content: String((sign === "-" ? -1 : 1) * (Number(whole) + Number(over) / Number(under))), format: "" };
}

/** @param {string} text @param {number} thisYear @returns {Read | null} */
function dateIn(text, thisYear) {
  const [short, month, day, year] = SHORT_YEAR.exec(text) ?? [];
  if (short !== undefined && Number(year) >= 30) return dayOf(fullYear(year), Number(month), Number(day), "m/d/yyyy");
  const [monthFirst, name, number = "", after, time] = MONTH_FIRST.exec(text) ?? [];
  if (monthFirst !== undefined) {
    if (after !== undefined) return dayOf(fullYear(after), monthOf(name), Number(number), "d-mmm-yy", time);
    const isDay = number.length < 3 && Number(number) <= daysIn(thisYear, monthOf(name));
    return isDay ? dayOf(thisYear, monthOf(name), Number(number), "d-mmm", time) : dayOf(fullYear(number), monthOf(name), 1, "mmm-yy", time);
  }
  const [dayFirst, numeral, named, ofYear, at] = DAY_FIRST.exec(text) ?? [];
  if (dayFirst === undefined) return null;
  return dayOf(ofYear === undefined ? thisYear : fullYear(ofYear), monthOf(named), Number(numeral), ofYear === undefined ? "d-mmm" : "d-mmm-yy", at);
}

/** @param {string | undefined} name */
function monthOf(name = "") {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1;
}

/** The year that two digits stand for. @param {string | undefined} digits */
function fullYear(digits = "") {
  const year = Number(digits);
  if (digits.length !== 2) return year;
  return year + (year < 30 ? 2000 : 1900);
}

/** @param {number} year @param {number} month */
function daysIn(year, month) {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** @param {number} year @param {number} month @param {number} day @param {string} format @param {string} [time] @returns {Read | null} */
function dayOf(year, month, day, format, time) {
  if (year < FIRST_YEAR || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  const serial = Date.UTC(year, month - 1, day) / (DAY_S * 1000) + 25_569;
  if (time === undefined) return { content: String(serial), format };
  const [hours, minutes = "0", seconds = "0"] = time.replace(/ .*/, "").split(":");
  const at = timeIn(time)?.content ?? (time.includes(":") ? partOfDay(hours, minutes, seconds) : null);
  return at === null ? null : { content: String(serial + Number(at)), format: `${format} hh:mm` };
}

/** @param {string} text @returns {Read | null} */
function timeIn(text) {
  const [clock, hours, minutes = "0", seconds = "0", half] = CLOCK.exec(text) ?? [];
  if (clock !== undefined) {
    if (Number(hours) > 12 || Number(minutes) > 59 || Number(seconds) >= 60) return null;
    const hour = (Number(hours) % 12) + (half?.toLowerCase() === "p" ? 12 : 0);
    return { content: partOfDay(hour, minutes, seconds), format: seconds === "0" ? "hh:mm a" : "hh:mm:ss a" };
  }
  const [parts, hour = "0", minute, second] = PARTS_OF_SECONDS.exec(text) ?? [];
  if (parts === undefined || Number(minute) > 59 || Number(second) >= 60) return null;
  return { content: partOfDay(hour, minute, second), format: "hh:mm:ss" };
}

/** @param {string | number | undefined} hours @param {string | undefined} minutes @param {string | undefined} seconds */
function partOfDay(hours, minutes, seconds) {
  return String((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / DAY_S);
}

/** How a formula begins that is typed without its sign; Excel drops the one of Lotus. */
const SIGNLESS = /^(?:-|@(?=\$?[A-Z]{1,3}\$?\d+(?![:\w(])|[A-Z][\w.]*\())/i;
/** A word before a bracket in a sentence. */
const PROSE = /\w \(/;

/** Let the component hold what Excel would, of all that is typed or pasted. */
export function readAsExcel() {
  const { corePluginRegistry } = o_spreadsheet.registries;
  corePluginRegistry.replace(
    "cell",
    class extends corePluginRegistry.get("cell") {
      /** @param {string} sheetId @param {number} col @param {number} row @param {any} update */
      updateCell(sheetId, col, row, update) {
        const { getters } = /** @type {any} */ (this);
        const format = getters.getCell({ sheetId, col, row })?.format;
        const { content } = update;
        const isText = typeof content !== "string" || /^[='+]?$|^[=']/.test(content) || format === "@" || update.format === "@";
        const read = isText ? null : (asExcelReads(content, new Date()) ?? formulaIn(content, sheetId, getters));
        if (read === null) return super.updateCell(sheetId, col, row, update);
        const kept = read.format === undefined ? update.format : format || (read.format ?? "");
        return super.updateCell(sheetId, col, row, { ...update, content: read.content, ...(kept === undefined ? {} : { format: kept }) });
      }
    },
  );
}

/** @param {string} text @param {string} sheetId @param {any} getters @returns {Read | null} */
function formulaIn(text, sheetId, getters) {
  if (!SIGNLESS.test(text) || PROSE.test(text)) return null;
  const content = `=${text.replace(/^@/, "")}`;
  const { isBadExpression, tokens } = o_spreadsheet.CompiledFormula.Compile(content, sheetId, getters);
  const isWord = (/** @type {any} */ { type, value }, /** @type {number} */ at) => type === "SYMBOL" && tokens[at + 1]?.value !== "(" && !/^(?:true|false)$/i.test(value);
  return isBadExpression || tokens.some(isWord) ? null : { content };
}

/** Whether a text would become nothing else if it were typed. @param {string} text @param {any} locale the component's */
export function staysText(text, locale) {
  const { isNumber, isDateTime } = o_spreadsheet.helpers;
  const isRead = /^[='[+@-]|^(?:true|false)$/i.test(text) || asExcelReads(text, new Date()) !== null;
  return !isRead && !isNumber(text, locale) && !isDateTime(text, locale);
}
