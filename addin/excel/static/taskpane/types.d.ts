/// <reference path="../types.d.ts" />
/** Types of the task pane: the parts of the backend's protocol that go beyond answers to formulas. */

interface Answer {
  /** The value is the last known one: how old, and why no newer one came. */
  stale?: { age_s: number; reason: string };
}

/** What a batch of calls would spend if it were sent now. */
interface Cost {
  /** The highest number where there is one, else the lowest. */
  requests: number;
  at_least: number;
  at_most: number | null;
  /** "3 requests", "2 to 4 requests" or "at least 2 requests". */
  text: string;
  calls: number;
  fresh_calls: number;
  quota: Quota | null;
  allowed: boolean;
  reason: string | null;
}

interface KeyState {
  set: boolean;
  source: string | null;
  /** The key's last four characters. */
  id: string | null;
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

interface Status {
  version: string;
  /** The Data Service's address. */
  service: string;
  namespace: string;
  key: KeyState;
  quota: Quota | null;
  budget: { reserve?: number; monthly?: number | null } | null;
  /** Whether so many requests may be sent; null while nothing is asked. */
  question: Question | null;
  resources: ResourceReport[];
  generation: number;
  requests_total: number;
  started_at: number | string;
  /** How long an answer stays fresh. */
  ttl_s: number;
  /** Who is signed in, and the last characters of their key; only where sign-in is set up. */
  person?: { name: string; role: "user" | "admin"; key: string | null };
  /** A shared deployment: each user's key comes with the requests, none is kept here. */
  shared: boolean;
}

interface KeyVerdict {
  ok: boolean;
  tier: string | null;
  message: string;
}

/** What a probe of the service found: what it answers otherwise than documented, and what the add-in does about it. */
interface ProbeVerdict {
  ok: boolean;
  message?: string;
  requests?: number;
  findings?: { question: string; found: string; does: string }[];
}

interface ChoiceHelp {
  value: string;
  help: string;
}

interface OptionHelp {
  name: string;
  help: string;
  example: string;
  type: "string" | "number" | "boolean" | "any";
  lifted: boolean;
  open_choices: boolean;
  choices: ChoiceHelp[];
  /** What leaving it out means, where that is one value. */
  default: Scalar;
}

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
  shape: "value" | "table" | "either";
  examples: string[];
  parameters: ParameterHelp[];
}

/** What every view of the pane uses. */
interface Pane {
  backend: import("../client/backend.js").BackendClient;
  host: import("./data/host.js").Host;
  status: import("./data/status.js").StatusMonitor;
  format: import("./data/format.js").Formatter;
  /** The catalogue, once it is loaded. */
  catalogue: import("./data/catalogue.js").SignalEntry[] | null;
  /** Show a short message, also to screen readers. */
  announce(words: string): void;
  /** Show a tab, and put the focus on it. */
  show(tab: string): void;
  /** Open the form of a function, with the given values filled in. */
  openFunction(id: string, values: Record<string, string>): void;
}

/** The class of the element that a selector such as `p.muted` names. */
type ElementNamed<Elements, Selector extends string> = Selector extends `${infer Name}.${string}`
  ? Name extends keyof Elements
    ? Elements[Name]
    : never
  : Selector extends keyof Elements
    ? Elements[Selector]
    : never;
