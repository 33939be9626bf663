"""Do other words for the same concept, and other measures, give the same direction?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from biasgauge import registry
from biasgauge.audits.measurement import Measured, Unmeasurable, measure
from biasgauge.audits.shared_scores import MEASURES
from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.core import Floats
from biasgauge.errors import InputError
from biasgauge.lexicons import AssociationTest, Language, WordSet, language_of, pairs_of, queries_from_lexicons
from biasgauge.results import p_phrase, signed_text

NAMED = 3
"""Base pairs that are named in a sentence."""
FEWEST = 4
"""Words of another list that are enough to ask again."""


def judge(case: Case) -> Iterator[Evidence]:
    """Base pairs in the place of a list of men and women; attributes of another author for the same concept."""
    measured = case.measured
    test = measured.query.lexicon
    if measured.query.pairs:
        yield from _own_pairs(case)
        return
    evidence = []
    if isinstance(test, AssociationTest):
        roles = gender_roles(test, case.scores.language)
        evidence = [*(_pairs(case, test, roles) if roles else ()), *_held_out(case, test)]
    yield from evidence
    if not evidence:
        reason = "unknown whether other words for the same attributes give the same: no other list of them ships"
        yield Evidence("other words", None, case.rules.alpha, None, reason)


def _own_pairs(case: Case) -> Iterator[Evidence]:
    """Each base pair of the question by itself."""
    measured = case.measured
    same = np.sign(own_pair_contrasts(measured)) == case.side
    against = [word for word, good in zip(measured.attribute_words, same, strict=True) if not good]
    named = ", ".join(against[:NAMED]) + (", …" if len(against) > NAMED else "")
    but = f", {named} {'does' if len(against) == 1 else 'do'} not" if against else ""
    yield Evidence.directions("base pairs", int(same.sum()), len(same), case.rules.agreement, "bias", but)


def own_pair_contrasts(measurement: Measured) -> Floats:
    """The contrast of a question along base pairs, by each pair alone."""
    weights = np.array([row[0] for row in measurement.query.weights])
    means = np.stack(
        [measurement.table[:, measurement.rows == group].mean(axis=(0, 1)) for group in range(len(weights))]
    )
    return np.asarray(weights @ means)


def gender_roles(test: AssociationTest, language: Language | None = None) -> str:
    """Roles of the sets for men and women, in the order of the base pairs of the language: "ab", "yx", or empty.

    `language` is the record of a language; a test in another one has no such sets.
    """
    spoken = language_of(test.language) if language is None else language
    if test.language != spoken.name or spoken.lacks("base_pairs"):
        return ""
    gender = pairs_of(spoken.named("base_pairs")[0])
    ends = [{pair[end] for pair in gender.pairs} for end in (0, 1)]
    for roles in ("ab", "ba", "xy", "yx"):
        sets = [test.roles[role] for role in roles]
        shares = [
            np.mean([word in gendered for word in group.words]) for group, gendered in zip(sets, ends, strict=True)
        ]
        if min(shares) >= 0.5:
            return roles
    return ""


def _pairs(case: Case, test: AssociationTest, roles: str) -> Iterator[Evidence]:
    """Every base pair in the place of the two sets, and other measures over them."""
    sides = sides_along(test, roles)
    words = list(dict.fromkeys((*sides[0].words, *sides[1].words)))
    least = case.rules.agreement
    try:
        scores = case.scores.of_words(case.model, words)
    except InputError as problem:
        reason = f"unknown whether base pairs give the same direction: {problem}"
        yield Evidence("base pairs", None, least, None, reason, "bias")
        return
    differences = pair_differences(scores.values[..., 0].astype(np.float64), scores.words, sides)
    usable = ~np.isnan(differences[0])
    if not usable.any():
        reason = "unknown whether base pairs give the same direction: no pair has both of its words in the vocabulary"
        yield Evidence("base pairs", None, least, None, reason, "bias")
        return
    same = np.sign(differences[0][usable]) == case.side
    against = [pair for pair, good in zip(np.array(scores.pairs)[usable], same, strict=True) if not good]
    named = ", ".join("–".join(pair) for pair in against[:NAMED])
    but = f", {named}{', …' if len(against) > NAMED else ''} do not" if named else ""
    yield Evidence.directions("base pairs", int(same.sum()), int(usable.sum()), least, "bias", but)
    yield from _measures(case, sides, words, differences)


def _measures(case: Case, sides: Sequence[WordSet], words: Sequence[str], differences: Floats) -> Iterator[Evidence]:
    """Measures other than the cosine, which the contrast itself is made of, averaged over the pairs."""
    rows = dict(zip(MEASURES[1:], differences[1:], strict=True))
    if added := registry.added("measure"):
        added_scores = case.scores.of_pairs(case.model, words, case.scores.pairs, added)
        rows |= dict(
            zip(
                added,
                pair_differences(added_scores.values[..., 0].astype(np.float64), added_scores.words, sides),
                strict=True,
            )
        )
    defined = {name: row[~np.isnan(row)] for name, row in rows.items()}
    directions = {name: bool(np.sign(row.mean()) == case.side) for name, row in defined.items() if len(row)}
    if not directions:
        reason = (
            "unknown whether other measures give the same direction: too few neighbors, or no pair in the vocabulary"
        )
        yield Evidence("measures", None, 1.0, None, reason, "bias")
        return
    against = [name for name, same in directions.items() if not same]
    but = f", {', '.join(against)} {'reverses' if len(against) == 1 else 'reverse'} it" if against else ""
    yield Evidence.directions("measures", len(directions) - len(against), len(directions), 1.0, "bias", but)


def sides_along(test: AssociationTest, roles: str) -> tuple[WordSet, WordSet]:
    """The two sets that are measured along base pairs: those that do not stand for men and women.

    Scores along a base pair count from women to men. Where the test has women first, its contrast counts the other way,
    and so do its two sets.
    """
    first, second = (test.x, test.y) if roles in ("ab", "ba") else (test.a, test.b)
    return (first, second) if roles in ("ab", "xy") else (second, first)


def pair_differences(values: Floats, words: Sequence[str], sides: Sequence[WordSet]) -> Floats:
    """Mean score of the first set less that of the second, measures × pairs; NaN where a set has none."""
    index = {word: row for row, word in enumerate(words)}
    means = []
    for members in sides:
        member_scores = values[:, :, [index[word] for word in dict.fromkeys(members.words)]]
        undefined = np.isnan(member_scores).all(axis=2)
        member_scores[undefined] = 0.0  # a mean of nothing would warn
        mean = np.nanmean(member_scores, axis=2)
        mean[undefined] = np.nan
        means.append(mean)
    return np.asarray(means[0] - means[1])


def _held_out(case: Case, test: AssociationTest) -> Iterator[Evidence]:
    """The same targets with the attributes of other tests for the same concepts, less the words that these have."""
    attribute_words = {*test.a.words, *test.b.words}
    held_out: dict[str, dict[str, None]] = {"a": {}, "b": {}}
    for lexicon in registry.everything("lexicon").values():
        if not isinstance(lexicon, AssociationTest) or lexicon.language != test.language or lexicon.name == test.name:
            continue
        named = {lexicon.a.name: lexicon.a.words, lexicon.b.name: lexicon.b.words}
        if {test.a.name, test.b.name} <= named.keys():
            for role, name in (("a", test.a.name), ("b", test.b.name)):
                held_out[role] |= dict.fromkeys(word for word in named[name] if word not in attribute_words)
    if min(map(len, held_out.values())) < FEWEST:
        return
    second_test = AssociationTest(
        name=test.name,
        language=test.language,
        x=test.x,
        y=test.y,
        a=WordSet(test.a.name, tuple(held_out["a"])),
        b=WordSet(test.b.name, tuple(held_out["b"])),
    )
    outcome = measure(
        next(queries_from_lexicons([second_test])),
        case.measured.subject,
        replace(case.policy, min_coverage=0.5),
        case.random_state,
    )
    if isinstance(outcome, Unmeasurable):
        return
    again = outcome.test
    p = again.contrast.p if again.contrast.p is not None else 1.0
    passes = bool(np.sign(again.value) == case.side and p <= case.rules.alpha)
    sizes = again.contrast.words[1]
    ends = {"low": again.contrast.low, "high": again.contrast.high}
    numbers = {"contrast": again.value, **ends, "p": p, "a": sizes[0], "b": sizes[1]}
    reason = (
        f"other words for {test.a.name} and {test.b.name} ({sizes[0]} and {sizes[1]}) give "
        f"{'the same' if passes else 'no such contrast'}: {signed_text(again.value)}, {p_phrase(p)}"
    )
    yield Evidence("held-out attributes", numbers, case.rules.alpha, passes, reason, "bias")


RULE = VerdictRule("other-words", "do other words for the same concept, and other measures, give the same?", judge, 20)
