/// <reference path="../types.d.ts" />
// How far the cells are, with a button that stops them; and the question whether many requests may be sent.

import { button, notice } from "./components.js";
import { fill, h } from "./elements.js";
import { messageOf } from "../../client/exchange.js";

/** What loads faster is not worth a word. */
const PATIENCE_MS = 700;

/**
 * Keep `place` up to date with what loads in this page, and with the question that waits.
 * @param {Pane} pane
 * @param {HTMLElement} place
 */
export function watchLoading(pane, place) {
  const addin = typeof DataServiceAddin === "undefined" ? null : DataServiceAddin;
  const bar = h("div.loading-bar", { hidden: true });
  const stopped = h("p.stopped.small", { role: "status", hidden: true });
  const asked = h("div.question");
  fill(place, bar, stopped, asked);
  let began = 0;
  /** @type {number | null} */
  let shown = null;

  const draw = () => {
    const text = addin?.loading.text ?? "";
    if (text === "") began = 0;
    else if (began === 0) {
      stopped.hidden = true;
      began = performance.now();
      setTimeout(draw, PATIENCE_MS);
    }
    bar.hidden = text === "" || performance.now() - began < PATIENCE_MS - 1;
    if (!bar.hidden) drawBar();
    const question = addin?.loading.question ?? pane.status.latest?.question ?? null;
    // Drawn again only when it changed, so that the focus stays on its buttons.
    if ((question?.id ?? null) === shown && asked.querySelector("p + p")?.textContent === question?.text) return;
    shown = question?.id ?? null;
    fill(asked, question && questionNotice(question, answer));
  };

  const drawBar = () => {
    const { done = 0, of = 0, text = "" } = addin?.loading ?? {};
    if (bar.childElementCount === 0) fill(bar, h("progress", { "aria-label": "Cells loaded" }), h("span.small"), button("Stop", stop));
    const line = /** @type {HTMLProgressElement} */ (bar.firstElementChild);
    line.max = Math.max(1, of);
    line.value = done;
    /** @type {Element} */ (line.nextElementSibling).textContent = `Loading ${text}`;
  };

  const stop = () => {
    const { done = 0, of = 0 } = addin?.loading ?? {};
    addin?.stop();
    stopped.textContent = `Stopped: ${done.toLocaleString("en-US")} of ${of.toLocaleString("en-US")} loaded. Refresh loads the rest.`;
    stopped.hidden = false;
  };

  const answer = async (/** @type {Question} */ question, /** @type {boolean} */ load) => {
    try {
      if (addin) await addin.answerQuestion(question.id, load);
      else await pane.backend.answerQuestion(question.id, load);
      await pane.status.look();
    } catch (error) {
      pane.announce(messageOf(error));
    }
  };

  addin?.on("loading", draw);
  pane.status.watch(draw);
}

/**
 * @param {Question} question
 * @param {(question: Question, load: boolean) => void} answer
 */
function questionNotice(question, answer) {
  const few = question.left !== null && question.requests > question.left;
  const yes = few ? `Load what ${question.left?.toLocaleString("en-US")} requests bring` : "Load";
  return notice(
    "warning",
    "Load these cells?",
    question.text,
    button(yes, () => answer(question, true), { look: "primary" }),
    button("Not now", () => answer(question, false)),
  );
}
