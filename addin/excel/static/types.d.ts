/// <reference path="./protocol.d.ts" />
/** Types that the page's scripts share; those of calls and answers are the protocol's. */

/** A cell of a result: plain, or one of Excel's data types. */
type Cell =
  | Exclude<Scalar, null>
  | { type: "Double" | "FormattedNumber"; basicValue: number; numberFormat: string }
  | { type: "Error"; errorType: "NotAvailable" | "Value" };

/** What a function returns to Excel: always rows, because the metadata says so. */
type Result = Cell[][];

/** What the server writes into `functions.js`. */
interface Configuration {
  version: string;
  namespace: string;
  /** The functions' ids. */
  functions: string[];
  /** The most calls, bytes and values of a batch, and values of one call. */
  maxCalls: number;
  maxBytes: number;
  maxValues: number;
  maxCells: number;
  deadlineMs: number;
}

type Scope = "selection" | "sheet" | "workbook";

/** What a refresh did. */
interface RefreshReport {
  scope: Scope;
  mode: "stale" | "force";
  /** "marked": only our cells were recalculated; "full": everything was. */
  how: "marked" | "full";
  cells: number;
  /** Formulas that Excel had damaged and that were entered again. */
  repaired: number;
  /** Damaged formulas on protected sheets or in arrays, which cannot be entered. */
  damaged: number;
  /** What the answers to this refresh say they cost. */
  requests: number;
  /** Whether a batch had no answer: it may have cost more. */
  unanswered: boolean;
  quota: Quota | null;
  text: string;
}

interface RefreshOptions {
  scope?: Scope;
  mode?: "stale" | "force";
}

/** What `functions.js` offers to the rest of the page. */
declare var DataServiceAddin: import("./functions/page.js").FunctionsPage;

/** What `refresh.js` offers to the rest of the page. */
declare var DataServiceRefresh: import("./workbook/refresh.js").Refreshes;
