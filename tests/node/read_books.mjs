// Reads workbooks with SheetJS and ExcelJS: a path a line on stdin, a line of JSON for each on stdout.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const XLSX = require("xlsx");
const ExcelJS = require("exceljs");

function bySheetJs(path) {
  const book = XLSX.readFile(path, { cellDates: false, cellFormula: false });
  const found = {};
  for (const name of book.SheetNames) {
    found[name] = {};
    for (const [where, cell] of Object.entries(book.Sheets[name] ?? {})) {
      if (!where.startsWith("!")) found[name][where] = cell.t === "e" ? { error: cell.w } : cell.v;
    }
  }
  return found;
}

function plain(value) {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") return value ?? null;
  if (value instanceof Date) return { date: value.getTime() };
  if (typeof value === "string") return value;
  if (value.error) return { error: value.error };
  if (value.richText) return value.richText.map((run) => run.text).join("");
  if ("formula" in value || "sharedFormula" in value) return plain(value.result);
  if ("text" in value) return plain(value.text);
  return JSON.stringify(value);
}

async function byExcelJs(path) {
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(path);
  const found = {};
  book.eachSheet((sheet) => {
    found[sheet.name] = {};
    sheet.eachRow((row) => row.eachCell((cell) => {
      if (cell.master === cell) found[sheet.name][cell.address] = plain(cell.value);
    }));
  });
  return found;
}

async function reading(read, path) {
  try {
    return { sheets: await read(path) };
  } catch (error) {
    return { failed: String(error?.message ?? error).slice(0, 200) };
  }
}

process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});
for await (const path of createInterface({ input: process.stdin })) {
  const late = new Promise((resolve) => setTimeout(() => resolve({ failed: "no answer" }), 5000));
  const exceljs = await Promise.race([reading(byExcelJs, path), late]);
  process.stdout.write(`${JSON.stringify({ sheetjs: await reading(async (p) => bySheetJs(p), path), exceljs })}\n`);
}
