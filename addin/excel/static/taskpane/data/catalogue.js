/// <reference path="../types.d.ts" />
// The catalogue of signals, and the search in it: within the page, without a request.

import { recordsOf } from "./answers.js";

/**
 * @typedef {object} SignalEntry
 * @property {string} slug
 * @property {string} shortcode
 * @property {string} name
 * @property {string} category
 * @property {string} unit
 * @property {string} source
 * @property {string} description
 * @property {boolean} premium
 */

/** The call whose answer is the catalogue. @type {Call} */
export const CATALOGUE_CALL = ["SIGNALS", null, null, "*"];

/** Compares names many times faster than the texts themselves do. */
const NAMES = new Intl.Collator();

/** An entry's texts, and how much a word counts that is found there. @type {[keyof SignalEntry, number][]} */
const WEIGHTS = [
  ["shortcode", 6],
  ["slug", 5],
  ["name", 4],
  ["category", 2],
  ["unit", 1],
  ["description", 1],
  ["source", 1],
];

/**
 * @param {Answer} answer
 * @returns {SignalEntry[]}
 */
export function entriesOf(answer) {
  const entries = recordsOf(answer).map((record) => {
    const texts = WEIGHTS.map(([field]) => [field, textOf(record[field])]);
    return { ...Object.fromEntries(texts), premium: record["is_premium"] === true };
  });
  return entries.filter(({ slug }) => slug);
}

/**
 * The entries that match every word of the query, the best match first; without a word, all of them by name.
 * @template {SignalEntry} Entry
 * @param {Entry[]} entries
 * @param {string} query
 * @param {string} [category]
 */
export function found(entries, query, category = "") {
  const listed = category ? entries.filter((entry) => entry.category === category) : entries;
  const words = wordsOf(query);
  const byName = (/** @type {Entry} */ a, /** @type {Entry} */ b) => NAMES.compare(a.name, b.name);
  if (words.length === 0) return [...listed].sort(byName);
  return listed
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || byName(a.entry, b.entry))
    .map(({ entry }) => entry);
}

/** @param {SignalEntry[]} entries */
export function categoriesOf(entries) {
  return [...new Set(entries.map((entry) => entry.category))].filter(Boolean).sort();
}

/**
 * The words of a search, in lower case.
 * @param {string} query
 */
export function wordsOf(query) {
  return query
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);
}

/**
 * A text split at the words of the search: its pieces, and whether each of them is such a word.
 * @param {string} text
 * @param {string[]} words
 * @returns {[string, boolean][]}
 */
export function marked(text, words) {
  if (words.length === 0) return [[text, false]];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const pieces = text.split(new RegExp(`(${pattern})`, "gi"));
  return pieces
    .map((piece, index) => /** @type {[string, boolean]} */ ([piece, index % 2 === 1]))
    .filter(([piece]) => piece);
}

/**
 * @param {SignalEntry} entry
 * @param {string[]} words
 */
function scoreOf(entry, words) {
  const scores = words.map((word) => wordScore(entry, word));
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0);
}

/**
 * @param {SignalEntry} entry
 * @param {string} word
 */
function wordScore(entry, word) {
  let best = 0;
  for (const [field, weight] of WEIGHTS) {
    const text = String(entry[field]).toLowerCase();
    const place = text.indexOf(word);
    if (place < 0) continue;
    const startsWord = place === 0 || /[^a-z0-9]/.test(text[place - 1] ?? "");
    best = Math.max(best, weight * (text === word ? 4 : startsWord ? 2 : 1));
  }
  return best;
}

/** @param {Item | undefined} item */
function textOf(item) {
  return typeof item === "string" || typeof item === "number" ? String(item) : "";
}
