// A random life of a workbook, in the stand-in for Excel and before a real backend: formulas are entered and deleted,
// sheets and names come and go, the book is opened again, refreshed in every scope, by two pages, and answers are lost.
//
// node workbook_model.js PARAMETERS, as JSON: { static, url, counted, configuration, slugs, steps, seed }

require("../../node/sheets.js");
require("../../node/excel.js");

const given = JSON.parse(process.argv[2]);
let state = given.seed >>> 0 || 1;

/** A number below 1, the same for the same seed. */
function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}
const pick = (items) => items[Math.floor(random() * items.length)];
const counted = async () => (await (await fetch(given.counted)).json()).counted;

let losing = 0;

/** The network: sometimes it loses a request, sometimes the answer. */
async function send(address, options) {
  const isLost = random() < losing;
  if (isLost && random() < 0.3) throw new TypeError("lost on its way");
  const answer = await fetch(address, options);
  if (!isLost) return answer;
  await answer.text();
  throw new TypeError("lost on its way back");
}

async function main() {
  const { FunctionsPage } = await import(`${given.static}/functions/page.js`);
  const { Refreshes } = await import(`${given.static}/workbook/refresh.js`);
  console.warn = () => {};
  book.chained = true;
  book.delayMs = 0;
  const pages = [];
  let page;
  let refreshes;

  /** A page of the workbook begins, as when it is opened: cells have their values, and the page knows nothing. */
  function open() {
    page = new FunctionsPage(given.configuration, { base: given.url, send });
    pages.push(page);
    refreshes = new Refreshes(page);
    for (const id of given.configuration.functions) CustomFunctions.associate(id, (...values) => page.resultOfCall(id, values));
  }
  open();
  const other = new FunctionsPage(given.configuration, { base: given.url, send });
  pages.push(other);

  const sheets = () => book.sheets.map(({ id }) => id);
  const rows = 12;
  const places = ["B", "C"].flatMap((column) => Array.from({ length: rows }, (_, row) => `${column}${2 * row + 1}`));
  const text = () => `"${pick(given.slugs)}"`;
  const constant = () => `A${1 + Math.floor(random() * 6)}`;
  const bounded = [
    () => `=DS.SIGNAL(${text()})`,
    () => `=DS.SIGNAL(${constant()})`,
    () => `=DS.SIGNAL('${pick(sheets())}'!$A$${1 + Math.floor(random() * 6)},"name")`,
    () => `=DS.SIGNAL_HISTORY(${text()},"N2")`,
    () => `=DS.SIGNAL_HISTORY(${text()},"N5","freq=M")`,
    () => `=DS.SIGNAL(A1:A3)`,
    () => `=IF(${constant()}="us-cpi",DS.SIGNAL(${text()}),0)`,
    () => `=DS.SIGNAL("us-"&"cpi")&${constant()}`,
    () => `=DS.SIGNAL(#N/A)+1`,
    () => `=${pick(["Inflation", "Twice"])}`,
    () => `=SUM(B1:B9)`,
  ];
  // The cost of these depends on values that nobody knows before, so their preview has no upper bound.
  const unbounded = [
    () => `=DS.SIGNAL(DS.SIGNAL(${text()},"slug"))`,
    () => `=DS.SIGNAL(${pick(places)})`,
    () => `=IFERROR(DS.SIGNAL("no such ${Math.floor(random() * 3)}"),DS.INDEX("risk-dial"))`,
    () => `=Place`,
  ];
  // One book in three has them: they would hide every other bound.
  let isBounded = true;
  const formula = () => pick(isBounded ? bounded : [...bounded, ...unbounded])();
  const fill = (sheet) => {
    for (let row = 1; row <= 6; row++) book.put(sheet, `A${row}`, { value: pick(given.slugs) });
  };
  fill("Book");
  book.format("Book", "A1:Z5000");

  const steps = {
    enter: () => book.enter(pick(sheets()), pick(places), formula()),
    again: () => book.enter(pick(sheets()), pick(places), formula()),
    constant: () => book.enter(pick(sheets()), constant(), pick(given.slugs)),
    remove: () => book.remove(pick(sheets()), pick(places)),
    sheet: () => {
      if (book.sheets.length < 3) fill(`Sheet ${Math.floor(random() * 100)}`);
      else book.removeSheet(book.sheets.at(-1).id);
    },
    name: () => {
      for (const name of ["Inflation", "Twice", "Place"]) {
        book.undefine(name);
        if (random() < 0.3) continue;
        const first = book.sheets[0].id;
        if (name === "Inflation") book.define(random() < 0.3 ? pick(sheets()) : "workbook", name, `=DS.SIGNAL(${text()})`);
        else if (name === "Twice") book.define("workbook", name, "=Inflation&2");
        else book.define("workbook", name, first, "A1");
      }
    },
    open: () => open(),
    clear: () => {
      if (random() < 0.8) return;
      for (const sheet of sheets()) for (const place of places) book.remove(sheet, place);
      isBounded = random() < 0.67;
    },
    look: () => other.resultOfCall("SIGNAL", [pick(given.slugs), {}]).catch(() => undefined),
    force: () => other.ask("refresh", { mode: "force" }).catch(() => undefined),
  };

  const found = { steps: 0, refreshes: 0, later: 0, outside: [], untold: [], hung: 0, lost: 0, open: 0 };
  const told = () => pages.reduce((sum, each) => sum + each.spent.requests, 0);

  /** Everything that was spent is told, once all answers are in and those that were lost are looked for. */
  async function settle() {
    await book.settled();
    losing = 0;
    for (const each of pages) {
      while (each.waiting > 0) await new Promise((go) => setTimeout(go, 1));
      await each.lookForLost();
    }
  }

  async function refresh(lossy) {
    const scope = pick(["workbook", "workbook", "sheet", "selection"]);
    const mode = pick(["stale", "force"]);
    book.active = Math.floor(random() * book.sheets.length);
    book.selection = random() < 0.5 ? [pick(places)] : ["A1:B8", "C3"];
    const cost = await refreshes.cost(mode, scope);
    const before = await counted();
    losing = lossy ? 0.3 : 0;
    const report = await refreshes.run({ scope, mode }).catch((error) => error);
    const lost = page.backend.unanswered;
    await settle();
    const spent = (await counted()) - before;
    found.refreshes += 1;
    found.lost += lossy ? 1 : 0;
    if (cost.at_most === null) found.open += 1;
    if (report instanceof Error) return;
    const most = cost.at_most ?? Infinity;
    // A refresh whose answers were lost sends less than was announced, never more.
    if (spent > most || (spent < cost.at_least && !lossy)) found.outside.push({ scope, mode, least: cost.at_least, most, spent, step: found.steps });
    if (!lossy && lost === 0 && report.requests > spent) found.untold.push({ what: "report", said: report.requests, spent, step: found.steps });
  }

  const start = (await counted()) - told();
  for (; found.steps < given.steps; found.steps += 1) {
    const lossy = random() < 0.2;
    if (random() < 0.2) await refresh(lossy);
    else {
      losing = lossy ? 0.3 : 0;
      await steps[pick(Object.keys(steps))]();
    }
    await settle();
    let [said, spent] = [told(), (await counted()) - start];
    // What was spent for calls that nobody wants any more is told with the next answer, once it is known.
    for (let asked = 0; said < spent && asked < 50; asked++) {
      await new Promise((go) => setTimeout(go, 20 * asked));
      page.requests += (await page.backend.post('{"calls":[]}')).requests;
      found.later += asked === 0 ? 1 : 0;
      [said, spent] = [told(), (await counted()) - start];
    }
    if (said !== spent) found.untold.push({ what: "all", said, spent, step: found.steps });
    if (found.untold.length + found.outside.length > 5) break;
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.stack ?? error}\n`);
    process.exit(1);
  },
);
