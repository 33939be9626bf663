"use strict";
// From four lists of words to a verdict: what biasgauge.core.resolve and biasgauge.audits do with them.

const ROLES = ["x", "y", "a", "b"];
const ON_BOTH_SIDES = "it, or another form of it, is an attribute too";
const LEAST_COVERAGE = 0.8;
const HELD_OUT = 4; // words of another list that are enough to ask again
const KNOWN_FREQUENCIES = { counts: "the counts that come with the vectors", ranks: "the ranks that come with the vectors", order: "the order of the words in the file, which is that of frequency" };

// Look the words of four lists up; targets of which a form is an attribute are dropped.
function resolveLists(vocabulary, lists) {
  const sets = Object.fromEntries(ROLES.map((role) => [role, vocabulary.find(lists[role] ?? [])]));
  const entries = ["a", "b", "x", "y"].flatMap((role) => sets[role].found.map((entry) => ({ ...entry, role })));
  const families = vocabulary.familiesOf(entries);
  const attributes = new Set(families.filter((_, index) => "ab".includes(entries[index].role)));
  const shared = new Set(families.flatMap((family, index) => ("xy".includes(entries[index].role) && attributes.has(family) ? [`${entries[index].role} ${entries[index].word}`] : [])));
  for (const role of ["x", "y"]) {
    const gone = sets[role].found.filter(({ word }) => shared.has(`${role} ${word}`));
    sets[role].found = sets[role].found.filter(({ word }) => !shared.has(`${role} ${word}`));
    sets[role].lost.push(...gone.map(({ word }) => ({ word, reason: ON_BOTH_SIDES })));
  }
  return sets;
}

// Reason why lists cannot be measured; empty where they can.
function shortfall(sets, least = LEAST_COVERAGE) {
  const short = ROLES.filter((role) => !sets[role].found.length || sets[role].found.length < least * sets[role].asked);
  if (short.length) return `fewer than ${100 * least} % of the words found: ${short.map((role) => `${role} ${sets[role].found.length} of ${sets[role].asked}`).join(", ")}`;
  const rows = new Set(sets.x.found.map(({ row }) => row));
  const twice = sets.y.found.find(({ row }) => rows.has(row));
  return twice ? `the word ${twice.word} is in both target lists, X and Y: remove it from one` : "";
}

// Words of one side, each family of a list as one: the mean of its words.
function sideWords(vocabulary, entries, families) {
  const groups = new Map();
  entries.forEach((entry, index) => {
    const key = `${entry.list} ${families[index]}`;
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  });
  return [...groups.values()].map((forms) => {
    const average = (vectors) => vectors[0].map((_, at) => meanOf(vectors.map((vector) => vector[at])));
    const vectors = forms.map(({ row }) => vocabulary.unit(row));
    const mean = forms.length === 1 ? vectors[0] : average(vectors);
    const length = Math.sqrt(dot(mean, mean));
    const centered = vocabulary.logs === null ? null : forms.map(({ row }) => vocabulary.centered(row));
    return {
      list: forms[0].list,
      words: forms.map(({ word }) => word),
      mean,
      unit: mean.map((value) => value / length),
      centered: centered === null ? null : centered.length === 1 ? centered[0] : average(centered),
      log: vocabulary.logs === null ? null : meanOf(forms.map(({ row }) => vocabulary.logs[row])),
    };
  });
}

// Both tables of four lists, with the sides of each: as they are, and at equal word frequency.
function tabulate(vocabulary, sets) {
  const entries = ROLES.flatMap((role, index) => sets[role].found.map((entry) => ({ ...entry, role, list: index % 2 })));
  const families = vocabulary.mergeVectors(entries, vocabulary.familiesOf(entries));
  const isTarget = (index) => "xy".includes(entries[index].role);
  const [targets, attributes] = [true, false].map((wanted) => {
    const chosen = entries.map((_, index) => index).filter((index) => isTarget(index) === wanted);
    return sideWords(vocabulary, chosen.map((index) => entries[index]), chosen.map((index) => families[index])); // prettier-ignore
  });
  const table = (key) => productTurned(targets.map((word) => word[key]), attributes.map((word) => word[key])); // prettier-ignore
  const effective = [targets, attributes].map((side) =>
    [0, 1].map((list) => {
      const members = side.filter((word) => word.list === list);
      return effectiveWords(members.map(({ unit }) => unit));
    }),
  );
  const sides = (powers) =>
    [targets, attributes].map((side, index) =>
      tableSide(side.map(({ list }) => list), effective[index], side[0].log === null ? null : side.map(({ log }) => log), powers),
    ); // prettier-ignore
  const known = vocabulary.logs !== null;
  return { targets, attributes, values: table("mean"), plain: sides(0), centered: known ? table("centered") : null, equal: known ? sides(2) : null };
}

// Which lists stand for men and women, in the order of the base pairs: "ab", "ba", "xy", "yx", or empty.
function genderRoles(vocabulary, lists) {
  if (!vocabulary.pairs.length) return "";
  const ends = [0, 1].map((end) => new Set(vocabulary.pairs.map((pair) => pair[end])));
  const share = (role, end) => lists[role].filter((word) => ends[end].has(word)).length / lists[role].length;
  return ["ab", "ba", "xy", "yx"].find((roles) => share(roles[0], 0) >= 0.5 && share(roles[1], 1) >= 0.5) ?? "";
}

// Scores of two lists of words along each base pair, by three measures: mean of the first list less that of the second.
function pairDifferences(vocabulary, first, second) {
  const usable = vocabulary.pairs
    .map((pair) => ({ pair, rows: pair.map((word) => vocabulary.row(word)) }))
    .filter(({ rows }) => rows.every((row) => row >= 0 && vocabulary.lengths[row] > 0));
  const members = [first, second].map((words) => vocabulary.find(words).found.map(({ row }) => row));
  const neighbors = new Map(members.flat().map((row) => [row, vocabulary.nearest(row)]));
  const lean = ([one, two], row) => dot(vocabulary.unit(one), vocabulary.unit(row)) - dot(vocabulary.unit(two), vocabulary.unit(row));
  const measures = {
    dbwa: lean,
    ripa: ([one, two], row) => {
      const [from, to] = [vocabulary.vector(one), vocabulary.vector(two)];
      const direction = from.map((value, at) => value - to[at]);
      return dot(direction, vocabulary.vector(row)) / Math.sqrt(dot(direction, direction));
    },
    nbm: (rows, row) => {
      const near = neighbors.get(row);
      return near === null ? NaN : sumOf(near.map((other) => Math.sign(lean(rows, other)))) / near.length;
    },
  };
  const mean = (values) => meanOf(values.filter((value) => !Number.isNaN(value)));
  return usable.map(({ pair, rows }) => {
    const row = { pair: pair.join("–") };
    for (const [name, score] of Object.entries(measures)) {
      const [one, two] = members.map((list) => mean(list.map((word) => score(rows, word))));
      row[name] = one - two;
    }
    return row;
  });
}

// Every base pair in the place of the lists for men and women, and other measures over them.
function judgePairs(vocabulary, lists, roles, side, rules) {
  const [first, second] = roles === "ab" || roles === "ba" ? [lists.x, lists.y] : [lists.a, lists.b];
  const along = roles === "ab" || roles === "xy" ? [first, second] : [second, first];
  const pairs = pairDifferences(vocabulary, ...along).filter(({ dbwa }) => !Number.isNaN(dbwa));
  if (!pairs.length) return [{ rule: "base pairs", passes: null, reason: "unknown whether base pairs give the same direction: no pair has both of its words in the vocabulary" }];
  const against = pairs.filter(({ dbwa }) => Math.sign(dbwa) !== side);
  const agree = pairs.length - against.length;
  const named = against.slice(0, 3).map(({ pair }) => pair).join(", ") + (against.length > 3 ? ", …" : ""); // prettier-ignore
  const evidence = [countedEvidence("base pairs", agree, pairs.length, rules.agreement, named)];
  const directions = ["ripa", "nbm"].map((name) => [name, pairs.map((pair) => pair[name]).filter((value) => !Number.isNaN(value))]);
  const defined = directions.filter(([, values]) => values.length);
  if (defined.length) {
    const reversing = defined.filter(([, values]) => Math.sign(meanOf(values)) !== side).map(([name]) => name.toUpperCase());
    evidence.push(countedEvidence("measures", defined.length - reversing.length, defined.length, 1, reversing.join(", ")));
  } else evidence.push({ rule: "measures", passes: null, reason: "unknown whether other measures give the same direction: too few neighbors" });
  return evidence;
}

function countedEvidence(rule, agree, total, threshold, against) {
  const passes = agree / total >= threshold;
  const required = agree === total ? "" : ` (${Math.round((100 * agree) / total)} %; ${threshold === 1 ? "all" : `${100 * threshold} %`} required)`;
  const but = against ? `, ${against} ${against.includes(",") ? "do" : "does"} not` : "";
  return { rule, agree, of: total, threshold, passes, reason: `${passes ? "" : "only "}${agree} of ${total} ${rule}${required} give the same direction${but}` };
}

// Words that stand for two of the lists in other tests, and that no list has in any form. Other tests are those that
// repeat the question of the test that the lists are of, or whose question it repeats; and those that have both concepts
// as attributes of the same names.
function otherWords(vocabulary, lists, names, lexicon, roles) {
  const tests = vocabulary.lexicons.filter(({ kind }) => kind === "test");
  const repeated = tests.find(({ name }) => name === lexicon)?.repeats;
  const words = new Map(roles.map((role) => [role, new Set()]));
  for (const test of tests) {
    if (test.name === lexicon) continue;
    const repeats = lexicon && (test.repeats === lexicon || test.name === repeated);
    const sets = new Map(test.sets.filter(({ role }) => repeats || "ab".includes(role)).map((set) => [repeats ? set.role : set.name, set.words]));
    const keys = roles.map((role) => (repeats ? role : names[role]));
    if (keys.every((key) => sets.has(key))) roles.forEach((role, index) => sets.get(keys[index]).forEach((word) => words.get(role).add(word)));
  }
  const entries = [...ROLES.flatMap((role) => lists[role]), ...roles.flatMap((role) => [...words.get(role)])].map((word) => ({ word, row: vocabulary.row(word) }));
  const families = vocabulary.familiesOf(entries);
  const count = sumOf(ROLES.map((role) => lists[role].length));
  const known = new Set(families.slice(0, count));
  const further = new Set(entries.slice(count).filter((_, index) => !known.has(families[count + index])).map(({ word }) => word));
  return Object.fromEntries(roles.map((role) => [role, [...words.get(role)].filter((word) => further.has(word))]));
}

// The question again with the attributes, then with the targets, of other tests for the same concepts.
function judgeHeldOut(vocabulary, lists, names, lexicon, side, rules) {
  return [["attributes", ["a", "b"]], ["targets", ["x", "y"]]].flatMap(([name, roles]) => {
    const others = otherWords(vocabulary, lists, names, lexicon, roles);
    if (roles.some((role) => others[role].length < HELD_OUT)) return [];
    const sets = resolveLists(vocabulary, { ...lists, ...others });
    if (shortfall(sets, 0.5)) return [];
    const { tables, test, value } = measure(vocabulary, sets);
    if (value === null) return [];
    const p = (test.adjusted ?? test).contrast.p ?? 1;
    const passes = Math.sign(value) === side && p <= rules.alpha;
    const sizes = [0, 1].map((list) => tables[name].filter((word) => word.list === list).length);
    const concepts = `${names[roles[0]]} and ${names[roles[1]]}`;
    return [{ rule: `held-out ${name}`, passes, p, contrast: value, reason: `other words for ${concepts} (${sizes.join(" and ")}) give ${passes ? "the same" : "no such contrast"}: ${signed(value)}, ${pPhrase(p)}` }];
  });
}

// The contrast of looked-up lists as it is, at equal frequency, and the value that a verdict rests on.
function measure(vocabulary, sets) {
  const tables = tabulate(vocabulary, sets);
  const test = contrastTest(tables.values, ...tables.plain);
  test.adjusted = tables.centered === null ? null : contrastTest(tables.centered, ...tables.equal);
  return { tables, test, value: test.adjusted?.contrast.value ?? test.contrast.value };
}

// Decide from the evidence, as biasgauge.core.decide.
function decide(found, small, stable) {
  if (small) return "no-association-shown";
  if (!found) return "inconclusive";
  if (stable.some((passes) => passes === false)) return "do-not-report";
  return stable.length && stable.every(Boolean) ? "report" : "report-with-care";
}

const signed = (value, digits = 3) => (value === null ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`);
const pPhrase = (p) => (p === null ? "p unknown" : p < 0.001 ? "p < .001" : `p = ${p.toFixed(3).replace(/^0/, "")}`);
const ends = (low, high) => (low === null ? "without an interval" : `[${signed(low)}, ${signed(high)}]`);

// Everything about four lists. `names` are those of the lists, `lexicon` that of the shipped test that they are of,
// `suggested` the words that nearness in these vectors suggested.
function evaluateLists(vocabulary, lists, { names = { x: "X", y: "Y", a: "A", b: "B" }, lexicon = "", suggested = [] } = {}) {
  const rules = vocabulary.rules;
  const sets = resolveLists(vocabulary, lists);
  const result = { contrast: null, low: null, high: null, adjusted: null, adjusted_low: null, adjusted_high: null, p: null, decision: "not-measurable" };
  Object.assign(result, { level: 1 - rules.alpha, reason: shortfall(sets), coverage: sets, evidence: [], smallest: rules.smallest });
  if (result.reason) return result;
  const { tables, test, value } = measure(vocabulary, sets);
  const decisive = test.adjusted ?? test;
  Object.assign(result, { contrast: test.contrast.value, tables, words: [tables.targets, tables.attributes].map((side) => [0, 1].map((list) => side.filter((word) => word.list === list).length)), effective: test.contrast.effective });
  if (test.p === null) return { ...result, reason: test.contrast.reason };
  [result.low, result.high] = test.interval(result.level);
  if (test.adjusted) {
    result.adjusted = test.adjusted.contrast.value;
    [result.adjusted_low, result.adjusted_high] = test.adjusted.interval(result.level);
  }
  result.p_unadjusted = test.p;
  result.p = decisive.p ?? 1;
  Object.assign(result, { se: decisive.contrast.se, df: decisive.contrast.df, p_contrast: decisive.contrast.p });
  Object.assign(result, { p_targets: decisive.targets?.p ?? null, p_attributes: decisive.attributes?.p ?? null, splits: [decisive.targets, decisive.attributes] });
  const side = value > 0 ? 1 : -1;
  const found = result.p <= rules.alpha;
  const evidence = [{ rule: "association", passes: found, reason: associationReason(result, test, found, rules) }];
  const suggestions = ROLES.flatMap((role) => sets[role].found.map(({ word }) => word)).filter((word) => suggested.includes(word));
  if (suggestions.length) evidence.push({ rule: "circularity", passes: false, reason: `${suggestions.length === 1 ? "a word was" : `${suggestions.length} words were`} suggested by these very vectors (${suggestions.join(", ")}), which proves nothing about them` });
  const [low, high] = contrastInterval(decisive.contrast, 1 - 2 * rules.alpha);
  const small = low !== null && low >= -rules.smallest && high <= rules.smallest;
  const within = `${Math.round(100 - 200 * rules.alpha)} % interval ${ends(low, high)}, smallest that matters ±${rules.smallest.toFixed(3)}`;
  evidence.push({ rule: "equivalence", passes: small, low, high, reason: `${small ? "any association is too small to matter" : "an association is neither shown nor ruled out"}: ${within}` });
  if (found && !small) evidence.pop();
  // That there is none is a claim, too: what is unknown about it counts.
  const judged = found || small ? judgeStability(vocabulary, lists, names, lexicon, side, rules) : [];
  const stable = small ? judged.filter(({ passes }) => passes === null) : judged;
  evidence.push(...stable);
  result.decision = suggestions.length ? "inconclusive" : decide(found && !small, small, stable.map(({ passes }) => passes));
  result.evidence = evidence;
  result.certainty = certaintyOf(result, rules);
  result.side = side;
  result.power = {
    now: contrastPower(decisive.contrast, rules.smallest, rules.alpha),
    detectable: detectableContrast(decisive.contrast, 0.8, rules.alpha),
    words: wordsNeeded(decisive.contrast, rules.smallest, 0.8, rules.alpha),
  };
  return result;
}

function associationReason(result, test, found, rules) {
  const plain = `${signed(result.contrast)} ${ends(result.low, result.high)}`;
  if (test.adjusted === null) return `contrast ${plain} in cosine units, ${pPhrase(result.p)}`;
  if (test.adjusted.contrast.value === null) return `contrast ${plain} in cosine units; at equal word frequency it is undefined: ${test.adjusted.contrast.reason}`;
  const equal = `${signed(result.adjusted)} ${ends(result.adjusted_low, result.adjusted_high)}`;
  const before = test.p <= rules.alpha;
  if (before && !found) return `explained by word frequency: contrast ${plain}, at equal word frequency ${equal}, ${pPhrase(result.p)}`;
  if (found && !before) return `contrast at equal word frequency ${equal}, ${pPhrase(result.p)}; word frequency hides it: ${plain} unadjusted`;
  return `contrast ${equal} at equal word frequency, ${pPhrase(result.p)}`;
}

const LEVELS = ["very low", "low", "moderate", "high"];
const DOMAINS = { circularity: "lists", "base pairs": "lists", "held-out attributes": "lists", "held-out targets": "lists", "other words": "lists", measures: "agreement", replicates: "agreement", "word frequency": "frequency" }; // prettier-ignore

// Certainty after GRADE, as biasgauge.audits.certainty: high, less a level for what is unknown and two for what fails, by
// domain; an answer that is neither shown nor ruled out is imprecise.
function certaintyOf({ decision, evidence, adjusted, low, high, adjusted_low, adjusted_high }, rules) {
  const lowered = {};
  const lower = (domain, levels) => (lowered[domain] = Math.max(lowered[domain] ?? 0, levels));
  if (decision === "inconclusive" && !evidence[0].passes) {
    const [from, to] = adjusted === null ? [low, high] : [adjusted_low, adjusted_high];
    lower("interval", from !== null && from < -rules.smallest && to > rules.smallest ? 3 : 2);
    if (adjusted !== null && low !== null && low * high > 0) lower("frequency", 1);
  }
  for (const { rule, passes } of evidence) if (rule in DOMAINS && passes !== true) lower(DOMAINS[rule], passes === null ? 1 : 2);
  return LEVELS[Math.max(1, LEVELS.length - sumOf(Object.values(lowered))) - 1];
}

// Whether a finding survives reasonable alternatives: frequency, other words, other measures, replicates.
function judgeStability(vocabulary, lists, names, lexicon, side, rules) {
  const source = vocabulary.frequency;
  const known = source !== null && source in KNOWN_FREQUENCIES;
  const frequency = known
    ? `word frequency is held constant by ${KNOWN_FREQUENCIES[source]}`
    : source === null
      ? "unknown whether word frequency explains it: frequencies are not known"
      : "word frequency is held constant by a reference list of the language, not by that of the text";
  const evidence = [{ rule: "word frequency", passes: known ? true : null, reason: frequency }];
  const roles = genderRoles(vocabulary, lists);
  const further = [...(roles ? judgePairs(vocabulary, lists, roles, side, rules) : []), ...judgeHeldOut(vocabulary, lists, names, lexicon, side, rules)];
  evidence.push(...(further.length ? further : [{ rule: "other words", passes: null, reason: "unknown whether other words for the same attributes give the same result: no second list of them is available" }]));
  evidence.push({ rule: "replicates", passes: null, reason: "unknown whether another training run gives the same result: the page has one model" });
  return evidence;
}

const FEW = 30; // words of a side, up to which it is fitted anew without each of them

// The contrast that a verdict rests on, without each word (or family of words) in turn; null where a list has no other.
function leaveOneOut({ tables, adjusted }) {
  const atEqual = adjusted !== null;
  const table = atEqual ? tables.centered : tables.values;
  const [rows, columns] = atEqual ? tables.equal : tables.plain;
  const difference = (side) => side.groups.map((_, word) => side.inverse[0][word] - side.inverse[1][word]);
  const against = (scores, side) => {
    const weights = difference(side);
    return scores.map((row) => dot(row, weights));
  };
  return {
    targets: withoutEach(tables.targets, rows, against(table, columns), atEqual),
    attributes: withoutEach(tables.attributes, columns, against(transposed(table), rows), atEqual),
  };
}

// With few words, leaving one out may change which powers of frequency are held constant: the side is fitted anew. With
// many, the fit without word i is the fit less (DᵀD)⁻¹ dᵢ · residual / slack, which is exact.
function withoutEach(words, side, scores, atEqual) {
  const coefficients = side.inverse.map((row) => dot(row, scores));
  const value = coefficients[0] - coefficients[1];
  return words.map((word, index) => {
    if (side.sizes[word.list] === 1) return { ...word, value: null };
    if (words.length > FEW) {
      const residual = scores[index] - dot(side.design[index], coefficients);
      const weight = side.inverse[0][index] - side.inverse[1][index];
      return { ...word, value: value - (weight * residual) / side.slack[index] };
    }
    const rest = words.filter((_, other) => other !== index);
    const fewer = tableSide(rest.map(({ list }) => list), [2, 2], atEqual ? rest.map(({ log }) => log) : null, 2); // prettier-ignore
    if (fewer.collinear) return { ...word, value: null };
    const others = scores.filter((_, other) => other !== index);
    return { ...word, value: dot(fewer.inverse[0], others) - dot(fewer.inverse[1], others) };
  });
}
