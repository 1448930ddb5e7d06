/// <reference path="../types.d.ts" />
// A line chart of a signal's history; the pointer or the arrow keys read out its points.

import { isoDate } from "../data/format.js";
import { fill, h, svg } from "./elements.js";

/** @typedef {import("../data/answers.js").Point} Point */
/** @typedef {import("../data/format.js").Formatter} Formatter */

const HEIGHT = 168;
const MARGIN = { top: 8, right: 2, bottom: 20, left: 2 };
/** Room for a value beside the plot: a character's width in the axis's type. */
const LABEL_PX = 6.6;
const NARROWEST = 200;
/** How many points Page Up and Page Down pass over. */
const PAGE = 20;

/**
 * The chart of a series; it redraws itself when its width changes.
 * @param {Point[]} points at least two, oldest first
 * @param {{ name: string, unit: string, format: Formatter }} about
 */
export function chart(points, about) {
  const picture = svg("svg.chart-picture", { "aria-hidden": "true" });
  const readout = h("p.chart-readout", { "aria-hidden": "true" });
  const figure = h(
    "div.chart",
    { tabindex: 0, role: "slider", "aria-label": `History of ${about.name}` },
    readout,
    picture,
  );
  const reader = new Reader({ points, about, figure, picture, readout });
  new ResizeObserver(() => reader.draw()).observe(figure);
  return figure;
}

/** Draws the line, and knows which of its points is being read. */
class Reader {
  /**
   * @param {object} parts
   * @param {Point[]} parts.points
   * @param {{ name: string, unit: string, format: Formatter }} parts.about
   * @param {HTMLElement} parts.figure
   * @param {SVGSVGElement} parts.picture
   * @param {HTMLElement} parts.readout
   */
  constructor({ points, about, figure, picture, readout }) {
    this.points = points;
    this.about = about;
    this.figure = figure;
    this.picture = picture;
    this.readout = readout;
    this.at = points.length - 1;
    this.cursor = svg("g.chart-cursor");
    figure.setAttribute("aria-valuemin", "0");
    figure.setAttribute("aria-valuemax", String(points.length - 1));
    figure.addEventListener("keydown", (event) => this.#moved(event));
    picture.addEventListener("pointermove", (event) => this.#pointed(event));
    picture.addEventListener("pointerleave", () => this.#read(this.points.length - 1));
    this.#read(this.at);
  }

  draw() {
    const width = Math.max(NARROWEST, this.figure.clientWidth);
    const { format } = this.about;
    const { low, high } = boundsOf(this.points);
    const labels = ticks(low, high, 4);
    const room = Math.max(...labels.map((value) => format.number(value).length)) * LABEL_PX + 10;
    const scale = new Scale(this.points, {
      left: MARGIN.left,
      top: MARGIN.top,
      width: width - MARGIN.left - MARGIN.right - room,
      height: HEIGHT - MARGIN.top - MARGIN.bottom,
    });
    this.scale = scale;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.picture.setAttribute("height", String(HEIGHT));
    fill(
      this.picture,
      ...labels.map((value) => this.#tick(scale, value)),
      svg("path.chart-area", { d: scale.area() }),
      svg("path.chart-line", { d: scale.line() }),
      ...this.#days(scale),
      this.cursor,
    );
    this.#read(this.at);
  }

  /**
   * @param {Scale} scale
   * @param {number} value
   */
  #tick(scale, value) {
    const { left, width } = scale.frame;
    const y = scale.y(value);
    return svg(
      "g.chart-tick",
      svg("line", { x1: left, x2: left + width, y1: y, y2: y }),
      svg("text", { x: left + width + 8, y: y + 3.5 }, this.about.format.number(value)),
    );
  }

  /** @param {Scale} scale */
  #days(scale) {
    const { left, width } = scale.frame;
    const day = (/** @type {number} */ x, /** @type {string} */ anchor, /** @type {number} */ serial) =>
      svg("text.chart-day", { x, y: HEIGHT - 4, "text-anchor": anchor }, isoDate(serial));
    return [day(left, "start", scale.first), day(left + width, "end", scale.last)];
  }

  /** @param {number} index */
  #read(index) {
    const point = this.points[index];
    if (!point) return;
    this.at = index;
    const { format, unit } = this.about;
    const value = format.number(point.value);
    fill(this.readout, h("span", isoDate(point.day)), h("strong", value));
    this.figure.setAttribute("aria-valuenow", String(index));
    this.figure.setAttribute("aria-valuetext", `${isoDate(point.day)}: ${value} ${unit}`.trim());
    if (!this.scale) return;
    const [x, y] = [this.scale.x(point.day), this.scale.y(point.value)];
    const { top, height } = this.scale.frame;
    fill(
      this.cursor,
      svg("line", { x1: x, x2: x, y1: top, y2: top + height }),
      svg("circle", { cx: x, cy: y, r: 3.5 }),
    );
  }

  /** @param {PointerEvent} event */
  #pointed(event) {
    const box = this.picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.picture.viewBox.baseVal.width;
    if (this.scale) this.#read(this.scale.nearest(x));
  }

  /** @param {KeyboardEvent} event */
  #moved(event) {
    const last = this.points.length - 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: this.at - 1,
      ArrowDown: this.at - 1,
      ArrowRight: this.at + 1,
      ArrowUp: this.at + 1,
      PageDown: this.at - PAGE,
      PageUp: this.at + PAGE,
      Home: 0,
      End: last,
    };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    this.#read(Math.min(last, Math.max(0, place)));
  }
}

/**
 * @typedef {object} Frame the plot's place inside the picture, in pixels
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 */

/**
 * Round values that cover a range: at most `count` steps of 1, 2 or 5 times a power of ten.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + step * 1e-9; n++)
    found.push(Number((n * step).toPrecision(12)));
  return found;
}

/** How days and values become places in the picture. */
export class Scale {
  /**
   * @param {Point[]} points at least one, oldest first
   * @param {Frame} frame
   */
  constructor(points, frame) {
    const { low, high } = boundsOf(points);
    // A flat line stands in the middle; any other leaves a little air above and below.
    const air = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.05 || 1;
    this.points = points;
    this.frame = frame;
    this.low = low - air;
    this.high = high + air;
    this.first = points[0]?.day ?? 0;
    this.last = points[points.length - 1]?.day ?? 0;
  }

  /** @param {number} day */
  x(day) {
    const { left, width } = this.frame;
    return this.last > this.first ? left + ((day - this.first) / (this.last - this.first)) * width : left + width / 2;
  }

  /** @param {number} value */
  y(value) {
    const { top, height } = this.frame;
    return top + ((this.high - value) / (this.high - this.low)) * height;
  }

  /** The line through all points, as an SVG path; where many share a pixel, through the outermost of them. */
  line() {
    return thinned(this.points, 2 * this.frame.width)
      .map(({ day, value }, n) => `${n ? "L" : "M"}${round(this.x(day))} ${round(this.y(value))}`)
      .join("");
  }

  /** The line closed along the bottom. */
  area() {
    const bottom = round(this.frame.top + this.frame.height);
    return `${this.line()}L${round(this.x(this.last))} ${bottom}L${round(this.x(this.first))} ${bottom}Z`;
  }

  /**
   * The index of the point nearest to a place.
   * @param {number} x
   */
  nearest(x) {
    let best = 0;
    let distance = Infinity;
    this.points.forEach((point, index) => {
      const away = Math.abs(this.x(point.day) - x);
      if (away < distance) [best, distance] = [index, away];
    });
    return best;
  }
}

/** The least and the largest value. @param {Point[]} points at least one */
function boundsOf(points) {
  let [low, high] = [Infinity, -Infinity];
  for (const { value } of points) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return { low, high };
}

/**
 * Points in runs, of each the first, the lowest, the highest and the last one; all where there are few.
 * @param {Point[]} points oldest first
 * @param {number} runs
 */
function thinned(points, runs) {
  const size = Math.ceil(points.length / Math.max(1, runs));
  if (size <= 4) return points;
  const kept = [];
  for (let at = 0; at < points.length; at += size) {
    const run = points.slice(at, at + size);
    const { low, high } = boundsOf(run);
    const outer = [0, run.findIndex(({ value }) => value === low), run.findIndex(({ value }) => value === high), run.length - 1];
    for (const each of new Set(outer.sort((a, b) => a - b))) kept.push(/** @type {Point} */ (run[each]));
  }
  return kept;
}

/** @param {number} pixels */
function round(pixels) {
  return Math.round(pixels * 100) / 100;
}
