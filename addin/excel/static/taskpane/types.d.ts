/// <reference path="../types.d.ts" />
/** Types of the task pane. */

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
