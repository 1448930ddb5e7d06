/// <reference path="../types.d.ts" />
// Turns a filled-in form into a formula for a cell, and into a call for the backend.

/** Excel accepts no longer text between two quotes. */
const LONGEST_LITERAL = 255;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * An argument as someone typed it: text as such, `=A1` for a cell or an expression, blank for left out.
 * @typedef {string} Typed
 */

/**
 * The formula that calls a function; arguments left out at the end are not written.
 * @param {string} namespace
 * @param {string} id
 * @param {Typed[]} typed
 * @param {readonly { type: string }[]} kinds the type of each argument, in their order
 */
export function formulaOf(namespace, id, typed, kinds) {
  const written = typed.map((text, index) => writtenAs(text, kinds[index]?.type ?? "any"));
  return `=${namespace}.${id}(${withoutBlankEnd(written, "").join(",")})`;
}

/**
 * The same call for the backend; null where it depends on cells.
 * @param {string} id
 * @param {Typed[]} typed
 * @param {readonly { type: string }[]} kinds
 * @returns {Call | null}
 */
export function callOf(id, typed, kinds) {
  if (typed.some(isReference)) return null;
  const values = typed.map((text, index) => valueOf(text, kinds[index]?.type ?? "any"));
  return [id, ...withoutBlankEnd(values, null)];
}

/**
 * Options as one text: `freq=M; fill=prev`.
 * @param {Record<string, string>} chosen
 */
export function optionsText(chosen) {
  const given = Object.entries(chosen).filter(([, value]) => value.trim() !== "");
  return given.map(([name, value]) => `${name}=${value.trim()}`).join("; ");
}

/** @param {Typed} text */
export function isReference(text) {
  return text.trim().startsWith("=");
}

/**
 * Text as a literal in a formula: its quotes doubled, split where it exceeds Excel's limit.
 * @param {string} text
 */
export function quoted(text) {
  const pieces = text.match(new RegExp(`[^]{1,${LONGEST_LITERAL}}`, "gu")) ?? [""];
  return pieces.map((piece) => `"${piece.replaceAll('"', '""')}"`).join("&");
}

/**
 * @param {Typed} text
 * @param {string} type
 */
function writtenAs(text, type) {
  if (isReference(text)) return text.trim().slice(1).trim();
  const value = valueOf(text, type);
  if (value === null) return "";
  return typeof value === "string" ? quoted(value) : String(value).toUpperCase();
}

/**
 * @param {Typed} text
 * @param {string} type
 * @returns {Exclude<Scalar, undefined>}
 */
function valueOf(text, type) {
  const plain = text.trim();
  if (plain === "") return null;
  if (type === "boolean" && /^(true|false)$/i.test(plain)) return plain.toLowerCase() === "true";
  return type !== "string" && NUMBER.test(plain) ? Number(plain) : plain;
}

/**
 * @template T
 * @param {T[]} items
 * @param {T} blank
 */
function withoutBlankEnd(items, blank) {
  let end = items.length;
  while (end > 0 && items[end - 1] === blank) end -= 1;
  return items.slice(0, end);
}
