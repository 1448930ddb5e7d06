/// <reference path="types.d.ts" />
// The bars above the cells with a question: whether so many requests may be sent, and what else only the user can decide.
import { messageOf } from "../client/exchange.js";
import { focusCells } from "./component.js";
import { element } from "./status_line.js";

/**
 * Ask a question, or none; each button of the bar ends it in its own way.
 * @param {string} id of the bar
 * @param {string | null} text
 * @param {(() => void)[]} ways
 */
export function askUser(id, text, ...ways) {
  const bar = element(id);
  bar.hidden = text === null;
  /** @type {HTMLElement} */ (bar.querySelector("span")).textContent = text;
  bar.querySelectorAll("button").forEach((button, at) => {
    button.onclick = () => {
      bar.hidden = true;
      ways[at]?.();
      focusCells();
    };
  });
}

/** Show the backend's question whether so many requests may be sent. @param {(problem: string) => void} complain */
export function watchQuestion(complain) {
  const draw = () => {
    const { question } = DataServiceAddin.loading;
    const answer = (/** @type {boolean} */ load) => () => {
      if (question !== null) DataServiceAddin.answerQuestion(question.id, load).catch((error) => complain(messageOf(error)));
    };
    askUser("question", question?.text ?? null, answer(true), answer(false));
  };
  DataServiceAddin.on("loading", draw);
  draw();
}

/**
 * Where a book's own values are shown, ask before anything is spent on newer ones; what is free is asked for at once.
 * @param {import("./calls.js").Calls} calls
 */
export async function askBeforeSpending(calls) {
  const keys = [...calls.held.keys()];
  if (keys.length === 0) return askUser("held", null);
  try {
    const bodies = DataServiceAddin.batches.bodies(keys);
    const costs = await Promise.all(bodies.map((body) => DataServiceAddin.backend.request("functions/cost", { body })));
    const [cost] = costs;
    if (costs.every(({ at_most }) => at_most === 0)) return calls.release();
    const isBounded = costs.every(({ at_most }) => at_most !== null);
    const requests = costs.reduce((sum, each) => sum + each.requests, 0);
    const text = costs.length === 1 ? cost.text : `${isBounded ? "at most" : "likely"} ${requests} requests`;
    const left = cost.quota ? ` of the ${cost.quota.remaining.toLocaleString("en-US")} left` : "";
    const why = cost.allowed ? "" : ` (${cost.reason})`;
    askUser("held", `The values are those of the file. Newer ones cost ${text}${left}${why}.`, () => calls.release(), () => {});
  } catch {
    calls.release(); // each cell says what is wrong
  }
}
