// What SheetJS reads in one cell of each workbook: lines of JSON on standard input, [path, sheet, cell], and as many back.
const { readFile } = require("xlsx");
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
for (const line of lines) {
  const [path, sheet, cell] = JSON.parse(line);
  try {
    console.log(JSON.stringify({ value: readFile(path).Sheets[sheet][cell]?.v ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
