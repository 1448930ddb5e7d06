/// <reference path="types.d.ts" />
// Our functions in the component: what it completes and explains comes from the registry, values from functions.js.
import { isFailure, LOADING, WORKING } from "./calls.js";
import { contentOf } from "./component.js";

/** @typedef {import("./calls.js").Calls} Calls */
/** @typedef {(getters: any) => import("./book.js").Book} BookOf the book with a cell that is computed */

/** What stands in a cell that has no value yet. @type {unknown[]} */
const OPEN = [LOADING.code, WORKING.code];

/** Errors that the component does not know. */
const ERRORS = [...OPEN, "#VALUE!", "#NUM!", "#REF!", "#NULL!", "#CALC!", "#NAME?"];

/** Errors that Excel has in cells with text and numbers; the component's own are others. */
const EXCELS = ["#VALUE!", "#N/A", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"];

const PART_FAILED = "this part of the range failed; enter its formula alone to see why";

/** Text of this form would become a link, whose label may be a formula; the service means text. */
const MARKDOWN_LINK = /^\[.+\]\(.+\)$/;
const ZERO_WIDTH_SPACE = "\u200b";

/**
 * Add every function, so that formulas can use it.
 * @param {FunctionHelp[]} described
 * @param {string} namespace
 * @param {Calls} calls
 * @param {BookOf} bookOf
 * @param {(getters: any, position: { sheetId: string, col: number, row: number }, rows: number, columns: number) => void} needRoom
 */
export function addFunctions(described, namespace, calls, bookOf, needRoom) {
  for (const error of ERRORS) o_spreadsheet.registries.errorTypes.add(error);
  for (const { id, summary, parameters } of described) {
    const name = `${namespace}.${id}`.toUpperCase();
    const args = parameters.map(argumentOf);
    o_spreadsheet.addFunction(name, {
      description: summary,
      category: "Data Service",
      isExported: true,
      args,
      /** @this {any} @param {ComponentArgument[]} given */
      compute(...given) {
        const result = resultOf(this, id, given, calls, bookOf);
        calls.returned.failures ||= isFailure(result);
        calls.returned.texts ||= !isFailure(result) && result.some((row) => row.some((cell) => typeof cell !== "number" && typeof cell !== "object"));
        const position = this.updateDependencies && this.__originCellPosition;
        if (position && !isFailure(result)) needRoom(this.getters, position, result.length, result[0]?.length ?? 0);
        return toComponent(result);
      },
    });
    o_spreadsheet.createAutocompleteArgumentsProvider(name, args);
  }
}

/** @param {ParameterHelp} parameter */
function argumentOf({ name, required, help, choices, options, default: usual }) {
  const proposals = choices.map(({ value, help: label }) => ({ value, label }));
  const parts = [help];
  if (options.length > 0) parts.push(`options: ${options.map((option) => option.name).join(", ")}`);
  if (usual !== null) parts.push(`left out: ${usual}`);
  return o_spreadsheet.helpers.arg(`${name} (any, range<any>${required ? "" : ", optional"})`, parts.join("; "), proposals);
}

/**
 * @param {any} context what the component knows of the cell that it computes
 * @param {string} id
 * @param {ComponentArgument[]} given
 * @param {Calls} calls
 * @param {BookOf} bookOf
 * @returns {Result | Failure}
 */
function resultOf(context, id, given, calls, bookOf) {
  const values = given.map(rowsOf);
  if (values.some(isLoading)) return LOADING;
  const key = JSON.stringify([id, ...values]);
  // While someone types, the component computes parts of the formula; only a formula in a cell may spend requests.
  if (context.updateDependencies === undefined || calls.isPreviewing) return calls.preview(key);
  const position = context.__originCellPosition;
  const cell = position && context.getters.getCell(position);
  const user = cell && { id: cell.id, content: contentOf(cell) };
  const book = bookOf(context.getters);
  const inFile = position && book.valueInFile(position.sheetId, o_spreadsheet.helpers.toXC(position.col, position.row), key);
  const result = answerTo(calls, id, values, user, calls.hasValue || inFile !== undefined);
  if (result !== LOADING && !book.isReading) return result;
  // The file's results are compared with its own values: an answer that is there already comes after that.
  if (result !== LOADING) book.evaluate(null);
  return inFile ?? LOADING;
}

/**
 * What a call of ours came to, or that it is made now.
 * @param {Calls} calls
 * @param {string} id
 * @param {unknown[]} values
 * @param {{ id: string, content: string } | undefined} user the cell that needs it
 * @param {boolean} isInFile whether the cell shows the file's value meanwhile
 * @returns {Result | Failure}
 */
export function answerTo(calls, id, values, user, isInFile) {
  const body = /** @type {SheetFunction} */ (sheetFunctions.get(id));
  const ask = () => {
    /** @type {{ functionName: string, onCanceled?: () => void }} */
    const invocation = { functionName: id };
    return { result: body(...values, invocation), cancel: () => invocation.onCanceled?.() };
  };
  return calls.result(JSON.stringify([id, ...values]), ask, user, isInFile);
}

/**
 * An argument as Excel passes it: a value, or a range row by row.
 * @param {ComponentArgument} argument
 */
function rowsOf(argument) {
  if (!Array.isArray(argument)) return plain(argument);
  const height = Math.max(0, ...argument.map((column) => column.length));
  return Array.from({ length: height }, (_, row) => argument.map((column) => plain(column[row])));
}

/** @param {ComponentCell | undefined} cell */
function plain(cell) {
  const value = cell?.value ?? null;
  if (typeof value !== "string" || OPEN.includes(value) || !o_spreadsheet.helpers.isEvaluationError(value)) return value;
  const code = value.replace(/^#REF$/, "#REF!");
  return EXCELS.includes(code) ? code : "#N/A";
}

/** @param {unknown} value */
function isLoading(value) {
  return (Array.isArray(value) ? value.flat() : [value]).some((each) => OPEN.includes(each));
}

/**
 * @param {Result | Failure} result
 * @returns {ComponentCell | ComponentMatrix}
 */
function toComponent(result) {
  if (isFailure(result)) return { value: result.code, message: result.message };
  const [first = []] = result;
  if (result.length === 1 && first.length === 1) return toComponentCell(first[0]);
  return first.map((_, column) => result.map((row) => toComponentCell(row[column])));
}

/**
 * @param {Cell | undefined} cell
 * @returns {ComponentCell}
 */
function toComponentCell(cell = "") {
  if (typeof cell === "string") return { value: MARKDOWN_LINK.test(cell) ? ZERO_WIDTH_SPACE + cell : cell };
  if (typeof cell !== "object") return { value: cell };
  if (cell.type === "Error") return { value: cell.errorType === "Value" ? "#VALUE!" : "#N/A", message: PART_FAILED };
  return { value: cell.basicValue, format: cell.numberFormat };
}
