/// <reference path="../types.d.ts" />
// Turns a filled-in form into a formula for a cell, and into a call for the backend.

/** Excel accepts no longer text between two quotes, counted in UTF-16. */
const LONGEST_LITERAL = 255;

/** Excel accepts no longer formula. */
export const LONGEST_FORMULA = 8_192;

/** As in a cell. */
const TEXT_MARK = "'";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * An argument as someone typed it: text as such, `=A1` for a cell or an expression, blank for left out. As in a cell, an
 * apostrophe in front makes whatever follows text.
 * @typedef {string} Typed
 */

/**
 * A text of the service. It is never read as anything else, whatever it begins with.
 * @typedef {{ text: string }} Literal
 */

/**
 * A formula to insert: what it is called, the function, and its arguments after the name.
 * @typedef {[string, string, string[]]} Offer
 */

/**
 * The formula that calls a function; arguments left out at the end are not written.
 * @param {string} namespace
 * @param {string} id
 * @param {(Typed | Literal)[]} typed
 * @param {readonly { type: string }[]} kinds the type of each argument, in their order
 */
export function formulaOf(namespace, id, typed, kinds) {
  const written = typed.map((text, index) => writtenAs(text, kinds[index]?.type ?? "any"));
  return `=${namespace}.${id}(${withoutBlankEnd(written, "").join(",")})`;
}

/**
 * The same call for the backend; null where it depends on cells.
 * @param {string} id
 * @param {(Typed | Literal)[]} typed
 * @param {readonly { type: string }[]} kinds
 * @returns {Call | null}
 */
export function callOf(id, typed, kinds) {
  if (typed.some(isReference)) return null;
  const values = typed.map((text, index) => valueOf(text, kinds[index]?.type ?? "any"));
  return [id, ...withoutBlankEnd(values, null)];
}

/**
 * Options as one text: `freq=M; fill=prev`; with a value from a cell, the expression that joins it: `="limit="&A1`.
 * @param {Record<string, string>} chosen
 * @returns {Typed}
 */
export function optionsText(chosen) {
  const given = Object.entries(chosen).filter(([, value]) => value.trim() !== "");
  if (!given.some(([, value]) => isReference(value))) {
    return given.map(([name, value]) => `${name}=${value.trim()}`).join("; ");
  }
  const joined = given.map(([name, value], index) => {
    const head = `${index ? "; " : ""}${name}=`;
    return isReference(value) ? `${quoted(head)}&(${writtenAs(value, "any")})` : quoted(head + value.trim());
  });
  return `=${joined.join("&")}`;
}

/**
 * What to write into a field so that it is read as this text, such as the name of a signal.
 * @param {string} text
 * @returns {Typed}
 */
export function asTyped(text) {
  const plain = text.trim();
  return isReference(plain) || plain.startsWith(TEXT_MARK) || isNumber(plain) ? TEXT_MARK + text : text;
}

/** @param {Typed | Literal} typed */
export function isReference(typed) {
  return typeof typed === "string" && typed.trim().startsWith("=");
}

/**
 * Text as a literal in a formula: its quotes doubled, split where it exceeds Excel's limit.
 * @param {string} text
 */
export function quoted(text) {
  const pieces = [];
  for (let start = 0; start < text.length || start === 0; ) {
    let end = start + LONGEST_LITERAL;
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1; // both halves of a character stay together
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.map((piece) => `"${piece.replaceAll('"', '""')}"`).join("&");
}

/**
 * @param {Typed | Literal} typed
 * @param {string} type
 */
function writtenAs(typed, type) {
  if (typeof typed === "string" && isReference(typed)) return typed.trim().slice(1).trim();
  const value = valueOf(typed, type);
  if (value === null) return "";
  return typeof value === "string" ? quoted(value) : String(value).toUpperCase();
}

/**
 * @param {Typed | Literal} typed
 * @param {string} type
 * @returns {Scalar}
 */
function valueOf(typed, type) {
  if (typeof typed !== "string") return typed.text;
  const plain = typed.trim();
  if (plain === "") return null;
  if (plain.startsWith(TEXT_MARK)) return plain.slice(TEXT_MARK.length);
  if (type === "boolean" && /^(true|false)$/i.test(plain)) return plain.toLowerCase() === "true";
  return type !== "string" && isNumber(plain) ? Number(plain) : plain;
}

/** @param {string} text */
function isNumber(text) {
  return NUMBER.test(text) && Number.isFinite(Number(text));
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
