/// <reference path="../types.d.ts" />
// Joins the functions of this page with the workbook: refreshes and what starts them.

import { Refreshes } from "./refresh.js";
import { startedBy } from "./triggers.js";

globalThis.DataServiceRefresh = new Refreshes(DataServiceAddin);
startedBy(DataServiceRefresh);
