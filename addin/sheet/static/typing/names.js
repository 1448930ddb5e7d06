/// <reference path="../types.d.ts" />
// Completes names inside the quotes of a formula, from the lists that the backend holds; that spends no request.

/** How long a list that was not there is not asked for again. */
const PAUSE_MS = 5_000;

const MOST_SHOWN = 20;

/** What names an argument `slug` can have, by function: the call whose first two columns are names and titles. */
const LISTS = [
  { call: ["SIGNALS", null, null, "slug, name"], functions: ["SIGNAL", "SIGNAL_HISTORY", "SPARK", "EXPLAIN", "REVISIONS"] },
  { call: ["INDICES", "slug, name"], functions: ["INDEX"] },
  { call: ["CURRENTS", null, "slug, name"], functions: ["CURRENT"] },
  { call: ["CODEX", null, null, null, 200, null, "slug, title"], functions: ["CODEX_POST"] },
];

/** The names of one list, read as soon as that is free. */
export class Names {
  /**
   * @param {unknown[]} call
   * @param {() => number} clock milliseconds
   */
  constructor(call, clock) {
    this.call = call;
    this.clock = clock;
    /** @type {[string, string][]} */
    this.known = [];
    this.askedMs = -Infinity;
  }

  /** The names with their titles as far as they are here; the others may be at the next look. */
  get() {
    const now = this.clock();
    if (this.known.length === 0 && now - this.askedMs >= PAUSE_MS) {
      this.askedMs = now;
      void this.read();
    }
    return this.known;
  }

  async read() {
    try {
      const calls = [this.call];
      const cost = await DataServiceAddin.ask("functions/cost", { calls });
      if (cost.requests !== 0 || cost.at_most !== 0) return;
      const { answers } = await DataServiceAddin.ask("functions/call", { calls });
      const [names, titles] = answers[0]?.columns ?? [];
      if (!names) return;
      this.known = names.values.map((/** @type {unknown} */ name, /** @type {number} */ at) => [String(name), String(titles?.values[at] ?? "")]);
    } catch {
      // Formulas can be typed without; what is wrong with the backend stands in the cells.
    }
  }
}

/**
 * Offer names while an argument `slug` is typed.
 * @param {FunctionHelp[]} described
 * @param {string} namespace
 * @param {() => number} clock milliseconds
 */
export function addNames(described, namespace, clock) {
  oursFirst(described.map(({ id }) => `${namespace}.${id}`.toUpperCase()));
  for (const { call, functions } of LISTS) {
    const names = new Names(call, clock);
    for (const { id, parameters } of described.filter((each) => functions.includes(each.id))) {
      const place = parameters.findIndex(({ name }) => name === "slug");
      add(`${namespace}.${id}`.toUpperCase(), place, names);
    }
  }
}

/** Offer our functions before others that begin alike, in their own order: DS.SIGNAL before DSUM. @param {string[]} ours */
function oursFirst(ours) {
  const { autoCompleteProviders } = o_spreadsheet.registries;
  const usual = autoCompleteProviders.get("functions_and_named_ranges");
  autoCompleteProviders.replace("functions_and_named_ranges", {
    ...usual,
    /** @this {any} */
    getProposals(/** @type {any[]} */ ...asked) {
      const placeOf = (/** @type {any} */ { text }) => {
        const at = ours.indexOf(text.replace(/\W*$/, ""));
        return at < 0 ? ours.length : at;
      };
      const proposals = usual.getProposals.apply(this, asked) ?? [];
      return proposals.sort((/** @type {any} */ one, /** @type {any} */ other) => placeOf(one) - placeOf(other));
    },
  });
}

/**
 * @param {string} name the function's
 * @param {number} place of the argument
 * @param {Names} names
 */
function add(name, place, names) {
  o_spreadsheet.registries.autoCompleteProviders.add(`${name}_names`, {
    sequence: 40,
    autoSelectFirstProposal: true,
    maxDisplayedProposals: MOST_SHOWN,
    getProposals(/** @type {any} */ token) {
      const context = token.functionContext;
      if (context?.parent.toUpperCase() !== name || context.argPosition !== place) return undefined;
      if (!["STRING", "LEFT_PAREN", "ARG_SEPARATOR", "SPACE", "UNKNOWN"].includes(token.type)) return undefined;
      return names.get().map(([slug, title]) => proposal(slug, title));
    },
    /** @this {any} */
    selectProposal(/** @type {any} */ token, /** @type {any} */ { text }) {
      const { composer } = this;
      const isText = ["STRING", "UNKNOWN"].includes(token.type);
      composer.stopComposerRangeSelection();
      composer.changeComposerCursorSelection(isText ? token.start : token.end, token.end);
      composer.replaceComposerCursorSelection(text);
    },
  });
}

/**
 * @param {string} slug
 * @param {string} title
 */
function proposal(slug, title) {
  const text = `"${slug.replaceAll('"', '""')}"`;
  return { text, description: title, htmlContent: [{ value: text, color: "light-dark(#007a21, #00c043)" }], fuzzySearchKey: `${text} ${title}`, alwaysExpanded: true };
}
