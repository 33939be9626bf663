"use strict";
// What the reader types, and what is shown: one state, which lies in the link; every change of it draws everything anew.

const PAUSE = 350; // milliseconds without a key from which on lists are measured
const STEPS = 100; // states that can be brought back
const listsOf = (state) => Object.fromEntries(ROLES.map((role) => [role, wordsOf(state.words[role])]));

async function unpackedBytes(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const emptyState = () => ({ words: { x: "", y: "", a: "", b: "" }, names: { x: "", y: "", a: "", b: "" }, lexicon: "", changed: false, suggested: [], plane: { right: "", left: "", up: "", down: "", plotted: "" } });

const AXES = ["right", "left", "up", "down", "plotted"];

class Page extends Sections {
  constructor(vocabulary) {
    super();
    this.vocabulary = vocabulary;
    this.undone = [];
    this.done = [];
    this.tries = 0;
    this.seen = new Set(); // lists that count already, or that the page began with
    this.tests = vocabulary.lexicons.filter(({ kind }) => kind === "test");
    this.setUp();
    this.state = this.fromLink() ?? this.fromTest(this.firstTest()) ?? emptyState();
    this.write();
    this.show(false);
  }

  // --- state ---------------------------------------------------------------------------------------------------------

  listsOfTest(test) {
    return Object.fromEntries(test.sets.map(({ role, words }) => [role, words]));
  }

  // A test that the words of the page can measure: of gender where there is one, which has base pairs as evidence.
  firstTest() {
    const measurable = this.tests.filter((test) => test.family !== "sanity" && !shortfall(resolveLists(this.vocabulary, this.listsOfTest(test))));
    return measurable.find(({ family }) => family === "gender") ?? measurable[0];
  }

  fromTest(test) {
    if (!test) return null;
    const state = emptyState();
    for (const { role, name, words } of test.sets) Object.assign(state, { words: { ...state.words, [role]: words.join(", ") }, names: { ...state.names, [role]: name } });
    return { ...state, lexicon: test.name };
  }

  fromLink() {
    const link = new URLSearchParams(host.location.hash.startsWith(PREFIX) ? host.location.hash.slice(PREFIX.length) : "");
    if (!ROLES.some((role) => link.has(role))) return null;
    const state = emptyState();
    for (const role of ROLES) {
      state.words[role] = wordsOf(link.get(role) ?? "").join(", ");
      state.names[role] = link.get(`name_${role}`) ?? "";
    }
    state.lexicon = link.get("lexicon") ?? "";
    state.changed = link.has("changed");
    state.suggested = wordsOf(link.get("suggested") ?? "");
    for (const key of AXES) state.plane[key] = link.get(key) ?? "";
    const tries = Number(link.get("tries"));
    if (Number.isInteger(tries) && tries > this.tries && tries < 1e6) this.tries = tries;
    return state;
  }

  toLink() {
    const { words, names, lexicon, changed, suggested, plane } = this.state;
    const link = new URLSearchParams();
    for (const role of ROLES) link.set(role, wordsOf(words[role]).join(","));
    for (const role of ROLES) if (names[role]) link.set(`name_${role}`, names[role]);
    if (lexicon) link.set("lexicon", lexicon);
    if (changed) link.set("changed", "1");
    if (suggested.length) link.set("suggested", suggested.join(","));
    for (const key of AXES) if (plane[key]) link.set(key, plane[key]);
    if (this.tries) link.set("tries", this.tries);
    if (framed && host.location.hash.split("?")[0] !== "#workbench") return; // another tab is open
    host.history.replaceState(null, "", `${PREFIX}${link}`);
  }

  // Change the state; the one before can be brought back.
  change(change, { rewrite = true } = {}) {
    const before = structuredClone(this.state);
    change(this.state);
    if (JSON.stringify(before) === JSON.stringify(this.state)) return;
    this.done.push(before);
    this.done.splice(0, this.done.length - STEPS);
    this.undone = [];
    if (rewrite) this.write();
    this.show(true);
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.state);
    this.state = from.pop();
    this.write();
    this.show(true);
  }

  // --- what the reader types -----------------------------------------------------------------------------------------

  setUp() {
    byId("start").append(option("", "lists of my own"), ...this.tests.map(({ name, title, label }) => option(name, title || label)));
    byId("start").addEventListener("change", (event) => {
      const test = this.tests.find(({ name }) => name === event.target.value);
      this.change((state) => Object.assign(state, this.fromTest(test) ?? { lexicon: "", changed: false }));
    });
    byId("undo").addEventListener("click", () => this.step(this.done, this.undone));
    byId("redo").addEventListener("click", () => this.step(this.undone, this.done));
    byId("clear").addEventListener("click", () => this.change((state) => Object.assign(state, emptyState())));
    for (const role of ROLES) this.setUpList(role);
    const sides = this.tests.map((test) => [test, test.sets.filter(({ role }) => "ab".includes(role))]);
    byId("axis").append(option("", "choose …"), ...sides.map(([{ name }, [a, b]]) => option(name, `${a.name} and ${b.name} (${name})`)));
    byId("axis").addEventListener("change", ({ target }) => {
      const chosen = sides.find(([{ name }]) => name === target.value);
      if (chosen) this.change(({ plane }) => ([plane.up, plane.down] = chosen[1].map(({ words }) => words.join(", "))));
    });
    for (const key of AXES) this.typed(byId(key), (state, text) => (state.plane[key] = text));
    byId("format").append(...Object.entries(FORMATS).map(([name, { label }]) => option(name, label)));
    byId("format").addEventListener("change", () => this.showExport());
    byId("copy").addEventListener("click", () => this.copy());
    byId("download").addEventListener("click", () => this.download());
    host.addEventListener("hashchange", () => this.readLink());
    addEventListener("resize", () => this.result && this.showPlane());
    this.setUpTheme();
  }

  static setWords(state, role, text) {
    state.words[role] = text;
    state.changed = true;
  }

  // A field whose text goes into the state after a pause.
  typed(field, set, rewrite = false) {
    let waiting;
    const take = () => {
      clearTimeout(waiting);
      this.change((state) => set(state, field.value), { rewrite });
    };
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(take, PAUSE);
    });
    field.addEventListener("change", take);
  }

  setUpList(role) {
    this.typed(byId(`words-${role}`), (state, text) => text !== state.words[role] && Page.setWords(state, role, text));
    this.typed(byId(`name-${role}`), (state, text) => (state.names[role] = text));
    const select = byId(`insert-${role}`);
    select.append(option("", "choose …"));
    this.vocabulary.lexicons.forEach(({ sets, label, name: lexicon }, place) => {
      sets.forEach(({ name, words }, at) => select.append(option(`${place} ${at}`, `${label}${sets.length > 1 || name !== "words" ? `: ${name}` : ""} (${words.length}, ${lexicon})`)));
    });
    select.addEventListener("change", () => {
      if (!select.value) return;
      const [place, at] = select.value.split(" ").map(Number);
      const { name, words } = this.vocabulary.lexicons[place].sets[at];
      select.value = "";
      this.change((state) => {
        Page.setWords(state, role, [...wordsOf(state.words[role]), ...words.filter((word) => !wordsOf(state.words[role]).includes(word))].join(", "));
        state.names[role] ||= name;
      });
    });
    byId(`more-${role}`).addEventListener("toggle", () => this.showSuggestions(role));
  }

  setUpTheme() {
    const button = byId("theme");
    button.hidden = framed;
    if (framed) {
      const follow = () => Object.assign(document.documentElement.dataset, { theme: host.document.documentElement.dataset.theme ?? (host.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light") });
      new MutationObserver(follow).observe(host.document.documentElement, { attributes: true });
      host.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
      follow();
      return;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const now = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    const label = () => (button.textContent = now() === "dark" ? "Light page" : "Dark page");
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
      label();
    });
    dark.addEventListener("change", label);
    label();
  }

  readLink() {
    const state = this.fromLink();
    if (!state) return this.toLink();
    this.state = state;
    this.write();
    this.show(false);
  }

  // --- what is shown -------------------------------------------------------------------------------------------------

  // Put the state into the fields; never while a reader types into one.
  write() {
    const { words, names, lexicon, plane } = this.state;
    const put = (id, text) => byId(id).value !== text && (byId(id).value = text);
    for (const role of ROLES) {
      put(`words-${role}`, words[role]);
      put(`name-${role}`, names[role]);
      byId(`name-${role}`).title = names[role]; // a long name is cut off
    }
    put("start", this.tests.some(({ name }) => name === lexicon) ? lexicon : "");
    for (const key of AXES) put(key, plane[key]);
  }

  show(counts) {
    const lists = listsOf(this.state);
    const names = Object.fromEntries(ROLES.map((role) => [role, this.state.names[role] || role.toUpperCase()]));
    const { changed, suggested } = this.state;
    const lexicon = changed ? "" : this.state.lexicon;
    this.result = evaluateLists(this.vocabulary, lists, { names, lexicon, suggested });
    this.lists = lists;
    this.named = names;
    this.countTry(counts);
    this.toLink();
    byId("undo").disabled = !this.done.length;
    byId("redo").disabled = !this.undone.length;
    for (const role of ROLES) {
      this.showCoverage(role);
      this.showSuggestions(role);
    }
    this.showVerdict();
    this.showTries();
    this.showMeasured();
    this.showWords();
    this.showFrequency();
    this.showPlane();
    this.showExport();
  }

  // Lists that were measured count once, in whatever order their words are. A shipped test with which a page begins does
  // not count; lists of somebody's own do, although the link that brings them says nothing of tries.
  countTry(counts) {
    if (this.result.p === null) return;
    const key = ROLES.map((role) => [...this.lists[role]].sort().join(" ")).join("|");
    const shipped = this.state.lexicon && !this.state.changed;
    if ((counts || (!shipped && !this.tries)) && !this.seen.has(key)) this.tries++;
    this.seen.add(key);
  }

  // --- to take away --------------------------------------------------------------------------------------------------

  showExport() {
    const chosen = FORMATS[byId("format").value];
    byId("format-remark").textContent = chosen.remark;
    byId("export").textContent = chosen.text(this.vocabulary, this.state, this.lists, this.tries);
    byId("copied").textContent = "";
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(byId("export").textContent);
      byId("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(byId("export"));
      byId("copied").textContent = "Selected: copy with Ctrl+C.";
    }
  }

  download() {
    const name = `${fileName(this.state)}${FORMATS[byId("format").value].ending}`;
    const address = URL.createObjectURL(new Blob([byId("export").textContent], { type: "text/plain" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1_000);
    byId("copied").textContent = `Saved as ${name}.`;
  }
}

// What programs may ask: lists as arrays of words or as text.
function evaluateTyped(vocabulary, lists, options) {
  const words = (value) => (typeof value === "string" ? wordsOf(value) : [...(value ?? [])]);
  return evaluateLists(vocabulary, Object.fromEntries(ROLES.map((role) => [role, words(lists?.[role])])), options);
}

async function start() {
  const lists = JSON.parse(new TextDecoder().decode(await unpackedBytes("lists")));
  const vocabulary = new Vocabulary(lists, await unpackedBytes("numbers"));
  const { bits, dim, source, date, quantization_error: cosine, contrast_error: contrast } = vocabulary;
  byId("main").hidden = false;
  byId("loading").hidden = true;
  const page = new Page(vocabulary);
  window.workbench = { vocabulary, page, evaluate: (typed, options) => evaluateTyped(vocabulary, typed, options), leaveOneOut };
  const tests = contrast === null ? "" : `, and the contrast of a shipped test by ${contrast.toPrecision(2)} at most`;
  byId("about").textContent = `${plural(vocabulary.words.length, "word")} × ${dim} of ${source}, ${date}, rounded to ${bits} bits per number. Rounding changes the cosine of two words by ${cosine.toPrecision(2)} at most (100,000 random pairs)${tests}. The smallest contrast that matters is ${number(vocabulary.rules.smallest)}: ${vocabulary.chosen_smallest === null ? "what a test with lists of eight words detects in these vectors with a power of one third" : "chosen when the page was made"}. Neighbors are looked for among the words of this page.`;
  document.documentElement.dataset.ready = "yes";
}

// A page that cannot start says so: old browsers cannot unpack it, and a file may be cut off.
document.addEventListener("DOMContentLoaded", () =>
  start().catch((problem) => {
    byId("main").hidden = true;
    byId("loading").hidden = false;
    byId("loading").textContent = `The page could not be unpacked (${problem.message}). It needs a browser of 2023 or later, and the whole file.`;
  }),
);
