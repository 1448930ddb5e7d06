/// <reference path="types.d.ts" />
// The bar above the cells with the backend's question whether so many requests may be sent.
import { element } from "./status_line.js";

/** @param {(problem: string) => void} complain */
export function watchQuestion(complain) {
  const bar = element("question");
  /** @type {number | null} */
  let shown = null;
  const draw = () => {
    const { question } = DataServiceAddin.loading;
    shown = question?.id ?? null;
    bar.hidden = question === null;
    if (question !== null) element("question-text").textContent = question.text;
  };
  const answer = async (/** @type {boolean} */ load) => {
    try {
      if (shown !== null) await DataServiceAddin.answerQuestion(shown, load);
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
    }
  };
  element("load").addEventListener("click", () => void answer(true));
  element("do-not-load").addEventListener("click", () => void answer(false));
  DataServiceAddin.onLoading(draw);
  draw();
}
