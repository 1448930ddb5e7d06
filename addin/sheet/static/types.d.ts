/// <reference path="../../excel/static/types.d.ts" />
/** Types of the sheet in the browser. The component's own types are not installed where this is checked. */

/** One of our functions as functions.js offers it to Excel: the arguments, then what Excel says of the call. */
type SheetFunction = (...values: unknown[]) => Promise<Result>;

/** A cell as the component's functions accept and return it. */
interface ComponentCell {
  value: Scalar;
  format?: string;
  message?: string;
}

/** A range as the component passes it: column by column. */
type ComponentMatrix = ComponentCell[][];

type ComponentArgument = ComponentCell | ComponentMatrix | undefined;

/** What a cell without a result shows: an error with its reason. */
interface Failure {
  code: string;
  message: string;
}

/** A book as the backend opens it. */
interface OpenedBook {
  name?: string;
  parts?: Record<string, string>;
  values?: Record<string, Record<string, Scalar[][]>>;
  button?: string | null;
}

declare var sheetFunctions: Map<string, SheetFunction>;
declare var sheet: any;
declare const o_spreadsheet: any;
declare const owl: any;
