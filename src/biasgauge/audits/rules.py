"""Rules of the verdicts: association, random words, other words, views of a transformer, replicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from biasgauge import registry
from biasgauge.audits.measurement import FEWEST, Unmeasurable, measure
from biasgauge.audits.shared_scores import MEASURES
from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import CORRECTIONS, Evidence
from biasgauge.core import Flags, Floats, word_families
from biasgauge.errors import InputError
from biasgauge.lexicons import (
    AssociationTest,
    Language,
    WordSet,
    language_of,
    pairs_of,
    queries_from_lexicons,
)
from biasgauge.metrics import NO_FREQUENCIES
from biasgauge.results import p_phrase, signed_text
from biasgauge.scores import ScoreTensor
from biasgauge.stats import SIDES

CIRCULARITY = "circularity"
"""Rule that lists were not made from the vectors that they measure; the answer is inconclusive otherwise."""
FREQUENCY = "word frequency"
"""Rule that frequency is held constant."""
MOST_NAMED = 3
"""Base pairs that are named in a sentence."""
FEWEST_HELD_OUT = 4
"""Words of another list that are enough to ask again."""
FREQUENCIES = {
    "counts": "the counts that come with the vectors",
    "ranks": "the ranks that come with the vectors",
    "order": "the order of the words in the file, which is that of frequency",
    "reference": "a reference list of the language",
}
"""Sources of word frequencies, in a sentence."""
BASE_PAIRS = "unknown whether base pairs give the same direction: "


def judge_association(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if the largest p of the contrast, adjusted for all questions, is at most alpha.

    The contrast is that at equal word frequency, where frequencies are known.
    """
    test, alpha = case.measured.test, case.rules.alpha
    level = 1 - alpha / case.corrected.k
    low, high = test.interval(level)
    decisive = test.decisive
    numbers = {"contrast": test.value, "low": low, "high": high, "level": level, "p_unadjusted": test.p}
    if test.adjusted is not None:
        ends = test.adjusted.interval(level)
        numbers |= {"adjusted": test.adjusted.contrast.value, "adjusted_low": ends[0], "adjusted_high": ends[1]}
    tests = {"se": decisive.contrast.se, "df": decisive.contrast.df, "p_contrast": decisive.contrast.p,
             "p_targets": decisive.p_targets, "p_attributes": decisive.p_attributes, "p": case.measured.p}  # fmt: skip
    audit = {"questions": case.corrected.questions, "found": case.corrected.found, "k": case.corrected.k,
             "p_adjusted": case.corrected.p, "smallest": case.smallest}  # fmt: skip
    sides = zip(SIDES, test.contrast.effective, strict=False)
    effective = {
        f"effective_{side}_{place}": count for side, counts in sides for place, count in enumerate(counts, start=1)
    }
    passes = case.corrected.p <= alpha
    reason = _association_reason(case, level, passes=passes)
    yield Evidence("association", {**numbers, **tests, **audit, **effective}, alpha, passes, reason, "bias")


def _association_reason(case: Case, level: float, *, passes: bool) -> str:
    """Contrast, interval and p; and what word frequency has to do with them, where it changes the answer."""
    test = case.measured.test
    plain = f"{signed_text(test.value)} {_ends(test.interval(level))}"
    p = f"{p_phrase(case.measured.p)}{_corrected_text(case)}"
    if test.adjusted is None:
        return f"contrast {plain} in cosine units, {p}"
    adjusted = test.adjusted
    unadjusted_found = test.p is not None and test.p * case.corrected.k <= case.rules.alpha
    if adjusted.contrast.value is None:
        return f"contrast {plain} in cosine units; at equal word frequency it is undefined: {adjusted.contrast.reason}"
    equal = f"{signed_text(adjusted.contrast.value)} {_ends(adjusted.interval(level))} in cosine units"
    if unadjusted_found and not passes:
        return f"explained by word frequency: contrast {plain}, at equal word frequency {equal}, {p}"
    if passes and not unadjusted_found:
        return f"contrast at equal word frequency {equal}, {p}; word frequency hides it: {plain} unadjusted"
    return f"contrast {equal} at equal word frequency, {p}"


def _corrected_text(case: Case) -> str:
    """Adjusted p, by which method and among how many questions; empty for one question."""
    correction, method = case.corrected, CORRECTIONS[case.rules.correction]
    if correction.questions == 1:
        return "; the primary question, judged by itself" if correction.primary and correction.apart else ""
    which = ("primary " if correction.primary else "other ") if correction.apart else ""
    return f"; {method}-adjusted {p_phrase(correction.p)} among {correction.questions} {which}questions"


def _ends(interval: tuple[float | None, float | None]) -> str:
    low, high = interval
    return f"[{signed_text(low)}, {signed_text(high)}]" if low is not None else "without an interval"


def judge_circularity(case: Case) -> Iterator[Evidence]:
    """Yield evidence that fails if a list was made from these vectors or their text; none where no list says so."""
    query = case.measured.query
    if not any(lexicon.made for lexicon in query.sources):
        return
    from biasgauge.lexicons import circularity

    answer = circularity(query, case.measured.subject.models)
    if answer is not None:
        yield Evidence(CIRCULARITY, None, None, passes=answer.passes, reason=answer.reason)


def judge_frequency(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if the frequencies held constant are those of the text that the vectors are of."""
    sources = case.measured.similarities.frequency_sources
    known = {source for source in sources if source is not None}
    if None in sources:
        reason = f"unknown whether word frequency explains it: {NO_FREQUENCIES}"
        yield Evidence(FREQUENCY, None, None, None, reason, "word-frequency")
    elif "reference" in known and not case.measured.subject.viewed:
        reason = (
            "word frequency is held constant by a reference list of the language: the vectors have no counts or ranks, "
            "and are not in order of frequency"
        )
        yield Evidence(FREQUENCY, None, None, None, reason, "word-frequency")
    else:
        reason = f"word frequency is held constant by {' and '.join(FREQUENCIES[source] for source in sorted(known))}"
        yield Evidence(FREQUENCY, None, None, passes=True, reason=reason, link="word-frequency")


def judge_random_words(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes with enough random words; with fewer, the contrast has the lean of all words.

    Other kinds of question set two lists against each other and need no such comparison.
    """
    measured = case.measured
    if measured.query.kind != "lean":
        return
    leans = measured.random_leans
    if not leans.size:
        reason = f"unknown whether any words lean as much: the vocabulary has fewer than {FEWEST} of like frequency"
        yield Evidence("random words", None, FEWEST, None, reason, "chance")
        return
    mean = float(leans.mean())
    reason = f"relative to {len(leans)} random words of similar frequency, which lean by {signed_text(mean)}"
    yield Evidence(
        "random words", {"mean": mean, "words": len(leans)}, FEWEST, passes=True, reason=reason, link="chance"
    )


def judge_other_words(case: Case) -> Iterator[Evidence]:
    """Base pairs in the place of a list of men and women; attributes of another author for the same concept."""
    measured, test = case.measured, case.measured.query.lexicon
    if measured.query.pairs:
        same = np.sign(measured.contrasts_by_pair) == case.side
        yield _pair_directions(
            case, same, [word for word, good in zip(measured.attribute_words, same, strict=True) if not good]
        )
        return
    evidence = []
    if isinstance(test, AssociationTest):
        roles = gender_roles(test, case.scores.language)
        evidence = [*(_gender_pairs(case, test, roles) if roles else ()), *_held_out(case, test)]
    yield from evidence
    if not evidence:
        reason = (
            "unknown whether other words for the same attributes give the same result: no second list of them is "
            "available"
        )
        yield Evidence("other words", None, case.rules.alpha, None, reason)


def _pair_directions(case: Case, same: Flags, against: Sequence[str]) -> Evidence:
    """Evidence from base pairs that give the direction of the contrast, and those `against` it."""
    named = ", ".join(against[:MOST_NAMED]) + (", …" if len(against) > MOST_NAMED else "")
    but = f", {named} {'does' if len(against) == 1 else 'do'} not" if against else ""
    return Evidence.directions("base pairs", int(same.sum()), len(same), case.rules.agreement, "bias", but)


def gender_roles(test: AssociationTest, language: Language | None = None) -> str:
    """Roles of the sets for men and women, in the order of the base pairs of the language: "ab", "yx", or empty.

    `language` is the record of a language; a test in another one has no such sets.
    """
    language_record = language_of(test.language) if language is None else language
    if test.language != language_record.name or language_record.lacks("base_pairs"):
        return ""
    gender = pairs_of(language_record.named("base_pairs")[0])
    ends = [{pair[end] for pair in gender.pairs} for end in (0, 1)]
    for roles in ("ab", "ba", "xy", "yx"):
        sets = [test.roles[role] for role in roles]
        shares = [
            np.mean([word in gendered for word in group.words]) for group, gendered in zip(sets, ends, strict=True)
        ]
        if min(shares) >= 0.5:
            return roles
    return ""


def _gender_pairs(case: Case, test: AssociationTest, roles: str) -> Iterator[Evidence]:
    """Every base pair in the place of the two sets, and other measures over them."""
    sides = sides_along(test, roles)
    words = list(dict.fromkeys((*sides[0].words, *sides[1].words)))
    try:
        scores = case.scores.of_words(case.model, words)
    except InputError as problem:
        yield Evidence("base pairs", None, case.rules.agreement, None, f"{BASE_PAIRS}{problem}", "bias")
        return
    differences = pair_differences(scores, sides)
    usable = ~np.isnan(differences[0])
    if not usable.any():
        reason = f"{BASE_PAIRS}no pair has both of its words in the vocabulary"
        yield Evidence("base pairs", None, case.rules.agreement, None, reason, "bias")
        return
    same = np.sign(differences[0][usable]) == case.side
    pairs = ["–".join(pair) for pair in np.array(scores.pairs)[usable]]
    yield _pair_directions(case, same, [pair for pair, good in zip(pairs, same, strict=True) if not good])
    yield from _measures(case, sides, words, differences)


def _measures(case: Case, sides: Sequence[WordSet], words: Sequence[str], differences: Floats) -> Iterator[Evidence]:
    """Measures other than the cosine, which the contrast itself is made of, averaged over the pairs."""
    rows = dict(zip(MEASURES[1:], differences[1:], strict=True))
    if added := registry.added("measure"):
        scores = case.scores.of_pairs(case.model, words, case.scores.pairs, added)
        rows |= dict(zip(added, pair_differences(scores, sides), strict=True))
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


def pair_differences(scores: ScoreTensor, sides: Sequence[WordSet]) -> Floats:
    """Mean score of the first set less that of the second in the first model, measures × pairs; NaN where undefined."""
    values = scores.values[..., 0].astype(np.float64)
    index = {word: row for row, word in enumerate(scores.words)}
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
    """Ask again with attributes, then targets, of other tests for the same concepts, less the words of this one."""
    for roles, name in (("ab", "attributes"), ("xy", "targets")):
        sets = _other_words(test, roles)
        if min(len(members) for members in sets.values()) < FEWEST_HELD_OUT:
            continue
        roles_again: dict[str, Any] = {**test.roles, **sets}
        second_test = AssociationTest(name=test.name, language=test.language, **roles_again)
        query = next(queries_from_lexicons([second_test]))
        outcome = measure(query, case.measured.subject, replace(case.policy, min_coverage=0.5), case.random_state)
        if isinstance(outcome, Unmeasurable):
            continue
        again = outcome.test.decisive.contrast
        p = again.p if again.p is not None else 1.0
        passes = bool(np.sign(outcome.value) == case.side and p <= case.rules.alpha)
        sizes = outcome.test.contrast.words[roles == "ab"]
        ends = {"low": again.low, "high": again.high}
        numbers = {"contrast": outcome.value, **ends, "p": p, **dict(zip(roles, sizes, strict=True))}
        concepts = " and ".join(test.roles[role].name for role in roles)
        reason = (
            f"other words for {concepts} ({sizes[0]} and {sizes[1]}) give "
            f"{'the same' if passes else 'no such contrast'}: {signed_text(outcome.value)}, {p_phrase(p)}"
        )
        yield Evidence(f"held-out {name}", numbers, case.rules.alpha, passes, reason, "bias")


def _other_words(test: AssociationTest, roles: str) -> dict[str, WordSet]:
    """Words that stand for two sets of a test in other tests, and that it does not have in any form.

    Other tests are those that repeat its question, or whose question it repeats; for attributes also those that have
    both concepts under the same names.
    """
    words: dict[str, dict[str, None]] = {role: {} for role in roles}
    for lexicon in registry.everything("lexicon").values():
        if not isinstance(lexicon, AssociationTest) or lexicon.language != test.language or lexicon.name == test.name:
            continue
        if test.name == lexicon.repeats or lexicon.name == test.repeats:
            sets = {role: lexicon.roles[role].words for role in roles}
        else:
            named = {lexicon.a.name: lexicon.a.words, lexicon.b.name: lexicon.b.words}
            names = {role: test.roles[role].name for role in roles}
            sets = {role: named[name] for role, name in names.items()} if {*names.values()} <= named.keys() else {}
        for role, members in sets.items():
            words[role] |= dict.fromkeys(members)
    listed = list(dict.fromkeys(word for members in words.values() for word in members))
    families = word_families([*test.words, *listed], test.language)
    known = set(families[: len(test.words)])
    held_out = {word for word, family in zip(listed, families[len(test.words) :], strict=True) if family not in known}
    return {
        role: WordSet(test.roles[role].name, tuple(word for word in members if word in held_out))
        for role, members in words.items()
    }


def judge_views(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if enough views of a transformer give the pooled direction; none for other models."""
    measured = case.measured
    if not measured.subject.viewed:
        return
    contrasts = measured.contrasts_by_model
    against = [
        f"layer {model.facets['layer']} {model.facets['pooling']}"
        for model, value in zip(measured.subject.models, contrasts, strict=True)
        if np.sign(value) != case.side
    ]
    named = ", ".join(dict.fromkeys(against[:2]))
    but = f", others such as {named} do not" if against else ""
    yield Evidence.directions(
        "views", len(contrasts) - len(against), len(contrasts), case.rules.agreement, "views", but,
        least=float(contrasts.min()), most=float(contrasts.max()),
    )  # fmt: skip


def judge_replicates(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if every replicate gives the pooled direction; the interval covers other seeds."""
    subject = case.measured.subject
    if subject.viewed or not subject.replicated:
        why = (
            "all views are of one checkpoint"
            if subject.viewed
            else "there are no replicates (biasgauge train --seeds 8)"
        )
        reason = f"unknown whether another training run gives the same result: {why}"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    contrasts = case.measured.contrasts_by_model
    agree = int((np.sign(contrasts) == case.side).sum())
    least, most = float(contrasts.min()), float(contrasts.max())
    yield Evidence.directions("replicates", agree, len(contrasts), 1.0, "replicates", least=least, most=most)


RULE = (
    VerdictRule("association", "is there an association beyond these very words?", judge_association, 10),
    VerdictRule(CIRCULARITY, "were the lists made from other vectors, of another text?", judge_circularity, 11),
    VerdictRule("frequency", "is word frequency held constant?", judge_frequency, 12),
    VerdictRule(
        "random-words", "is a lean counted from what any words of like frequency give?", judge_random_words, 15
    ),
    VerdictRule(
        "other-words", "do other words for the same concept, and other measures, give the same?", judge_other_words, 20
    ),
    VerdictRule("views", "do layer, pooling, template and context leave the direction as it is?", judge_views, 25),
    VerdictRule("replicates", "do all replicates give the same direction?", judge_replicates, 30),
)
