/// <reference path="../types.d.ts" />
// What calls would spend: a number where the backend knows it, else a range.

/**
 * The fewest and the most requests of a preview; Infinity where no bound is known.
 * @param {Cost} cost
 * @returns {{ least: number, most: number }}
 */
export function rangeOf(cost) {
  const least = cost.at_least ?? cost.requests;
  const most = cost.at_most === undefined ? cost.requests : (cost.at_most ?? Infinity);
  return { least, most: Math.max(least, most) };
}

/**
 * Whether calls certainly spend nothing.
 * @param {Cost} cost
 */
export function isFree(cost) {
  return rangeOf(cost).most === 0;
}

/**
 * The requests of a preview in words: `2 requests`, `1 to 3 requests`, `at least 2 requests, likely 5`.
 * @param {Cost} cost
 * @param {import("./format.js").Formatter} format
 */
export function requestsIn(cost, format) {
  const { least, most } = rangeOf(cost);
  if (least === most) return format.counted(most, "request");
  if (most === Infinity) {
    const likely = cost.requests > least ? `, likely ${format.count(cost.requests)}` : "";
    return `${least === 0 ? "0 or more requests" : `at least ${format.counted(least, "request")}`}${likely}`;
  }
  return `${format.count(least)} to ${format.counted(most, "request")}`;
}
