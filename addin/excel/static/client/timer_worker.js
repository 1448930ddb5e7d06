// Counts milliseconds for a page that is hidden: told [turn, ms], it says the turn after so many.
addEventListener("message", ({ data: [turn, ms] }) => setTimeout(() => postMessage(turn), ms));
