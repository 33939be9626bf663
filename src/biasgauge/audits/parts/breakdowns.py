"""Breakdown of each contrast: by base pair, by replicate and by word; shown in the panels of the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.audits.measurement import Measured, QueryOutcome, Unmeasurable
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.rules import gender_roles, pair_differences, sides_along
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.core import Query, Record, words_phrase
from biasgauge.errors import InputError
from biasgauge.lexicons import AssociationTest
from biasgauge.results import group_name

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext


@dataclass(frozen=True)
class PartValue(Record):
    """The contrast by one base pair, or in one replicate, alone."""

    name: str
    value: float


@dataclass(frozen=True)
class WordShare(Record):
    """Share of one word in a contrast.

    Attributes:
        word: which.
        set: the list that it is in.
        role: "target" or "attribute"; shares of the targets sum to the contrast of the verdict, and so do those of the
            attributes.
        share: what it adds, in cosine units.
        without: the contrast without it; None where it is alone in its list.
    """

    word: str
    set: str
    role: str
    share: float
    without: float | None


@dataclass(frozen=True)
class Breakdown(Record):
    """One contrast taken apart.

    Attributes:
        question, model: whose contrast, as in the verdict.
        asked: what is asked, as a question in plain words.
        statement: what the direction of the contrast says, in plain words; holds only as far as the verdict does.
        sizes: words of each list that were found, targets first, then attributes.
        measures: the mean over those pairs by each measure, in its own units; only the signs can be compared.
        pairs: the contrast by each base pair in the place of a list of men and women; empty where there is none.
        replicates: the contrast in each replicate; empty where there is one model.
        words: what each word adds.
        viewed: whether replicates are views of one transformer.
    """

    question: str
    model: str
    asked: str
    statement: str
    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    pairs: tuple[PartValue, ...] = ()
    measures: tuple[PartValue, ...] = ()
    replicates: tuple[PartValue, ...] = ()
    words: tuple[WordShare, ...] = ()
    viewed: bool = False


def break_down(measured: QueryOutcome, scores: SharedScores) -> Breakdown:
    """Take a contrast apart; where it could not be measured, there is the question alone."""
    question, subject = measured.query, measured.subject
    question_text, statements = wording(question)
    start = (question.name, subject.name, question_text)
    if isinstance(measured, Unmeasurable):
        return Breakdown(*start, statement="", sizes=((), ()))
    pairs, measures = _pairs(measured, scores)
    replicates: tuple[PartValue, ...] = ()
    if subject.replicated:
        replicates = _named([model.name for model in subject.models], measured.contrasts_by_model)
    return Breakdown(
        *start,
        statement=statements[0 if measured.value > 0 else 1],
        sizes=measured.test.contrast.words,
        pairs=pairs,
        measures=measures,
        replicates=replicates,
        viewed=subject.viewed,
        words=(*_shares(measured, "target"), *_shares(measured, "attribute")),
    )


def wording(question: Query) -> tuple[str, tuple[str, str]]:
    """Return the question, and the statements of a positive and of a negative contrast, in plain words."""
    names = [words_phrase(words) for words in question.targets]
    if question.kind == "test":
        ends = [words_phrase(words) for words in question.attributes]
        claim = f"{names[0]} are more associated with {{}} than {names[1]} are"
        question_text = f"Are {names[0]} more associated with {ends[0]} than {names[1]} are?"
        return question_text, (claim.format(ends[0]), claim.format(ends[1]))
    if question.kind == "stereotypes":
        groups = listed([group_name(words.name) for words in question.targets])
        words, comparison = f"words for {groups}", "each other's" if len(names) == 2 else "the others'"
        claim = f"{words} are {{}} their own stereotypes than {{}} {comparison}"
        question_text = f"Are {words} closer to their own stereotypes than to {comparison}?"
        return question_text, (claim.format("closer to", "to"), claim.format("farther from", "from"))
    return f"Do {question.claims[0]}?", question.claims


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _pairs(measured: Measured, scores: SharedScores) -> tuple[tuple[PartValue, ...], tuple[PartValue, ...]]:
    """The contrast by each base pair, its own or in the place of its lists of men and women; and by measure."""
    test = measured.query.lexicon
    if measured.query.pairs:
        return _named(measured.attribute_words, measured.contrasts_by_pair), ()
    roles = gender_roles(test, scores.language) if isinstance(test, AssociationTest) else ""
    if not isinstance(test, AssociationTest) or not roles:
        return (), ()
    sides = sides_along(test, roles)
    try:
        words = list(dict.fromkeys((*sides[0].words, *sides[1].words)))
        word_scores = scores.of_words(measured.subject.models[0], words)
    except InputError:
        return (), ()
    differences = pair_differences(word_scores, sides)
    means = [float(row[~np.isnan(row)].mean()) if not np.isnan(row).all() else np.nan for row in differences]
    pairs = ["–".join(pair) for pair in word_scores.pairs]
    return _named(pairs, differences[0]), _named(word_scores.measures, means)


def _named(names: Iterable[str], values: Iterable[float]) -> tuple[PartValue, ...]:
    """Values under their names, without those that are undefined."""
    return tuple(
        PartValue(name, float(value)) for name, value in zip(names, values, strict=True) if not np.isnan(value)
    )


def _shares(measured: Measured, role: str) -> tuple[WordShare, ...]:
    """Share of each target, or of each attribute, in the contrast of the verdict, and the contrast without it."""
    defined = measured.test.decisive.contrast.value is not None
    tables, side, across = measured.decisive if defined else (measured.table, *measured.as_it_is)
    table, weights = tables.mean(axis=0), np.asarray(measured.query.weights, np.float64)
    words, sets = measured.target_words, [words_phrase(words) for words in measured.query.targets]
    if role == "attribute":
        table, weights, side, across = table.T, weights.T, across, side
        words = measured.attribute_words
        sets = ["base pairs"] if measured.query.pairs else [words_phrase(words) for words in measured.query.attributes]
    # Similarity of each word with each list across, at equal covariates, times its weight in the contrast.
    lists = len(side.sizes), len(across.sizes)
    similarity = table @ across.inverse[: lists[1]].T
    shares = (similarity * (side.inverse[: lists[0]].T @ weights)).sum(axis=1)
    without = (side.means_without_each(similarity) * weights).sum(axis=(1, 2)).tolist()
    return tuple(
        WordShare(word, sets[group], role, float(share), None if np.isnan(rest) else rest)
        for word, group, share, rest in zip(words, side.groups.tolist(), shares, without, strict=True)
    )


def measure(context: AuditContext) -> PartRows:
    """Take every contrast apart."""
    return PartRows(tuple(break_down(outcome, context.scores) for outcome in context.outcomes))


def summarize(_: PartRows) -> None:
    """Show nothing here: the panels of the verdicts show it."""


PART = ShippedPart(
    "breakdowns", "Breakdown of the contrasts", measure, summarize, order=20, stage="testing",
    read=PartRows.reader(Breakdown.from_dict),
)  # fmt: skip
