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

/** What the server writes at the top of `functions.js`. */
interface Configuration {
  version: string;
  namespace: string;
  /** The backend's own address, with a slash at the end. */
  base: string;
  /** The functions' ids. */
  functions: string[];
  maxCalls: number;
  maxBytes: number;
  deadlineMs: number;
}

declare const CONFIGURATION: Configuration;

/** `functions.js` contains this module's text. */
declare const exchange: typeof import("./taskpane/data/exchange.js").exchange;
declare const messageOf: typeof import("./taskpane/data/exchange.js").messageOf;

/** What `functions.js` offers to the rest of the page. */
interface PageAddin {
  readonly configuration: Configuration;
  /** The backend's address, with a slash at the end. */
  readonly base: string;
  /** May be changed while the page runs. */
  deadlineMs: number;
  /** Calls that wait for their answer. */
  readonly waiting: number;
  /** Since the page was loaded: calls Excel made, calls answered without the network, batches sent. */
  readonly totals: Readonly<{ calls: number; remembered: number; batches: number }>;
  /** Since the page was loaded: requests that answers cost, and batches without an answer, which may have cost more. */
  readonly spent: Readonly<{ requests: number; unanswered: number }>;
  /** The different calls made since `forget`, to ask what they would cost. */
  calls(): Call[];
  /** How far the calls are that were made together, in words too (empty when all are there), and the open question. */
  readonly loading: Readonly<{ done: number; of: number; text: string; question: Question | null }>;
  /** Call `listener` whenever `loading` may have changed; returns what ends that. */
  onLoading(listener: () => void): () => void;
  /** Call `listener` when a question was answered: cells that waited for that can be calculated again. */
  onAnswered(listener: () => void): () => void;
  /** Answer the open question. */
  answerQuestion(id: number, load: boolean): Promise<void>;
  /** Forget every answer: the next calls ask the backend again. */
  forget(): void;
  /** End what is on its way; its cells say that they were stopped, and nothing more is fetched for them. */
  stop(): void;
  /** Send this key with every batch (a shared deployment); it is held in memory only. */
  useKey(key: string | null): void;
  /** Call `listener` with every reply of the backend; returns what ends that. */
  onReply(listener: (reply: Reply) => void): () => void;
  /** Ask the backend for JSON; rejects with an `Error` whose message a user can read. */
  ask(path: string, body?: unknown): Promise<any>;
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

/** What `refresh.js` offers to the rest of the page. */
interface PageRefresh {
  /** Whether the content of a cell is a formula that calls one of our functions. */
  isOurs(formula: unknown): boolean;
  /** Recalculate our cells; a second call while one runs gets the same report. */
  run(options?: RefreshOptions): Promise<RefreshReport>;
  /** What the backend says a refresh would spend now, for the calls made since the last one. */
  cost(mode?: "stale" | "force"): Promise<any>;
  onReport(listener: (report: RefreshReport | Error) => void): () => void;
}

declare var DataServiceAddin: PageAddin;
declare var DataServiceRefresh: PageRefresh;
