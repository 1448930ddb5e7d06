/** The backend's protocol, version 1. Generated from addin/protocol/messages.py (`make reference`). */

/** What one cell of an argument can hold. */
type Scalar = null | boolean | number | string;

/** An argument of a call: a value, or a range as rows. */
type Argument = Scalar | Scalar[][];

/** A call: the function's id, then its arguments. */
type Call = [string, ...Argument[]];

/** One place of a column whose kinds mix. */
type Item = Scalar | TimeCell | ErrorCell;

/** The two codes that can carry a text in Excel; what a number stands for that is a time; and other choices. */
type Code = "#N/A" | "#VALUE!";
type TimeKind = "date" | "datetime";
type RefreshMode = "stale" | "force";
type HelpShape = "value" | "table" | "either";
type HostType = "string" | "number" | "boolean" | "any";

/** Why a value is the last known one. */
interface Stale {
  /** How old the value is. */
  age_s: number;
  /** Why no newer one came, in one sentence. */
  reason: string;
}

/** A time in a column whose kinds mix. */
interface TimeCell {
  /** The serial number. */
  value: number;
  type: TimeKind;
}

/** An error in a column whose kinds mix. */
interface ErrorCell {
  error: Code;
  /** Why, and what to do. */
  message: string;
  /** The kind of error, where it is known. */
  kind?: string;
  /** The argument at fault. */
  argument?: string;
  /** A search that finds something, unlike this one. */
  instead?: string;
}

/** A column of a table. */
interface Column {
  type: "number" | "date" | "datetime" | "any";
  /** Numbers, and nulls; of the type `any` whatever a cell can hold. */
  values: Item[];
}

/** The answer to one call: a value, an error, a table, or that it is still to come. */
interface Answer {
  /** How long a host may show it without asking again. */
  fresh_s: number;
  /** Of a single cell. */
  value?: Scalar;
  /** Where the value is a time. */
  type?: TimeKind;
  /** Where there is no value. */
  error?: Code;
  /** Why, and what to do. */
  message?: string;
  /** The kind of error (docs/errors.md), where it is known. */
  kind?: string;
  /** The argument at fault, or `option` and the name of one. */
  argument?: string;
  /** A search that finds something, unlike this one. */
  instead?: string;
  /** Of a table, without its header. */
  rows?: number;
  /** Of a table; null where it has none. */
  header?: string[] | null;
  columns?: Column[];
  /** Where the value is the last known one. */
  stale?: Stale;
  /** It is still to come: the call is to be posted again. */
  pending?: true;
}

/** What is left of the month, as the service told it last. */
interface Quota {
  tier: string;
  /** Requests of a month. */
  cap: number;
  remaining: number;
  /** Spent by this installation in this month. */
  used_here: number;
}

/** How far loading is, while something is pending. */
interface Progress {
  done: number;
  of: number;
  /** About how long the rest takes; null where nobody can know. */
  left_s: number | null;
  /** What limits it, in one sentence, where that is known. */
  pace?: string;
}

/** Whether so many requests may be sent: a cell that depends on it says so, or shows its last known value. */
interface Question {
  /** To be sent with the user's answer. */
  id: number;
  requests: number;
  /** What is left of the month, where it is known. */
  left: number | null;
  /** One sentence for the user. */
  text: string;
}

/** Many calls: each a list that begins with the function's id. */
interface Batch {
  calls: Call[];
}

/** The answers to a batch, in its order. */
interface Reply {
  answers: Answer[];
  /** Spent since the last reply, each told once. */
  requests: number;
  quota: Quota | null;
  /** When it grows, a host forgets all that it kept of answers. */
  generation: number;
  progress?: Progress;
  question?: Question;
}

/** The user's answer to a question. */
interface ConsentAnswer {
  /** Its id. */
  question: number;
  /** Whether to send the requests. */
  load: boolean;
}

/** Whether an answer was taken. */
interface ConsentTaken {
  /** False if the question is not open any more. */
  taken: boolean;
}

/** A formula that a host cannot read, as its user typed it. */
interface AdviceRequest {
  /** Such as `=SIGNAL(1)`. */
  formula: string;
}

/** What to change in a formula. */
interface Advice {
  /** A sentence; null where nothing is known. */
  advice: string | null;
}

/** Cells of a sheet as a host read them, row by row. */
interface CellBlock {
  /** Rows and columns are counted from 0. */
  top: number;
  /** The first column. */
  left: number;
  values: Scalar[][];
  /** With their equals signs; null where a cell has none. */
  formulas: ((string | null)[])[];
  /** Whether formulas elsewhere may fill some of these cells. */
  spilled: boolean;
}

/** A sheet of a workbook that is open in a host. */
interface OpenSheet {
  name: string;
  /** Up to the last one that holds something. */
  rows: number;
  /** Ours to be refreshed, by 16,384 times their row plus their column. */
  formulas: Record<number, string>;
  /** Our other formulas. */
  others: Record<number, string>;
  cells: CellBlock[];
}

/** A workbook that is open in a host: our formulas, and what is known of the cells that they lead to. */
interface OpenBook {
  sheets: OpenSheet[];
  /** The formulas of defined names, in upper case; a sheet's own as `SHEET!NAME`. */
  names: Record<string, string>;
  /** Whether there is more that the host does not hand over. */
  is_part?: boolean;
}

/** Cells that a host is to read; rows and columns are counted from 0, the last ones included. */
interface WantedCells {
  /** Its place among the sheets. */
  sheet: number;
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** The calls that a recalculation makes. */
interface ExpectedCalls {
  /** So many for sure. */
  expected: number;
  /** Whether further ones may follow, as where cells rest on each other. */
  depend: boolean;
}

/** What a batch would spend if it were sent now, or after a refresh. */
interface Cost {
  /** The highest number where there is one, else the likely one. */
  requests: number;
  at_least: number;
  /** Null where nobody can know. */
  at_most: number | null;
  /** Such as `3 requests`, `2 to 4 requests` or `at least 2 requests, likely 5`. */
  text: string;
  calls: number;
  /** Calls that spend nothing. */
  fresh_calls: number;
  quota: Quota | null;
  allowed: boolean;
  /** Why it is not allowed. */
  reason: string | null;
}

/** What a refresh of a workbook would spend. */
interface BookCost {
  /** Cells to be handed over with the same book once more. */
  wanted: WantedCells[];
  /** Null as long as cells are wanted; its calls are formulas. */
  cost: Cost | null;
}

/** An area that a defined name calls of no use in a copy without formulas. */
interface LivePart {
  /** The end of that name. */
  name: string;
  /** The one that the name belongs to. */
  sheet: string;
  /** With its sheet. */
  address: string;
  /** The cells of it that hold no text, by their places, with their formulas. */
  numbers: Record<number, string>;
}

/** Cells that a formula filled until it was replaced by its value. */
interface FilledArea {
  sheet: string;
  formula: string;
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** What may be of no use in a copy, and what tells of this machine. */
interface LiveParts {
  parts: LivePart[];
  filled: FilledArea[];
}

/** Which of these parts the template made, in their order: nothing else is emptied. */
interface PartsOfTemplate {
  ours: boolean[];
}

/** A refresh of a key. */
interface RefreshRequest {
  mode?: RefreshMode;
}

/** A refresh has begun: what is asked for from now on is new. */
interface Refreshed {
  generation: number;
  quota: Quota | null;
}

/** What may be shown of the backend's own key. */
interface KeyState {
  set: boolean;
  /** Where it comes from. */
  source: string;
  /** Its last four characters. */
  id: string | null;
}

/** The key in use after one was stored or forgotten. */
interface KeySaved {
  key: KeyState;
  generation: number;
}

/** What the service says of a key. */
interface KeyVerdict {
  ok: boolean;
  tier: string | null;
  message: string;
  /** The kind of error, where it is refused. */
  kind?: string;
}

/** What a service answers otherwise than documented. */
interface ProbeFinding {
  question: string;
  found: string;
  /** What the add-in does about it. */
  does: string;
}

/** What a probe of the service found. */
interface ProbeVerdict {
  ok: boolean;
  /** Why nothing was found out; else empty. */
  message: string;
  /** The requests that it spent. */
  requests: number;
  findings: ProbeFinding[];
}

/** What is kept from being spent. */
interface Budget {
  /** Requests that are never spent. */
  reserve: number;
  /** The most requests of a month, where there is a limit. */
  monthly: number | null;
}

/** A resource that was asked for, and the state of the backend's answer. */
interface ResourceReport {
  resource: string;
  state: string;
  age_s: number | null;
  source: string | null;
  last_error: string | null;
  last_error_kind: string | null;
}

/** Who is signed in. */
interface PersonReport {
  name: string;
  role: "user" | "admin";
  /** The last characters of their key. */
  key: string | null;
}

/** The backend's state. */
interface Status {
  version: string;
  /** The Data Service's address. */
  service: string;
  namespace: string;
  /** How long an answer stays fresh. */
  ttl_s: number;
  /** Each user's key comes with the requests, none is kept here. */
  shared: boolean;
  key: KeyState;
  quota: Quota | null;
  budget: Budget;
  /** Null while nothing is asked. */
  question: Question | null;
  resources: ResourceReport[];
  generation: number;
  requests_total: number;
  /** Seconds since 1970. */
  started_at: number;
  /** Only where sign-in is set up. */
  person?: PersonReport;
}

/** One value that an argument accepts. */
interface ChoiceHelp {
  value: string;
  help: string;
}

/** An option of a function, such as `freq=M`. */
interface OptionHelp {
  name: string;
  /** What leaving it out means, where that is one value. */
  default: Scalar;
  help: string;
  example: string;
  type: HostType;
  /** Whether a range gives a result for each of its cells. */
  lifted: boolean;
  /** Whether other values than the choices are accepted. */
  open_choices: boolean;
  choices: ChoiceHelp[];
}

/** An argument of a function. */
interface ParameterHelp extends OptionHelp {
  required: boolean;
  options: OptionHelp[];
}

/** A function of the library, as the registry describes it. */
interface FunctionHelp {
  id: string;
  group: string;
  summary: string;
  details: string;
  shape: HelpShape;
  examples: string[];
  parameters: ParameterHelp[];
}

/** A request that was refused, with a status of 400 or more. */
interface Refusal {
  /** Why, and what to do. */
  error: string;
  /** Where a host does something about it: `restarting`, `busy`, `sign_in`. */
  kind?: string;
}
