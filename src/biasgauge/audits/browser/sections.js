"use strict";
// Sections of the page: coverage, verdict, numbers, evidence, contribution of words, frequency, two axes.

const TONES = { report: ["good", "full"], "report-with-care": ["caution", "half"], "do-not-report": ["bad", "cross"], "no-association-shown": ["quiet", "ring"], inconclusive: ["quiet", "query"], "not-measurable": ["quiet", "dash"] }; // prettier-ignore
const SIGNS = new Map([[true, ["✓", "holds", "good"]], [false, ["✗", "fails", "bad"]], [null, ["?", "unknown", "part"]]]); // prettier-ignore
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const number = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
const badge = (role, names) => make("span", { class: "role", title: names[role], role: "img", "aria-label": `${role.toUpperCase()}: ${names[role]}` }, role.toUpperCase());
const PLURAL = /(s|people|women|men)$/;
const SINGULAR = /(ics|arts|ss)$/;
// Words of a list in a sentence: "flowers", "mental-disease words".
const phrase = (name) => {
  const noun = name.split(/ (?:of|for|in) /, 1)[0];
  return name.includes(" words") || (PLURAL.test(noun) && !SINGULAR.test(noun)) ? name : `${name.replaceAll(" ", "-")} words`;
};
const EDGES = /^["'“”‘’[\](){}]+|["'“”‘’[\](){}.]+$/g;

// Words of a text that was typed or pasted: separated by spaces, commas, semicolons or lines; quotes and brackets go.
const wordsOf = (text) => [...new Set(text.split(/[\s,;]+/).map((word) => word.replace(EDGES, "")).filter(Boolean))];

// Draws the result of the lists at hand; `Page` has the state that they are of.
class Sections {
  showCoverage(role) {
    const { found, lost, asked } = this.result.coverage[role];
    const families = this.vocabulary.familiesOf(found);
    const forms = new Map();
    found.forEach(({ word }, index) => forms.set(families[index], [...(forms.get(families[index]) ?? []), word]));
    const related = [...forms.values()].filter((words) => words.length > 1).map((words) => words.join("/"));
    const notes = [];
    for (const reason of new Set(lost.map((entry) => entry.reason))) {
      const words = lost.filter((entry) => entry.reason === reason).map(({ word }) => word);
      const why = { [NOT_THERE]: "not in the vocabulary", [ON_BOTH_SIDES]: "left out, an attribute too" }[reason] ?? reason;
      notes.push(make("span", { class: reason === NOT_THERE ? "bad" : "part" }, `${why}: `, make("bdi", {}, words.join(", ")), ". "));
    }
    if (related.length) notes.push(make("span", {}, `Forms of one word count once: ${related.join(", ")}. `));
    const opposite = this.result.coverage[{ x: "y", y: "x", a: "b", b: "a" }[role]].found;
    const both = found.filter(({ row }) => opposite.some((entry) => entry.row === row)).map(({ word }) => word);
    if (both.length) notes.push(make("span", { class: "bad" }, `In both lists: ${both.join(", ")}. `));
    const few = this.result.effective?.["xy".includes(role) ? 0 : 1]["xa".includes(role) ? 0 : 1];
    const count = forms.size;
    const effective = few !== undefined && few < 0.95 * count ? `, ${few.toFixed(1)} effective: some are near each other` : "";
    const summary = asked ? make("b", {}, `${found.length} of ${plural(asked, "word")}`) : make("span", {}, "No words yet.");
    byId(`coverage-${role}`).replaceChildren(summary, asked ? `${effective}. ` : "", ...notes);
  }

  showSuggestions(role) {
    const box = byId(`suggestions-${role}`);
    if (!byId(`more-${role}`).open) return;
    const { found } = this.result.coverage[role];
    const near = this.vocabulary.suggestions(found.map(({ row }) => row), ROLES.flatMap((one) => this.result.coverage[one].found)); // prettier-ignore
    const add = (word) =>
      this.change((state) => {
        Page.setWords(state, role, [...wordsOf(state.words[role]), word].join(", "));
        state.suggested = [...new Set([...state.suggested, word])];
      });
    const chips = near.map(({ word }) => make("li", {}, make("button", { type: "button", onclick: () => add(word) }, `+ ${word}`)));
    const note = near.length ? "Nearest words in these vectors, as ideas. They are not independent evidence: with one of them in a list, the verdict is inconclusive." : "Type a word for suggestions.";
    box.replaceChildren(make("p", { class: "soft" }, note), make("ul", { class: "chips" }, ...chips));
  }

  // The answer in a clause, as biasgauge words it.
  claim() {
    const { x, y, a, b } = this.named;
    return `${phrase(x)} are more associated with ${phrase(this.result.side > 0 ? a : b)} than ${phrase(y)} are`;
  }

  showVerdict() {
    const { decision, reason, evidence } = this.result;
    const [tone, mark] = TONES[decision];
    const { x, y, a, b } = this.named;
    const claim = ["report", "report-with-care", "do-not-report"].includes(decision) && this.claim();
    const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
    const failed = evidence.filter(({ passes }) => passes === false).map((piece) => piece.reason);
    const why = reason || (decision === "no-association-shown" && evidence.find(({ rule }) => rule === "equivalence").reason) || failed.find((text) => text !== evidence[0].reason) || evidence[0].reason;
    const unknown = decision === "report-with-care" ? evidence.filter(({ passes }) => passes === null).map((piece) => piece.reason) : [];
    const label = decision.replaceAll("-", " ");
    byId("verdict").className = `card ${tone}`;
    byId("verdict").replaceChildren(
      make("p", { class: "decision" }, shape(mark), make("span", {}, capital(label)), this.result.certainty ? make("small", {}, `certainty: ${this.result.certainty}`) : null),
      make("p", { class: "claim" }, capital(claim ? `${claim}.` : `are ${phrase(x)} more associated with ${phrase(a)} than ${phrase(y)} are, compared with ${phrase(b)}?`)),
      make("p", {}, `${capital([why, ...unknown].join("; "))}.`),
      ...this.tooShort().map((sentence) => make("p", {}, sentence)),
    );
    const value = this.result.adjusted ?? this.result.contrast;
    byId("bar").textContent = `${label}${value === null ? "" : ` · contrast ${signed(value)} · ${pPhrase(this.result.p)}`}`;
    byId("bar").hidden = false;
  }

  // Sides on which so few splits exist that no p over them can be as small as alpha.
  tooShort() {
    const { alpha } = this.vocabulary.rules;
    const sides = (this.result.splits ?? []).map((split, index) => [split, ["X and Y", "A and B"][index]]);
    return sides
      .filter(([split]) => split?.exact && 2 / split.splits > alpha)
      .map(([split, lists]) => `${lists} are too short: their words can be split in only ${split.splits} ways, so p over them cannot be below ${number(Math.min(1, 2 / split.splits), 2)}. Add words.`);
  }

  showTries() {
    const { p } = this.result;
    const { alpha } = this.vocabulary.rules;
    const count = this.tries;
    const lines = [];
    if (count < 2) {
      lines.push(make("p", {}, make("b", {}, count ? "Lists tried: 1. " : "Lists tried: none yet. "), "A p value means what it says for lists that were fixed before anybody looked at results. The more lists are tried, the less the last one means (forking paths)."));
    } else {
      const chance = 1 - (1 - alpha) ** count;
      const corrected = p === null ? null : Math.min(1, p * count);
      const still = corrected === null ? "" : ` Corrected for all of them (Bonferroni), these lists have ${pPhrase(corrected)}, ${corrected <= alpha ? "still" : "no longer"} below ${alpha}.`;
      lines.push(make("p", {}, make("b", {}, `Lists tried: ${count}. `), `Forking paths: where nothing is associated, up to ${Math.round(100 * chance)} % of readers who try ${count} sets of lists find a p below ${alpha}.${still} Report every set that was tried, or preregister the last one and ask other vectors.`));
    }
    byId("tries").replaceChildren(...lines);
  }

  showMeasured() {
    const { result } = this;
    byId("measured").hidden = result.contrast === null;
    if (result.contrast === null) return;
    const rows = [["unadjusted", result.contrast, result.low, result.high]];
    if (this.vocabulary.logs) rows.push(["at equal word frequency", result.adjusted, result.adjusted_low, result.adjusted_high]);
    const band = result.smallest;
    const axis = axisOver([...rows.flatMap(([, ...values]) => values), band, -band]);
    const tone = { good: "good", caution: "part", bad: "bad" }[TONES[result.decision][0]] ?? "soft";
    byId("intervals").replaceChildren(
      ...rows.flatMap(([name, value, low, high], index) => [
        make("span", {}, name),
        intervalDrawing(axis, value, low, high, band, index === rows.length - 1 ? tone : "soft"),
        make("span", { class: "estimate" }, make("b", {}, signed(value)), ` ${low === null ? "no interval" : ends(low, high)}`),
      ]),
      make("span", { class: "corner" }),
      tickRow(axis, "contrast, in cosine units; gray: too small to matter"),
    );
    const facts = [];
    const add = (term, text, small) => facts.push(make("div", {}, make("dt", {}, term), make("dd", {}, text, small ? make("small", {}, small) : null)));
    if (result.p !== null) {
      const how = result.splits.map((split) => (split === null ? "" : split.exact ? `all ${plural(split.splits, "split")}` : `${plural(split.splits, "random split")}`));
      add("p of the verdict", pPhrase(result.p).replace("p = ", "").replace("p ", ""), "the largest of the three");
      add("p over other targets", pPhrase(result.p_targets).replace("p = ", "").replace("p ", ""), how[0]);
      add("p over other attributes", pPhrase(result.p_attributes).replace("p = ", "").replace("p ", ""), how[1]);
      add("p of the contrast (t)", pPhrase(result.p_contrast).replace("p = ", "").replace("p ", ""), result.df === null ? "" : `${result.df.toFixed(1)} degrees of freedom`);
    }
    if (result.power?.detectable) {
      const { now, detectable, words } = result.power;
      add(`power for ±${number(band)}`, `${Math.round(100 * now)} %`, "the smallest contrast that matters");
      add("detectable contrast", number(detectable), "with power .80");
      add("words needed", words === null ? "–" : words.toLocaleString("en"), words === null ? "no number is enough" : `per list, for power .80 at ±${number(band)}`);
    }
    byId("numbers-of").replaceChildren(...facts);
    byId("evidence").replaceChildren(
      ...result.evidence.map(({ passes, reason }) => {
        const [sign, word, tone] = SIGNS.get(passes);
        return make("li", {}, make("i", { class: tone, role: "img", "aria-label": word }, sign), make("span", {}, reason));
      }),
    );
  }

  showWords() {
    const { result } = this;
    byId("details").hidden = result.p === null || result.p === undefined;
    if (byId("details").hidden) return;
    const value = result.adjusted ?? result.contrast;
    const { targets, attributes } = leaveOneOut(result);
    const rows = [...targets.map((word) => ({ ...word, role: "xy"[word.list] })), ...attributes.map((word) => ({ ...word, role: "ab"[word.list] }))]
      .map((word) => ({ ...word, share: word.value === null ? null : value - word.value }))
      .sort((one, two) => Math.abs(two.share ?? 0) - Math.abs(one.share ?? 0));
    const shares = rows.map(({ share }) => share).filter((share) => share !== null);
    const axis = axisOver(shares.length ? shares : [1]);
    const without = rows.map((row) => row.value).filter((number) => number !== null);
    const turned = rows.filter((row) => row.value !== null && row.value * value < 0).map(({ words }) => words[0]);
    const range = without.length ? `Without any one word the contrast lies between ${signed(Math.min(...without))} and ${signed(Math.max(...without))}` : "";
    byId("words-remark").textContent = `Bars: contrast${result.adjusted === null ? "" : " at equal word frequency"} less the contrast without the word. ${range}${turned.length ? `; without ${turned.slice(0, 3).join(" or ")} it changes its sign` : ""}.`;
    const head = make("thead", {}, make("tr", {}, ...["word", "list", "contributes", "", "without it"].map((text, index) => make("th", { scope: "col", class: index === 2 || index === 4 ? "number" : null }, text || make("span", { class: "unseen" }, "bar")))));
    const body = rows.map(({ words, role, share, value: left }) =>
      make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, words.join("/"))), make("td", {}, badge(role, this.named)), make("td", { class: "number" }, signed(share, 4)), make("td", { class: "bar" }, share === null ? "" : barDrawing(axis, share)), make("td", { class: "number" }, signed(left))),
    );
    byId("contributions").replaceChildren(head, make("tbody", {}, ...body));
  }

  showFrequency() {
    const { result, vocabulary } = this;
    if (vocabulary.logs === null) return void (byId("frequency-remark").textContent = "These vectors have no word frequencies, and their language has no reference list: whether frequency explains a contrast is unknown.");
    const ranks = vocabulary.frequency === "ranks" || vocabulary.frequency === "order";
    const groups = ROLES.map((role) => result.coverage[role].found);
    if (groups.some((found) => !found.length)) return;
    const logs = groups.map((found) => found.map(({ row }) => vocabulary.logs[row]));
    const axis = axisOver(logs.flat(), false);
    const shown = (log, notation = "standard") => (ranks ? Math.round(10 ** -log) : 10 ** log).toLocaleString("en", { maximumSignificantDigits: 2, notation });
    const powers = Array.from({ length: 20 }, (_, index) => index - 10).filter((log) => log >= axis.low && log <= axis.high);
    axis.ticks = powers.map((log) => [axis.at(log), shown(log, "compact")]);
    const median = (values) => [...values].sort((one, two) => one - two)[values.length >> 1];
    const apart = [[0, 1], [2, 3]].map(([one, two]) => 10 ** Math.abs(meanOf(logs[one]) - meanOf(logs[two]))); // prettier-ignore
    const most = [logs[0], logs[2]].map((values, index) => (meanOf(values) > meanOf(logs[2 * index + 1]) ? 2 * index : 2 * index + 1));
    const names = ROLES.map((role) => this.named[role]);
    const remark = apart.map((times, index) => `that of ${names[most[index]]} is ${times.toFixed(1)} times that of ${names[most[index] === 2 * index ? 2 * index + 1 : 2 * index]}`);
    byId("frequency-remark").textContent = `Geometric mean frequency: ${remark.join(", and ")}. The verdict holds frequency constant.`;
    byId("frequency").replaceChildren(
      ...groups.flatMap((found, index) => [make("span", {}, badge(ROLES[index], this.named), make("small", {}, ` ${ranks ? "rank " : ""}${shown(median(logs[index]))}`)), stripDrawing(axis, logs[index], found.map(({ word }) => word))]), // prettier-ignore
      make("small", {}, ranks ? "rank" : "count"),
      tickRow(axis),
    );
  }

  // Association of a row with some words rather than others, at equal frequency where it is known.
  lean(row, one, two) {
    const vector = (place) => (this.vocabulary.logs === null ? this.vocabulary.unit(place) : this.vocabulary.centered(place));
    const mean = (rows) => (rows.length ? meanOf(rows.map((other) => dot(vector(row), vector(other)))) : 0);
    return mean(one) - mean(two);
  }

  showPlane() {
    const { vocabulary, state } = this;
    byId("right").placeholder = `A: ${this.named.a}`;
    byId("left").placeholder = `B: ${this.named.b}`;
    byId("up").placeholder = vocabulary.logs === null ? "any words" : "frequent; or any words";
    byId("down").placeholder = vocabulary.logs === null ? "any words" : "rare; or any words";
    const rowsOf = (text) => vocabulary.find(wordsOf(text)).found.map(({ row }) => row);
    const [right, left, up, down] = [state.plane.right || state.words.a, state.plane.left || state.words.b, state.plane.up, state.plane.down].map(rowsOf);
    const entries = state.plane.plotted ? vocabulary.find(wordsOf(state.plane.plotted)).found.map((entry) => ({ ...entry, list: "further" })) : ["x", "y"].flatMap((role) => this.result.coverage[role].found.map((entry) => ({ ...entry, list: role })));
    if (!entries.length || !(right.length || left.length)) return byId("plane").replaceChildren(make("p", { class: "soft" }, "Words and attributes make a plot."));
    const vertical = up.length || down.length;
    const points = entries.map(({ word, row, list }) => ({ word, list, x: this.lean(row, right, left), y: vertical ? this.lean(row, up, down) : vocabulary.logs === null ? 0 : vocabulary.logs[row] - meanOf(entries.map((entry) => vocabulary.logs[entry.row])) }));
    const first = (rows) => (rows.length ? `${vocabulary.words[rows[0]]}${rows.length > 1 ? " …" : ""}` : "");
    const names = { right: state.plane.right ? first(right) : this.named.a, left: state.plane.left ? first(left) : this.named.b, up: vertical ? first(up) || `away from ${first(down)}` : "frequent", down: vertical ? first(down) || `away from ${first(up)}` : "rare" };
    const width = byId("plane").clientWidth || 600;
    const table = tableOf("Coordinates of the words", ["word", `${names.left} – ${names.right}`, `${names.down} – ${names.up}`], points.map(({ word, x, y }) => [word, signed(x), signed(y)]));
    byId("plane").replaceChildren(planeDrawing(points, names, width), make("details", {}, make("summary", {}, "Numbers"), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Coordinates of the words" }, table)));
  }
}
