"""How often the audit's verdicts are wrong about lists that mean nothing, and how often they see what was planted.

    python bench/verdicts.py                     the whole table, 400 audits a row
    python bench/verdicts.py --audits 100 --rows relabeled

Each row is a kind of meaninglessness (METHODS 7.3): vectors without structure; words shuffled over the vocabulary;
attributes relabeled by a coin toss; a topic split into two lists beside other topics; attributes replaced by random
words of like frequency; random words along base pairs, pairs of which nobody knows the order, values that belong to
other words; on one file and on eight replicates. "report" counts audits in which any question is answered by `report`
or `report-with-care`, "found" those in which the rule "association" passes for any; "old rule" is Holm's correction of
WEAT's permutation p over targets alone. Then the share of planted contrasts that are found, by size and by words in
each list, and how often each rule fails.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from biasgauge import Embedding, registry
from biasgauge.audits.answers import answer_queries
from biasgauge.audits.measurement import LikeFrequency, Measured, QueryOutcome, measure
from biasgauge.audits.parts.null_lists import smallest_contrast
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject, subjects_of
from biasgauge.audits.verdict_rule import Case, Corrected, corrected_questions
from biasgauge.audits.verdicts import Rules
from biasgauge.core import WordPolicy
from biasgauge.core.geometry import unit_rows
from biasgauge.lexicons import (
    QUERY_KINDS,
    AssociationTest,
    Lexicon,
    Pairs,
    Stereotypes,
    Values,
    Words,
    WordSet,
    lexicon,
    queries_from_lexicons,
)
from biasgauge.metrics import contrast_test, side_of_words
from biasgauge.stats import holm, shift_between
from biasgauge.vectors import load_default, load_default_replicates

POLICY = WordPolicy(case="fallback")
ALPHA = 0.05
PAIRS = "du2021"
Drawn = Iterator[tuple[Sequence[Embedding], Sequence[Lexicon]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=400)
    parser.add_argument("--rows", default="", help="only rows whose name has this")
    parser.add_argument("--draws", type=int, default=300, help="planted questions of each size")
    asked = parser.parse_args()
    error = 2 * (ALPHA * (1 - ALPHA) / asked.audits) ** 0.5
    print(f"{asked.audits} audits a row; a row holds its promise up to {ALPHA + error:.3f}")
    print(f"{'lists without meaning':<52}{'report':>8}{'found':>8}{'old rule':>10}")
    for name, draw in nulls().items():
        if asked.rows in name:
            said, found, old = rates(draw(np.random.default_rng(19)), asked.audits)
            print(f"{name:<52}{said:>8.3f}{found:>8.3f}{old:>10.3f}{'' if said <= ALPHA + error else '   over'}")
    if asked.rows in "planted":
        planted(asked.draws)
    if asked.rows in "equivalence":
        called_too_small(asked.draws)
    if asked.rows in "fired":
        fired(max(asked.audits // 10, 1))


def nulls() -> dict[str, Callable[[np.random.Generator], Drawn]]:
    every = [one for one in registry.everything("lexicon").values() if one.language == "en" and one.kind in QUERY_KINDS]
    glove, runs = [load_default()], load_default_replicates()
    return {
        "isotropic vectors, one file": lambda random: isotropic(every, 1, random),
        "isotropic vectors and noise, 8 replicates": lambda random: isotropic(every, 8, random),
        "words shuffled over the vocabulary, GloVe": lambda random: shuffled(glove, every, random),
        "words shuffled over the vocabulary, SGNS × 8": lambda random: shuffled(runs, every, random),
        "A and B relabeled, GloVe": lambda random: relabeled(glove, every, random),
        "A and B relabeled, SGNS × 8": lambda random: relabeled(runs, every, random),
        "X and Y relabeled, GloVe": lambda random: relabeled(glove, every, random, targets=True),
        "random attributes of like frequency, GloVe": lambda random: like_frequency(glove, every, random),
        "random attributes of like frequency, SGNS × 8": lambda random: like_frequency(runs, every, random),
        "one topic as A and B, other topics as X and Y, GloVe": lambda random: topics(glove, random, "ab"),
        "one topic as X and Y, other topics as A and B, GloVe": lambda random: topics(glove, random, "xy"),
        "random words along base pairs, GloVe": lambda random: random_words(glove, random),
        "random words along base pairs, SGNS × 8": lambda random: random_words(runs, random),
        "base pairs turned by a coin toss, GloVe": lambda random: turned(glove, random),
        "base pairs turned by a coin toss, SGNS × 8": lambda random: turned(runs, random),
        "shares of women shuffled, GloVe": lambda random: values_shuffled(glove, random),
        "shares of women shuffled, SGNS × 8": lambda random: values_shuffled(runs, random),
    }


def isotropic(lexicons: Sequence[Lexicon], models: int, random: np.random.Generator) -> Drawn:
    words = tuple(dict.fromkeys(word for one in lexicons for word in one.words))
    while True:
        center = random.standard_normal((len(words), 100))
        noisy = [center + (random.standard_normal(center.shape) if models > 1 else 0.0) for _ in range(models)]
        yield (
            [Embedding(words, rows, name=f"run {place}", lineage="made") for place, rows in enumerate(noisy)],
            lexicons,
        )


def shuffled(models: Sequence[Embedding], lexicons: Sequence[Lexicon], random: np.random.Generator) -> Drawn:
    while True:
        order = random.permutation(len(models[0]))
        yield [replace(model, vectors=model.vectors[order]) for model in models], lexicons


def relabeled(
    models: Sequence[Embedding], lexicons: Sequence[Lexicon], random: np.random.Generator, *, targets: bool = False
) -> Drawn:
    while True:
        yield models, [_relabeled(one, random, targets=targets) for one in lexicons]


def _relabeled(one: Lexicon, random: np.random.Generator, *, targets: bool) -> Lexicon:
    if isinstance(one, AssociationTest):
        first, second = (one.x, one.y) if targets else (one.a, one.b)
        words = random.permutation([*first.words, *second.words]).tolist()
        new = replace(first, words=tuple(words[: len(first)])), replace(second, words=tuple(words[len(first) :]))
        sets: dict[str, Any] = dict(zip("xy" if targets else "ab", new, strict=True))
        return replace(one, **sets)
    if isinstance(one, Stereotypes):
        field = "protected" if targets else "attributes"
        words = random.permutation([word for group in one.groups for word in getattr(group, field)]).tolist()
        groups = []
        for group in one.groups:
            size = len(getattr(group, field))
            part: dict[str, Any] = {field: tuple(words[:size])}
            groups.append(replace(group, **part))
            words = words[size:]
        return replace(one, groups=tuple(groups), eval_targets=(), defining_sets=(), group_order=())
    return one


def like_frequency(models: Sequence[Embedding], lexicons: Sequence[Lexicon], random: np.random.Generator) -> Drawn:
    model = models[0]
    while True:
        yield models, [_like(one, model, random) for one in lexicons if isinstance(one, AssociationTest)]


def _like(one: AssociationTest, model: Embedding, random: np.random.Generator) -> AssociationTest:
    sets: dict[str, Any] = {}
    for role, members in (("a", one.a), ("b", one.b)):
        rows = model.lookup(members.words, case_fallback=True).rows
        drawn = dict.fromkeys(model.words[row] for row in LikeFrequency.of(model, "en").draw(rows, random))
        sets[role] = WordSet(members.name, tuple(drawn))
    return replace(one, **sets)


def topics(models: Sequence[Embedding], random: np.random.Generator, split: str) -> Drawn:
    """Eight words a list, all near neighbors of some word; two lists are the halves of one topic, at random."""
    units = unit_rows(np.asarray(models[0].vectors, np.float64), pairwise=True)

    def near(count: int) -> WordSet:
        rows = np.argsort(-(units @ units[random.integers(len(units))]))[: 4 * count]
        return WordSet("words", tuple(models[0].words[row] for row in random.choice(rows, count, replace=False)))

    while True:
        both = near(16).words
        sets = {role: near(8) for role in "xyab"}
        sets |= {role: WordSet(role, half) for role, half in zip(split, (both[:8], both[8:]), strict=True)}
        x, y, a, b = (sets[role] for role in "xyab")
        yield models, [AssociationTest(name="topics", language="en", x=x, y=y, a=a, b=b)]


def random_words(models: Sequence[Embedding], random: np.random.Generator) -> Drawn:
    """Three lists of twenty words of about the frequency of occupations, along the gender pairs."""
    model = models[0]
    rows = model.lookup(lexicon("bls2015").words, case_fallback=True).rows
    while True:
        drawn = (LikeFrequency.of(model, "en").draw(random.choice(rows, 20, replace=False), random) for _ in range(3))
        lists = [tuple(dict.fromkeys(model.words[row] for row in places)) for places in drawn]
        words = [Words(name=f"list-{place}", language="en", listed=listed) for place, listed in enumerate(lists)]
        yield models, [lexicon(PAIRS), *words]


def turned(models: Sequence[Embedding], random: np.random.Generator) -> Drawn:
    """Occupations along gender pairs whose order means nothing, as a list and by their share of women."""
    pairs, values = cast("Pairs", lexicon(PAIRS)), _known_values(models)
    words = Words(name="occupations", language="en", listed=values.words)
    while True:
        either = tuple(pair if random.random() < 0.5 else pair[::-1] for pair in pairs.pairs)
        yield models, [replace(pairs, pairs=either), words, values]


def values_shuffled(models: Sequence[Embedding], random: np.random.Generator) -> Drawn:
    """Occupations with the shares of women of others, along gender pairs."""
    values = _known_values(models)
    while True:
        shuffled_values = random.permutation([value for _, value in values.items]).tolist()
        yield models, [lexicon(PAIRS), replace(values, items=tuple(zip(values.words, shuffled_values, strict=True)))]


def _known_values(models: Sequence[Embedding]) -> Values:
    """Occupations that are in the vocabulary, with their share of women."""
    values = cast("Values", lexicon("bls2015"))
    return replace(values, items=tuple(item for item in values.items if item[0] in models[0]))


def rates(drawn: Drawn, audits: int) -> tuple[float, float, float]:
    """Shares of audits that report something, that find something, and that the old rule would have found in."""
    said = found = old = 0
    for _, (models, lexicons) in zip(range(audits), drawn, strict=False):
        subject = subjects_of(models)[0]
        asked, beside = put(subject, lexicons)
        seen = any(one.p <= ALPHA for one in beside.values())
        found += seen
        said += seen and _reports(asked, subject, lexicons)
        known = [one.test.p_targets for one in asked if isinstance(one, Measured) and one.test.p_targets is not None]
        old += any((p or 1.0) <= ALPHA for p in holm(known))
    return said / audits, found / audits, old / audits


def put(subject: Subject, lexicons: Sequence[Lexicon]) -> tuple[list[QueryOutcome], dict[int, Corrected]]:
    """Every question of these lexicons, put to a subject, and p of each beside the others."""
    asked = [measure(question, subject, POLICY, 0) for question in queries_from_lexicons(lexicons)]
    return asked, corrected_questions(asked, Rules())


def _reports(asked: Sequence[QueryOutcome], subject: Subject, lexicons: Sequence[Lexicon]) -> bool:
    scores = SharedScores(subject.models, tuple(lexicons), case_fallback=True)
    verdicts = answer_queries(asked, rules=Rules(), scores=scores, policy=POLICY, random_state=0)
    return any(verdict.decision.startswith("report") for verdict in verdicts)


def fired(audits: int) -> None:
    """How often each rule forbids or cannot know, on lists that mean nothing and on the shipped ones."""
    every = [one for one in registry.everything("lexicon").values() if one.language == "en" and one.kind in QUERY_KINDS]
    runs = load_default_replicates()
    print(f"\n{'rule':<24}{'asked':>8}{'fails':>8}{'unknown':>9}   on")
    lists = {
        "A and B relabeled": relabeled(runs, every, np.random.default_rng(5)),
        "the shipped lists": iter([(runs, every)]),
    }
    for name, drawn in lists.items():
        tally: dict[str, list[bool | None]] = {}
        for _, (models, lexicons) in zip(range(audits), drawn, strict=False):
            for _, rule, passes in pieces(subjects_of(models)[0], lexicons):
                tally.setdefault(rule, []).append(passes)
        for rule, outcomes in tally.items():
            asked = len(outcomes)
            fails, unknown = outcomes.count(False) / asked, outcomes.count(None) / asked
            print(f"{rule:<24}{asked:>8}{fails:>8.2f}{unknown:>9.2f}   {name}")


def pieces(subject: Subject, lexicons: Sequence[Lexicon]) -> Iterator[tuple[str, str, bool | None]]:
    """What every rule, as it is registered, says of every question, whether or not an association is found."""
    asked, beside = put(subject, lexicons)
    scores = SharedScores(subject.models, tuple(lexicons), case_fallback=True)
    for place, one in enumerate(asked):
        if not isinstance(one, Measured):
            continue
        case = Case(one, beside[place], beside[place], Rules(), 0.03, scores, POLICY, random_state=0)
        for name, rule in registry.everything("verdict_rule").items():
            yield from ((name, piece.rule, piece.passes) for piece in rule.judge(case))


def planted(draws: int) -> None:
    """How often a contrast of a known size is found, in GloVe vectors to which it was added."""
    model = load_default()
    log, means = model.log_frequencies("en"), model.frequency_means("en")
    if log is None or means is None:
        raise SystemExit("The shipped vectors lack frequencies of words.")
    random = np.random.default_rng(7)
    print(f"\n{'planted contrast':<20}{'words a list':>14}{'found':>8}{'old rule':>10}", flush=True)
    for words in (8, 25, 100):
        groups = np.repeat([0, 1], words)
        signs = 1 - 2 * groups
        for size in (0.0, 0.03, 0.06, 0.12, 0.2):
            found = old = 0
            for _ in range(draws):
                places = random.choice(len(model), 4 * words, replace=False)
                rows = unit_rows(model.vectors[places].astype(np.float64))
                along = random.standard_normal(rows.shape[1])
                along /= np.linalg.norm(along)
                pull = (size / 4) ** 0.5  # a contrast of four blocks with cosines of ± pull²
                rows += pull * np.concatenate([signs, signs])[:, None] * along
                rows = unit_rows(rows)
                frequencies = log.values[places]
                centered = rows - means.at(frequencies)
                targets, attributes = (
                    side_of_words(groups, rows[side] @ rows[side].T, frequencies[side])
                    for side in (slice(2 * words), slice(2 * words, None))
                )
                test = contrast_test(centered[: 2 * words] @ centered[2 * words :].T, targets, attributes)
                found += (test.p or 1.0) <= ALPHA
                associations = rows[: 2 * words] @ (signs @ rows[2 * words :])
                old += shift_between(associations[:words], associations[words:]).p <= ALPHA
            print(f"{size:<20.2f}{words:>14}{found / draws:>8.3f}{old / draws:>10.3f}", flush=True)


def called_too_small(draws: int) -> None:
    """How often a contrast of a known size is called too small to matter: at most .05 of those as large as matters."""
    model = load_default()
    subject, random = subjects_of([model])[0], np.random.default_rng(8)
    smallest = smallest_contrast(subject, [], 0)
    print(f"\n{'contrast / smallest':<20}{'words a list':>14}{'too small':>11}")
    for words in (8, 25, 100):
        groups = np.repeat([0, 1], words)
        signs = np.outer(1 - 2 * groups, 1 - 2 * groups)
        for share in (0.0, 0.5, 1.0, 1.5):
            small = 0
            for _ in range(draws):
                rows = unit_rows(model.vectors[random.choice(len(model), 4 * words, replace=False)].astype(np.float64))
                table = rows[: 2 * words] @ rows[2 * words :].T + share * smallest / 4 * signs
                small += (contrast_test(table, groups, groups).contrast.equivalence_p(smallest) or 1.0) <= ALPHA
            print(f"{share:<20.1f}{words:>14}{small / draws:>11.3f}")


if __name__ == "__main__":
    main()
