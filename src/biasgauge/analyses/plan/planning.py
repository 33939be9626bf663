"""Plan a measurement: the standard error of a contrast tells what its lists can detect, whatever its value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge import lexicons
from biasgauge.analyses.plan.result import DoubtfulWord, FurtherWord, ListPower, PowerPlan
from biasgauge.audits import build_context
from biasgauge.core import (
    DEFAULT_POLICY,
    LexiconLike,
    ModelsLike,
    WordPolicy,
    check_number,
    resolve_sets,
    word_families,
)
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import AssociationTest
from biasgauge.lexicons.recipes import BuiltLexicon, SourceFiles, WordNet, build, read_recipe
from biasgauge.stats import BOTH, SIDES, Contrast, contrast_power, detectable_contrast, plan_words
from biasgauge.vectors import Embedding, load_default_replicates, load_models

OUTLYING = 3.0
"""Robust standard deviations from the median log frequency of a list, beyond which a word is an outlier."""
AMBIGUOUS = 0.5
"""Share of a word's use in its most frequent meaning, in WordNet's tagged text, up to which it is ambiguous."""
_MAD_TO_SD = 1.4826
_PASSED = ("", "matching", "size")
"""Steps of a recipe before which a candidate has passed every filter."""


def plan(
    vectors: ModelsLike | None,
    test: LexiconLike,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    size: float | None = None,
    recipe: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    policy: WordPolicy = DEFAULT_POLICY,
    replicates: bool = False,
    random_state: int = 0,
) -> PowerPlan:
    """Say what the lists of a test can detect in some vectors, how many words it takes, and which to drop and to add.

    Only the standard error of the contrast is used, so that planning does not look at the answer.

    Args:
        vectors: one model, or replicates of one, which are measured together; when None, the shipped replicates.
        test: a lexicon of kind test.
        power: wanted chance of detection.
        alpha: two-sided error of the test; divided by the number of questions, where several are asked.
        size: smallest contrast that matters; by default that of the audit, the spread of contrasts of random words.
        recipe: a recipe for the lists, whose sources offer words to add.
        data: folders with the files of these sources, and with WordNet, by which ambiguous English words are found.
        policy: how words are looked up.
        replicates: all of `vectors` are replicates, although no recipe lies beside them to say so.
        random_state: random seed of the default `size`.

    Raises:
        LexiconError: the lexicon is no test, or the recipe is wrong.
        ParameterError: a number is impossible, or models are no replicates of each other.
    """
    check_number(0, 1, ends=False, power=power, alpha=alpha)
    if power <= alpha:
        raise ParameterError(
            f"The 'power' parameter must be above 'alpha', the chance of a false alarm. Got {power:g} and {alpha:g}."
        )
    if size is not None:
        check_number(0, ends=False, size=size)
    lexicon = lexicons.lexicon(test)
    models = load_default_replicates() if vectors is None else load_models(vectors)
    if not isinstance(lexicon, AssociationTest):
        raise LexiconError(
            f"{lexicon.name!r} holds {lexicon.kind}; a plan is for a lexicon of kind test: one of those that "
            '`biasgauge lexicons list --kind test` lists, or a TOML file with kind = "test" and the lists x, y, a and b'
        )
    context = build_context(models, lexicons=[lexicon], policy=policy, replicates=replicates, random_state=random_state)
    if len(context.subjects) != 1:
        raise ParameterError(
            f"A plan is for one model or its replicates. Got {len(context.subjects)} different models."
        )
    (subject,), model = context.subjects, models[0]
    if size is None:
        size = context.smallest_contrast(subject)
    (outcome,) = context.outcomes
    measured = getattr(outcome, "test", None)
    contrast = None if measured is None else measured.decisive.contrast
    reason = getattr(outcome, "reason", "") or "" if contrast is None else contrast.reason or ""
    numbers: dict[str, Any] = dict.fromkeys(("detectable", "power_now", "targets", "attributes", "both"))
    if contrast is not None and contrast.se:
        needed = plan_words(contrast, size, power=power, alpha=alpha)
        numbers = {
            "detectable": detectable_contrast(contrast, power=power, alpha=alpha),
            "power_now": contrast_power(contrast, size, alpha=alpha),
            "targets": needed.targets,
            "attributes": needed.attributes,
            "both": needed.both,
        }
    lists = tuple(_list_powers(lexicon, model, policy, contrast))
    ambiguous, unchecked = _ambiguous_words(lexicon, data)
    candidates = _further_words(lexicon, model, recipe, data) if recipe is not None else ()
    return PowerPlan(
        test=lexicon.name,
        model=subject.name,
        power=power,
        alpha=alpha,
        size=size,
        **numbers,
        # The side with the larger share of the variance, and its list with the fewest effective words.
        bottleneck=max(lists, key=lambda row: (row.side_variance, -row.effective)).role,
        lists=lists,
        drop=(*_doubtful_words(lexicon, model, policy), *ambiguous),
        candidates=candidates,
        reason=reason,
        warnings=tuple(filter(None, ("" if recipe is not None else "Name a recipe for words to add.", unchecked))),
    )


def _ambiguous_words(
    lexicon: AssociationTest, data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
) -> tuple[tuple[DoubtfulWord, ...], str]:
    """Words without a meaning that is most of their use; and a warning where they cannot be looked for."""
    if lexicon.language != WordNet.language:
        return (), f"Ambiguous words were not looked for: there is no WordNet of the language {lexicon.language!r}."
    folders = [data] if isinstance(data, (str, os.PathLike)) else data
    try:
        wordnet = SourceFiles(Path(), tuple(map(Path, folders))).wordnet()
    except LexiconError as problem:
        return (), f"Ambiguous words were not looked for: {problem}."
    rows = []
    for role, members in lexicon.roles.items():
        for word in dict.fromkeys(members.words):
            shares = wordnet.shares(word)
            largest = max(shares.values(), default=1.0)
            if largest <= AMBIGUOUS:
                meanings = f"the most frequent of its {len(shares)} meanings"
                rows.append(
                    DoubtfulWord(role, word, f"{meanings} is {largest:.2f} of its use in WordNet's tagged text")
                )
    return tuple(rows), ""


def _list_powers(
    lexicon: AssociationTest, model: Embedding, policy: WordPolicy, contrast: Contrast | None
) -> Iterator[ListPower]:
    """Words of each list, and the share of its side in the squared standard error, interaction in equal parts."""
    resolved = resolve_sets(lexicon.sets, [model], policy)
    variances = contrast.variances if contrast is not None and contrast.se else {}
    shared = max(variances.get(BOTH, 0.0), 0.0)
    by_side = {side: max(variances.get(side, 0.0) - shared, 0.0) + shared / 2 for side in SIDES}
    total = sum(by_side.values())
    effective = contrast.effective if contrast is not None else ()
    for index, (role, members) in enumerate(lexicon.roles.items()):
        side, number = SIDES[index // 2], index % 2
        found = len(resolved[role].words)
        count = float(effective[index // 2][number]) if effective else float(found)
        yield ListPower(role, members.name, found, count, side, by_side[side] / total if total else 0.0)


def _doubtful_words(lexicon: AssociationTest, model: Embedding, policy: WordPolicy) -> Iterator[DoubtfulWord]:
    """Words out of vocabulary, of two lists, of one family with another, or of a frequency far from the list's."""
    log = model.log_frequencies(lexicon.language)
    home: dict[str, str] = {}
    for role, resolved in resolve_sets(lexicon.sets, [model], policy).items():
        for word, reason in resolved.lost.items():
            yield DoubtfulWord(role, word, reason)
        first: dict[str, str] = {}
        for word, family in zip(resolved.words, word_families(resolved.words, lexicon.language), strict=True):
            if first.setdefault(family, word) != word:
                yield DoubtfulWord(role, word, f"of one family with {first[family]}")
            if home.setdefault(word.lower(), role) != role:
                yield DoubtfulWord(role, word, f"stands in the list {home[word.lower()]}, too")
        if log is not None and len(resolved.words) > 2:
            values = log.values[resolved.rows[0]]
            median = float(np.median(values))
            spread = _MAD_TO_SD * float(np.median(np.abs(values - median)))
            for word, value in zip(resolved.words, values.tolist(), strict=True):
                if spread and abs(value - median) > OUTLYING * spread:
                    direction = "rarer" if value < median else "more frequent"
                    times = 10 ** abs(value - median)
                    yield DoubtfulWord(role, word, f"{times:,.0f} times {direction} than the median word of the list")


def _further_words(
    lexicon: AssociationTest,
    model: Embedding,
    recipe: str | os.PathLike[str] | Mapping[str, Any],
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> tuple[FurtherWord, ...]:
    """Candidates of a recipe that passed its filters and are no form of a word of the lexicon, most typical first."""
    roles = {key: wanted.role for key, wanted in read_recipe(recipe).lists.items()}
    built: BuiltLexicon = build(recipe, vectors=[model], data=data)
    passed = [row for row in built.candidates if row.step in _PASSED and roles[row.list_name] in lexicon.roles]
    words = [*lexicon.words, *(row.word for row in passed)]
    families = word_families(words, lexicon.language)
    present = set(families[: len(lexicon.words)])
    return tuple(
        FurtherWord(roles[row.list_name], row.word, row.source, row.evidence, row.log10_frequency)
        for row, family in zip(passed, families[len(lexicon.words) :], strict=True)
        if family not in present
    )
