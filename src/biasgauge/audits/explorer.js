"use strict";
// Looks words up in the scores that the page carries. Uses what page.js defines.

const ALL = "mean of all pairs";
const FEW = "in fewer than two replicates";
const LOWEST = -32000; // an integer below is undefined, for the reason at its distance from the smallest of all
const SMALLEST = -32768;
const LISTED = 25;
const SUGGESTED = 40;
const NEAREST = 5;

// How many letters have to be changed, added or left out to make one word of the other.
function distance(one, other) {
  let before = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let column = 1; column <= other.length; column++) {
      const changed = before[column - 1] + (one[row - 1] === other[column - 1] ? 0 : 1);
      now.push(Math.min(changed, before[column] + 1, now[column - 1] + 1));
    }
    before = now;
  }
  return before[other.length];
}

// Integers of 16 bits from hexadecimal digits: all high bytes, then all low ones.
function integers(text) {
  const count = text.length / 4;
  const byte = (place) => parseInt(text.slice(2 * place, 2 * place + 2), 16);
  return Int16Array.from({ length: count }, (_, place) => (byte(place) << 8) | byte(count + place));
}

// Mean of what is defined, without an interval.
function meanOf(found) {
  const known = found.filter((one) => one && one.score !== null).map((one) => one.score);
  return { score: known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null, low: null, high: null };
}

// Scores as the explorer asks for them; a place of `pairs.length` among pairs stands for the mean of all, places beyond
// it for means of the lists that share some of the pairs.
function scoreBook(packed) {
  const words = packed.words.length;
  const pairs = packed.pairs.length;
  const scores = integers(packed.scores);
  const lists = Object.values(packed.lists);
  const tables = {};
  for (const name of ["over_pairs", "by_pair", "over_replicates"]) {
    if (packed[name]) tables[name] = { mean: integers(packed[name].mean), reach: integers(packed[name].reach) };
  }
  const number = (table, measure, place) => (table[place] < LOWEST ? null : table[place] * packed.scales[measure]);
  const withEnds = (table, measure, place) => {
    const score = number(table.mean, measure, place);
    const reach = number(table.reach, measure, place);
    const known = score !== null && reach !== null;
    return { score, low: known ? score - reach : null, high: known ? score + reach : null };
  };
  return {
    own(measure, pair, word) {
      if (pair > pairs) return meanOf(lists[pair - pairs - 1].map((one) => this.own(measure, one, word)));
      if (pair === pairs) return withEnds(tables.over_pairs, measure, measure * words + word);
      const place = (measure * pairs + pair) * words + word;
      const score = number(scores, measure, place);
      const reason = score === null ? packed.reasons[scores[place] - SMALLEST] : "";
      return { score, low: null, high: null, reason };
    },
    replicated(measure, pair, word) {
      if (!tables.by_pair) return null;
      if (pair > pairs) return meanOf(lists[pair - pairs - 1].map((one) => this.replicated(measure, one, word)));
      if (pair === pairs) return withEnds(tables.over_replicates, measure, measure * words + word);
      return withEnds(tables.by_pair, measure, (measure * pairs + pair) * words + word);
    },
    defined(measure, word) {
      return packed.pairs.filter((_, pair) => this.own(measure, pair, word).score !== null).length;
    },
  };
}

const under = (text, small) => make("span", {}, text, make("small", {}, small));

function replicateCells(found) {
  if (!found) return [];
  const none = found.score === null ? FEW : "–";
  return [shown(found.score), found.low === null ? make("small", {}, none) : between(found.low, found.high)];
}

// One word on every pair: a band for the page's words, an interval and a point for each of `series`.
function wordChart({ points, bands, order, series, measure, description }) {
  const y = { field: "pair", type: "nominal", sort: order, title: null, axis: { grid: false } };
  const yOffset = { field: "whose", type: "nominal", sort: series };
  const scale = { domain: series, range: ["var(--own)", "var(--others)"] };
  const legend = { orient: "top", labelLimit: 260, columns: room() < NARROW ? 1 : 2 };
  const color = { field: "whose", type: "nominal", title: null, scale, legend };
  const tooltip = ["word", "pair", "measure", "whose", "score", "low", "high"].map((field) => ({ field }));
  const axis = { type: "quantitative", title: `${measure} (← second word · first word →)` };
  const shared = { y, yOffset, color, tooltip };
  return {
    description,
    width: 480,
    height: order.length * (series.length > 1 ? 20 : 16),
    layer: [
      {
        data: { values: bands },
        mark: { type: "bar", color: "var(--band)", height: { band: 0.9 } },
        encoding: { y, x: { field: "from", ...axis }, x2: { field: "to" } },
      },
      {
        data: { values: [{}] },
        mark: { type: "rule", color: "var(--soft)", strokeDash: [3, 3] },
        encoding: { x: { datum: 0 } },
      },
      {
        data: { values: points.filter((one) => one.low !== null) },
        mark: { type: "rule", strokeWidth: 2 },
        encoding: { ...shared, x: { field: "low", ...axis }, x2: { field: "high" } },
      },
      {
        data: { values: points },
        mark: { type: "point", filled: true, size: 50, opacity: 1 },
        encoding: { ...shared, x: { field: "score", ...axis } },
      },
    ],
  };
}

function explorer(packed) {
  const book = scoreBook(packed);
  const places = new Map(packed.words.map((word, place) => [word, place]));
  const mean = packed.pairs.length;
  const names = [...packed.pairs.map((pair) => pair.join(" – ")), ALL, ...Object.keys(packed.lists)];
  const drawn = names.slice(0, mean + 1);
  const replicates = `mean of ${packed.replicates} replicates`;
  const series = packed.replicates ? [packed.model, replicates] : [packed.model];
  const sure = `${packed.level * 100} % interval`;
  const state = { word: places.get("nurse") ?? 0, measure: 0, pair: mean, ranked: [] };
  const measureName = () => packed.measures[state.measure];
  const measureShown = (name = measureName()) => packed.names[name] ?? name;

  function plot() {
    const told = { word: packed.words[state.word], measure: measureShown() };
    const points = [];
    const bands = [];
    drawn.forEach((pair, place) => {
      points.push({ ...told, pair, whose: packed.model, ...book.own(state.measure, place, state.word) });
      const held = book.replicated(state.measure, place, state.word);
      if (held) points.push({ ...told, pair, whose: replicates, ...held });
      const spread = packed.spread[state.measure][place];
      if (spread) bands.push({ pair, from: spread[0] - spread[1], to: spread[0] + spread[1] });
    });
    const score = (place) => book.own(state.measure, place, state.word).score ?? -1e9;
    const order = [ALL, ...[...packed.pairs.keys()].sort((a, b) => score(b) - score(a)).map((place) => names[place])];
    const defined = points.filter((one) => one.score !== null);
    if (!defined.length) {
      clear(byId("word-plot"));
      byId("word-plot").textContent = `Undefined: ${points[0].reason}.`;
      return undefined;
    }
    const description = byId("word-title").textContent;
    return draw(
      byId("word-plot"),
      wordChart({ points: defined, bands, order, series, measure: told.measure, description }),
    );
  }

  function rank(measure) {
    const value = book.own(measure, mean, state.word).score;
    if (value === null) return "–";
    const scores = packed.words.map((_, place) => book.own(measure, mean, place).score).filter((one) => one !== null);
    return `${Math.round((100 * scores.filter((one) => one < value).length) / Math.max(1, scores.length - 1))} %`;
  }

  function measureRow(name, measure) {
    const own = book.own(measure, mean, state.word);
    const count = `${book.defined(measure, state.word)} pairs`;
    const why = own.score === null ? book.own(measure, 0, state.word).reason : count;
    const held = replicateCells(book.replicated(measure, mean, state.word));
    return [measureShown(name), shown(own.score), under(between(own.low, own.high), why), ...held, rank(measure)];
  }

  function pairCell(measure, pair) {
    const own = book.own(measure, pair, state.word);
    const held = book.replicated(measure, pair, state.word);
    const first = own.score === null ? `undefined ${own.reason ?? ""}` : shown(own.score);
    if (!held) return first;
    return under(first, held.score === null ? FEW : `${shown(held.score)} (${between(held.low, held.high)})`);
  }

  function tables() {
    const word = packed.words[state.word];
    const count = packed.models?.[state.word];
    const held = packed.replicates ? [replicates, under(sure, `t over ${count} replicates`)] : [];
    const columns = ["measure", packed.model, under(sure, "t over pairs"), ...held, "leans more than"];
    fill(
      byId("word-measures"),
      `${word}: mean over pairs; at the end, how many of these words lean less to the first side`,
      columns,
      packed.measures.map(measureRow),
    );
    const below = packed.replicates ? `, and below it the ${replicates} with its ${sure}` : "";
    const rows = drawn.map((name, pair) => [name, ...packed.measures.map((_, measure) => pairCell(measure, pair))]);
    fill(byId("word-pairs"), `${word}: score of ${packed.model}${below}`, ["pair", ...packed.measures.map((name) => measureShown(name))], rows);
  }

  // Where there are no replicates, a mean over pairs has its interval over pairs.
  const overPairs = () => !packed.replicates && state.pair === mean;

  function listRow({ word, place, score, low, high }) {
    const attributes = { type: "button", class: "word", onclick: () => choose(place) };
    const held = replicateCells(book.replicated(state.measure, state.pair, place));
    const interval = overPairs() ? [between(low, high)] : held;
    return [make("button", attributes, make("bdi", {}, word)), shown(score), ...interval];
  }

  function list() {
    const wanted = byId("list-filter").value.trim().toLowerCase();
    const side = byId("side").value;
    const onSide = (score) => score !== null && (side === "both" || score > 0 === (side === "first"));
    state.ranked = packed.words
      .map((word, place) => ({ word, place, ...book.own(state.measure, state.pair, place) }))
      .filter((one) => onSide(one.score) && one.word.toLowerCase().includes(wanted))
      .sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
    byId("list-title").textContent = `Words with the largest scores: ${measureShown()}, ${names[state.pair]}`;
    const count = state.ranked.length;
    const caption = `${Math.min(LISTED, count)} of ${count.toLocaleString("en")} words; choose one to look at it`;
    const held = packed.replicates ? [replicates, under(sure, "t over replicates")] : [];
    const columns = ["word", packed.model, ...(overPairs() ? [under(sure, "t over pairs")] : held)];
    fill(byId("list"), caption, columns, state.ranked.slice(0, LISTED).map(listRow));
  }

  function show() {
    const grey = "Gray: mean ± one standard deviation of this page's words on the pair.";
    byId("word-title").textContent = `“${packed.words[state.word]}” on every pair: ${measureShown()}`;
    byId("word-remark").textContent = `${packed.about[measureName()]} ${grey}`;
    tables();
    return plot();
  }

  function choose(place) {
    state.word = place;
    byId("word").value = packed.words[place];
    byId("word-problem").textContent = "";
    remember();
    return show();
  }

  // The word and the choices are in the link, so that it can be sent to someone.
  function remember() {
    const chosen = new URLSearchParams({ word: packed.words[state.word] });
    if (state.measure) chosen.set("measure", measureName());
    if (state.pair !== mean) chosen.set("pair", names[state.pair]);
    history.replaceState(null, "", `#explorer?${chosen}`);
  }

  function recall() {
    const chosen = new URLSearchParams(location.hash.split("?")[1] ?? "");
    const place = places.get(chosen.get("word"));
    if (place === undefined) return false;
    state.word = place;
    state.measure = Math.max(0, packed.measures.indexOf(chosen.get("measure")));
    state.pair = names.includes(chosen.get("pair")) ? names.indexOf(chosen.get("pair")) : mean;
    byId("word").value = packed.words[place];
    for (const id of ["measure", "pair"]) byId(id).value = state[id];
    return true;
  }

  // Words of the page that are spelled most like what was typed.
  function nearest(typed) {
    const letters = typed.trim().toLowerCase();
    return packed.words
      .map((word) => ({ word, far: distance(letters, word.toLowerCase()) }))
      .filter((one) => one.far <= Math.max(2, letters.length / 3))
      .sort((a, b) => a.far - b.far)
      .slice(0, NEAREST);
  }

  // While someone types, only a whole word counts, and nothing is complained about.
  function look(typing) {
    const typed = byId("word").value;
    const place =
      places.get(typed) ?? (typing ? undefined : (places.get(typed.trim()) ?? places.get(typed.trim().toLowerCase())));
    const count = packed.words.length.toLocaleString("en");
    byId("word-problem").textContent = "";
    if (place !== undefined) return choose(place);
    if (typing) return undefined;
    const near = nearest(typed).map(({ word }) =>
      make("button", { type: "button", class: "word", onclick: () => choose(places.get(word)) }, word),
    );
    const meant = near.length ? " Did you mean " : "";
    byId("word-problem").append(`“${typed}” is not among the ${count} words of this page.${meant}`, ...near);
    return undefined;
  }

  function suggest() {
    const typed = byId("word").value.toLowerCase();
    const fitting = packed.words.filter((word) => word.toLowerCase().startsWith(typed)).sort();
    byId("suggestions").replaceChildren(...fitting.slice(0, SUGGESTED).map((word) => make("option", { value: word })));
    look(true);
  }

  function step(by) {
    const at = state.ranked.findIndex((one) => one.place === state.word);
    const next = state.ranked[(at + by + state.ranked.length) % state.ranked.length];
    if (next) choose(next.place);
  }

  function select(id, options, then) {
    byId(id).replaceChildren(...options.map((name, place) => make("option", { value: place }, name)));
    byId(id).value = state[id];
    byId(id).addEventListener("change", (event) => {
      state[id] = Number(event.target.value);
      then();
    });
  }

  select("measure", packed.measures.map((name) => measureShown(name)), () => (remember(), list(), show()));
  select("pair", names, () => (remember(), list()));
  byId("word").addEventListener("input", suggest);
  byId("word").addEventListener("change", () => look(false));
  byId("word").form.addEventListener("submit", (event) => event.preventDefault());
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("list-filter").addEventListener("input", list);
  byId("side").addEventListener("change", list);
  addEventListener("hashchange", () => recall() && (list(), show()));
  byId("look-up").hidden = false;
  byId("word").value = packed.words[state.word];
  recall();
  list();
  return show;
}

extras["explorer-data"] = explorer;
