// Creates elements. Text becomes text nodes only, so nothing that a service sends is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | null | undefined | false} Child what is false or missing is left out
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Properties
 */

/**
 * An HTML element: `h("p.muted.small", { title }, "text")`. Classes follow the name; plain objects set properties,
 * everything else becomes a child. A function under `click`, `input`, … listens to that event; true writes an empty
 * attribute; false, null and undefined write none.
 * @template {string} Selector
 * @param {Selector} selector
 * @param {...(Child | Properties)} content
 * @returns {ElementNamed<HTMLElementTagNameMap, Selector>}
 */
export function h(selector, ...content) {
  return /** @type {any} */ (built((name) => document.createElement(name), selector, content));
}

/**
 * An SVG element, described as for `h`.
 * @template {string} Selector
 * @param {Selector} selector
 * @param {...(Child | Properties)} content
 * @returns {ElementNamed<SVGElementTagNameMap, Selector>}
 */
export function svg(selector, ...content) {
  return /** @type {any} */ (built((name) => document.createElementNS(SVG, name), selector, content));
}

/**
 * Put other children into an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
}

/**
 * A listener that leaves something when Escape is pressed and nothing inside has used the key.
 * @param {() => void} leave
 */
export function onEscape(leave) {
  return (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    event.preventDefault();
    leave();
  };
}

let ids = 0;

/**
 * An id no other element of the page has.
 * @param {string} stem
 */
export function freshId(stem) {
  ids += 1;
  return `${stem}-${ids}`;
}

/**
 * @param {(name: string) => Element} create
 * @param {string} selector
 * @param {(Child | Properties)[]} content
 */
function built(create, selector, content) {
  const [name = "", ...classes] = selector.split(".");
  const element = create(name);
  element.classList.add(...classes);
  for (const part of content) {
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else if (part) setProperties(element, part);
  }
  return element;
}

/**
 * @param {Element} element
 * @param {Properties} properties
 */
function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

// The pane's icons, drawn as lines on a 16 pixel grid; they only accompany words.

const PATHS = {
  search: "M7 12.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM11 11l3.5 3.5",
  back: "M9.5 3 4.5 8l5 5",
  next: "M6.5 3l5 5-5 5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5 6.5 12 13 4.5",
  insert: "M8 3v10M3 8h10",
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 1.5v3.2h-3.2",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3M8 11.6v.1",
  error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5M8 11v.1",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5v.1",
  key: "M5.5 11.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.5 8.5h6M12.5 8.5v2.5",
  open: "M9 2.5h4.5V7M13 3 7.5 8.5M6.5 3.5h-4v10h10v-4",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  chart: "M2 13.5h12M3 10l3-3 2.5 2L13 4",
  freeze: "M8 1.5v13M2.4 4.8l11.2 6.4M13.6 4.8 2.4 11.2",
  star: "M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
  up: "M8 13V3.5M4 7l4-4 4 4",
  down: "M8 3v9.5M4 9l4 4 4-4",
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  return svg(
    "svg.icon",
    { viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] }),
  );
}
