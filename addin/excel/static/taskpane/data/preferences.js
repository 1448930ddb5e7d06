// What the user prefers, kept by the browser; nothing secret, and no harm when it cannot be kept.

const ASK_FIRST = "dataservice.ask-before-loading";

/** Whether opening a signal asks before it spends a request. */
export function asksFirst() {
  try {
    return localStorage.getItem(ASK_FIRST) === "yes";
  } catch {
    return false; // a frame may have no storage
  }
}

/** @param {boolean} asks */
export function askFirst(asks) {
  try {
    localStorage.setItem(ASK_FIRST, asks ? "yes" : "no");
  } catch {
    // The default stays.
  }
}
