/// <reference path="../types.d.ts" />
// The tab Account: the key, the quota, the preferences, and facts about the backend.

import { span } from "../data/format.js";
import { askFirst, asksFirst } from "../data/host.js";
import { selfTestSection as diagnostics } from "./self_test.js";
import { serviceProbe } from "./service_probe.js";
import { badge, button, factRows, notice, progress, quotaMeter, section } from "../ui/components.js";
import { confirmed } from "../ui/dialogs.js";
import { fill, h, icon } from "../ui/elements.js";
import { showFailure } from "../ui/notices.js";

/** Where a key can be kept, in words. @type {Record<string, string>} */
const PLACES = {
  keychain: "kept in this computer’s keychain",
  file: "kept in a file only you can read",
  environment: "from the environment of the backend",
  config: "from the backend’s configuration file",
  page: "held by this page until it is closed",
  person: "kept for you by your firm’s backend, sealed",
};

/** The key and everything around it. */
export class Account {
  /**
   * @param {Pane} pane
   * @param {HTMLElement} panel
   */
  constructor(pane, panel) {
    this.pane = pane;
    this.state = h("div");
    this.outcome = h("div");
    this.person = h("div");
    this.quota = h("div");
    this.about = h("dl.facts");
    this.key = h("input", {
      id: "api-key",
      type: "password",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": "api-key-help",
      input: () => this.#typed(),
    });
    this.save = button("Save key", () => void this.#save(), { look: "primary", sign: "key", disabled: true });
    this.test = button("Test", () => void this.#test());
    this.forget = button("Forget key", () => void this.#forget(), { look: "danger" });
    fill(
      panel,
      this.person,
      section("API key", this.state, this.#form(), this.outcome),
      section("Allowance", this.quota),
      this.#preferences(),
      serviceProbe(pane),
      diagnostics(pane),
      section("About", this.about),
      this.#help(),
    );
    pane.status.watch(() => this.#draw());
  }

  open() {
    return this.pane.status.look();
  }

  #form() {
    const submitted = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.key.value.trim()) void this.#save();
    };
    const help =
      "It goes to the add-in’s backend, which keeps it. It is never written into a workbook and never shown again.";
    return h(
      "form.stack",
      { autocomplete: "off", submit: submitted },
      h("div.field", h("label", { for: "api-key" }, "New key"), this.key, h("p.help", { id: "api-key-help" }, help)),
      h("div.row", this.save, this.test, this.forget),
    );
  }

  #typed() {
    this.save.disabled = this.key.value.trim() === "";
  }

  #draw() {
    const { status, format } = this.pane;
    const key = this.#keyState();
    const place = key.source ? (PLACES[key.source] ?? `from ${key.source}`) : "";
    const set = h("p.row.tight", badge("Key set", "good"), h("span.mono", `…${key.id ?? ""}`), h("span.muted", place));
    const none = h("p.row.tight", badge("No key", "warn"), h("span.muted", "Formulas need one to ask the service."));
    const note = h("p.muted.small", "At its next start the backend takes the key of its environment again.");
    fill(this.state, status.latest && (key.set ? set : none), key.source === "environment" && note);
    this.forget.hidden = !key.set || key.source === "environment";
    this.test.disabled = !key.set && this.key.value.trim() === "";
    const { person } = status.latest ?? {};
    fill(this.person, person && section("You", this.#signedIn(person.name)));
    fill(this.quota, quotaMeter(status.quota, format));
    fill(this.about, ...this.#facts());
  }

  /** @returns {KeyState} */
  #keyState() {
    const { backend, status } = this.pane;
    const own = status.latest?.person?.key ?? null;
    if (own !== null) return { set: true, source: "person", id: own };
    if (backend.userKey) return { set: true, source: "page", id: backend.userKey.slice(-4) };
    return status.latest?.key ?? { set: false, source: "none", id: null };
  }

  /** @param {string} name */
  #signedIn(name) {
    const out = button("Sign out", () => void this.#during(out, () => this.#signOut()));
    return h("p.row.tight", badge("Signed in", "good"), h("span", name), out);
  }

  async #signOut() {
    await this.pane.backend.ask("sign-out", {});
    this.pane.host.functions?.forget();
  }

  async #save() {
    const key = this.key.value.trim();
    await this.#during(this.save, async () => {
      await this.#use(key);
      this.key.value = "";
      this.#typed();
      const advice = "Test asks the service once whether it works. Refresh brings the values.";
      fill(this.outcome, notice("good", "The key is in use", advice));
    });
  }

  /** Use another key, or none. @param {string | null} key */
  async #use(key) {
    const { backend, status, host } = this.pane;
    const { shared = false, person } = status.latest ?? {};
    if (shared && !person) {
      // In a shared deployment the key stays in this page.
      backend.userKey = key;
      return host.functions?.useKey(key);
    }
    await backend.ask(shared ? "me/key" : "key", ...(key === null ? [undefined, "DELETE"] : [{ key }]));
    host.functions?.forget(); // the answers in the page were for the key before
  }

  async #test() {
    const typed = this.key.value.trim();
    fill(this.outcome, progress("Asking the service…"));
    await this.#during(this.test, async () => {
      const verdict = this.pane.status.latest?.shared
        ? await this.#testHere()
        : await this.pane.backend.ask("key/test", { key: typed || null });
      const which = typed ? "The key you typed" : "The key in use";
      const { ok, message } = verdict;
      fill(this.outcome, notice(ok ? "good" : "error", `${which} ${ok ? "works" : "does not work"}`, message));
    });
  }

  /** @returns {Promise<KeyVerdict>} */
  async #testHere() {
    const { answers } = await this.pane.backend.call([["QUOTA", "tier"]]);
    const answer = answers[0];
    const tier = typeof answer?.value === "string" ? answer.value : null;
    return { ok: tier !== null, tier, message: tier ? `Tier: ${tier}.` : (answer?.message ?? "") };
  }

  async #forget() {
    const warning = "Formulas keep their last known values until a key is set again.";
    if (!(await confirmed("Forget the key?", warning, "Forget key", { look: "danger" }))) return;
    await this.#during(this.forget, async () => {
      await this.#use(null);
      fill(this.outcome, notice("info", "The key is forgotten", ""));
    });
  }

  /**
   * @param {HTMLButtonElement} pressed
   * @param {() => Promise<void>} work
   */
  async #during(pressed, work) {
    pressed.disabled = true;
    try {
      await work();
    } catch (error) {
      void showFailure(this.pane, this.outcome, error, () => pressed.click(), "Not done");
    }
    pressed.disabled = false;
    this.#typed();
    await this.pane.status.look();
  }

  #preferences() {
    const box = h("input", {
      type: "checkbox",
      id: "ask-first",
      checked: asksFirst(),
      change: () => askFirst(box.checked),
    });
    const words = h("label", { for: "ask-first" }, "Ask before opening a signal spends a request");
    return section("Preferences", h("div.check", box, words));
  }

  #facts() {
    const { backend, format } = this.pane;
    const { latest } = this.pane.status;
    if (latest === null) return [h("dt", "Backend"), h("dd.mono", backend.base)];
    const fresh = `An answer is fresh for ${span(latest.ttl_s)}, then a refresh asks again.`;
    const kept = `${fresh} Repeated reads within that time cost nothing.`;
    /** @type {[string, string][]} */
    const facts = [
      ["Backend", backend.base],
      ["Service", latest.service],
      ["Version", latest.version],
      ["Spent", `${format.counted(latest.requests_total, "request")} since the backend started`],
      ["Freshness", kept],
    ];
    const { reserve = 0, monthly = null } = latest.budget ?? {};
    if (monthly !== null) facts.push(["Monthly budget", format.counted(monthly, "request")]);
    if (reserve > 0) facts.push(["Held in reserve", format.counted(reserve, "request")]);
    return factRows(facts);
  }

  #help() {
    const link = (/** @type {string} */ href, /** @type {string} */ words) =>
      h("li", h("a", { href, target: "_blank", rel: "noopener" }, words, icon("open")));
    return section(
      "Help",
      h(
        "ul.links",
        link("help", "All functions"),
        link("help/SIGNAL_HISTORY", "Histories and their options"),
        link("help/STATUS", "What the states mean"),
      ),
    );
  }
}
