// A chart's geometry: which values stand at which height, which ticks to show, which point is nearest.

/** @typedef {import("../data/answers.js").Point} Point */

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
    const values = points.map((point) => point.value);
    const low = Math.min(...values);
    const high = Math.max(...values);
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

  /** The line through all points, as an SVG path. */
  line() {
    return this.points
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

/** @param {number} pixels */
function round(pixels) {
  return Math.round(pixels * 100) / 100;
}
