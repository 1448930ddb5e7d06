/// <reference path="../types.d.ts" />
// A line of a signal's history, read out by pointer or by the arrow keys.

import { fill, h, svg } from "./elements.js";
import { isoDate } from "../data/format.js";
import { Scale, ticks } from "./chart_scale.js";

/** @typedef {import("../data/answers.js").Point} Point */
/** @typedef {import("../data/format.js").Figures} Figures */

const HEIGHT = 168;
const MARGIN = { top: 8, right: 2, bottom: 20, left: 2 };
/** Room for a value beside the plot: a character's width in the axis's type. */
const LABEL_PX = 6.6;
const NARROWEST = 200;
/** How many points Page Up and Page Down pass over. */
const PAGE = 20;

/**
 * The chart of a series; it draws itself anew when its width changes.
 * @param {Point[]} points at least two, oldest first
 * @param {{ name: string, unit: string, figures: Figures }} about
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
   * @param {{ name: string, unit: string, figures: Figures }} parts.about
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
    const { figures } = this.about;
    const bounds = this.points.map((point) => point.value);
    const labels = ticks(Math.min(...bounds), Math.max(...bounds), 4);
    const room = Math.max(...labels.map((value) => figures.number(value).length)) * LABEL_PX + 10;
    this.scale = new Scale(this.points, {
      left: MARGIN.left,
      top: MARGIN.top,
      width: width - MARGIN.left - MARGIN.right - room,
      height: HEIGHT - MARGIN.top - MARGIN.bottom,
    });
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.picture.setAttribute("height", String(HEIGHT));
    fill(
      this.picture,
      ...labels.map((value) => this.#tick(value)),
      svg("path.chart-area", { d: this.scale.area() }),
      svg("path.chart-line", { d: this.scale.line() }),
      ...this.#days(),
      this.cursor,
    );
    this.#read(this.at);
  }

  /** @param {number} value */
  #tick(value) {
    const { scale } = this;
    if (!scale) return null;
    const { left, width } = scale.frame;
    const y = scale.y(value);
    return svg(
      "g.chart-tick",
      svg("line", { x1: left, x2: left + width, y1: y, y2: y }),
      svg("text", { x: left + width + 8, y: y + 3.5 }, this.about.figures.number(value)),
    );
  }

  #days() {
    const { scale } = this;
    if (!scale) return [];
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
    const { figures, unit } = this.about;
    const value = figures.number(point.value);
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
    if (this.scale) this.#read(this.scale.nearest(((event.clientX - box.left) / box.width) * this.#width()));
  }

  #width() {
    return this.picture.viewBox.baseVal.width;
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
