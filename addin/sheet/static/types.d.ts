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

/** A row: its number, of each cell the column, the style and the content, and of itself style, height, whether it is hidden. */
type RowApart = [number: number, cells: (number | string | null)[], style?: number, height?: number, isHidden?: boolean];

/** The cells of a sheet, and first column, last column and style of those that have one. */
interface CellsApart {
  rows: RowApart[];
  columns: [number, number, number][];
}

/** A book as the backend opens it. */
interface OpenedBook {
  name: string;
  parts: Record<string, string>;
  /** By sheet. */
  cells: Record<string, CellsApart>;
  /** Of each style the format and the border. */
  looks: [number, number][];
  /** What some formats are shown as, by their numbers. */
  formats: Record<string, string>;
  values: Record<string, Record<string, Scalar[][]>>;
  stored: Record<string, Record<string, SavedValue | SavedValue[][]>>;
  button?: string | null;
  /** The sheet to show, unless it is the first. */
  active?: string | null;
  /** Its file in Base64, where the page does not have it. */
  content?: string;
  is_blank?: boolean;
  is_plain?: boolean;
  /** By what it is, how much of it the page does not show. */
  kept: Record<string, number>;
  /** By sheet, the areas that pivot tables fill. */
  pivots: Record<string, string[]>;
  /** By sheet, the headers of tables. */
  headers: Record<string, string[]>;
  /** By protected sheet, the areas that may be changed. */
  unlocked: Record<string, string[]>;
}

/** A value as a copy of the file gets it. */
type SavedValue = Scalar | { error: string };

/** What became of a cell, as the backend writes it; `content` is what a draft puts back. */
interface CellEdit {
  formula?: string;
  content?: string;
  rows: SavedValue[][];
  /** Of cells without a format, those in which a formula shows its values. */
  formats?: (string | null)[][];
  keeps_content: boolean;
  look?: Record<string, unknown>;
}

interface SheetEdits {
  name: string;
  is_added: boolean;
  cells: Record<string, CellEdit>;
  values: Record<string, SavedValue[][]>;
}

declare var askedAhead: Record<string, Promise<Response | null>>;
declare var sheetFunctions: Map<string, SheetFunction>;
declare var sheet: any;
declare const o_spreadsheet: any;
declare const owl: any;
