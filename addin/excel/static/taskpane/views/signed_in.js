/// <reference path="../types.d.ts" />
// The page that ends a sign-in tells who opened it. In Excel on the web the pane stands in a frame of another site, which
// has cookies of its own: so the session is handed over, and the pane takes it up where it stands.

import { SIGN_IN_CHANNEL } from "../ui/sign_in.js";

const session = document.body.dataset["session"] ?? "";
if (window.opener) window.opener.postMessage({ session }, location.origin);
else addEventListener("load", () => void handOver());

async function handOver() {
  // A provider that isolates its window leaves this one without an opener: every pane of this origin in this browser hears it.
  new BroadcastChannel(SIGN_IN_CHANNEL).postMessage({ session });
  if (typeof Office === "undefined") return;
  await Office.onReady();
  Office.context.ui.messageParent?.(session);
}
