/// <reference path="../types.d.ts" />
// The question whether many requests may be sent, which may be answered in another window.

/** How often a page with a question looks whether it was answered elsewhere; that costs no request. */
const QUESTION_EVERY_MS = 3_000;
/** @type {ReturnType<typeof setTimeout> | null} */
let looking = null;

/** Whether the open question was answered elsewhere, as in another window. */
async function lookAtQuestion() {
  looking = null;
  const asked = loading.question;
  if (asked === null) return;
  const { question } = await request("status", null).catch(() => ({ question: asked }));
  if (loading.question !== asked) return watchQuestion();
  if (question?.id === asked.id) return watchQuestion();
  loading.question = question ?? null;
  tell(loadingListeners);
  tell(answerListeners);
}

/** Look again in a while, as long as a question is open. */
function watchQuestion() {
  if (loading.question !== null) looking ??= setTimeout(() => void lookAtQuestion(), QUESTION_EVERY_MS);
}
