// Tabs by the ARIA pattern: arrow keys, Home and End move between them, and only the selected tab can have the focus.

/** The tabs of a page, wired to the panels that their `aria-controls` name. */
export class Tabs {
  /**
   * @param {HTMLElement} list the element with the role tablist
   * @param {(name: string) => void} chosen called with the name (`data-tab`) of the tab that is shown
   */
  constructor(list, chosen) {
    this.tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=tab]")]);
    this.chosen = chosen;
    for (const tab of this.tabs) tab.addEventListener("click", () => this.show(tab.dataset["tab"] ?? ""));
    list.addEventListener("keydown", (event) => this.#moved(event));
  }

  /**
   * @param {string} name
   * @param {{ focus?: boolean }} [options]
   */
  show(name, { focus = false } = {}) {
    for (const tab of this.tabs) {
      const selected = tab.dataset["tab"] === name;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !selected;
      if (selected && focus) tab.focus();
    }
    document.documentElement.dataset["tab"] = name;
    this.chosen(name);
  }

  /** @param {KeyboardEvent} event */
  #moved(event) {
    const at = this.tabs.findIndex((tab) => tab === document.activeElement);
    const last = this.tabs.length - 1;
    /** @type {Record<string, number>} */
    const places = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at <= 0 ? last : at - 1, Home: 0, End: last };
    const tab = this.tabs[places[event.key] ?? -1];
    if (!tab) return;
    event.preventDefault();
    this.show(tab.dataset["tab"] ?? "", { focus: true });
  }
}
