/** Types that the page's scripts share. Answers and calls are those of the backend's protocol, version 1. */

/** What one cell of an argument can hold. */
type Scalar = null | boolean | number | string;

/** An argument of a call: a value, or a range as rows. */
type Argument = Scalar | Scalar[][];

/** A call as the backend accepts it: the function's id, then its arguments. */
type Call = [string, ...Argument[]];

/** The two codes that can carry text in Excel. */
type Code = "#N/A" | "#VALUE!";

/** One place of a column whose kinds mix: a value, a date, or an error. */
type Item = Scalar | { value: number; type: "date" | "datetime" } | { error: Code; message: string };

interface Column {
  type: "number" | "date" | "datetime" | "any";
  values: Item[];
}

/** The backend's answer to one call. */
interface Answer {
  value?: Scalar;
  type?: "date" | "datetime";
  error?: Code;
  message?: string;
  /** The argument at fault, or `option` and the name of one. */
  argument?: string;
  /** The kind of error (docs/errors.md), where it is known. */
  kind?: string;
  rows?: number;
  header?: string[] | null;
  columns?: Column[];
  fresh_s: number;
  /** It is still to come: the call is to be posted again. */
  pending?: boolean;
}

/** Whether so many requests may be sent. */
interface Question {
  id: number;
  requests: number;
  left: number | null;
  text: string;
}

interface Quota {
  tier: string;
  cap: number;
  remaining: number;
  used_here: number;
}

/** The backend's answer to a batch. */
interface Reply {
  answers: Answer[];
  requests: number;
  quota: Quota | null;
  generation: number;
  /** How far the backend is, while something is pending. */
  progress?: { done: number; of: number; left_s: number | null };
  /** Waits for the user's answer; cells that depend on it say so, or show their last known value. */
  question?: Question;
}

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
