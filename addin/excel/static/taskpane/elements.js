// Elements by name. Text becomes text nodes only, so that nothing a service says is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | null | undefined | false} Child what is false or missing is left out
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Properties
 */

/**
 * An HTML element. A function under `click`, `input`, … listens to that event; true writes an empty attribute; false,
 * null and undefined write none.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  dress(element, properties);
  element.append(...present(children));
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, properties = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  dress(element, properties);
  element.append(...present(children));
  return element;
}

/**
 * Put other children into an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
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
 * @param {Element} element
 * @param {Properties} properties
 */
function dress(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return /** @type {(Node | string)[]} */ (
    children.filter((child) => child !== null && child !== undefined && child !== false)
  );
}
