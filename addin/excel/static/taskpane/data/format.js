/// <reference path="../types.d.ts" />
// Formats numbers for the user's locale, days as ISO dates, durations in words.

const MS_A_DAY = 86_400_000;
/** Serial 0 is 1899-12-30, as spreadsheets count. */
const EPOCH_MS = Date.UTC(1899, 11, 30);

/** @type {[number, string][]} */
const SPANS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** Formats numbers for one locale. */
export class Formatter {
  /** @param {string | undefined} locale as in BCP 47; the browser's own when undefined */
  constructor(locale) {
    this.locale = canonical(locale);
    this.whole = new Intl.NumberFormat(this.locale, { maximumFractionDigits: 0 });
    this.cents = new Intl.NumberFormat(this.locale, { maximumFractionDigits: 2 });
    this.fine = new Intl.NumberFormat(this.locale, { maximumFractionDigits: 4 });
    this.tiny = new Intl.NumberFormat(this.locale, { maximumSignificantDigits: 4 });
  }

  /**
   * A value: large ones to the cent, small ones to four digits that count.
   * @param {number} value
   */
  number(value) {
    const size = Math.abs(value);
    if (size >= 1000) return this.cents.format(value);
    return (size >= 0.1 || size === 0 ? this.fine : this.tiny).format(value);
  }

  /**
   * How numbers of one column are written: all with as many decimals as the longest of them shows.
   * @param {number[]} values
   * @returns {(value: number) => string}
   */
  column(values) {
    const most = values.some((value) => Math.abs(value) >= 1000) ? 2 : 4;
    const digits = values.reduce((longest, value) => Math.max(longest, decimalsOf(value, most)), 0);
    const format = new Intl.NumberFormat(this.locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return (value) => (value !== 0 && Math.abs(value) < 0.001 ? this.tiny.format(value) : format.format(value));
  }

  /** @param {number} value */
  count(value) {
    return this.whole.format(value);
  }

  /**
   * A difference, always with its sign; a true minus.
   * @param {number} value
   */
  signed(value) {
    return signOf(value) + this.number(Math.abs(value));
  }

  /**
   * A share (0.05) as percent, always with its sign.
   * @param {number} share
   */
  percent(share) {
    return `${signOf(share)}${this.cents.format(100 * Math.abs(share))}%`;
  }

  /**
   * @param {number} count
   * @param {string} one
   * @param {string} [many]
   */
  counted(count, one, many = `${one}s`) {
    return `${this.count(count)} ${count === 1 ? one : many}`;
  }
}

/**
 * The ISO date of a serial, with the time (UTC) where it has one.
 * @param {number} serial
 * @param {boolean} [withTime]
 */
export function isoDate(serial, withTime = false) {
  const instant = new Date(EPOCH_MS + Math.round(serial * MS_A_DAY));
  if (Number.isNaN(instant.getTime())) return String(serial);
  const text = instant.toISOString();
  return withTime ? `${text.slice(0, 10)} ${text.slice(11, 16)}` : text.slice(0, 10);
}

/**
 * A duration in its largest unit, rounded down: `45 s`, `12 min`, `3 h`, `2 d`.
 * @param {number} seconds
 */
export function span(seconds) {
  for (const [size, unit] of SPANS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/**
 * The time of day in the user's time zone, `14:05`.
 * @param {number} ms
 */
export function clockTime(ms) {
  const instant = new Date(ms);
  return [instant.getHours(), instant.getMinutes()].map((n) => String(n).padStart(2, "0")).join(":");
}

/** @param {number} value */
function signOf(value) {
  return value > 0 ? "+" : value < 0 ? "−" : "";
}

/**
 * @param {number} value
 * @param {number} most
 */
function decimalsOf(value, most) {
  return (value.toFixed(most).replace(/0+$/, "").split(".")[1] ?? "").length;
}

/** @param {string | undefined} locale */
function canonical(locale) {
  try {
    return locale ? Intl.getCanonicalLocales(locale)[0] : undefined;
  } catch {
    return undefined;
  }
}
