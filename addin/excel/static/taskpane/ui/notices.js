/// <reference path="../types.d.ts" />
// Shows a problem as a notice with the button that leads to its solution.

import { button, notice } from "./components.js";
import { signIn } from "./sign_in.js";
import { foremost, problemOf } from "../data/problems.js";
import { messageOf } from "../../client/exchange.js";
import { fill, h } from "./elements.js";

/** @typedef {import("../data/problems.js").Problem} Problem */
/** @typedef {{ retry: () => void, show: (tab: string) => void, signIn: () => void }} Ways what the buttons of a notice do */

/**
 * @param {Problem} problem
 * @param {Ways} ways
 */
export function problemNotice(problem, ways) {
  return notice(problem.severity, problem.title, problem.advice, actionOf(problem, ways));
}

/**
 * The problem that concerns the whole pane, null where there is none. In a shared deployment the key that counts is the
 * user's own.
 * @param {Pane} pane
 */
export function generalProblem({ backend, status }) {
  const { latest, failure } = status;
  const seen = latest?.shared ? { ...latest, key: { ...latest.key, set: hasOwnKey(backend, latest) } } : latest;
  return foremost(seen, failure);
}

/**
 * Show in a view why something is missing, without repeating what the head of the page already says.
 * @param {Pane} pane
 * @param {Element} place
 * @param {unknown} error
 * @param {() => void} retry
 * @param {string} [what] what has failed
 */
export async function showFailure(pane, place, error, retry, what = "Not loaded") {
  const problem = problemOf(error);
  await pane.status.look();
  const again = button("Try again", retry, { sign: "refresh" });
  if (generalProblem(pane)?.kind === problem.kind)
    fill(place, h("div.empty", h("p", `${what}: ${problem.title}.`), again));
  else fill(place, problemNotice(problem, waysOf(pane, retry)));
}

/**
 * @param {Problem} problem
 * @param {Ways} ways
 */
function actionOf({ action }, ways) {
  if (action === "retry") return button("Try again", ways.retry, { sign: "refresh" });
  if (action === "account") return button("Open Account", () => ways.show(action), { sign: "key", goes: action });
  if (action === "probe") return button("Find out", () => ways.show("account"), { sign: "search", goes: "account" });
  if (action === "refresh") return button("Open Refresh", () => ways.show(action), { sign: "refresh", goes: action });
  if (action === "sign_in") return button("Sign in", ways.signIn, { sign: "key", look: "primary" });
  return null;
}

/**
 * What the buttons of a notice in this pane do.
 * @param {Pane} pane
 * @param {() => void} retry
 * @returns {Ways}
 */
export function waysOf(pane, retry) {
  const signedIn = async () => {
    try {
      await signIn(pane.backend, pane.host.isExcel);
      if (typeof DataServiceAddin !== "undefined") DataServiceAddin.forget();
      pane.show(document.documentElement.dataset["tab"] ?? "search"); // the view had nothing to show before
    } catch (error) {
      pane.announce(`Not signed in: ${messageOf(error)}`);
    }
    await pane.status.look();
    retry();
  };
  return { retry, show: pane.show, signIn: () => void signedIn() };
}

/**
 * Whether the user has a key of their own: in this page, or kept for who is signed in.
 * @param {Pane["backend"]} backend
 * @param {Status} latest
 */
function hasOwnKey(backend, latest) {
  return backend.userKey !== null || (latest.person?.key ?? null) !== null;
}
