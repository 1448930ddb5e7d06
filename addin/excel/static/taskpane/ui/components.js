/// <reference path="../types.d.ts" />
// Components that several views share: buttons, notices, result tables, formulas to copy, the quota meter.

import { tableOf } from "../data/answers.js";
import { requestsIn } from "../data/cost.js";
import { span } from "../data/format.js";
import { fill, h, icon } from "./elements.js";

/** Rows of a result that the pane shows; a sheet shows the others. */
const SHOWN_ROWS = 12;

/** Below this share of the cap the quota meter warns. */
const LOW_SHARE = 0.1;

/** How long a button says that it has copied. */
const SAID_MS = 1_600;

/**
 * @typedef {object} ButtonLook
 * @property {"primary" | "plain" | "quiet" | "danger"} [look]
 * @property {Parameters<typeof icon>[0]} [sign]
 * @property {string} [label] for screen readers, where the words alone do not say it
 * @property {boolean} [disabled]
 * @property {string} [goes] the tab it leads to; not shown there
 */

/**
 * @param {string} words
 * @param {() => void} pressed
 * @param {ButtonLook} [options]
 */
export function button(words, pressed, { look = "plain", sign, label, disabled = false, goes } = {}) {
  const properties = {
    type: "button",
    class: `button ${look}`,
    "aria-label": label,
    "data-goes": goes,
    disabled,
    click: pressed,
  };
  return h("button", properties, sign ? icon(sign) : null, words ? h("span", words) : null);
}

/**
 * A short word with a colour that repeats its meaning.
 * @param {string} words
 * @param {"good" | "warn" | "bad" | "calm" | "accent"} tone
 */
export function badge(words, tone) {
  return h("span", { class: `badge ${tone}` }, words);
}

/**
 * The button that loads something for its price, or why that is not allowed.
 * @param {string} words
 * @param {Cost} cost
 * @param {import("../data/format.js").Formatter} format
 * @param {() => void} load
 * @param {ButtonLook} [options]
 */
export function priced(words, cost, format, load, options) {
  if (!cost.allowed) return notice("warning", "Not enough requests left", cost.reason ?? "");
  return button(`${words} (${requestsIn(cost, format)})`, load, options);
}

/**
 * What happened, and what to do.
 * @param {"error" | "warning" | "info" | "good"} severity
 * @param {string} title
 * @param {string} advice
 * @param {...import("./elements.js").Child} actions
 */
export function notice(severity, title, advice, ...actions) {
  const given = actions.filter(Boolean);
  return h(
    "div",
    { class: `notice ${severity}`, role: severity === "error" ? "alert" : "status" },
    icon(severity === "good" ? "check" : severity),
    h(
      "div.notice-body",
      h("p.notice-title", title),
      advice ? h("p", ...sentence(advice)) : null,
      given.length ? h("div.row", ...given) : null,
    ),
  );
}

/**
 * A message of the backend as a sentence: cells show it after other words, here it stands alone. What stands in
 * backquotes is shown in the type of code.
 * @param {string} text
 * @returns {import("./elements.js").Child[]}
 */
export function sentence(text) {
  const pieces = (text.charAt(0).toUpperCase() + text.slice(1)).split("`");
  return pieces.map((piece, index) => (index % 2 === 1 ? h("code", piece) : piece));
}

/** That something is under way. @param {string} words for screen readers */
export function progress(words) {
  return h("div.progress", { role: "status" }, h("span.unseen", words));
}

/** Lines where an answer will stand; they appear only when it takes a while. @param {number} lines */
export function loading(lines) {
  const bars = Array.from({ length: lines }, () => h("span.bar"));
  return h("div.loading", { role: "status" }, h("span.unseen", "Loading…"), ...bars);
}

/**
 * That a value is the last known one: its age, and why.
 * @param {Answer["stale"]} stale
 */
export function staleness(stale) {
  if (!stale) return null;
  return notice("warning", `Last known value, ${span(stale.age_s)} old`, stale.reason);
}

/**
 * A formula in the type of formulas, with a button that copies it.
 * @param {string} formula
 */
export function copyable(formula) {
  return h("div.formula", formulaCode(formula), copyButton(formula));
}

/**
 * A formula that breaks into lines between its arguments rather than inside of one. What stands between quotes is an
 * element of its own, so that text from right to left moves nothing around it.
 * @param {string} formula
 */
export function formulaCode(formula) {
  const pieces = formula.match(/[^,(]*(?:[,(]|$)/g)?.filter(Boolean) ?? [];
  const parts = (/** @type {string} */ piece) => piece.split(/(")/).map((part) => (part === '"' ? part : h("span", part)));
  return h("code", ...pieces.map((piece) => h("span.piece", ...parts(piece))));
}

/** A report of several lines that can be copied. @param {string} text */
export function copyableReport(text) {
  return h("div.formula", h("pre.report", text), copyButton(text, "Copy the report"));
}

/** @param {string} text */
function copyButton(text, label = "Copy the formula") {
  const copy = button("", () => void copied(), { look: "quiet", sign: "copy", label });
  const copied = async () => {
    const done = await copyText(text);
    fill(copy, icon(done ? "check" : "error"), h("span", { role: "status" }, done ? "Copied" : "Press Ctrl+C"));
    setTimeout(() => fill(copy, icon("copy")), SAID_MS);
  };
  return copy;
}

/** @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a frame may not be allowed to; the formula can still be selected
  }
}

/**
 * An answer as a table, its first rows.
 * @param {Answer} answer
 * @param {import("../data/format.js").Formatter} format
 */
export function resultTable(answer, format) {
  if (answer.error) return notice("warning", answer.error, answer.message ?? "");
  const { header, rows, total } = tableOf(answer, format, SHOWN_ROWS);
  const kinds = rows[0]?.map(({ kind }) => kind) ?? [];
  const names = header?.map((name, index) =>
    h("th", { scope: "col", class: kinds[index] === "number" ? "number" : null }, name),
  );
  const head = names && h("thead", h("tr", ...names));
  const body = rows.map((row) => h("tr", ...row.map(({ text, kind, title }) => h("td", { class: kind, title }, text))));
  const size = total > rows.length ? `First ${rows.length} of ${format.counted(total, "row")}` : null;
  const table = h("table", head, h("tbody", ...body));
  return h(
    "div.result",
    staleness(answer.stale),
    total === 0 ? h("p.muted", "The result has no rows.") : null,
    h("div.table-frame", { tabindex: 0, role: "region", "aria-label": "Result" }, table),
    size ? h("p.muted.small", size) : null,
  );
}

/**
 * @param {string} title
 * @param {...import("./elements.js").Child} content
 */
export function section(title, ...content) {
  return h("section.panel-section", h("h2", title), ...content);
}

/**
 * Radio buttons side by side; the first is selected at the start.
 * @param {string} title
 * @param {string} name
 * @param {[string, string, ...unknown[]][]} choices values and the words for them
 * @param {() => void} changed
 */
export function radios(title, name, choices, changed) {
  const inputs = choices.map(([value], index) => h("input", { type: "radio", name, value, checked: index === 0, change: changed }));
  const labels = choices.map(([, words], index) => h("label", inputs[index], h("span", words)));
  const element = choices.length ? h("fieldset.segments", h("legend.unseen", title), ...labels) : null;
  return { element, value: () => inputs.find((input) => input.checked)?.value ?? "" };
}

/** Terms with their descriptions, for a `dl`. @param {[string, string][]} facts */
export function factRows(facts) {
  return facts.flatMap(([term, text]) => [h("dt", term), h("dd", text)]);
}

/**
 * What is left of the month's requests.
 * @param {Quota | null} quota
 * @param {import("../data/format.js").Formatter} format
 */
export function quotaMeter(quota, format) {
  if (quota === null) return h("p.muted", "Known after the first request.");
  const label = `${format.count(quota.remaining)} of ${format.count(quota.cap)} requests left`;
  const level = h("div.meter-level");
  level.style.inlineSize = `${Math.max(0, Math.min(100, shareOf(quota) * 100))}%`;
  const left = h("span", h("strong.big", format.count(quota.remaining)), " left this month");
  const cap = h("span", `of ${format.count(quota.cap)}`);
  const used = h("span", `${format.count(quota.used_here)} by this add-in this month`);
  return h(
    "div.quota",
    h("p.row.spread", left, h("span.badge.calm.tier", quota.tier)),
    h(`div.meter.${quotaTone(quota)}`, { role: "img", "aria-label": label }, level),
    h("p.row.spread.muted.small", cap, used),
  );
}

/** @param {Quota} quota */
function shareOf({ remaining, cap }) {
  return cap > 0 ? remaining / cap : 0;
}

/** @param {Quota} quota */
export function quotaTone(quota) {
  const share = shareOf(quota);
  return share <= 0 ? "bad" : share < LOW_SHARE ? "warn" : "good";
}
