/// <reference path="../types.d.ts" />
// Turns the backend's answers into what Excel accepts as a result.

/** Excel never delivers one result above 2,000,000 characters of JSON: its cell would say #BUSY! for good. */
const LONGEST_RESULT = 1_900_000;

/** Characters that the engine writes around the value of one cell. */
export const CELL_SIZE = 30;

/** Above this many dates are sent plain: a formatted date needs about 75 characters of a result, a plain one 8. */
const MOST_FORMATTED_DATES = 20_000;

const NUMBER_FORMATS = { date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm" };

/** Excel shows null in a matrix as 0, which would count in sums and means; empty text is ignored there. */
const BLANK = "";

/**
 * The result for `answer` and its size in characters; throws the error its cell shows.
 * @param {Answer} answer
 * @returns {{ result: Result, size: number }}
 */
export function resultOf(answer) {
  if (answer.error !== undefined) throw cellError(answer.error, answer.message ?? "");
  if (answer.columns !== undefined) return tableOf(answer.columns, answer.header ?? null, answer.rows ?? 0);
  if (answer.value === undefined) throw cellError("#N/A", "the add-in's backend left out a value; please report this");
  const cell = answer.value ?? BLANK;
  if (answer.type !== undefined) return sized([[dateCell(Number(cell), answer.type, dateType())]]);
  return { result: [[cell]], size: CELL_SIZE + (typeof cell === "string" ? cell.length : 0) };
}

/**
 * @param {Column[]} columns
 * @param {string[] | null} header
 * @param {number} rowCount the header row not counted
 */
function tableOf(columns, header, rowCount) {
  const dates = columns.filter((column) => column.type in NUMBER_FORMATS).length * rowCount;
  const type = dates > MOST_FORMATTED_DATES ? null : dateType();
  let table = sized(rowsOf(columns, header, rowCount, type));
  if (table.size > LONGEST_RESULT && type !== null) table = sized(rowsOf(columns, header, rowCount, null));
  if (table.size <= LONGEST_RESULT) return table;
  throw cellError("#VALUE!", `the result has ${rowCount} rows; ask for fewer: Excel takes 2 MB for one formula`);
}

/**
 * @param {Column[]} columns
 * @param {string[] | null} header
 * @param {number} rowCount
 * @param {"Double" | "FormattedNumber" | null} type
 * @returns {Cell[][]}
 */
function rowsOf(columns, header, rowCount, type) {
  /** @type {Cell[][]} */
  const rows = header === null ? [] : [header];
  const shown = columns.map((column) => cellsOf(column, rowCount, type));
  for (let row = 0; row < rowCount; row++) rows.push(shown.map((cells) => cells[row] ?? BLANK));
  return rows.length === 0 ? [[BLANK]] : rows;
}

/**
 * @param {Column} column
 * @param {number} rowCount
 * @param {"Double" | "FormattedNumber" | null} type
 * @returns {Cell[]}
 */
function cellsOf(column, rowCount, type) {
  if (column.values.length !== rowCount) throw cellError("#N/A", "the add-in's backend sent half a table");
  const kind = column.type;
  if (kind === "any") return column.values.map((item) => itemCell(item, type));
  if (kind === "number") return column.values.map((value) => /** @type {number | null} */ (value) ?? BLANK);
  return column.values.map((value) => (value === null ? BLANK : dateCell(Number(value), kind, type)));
}

/**
 * @param {Item} item
 * @param {"Double" | "FormattedNumber" | null} type
 * @returns {Cell}
 */
function itemCell(item, type) {
  if (item === null || typeof item !== "object") return item ?? BLANK;
  if ("error" in item) return { type: "Error", errorType: item.error === "#VALUE!" ? "Value" : "NotAvailable" };
  return dateCell(item.value, item.type, type);
}

/**
 * @param {number} serial
 * @param {"date" | "datetime"} kind
 * @param {"Double" | "FormattedNumber" | null} type
 * @returns {Cell}
 */
function dateCell(serial, kind, type) {
  return type === null ? serial : { type, basicValue: serial, numberFormat: NUMBER_FORMATS[kind] };
}

/**
 * The data type in which this Excel accepts a number with its format; null where it has none.
 * @returns {"Double" | "FormattedNumber" | null}
 */
function dateType() {
  const sets = typeof Office === "undefined" ? undefined : Office.context?.requirements;
  if (sets === undefined) return null;
  if (sets.isSetSupported("ExcelApi", "1.19")) return "Double";
  const formatted = sets.isSetSupported("ExcelApi", "1.16") && sets.isSetSupported("CustomFunctionsRuntime", "1.4");
  return formatted ? "FormattedNumber" : null;
}

/** @param {Cell[][]} result */
function sized(result) {
  return { result, size: CELL_SIZE + JSON.stringify(result).length };
}

/**
 * @param {Code} code
 * @param {string} message shown beside the error where Excel can
 */
export function cellError(code, message) {
  const codes = CustomFunctions.ErrorCode;
  return new CustomFunctions.Error(code === "#VALUE!" ? codes.invalidValue : codes.notAvailable, message);
}
