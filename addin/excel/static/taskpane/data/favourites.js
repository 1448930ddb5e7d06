// The names that a user has marked, kept in this browser; where nothing can be stored, for as long as the page is open.

const KEY = "dataservice.favourites";

/** A bound for what is stored; nobody keeps as many. */
const MOST = 200;

export class Favourites {
  constructor() {
    this.names = new Set(stored() ?? []);
  }

  /** @param {string} name such as `signal us-cpi` */
  has(name) {
    return this.names.has(name);
  }

  /**
   * Mark a name, or take its mark away; what other windows have marked stays.
   * @param {string} name
   */
  toggle(name) {
    const isMarked = this.names.has(name);
    this.names = new Set(stored() ?? this.names);
    if (isMarked) this.names.delete(name);
    else this.names.add(name);
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.names].slice(-MOST)));
    } catch {
      // They last as long as the page.
    }
  }
}

/** @returns {string[] | null} null where nothing was stored, or can be */
function stored() {
  try {
    const names = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string").slice(-MOST) : null;
  } catch {
    return null;
  }
}
