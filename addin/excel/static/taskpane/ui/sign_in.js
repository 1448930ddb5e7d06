/// <reference path="../types.d.ts" />
// Signing in at a firm's provider: in a window of its own, because no provider lets itself be shown in a pane.

/** Where the window says who has signed in, if it does not know who opened it. */
export const SIGN_IN_CHANNEL = "dataservice-sign-in";

/** How often it is looked whether the window is still open, and how long it may seem closed: who signs in needs minutes. */
const LOOK_MS = 500;
const PATIENCE_MS = 180_000;

const PERCENT_OF_SCREEN = { height: 70, width: 40 };

/**
 * Let the user sign in; resolves once the session is in use, and rejects if the window was closed before.
 * @param {import("../../client/backend.js").BackendClient} backend
 * @param {boolean} isExcel
 */
export async function signIn(backend, isExcel) {
  const address = new URL("sign-in", backend.base);
  await backend.ask("session", { session: await (isExcel ? fromDialog(address) : fromWindow(address)) });
}

/**
 * @param {URL} address
 * @returns {Promise<string>}
 */
function fromDialog(address) {
  return new Promise((resolve, reject) => {
    Office.context.ui.displayDialogAsync(address.href, PERCENT_OF_SCREEN, (opened) => {
      if (opened.status !== Office.AsyncResultStatus.Succeeded) return reject(new Error(opened.error.message));
      const dialog = opened.value;
      dialog.addEventHandler(Office.EventType.DialogEventReceived, () => reject(closed()));
      dialog.addEventHandler(Office.EventType.DialogMessageReceived, (told) => {
        dialog.close();
        if ("message" in told) resolve(told.message);
      });
    });
  });
}

/**
 * @param {URL} address
 * @returns {Promise<string>}
 */
function fromWindow(address) {
  const opened = window.open(address, "dataservice-sign-in", "popup,width=520,height=680");
  if (opened === null) return Promise.reject(new Error(`the browser opened no window; sign in at ${address.href}`));
  const channel = new BroadcastChannel(SIGN_IN_CHANNEL);
  return new Promise((resolve, reject) => {
    // A window that the provider isolates seems closed at once, though the user is still signing in there.
    let closedMs = 0;
    const looks = setInterval(() => {
      if (opened.closed) closedMs += LOOK_MS;
      if (closedMs > PATIENCE_MS) ended(() => reject(closed()));
    }, LOOK_MS);
    const heard = (/** @type {MessageEvent} */ { origin, source, data }) => {
      if (origin === address.origin && source === opened) ended(() => resolve(String(data?.session ?? "")));
    };
    const ended = (/** @type {() => void} */ settle) => {
      clearInterval(looks);
      removeEventListener("message", heard);
      channel.close();
      settle();
      opened.close();
    };
    channel.onmessage = ({ data }) => ended(() => resolve(String(data?.session ?? "")));
    addEventListener("message", heard);
  });
}

function closed() {
  return new Error("the window was closed, or cut off from this pane by the provider, before the sign-in had ended");
}
