"""GAP: is a pronoun resolved as well when it is feminine?

Webster et al. 2018: snippets of Wikipedia with a pronoun and two names, A and B, each of which it may refer to; both
answers of a snippet count. F1 of "the pronoun refers to this name" over all snippets, over masculine and over feminine
ones, and their ratio, feminine by masculine, as in the released scorer.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.applications.coref.conll import file_text
from biasgauge.applications.coref.document import Document, Span, split_sentences, words_with_offsets
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.task_figures import gap_f1_charts
from biasgauge.core import Estimate, Floats, JsonObject, LabeledEstimate
from biasgauge.errors import CorpusError
from biasgauge.io import csv_rows
from biasgauge.results import Chart, Column, RecordTable, Result
from biasgauge.stats import BootstrapMethod, Resampling, bootstrap_settings, estimates_of_sums

GENDER = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "feminine"),
}
GROUPS = ("overall", "masculine", "feminine")
RATIO = "feminine / masculine"
DIFFERENCE = "masculine − feminine"
_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
_MAX_LEADING_WORDS = 2
"""Words before a name that a mention of it may begin with: "the late John Smith"."""
_ANSWERS = {"true": True, "false": False}
_NUMBERS = [(group, metric) for group in GROUPS for metric in ("precision", "recall", "f1")]
_NUMBERS += [(DIFFERENCE, "f1"), (RATIO, "f1")]


@dataclass(frozen=True)
class GapSnippet:
    """A text, the words of a pronoun and of the names A and B, and whether the pronoun refers to A, to B."""

    document: Document
    pronoun: Span
    names: tuple[Span, Span]
    answers: tuple[bool, bool]
    gender: str


@dataclass(frozen=True, kw_only=True)
class GapScore(LabeledEstimate):
    """One number about GAP, with its interval over snippets of the same kind.

    Rates are from 0 to 100, their difference is in percentage points; the ratio is 1 where both genders fare alike,
    below 1 where feminine pronouns fare worse.

    Attributes:
        subset: "overall", "masculine", "feminine", or what compares the latter two.
        metric: "precision", "recall" or "f1"; for comparisons always "f1".
        n: snippets.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "subset": "of"}

    subset: str
    metric: str


@dataclass(frozen=True, repr=False)
class GapF1(Result):
    """Performance on GAP by gender of the pronoun.

    Attributes:
        scores: by group and metric, then masculine − feminine, then feminine / masculine (the released scorer's bias).
        settings: what was asked for.
        warnings: what to know before reading the table.
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "scores",
            "Pronouns resolved, in percent",
            (
                Column("snippets", source="subset"),
                "metric",
                Column("value", "estimate", 2, source="."),
                Column("number", "count", source="n"),
            ),
        ),
    )

    scores: tuple[GapScore, ...]
    settings: JsonObject
    warnings: tuple[str, ...] = ()

    def score(self, subset: str, metric: str = "f1") -> GapScore:
        """Find one, e.g. `score("feminine")`."""
        return next(score for score in self.scores if (score.subset, score.metric) == (subset, metric))

    def _title(self) -> str:
        return "GAP"

    def _headline(self) -> str:
        ratio = self.score(RATIO)
        value = f"undefined: {ratio.reason}" if ratio.value is None else f"{ratio.value:.2f} (1: no difference)"
        return f"F1 of feminine by masculine pronouns: {value}."

    def _charts(self) -> tuple[Chart, ...]:
        return gap_f1_charts(self)


def gap_f1(
    model: CorefModel,
    tsv: str | os.PathLike[str],
    *,
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> GapF1:
    """Gendered F1 of a model on a GAP file.

    The pronoun refers to a name when it is in a cluster with a mention of it: one that lies within the name, or that
    ends with it and begins at most two words before; a possessive 's may follow.

    `tsv` is a file such as gap-test.tsv. Intervals are over snippets drawn again; their settings are those of
    `score_coref`.

    Raises:
        CorpusError: the file is not what it should be; names the line.
    """
    resampling = bootstrap_settings(
        "gap_f1", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    snippets = read_gap(tsv)
    predicted = model.predict([snippet.document for snippet in snippets])
    answers = [gap_answers(snippet, document) for snippet, document in zip(snippets, predicted, strict=True)]
    return score_gap(snippets, answers, resampling)


def score_gap(snippets: list[GapSnippet], answers: list[tuple[bool, bool]], resampling: Resampling) -> GapF1:
    """Gendered F1 of answers: whether the pronoun refers to A, to B."""
    counts = {group: len(snippets) for group in (GROUPS[0], RATIO, DIFFERENCE)}
    counts |= {group: sum(snippet.gender == group for snippet in snippets) for group in GROUPS[1:]}
    reasons = ["there is nothing to divide by"] * len(_NUMBERS)
    # snippets × (masculine, feminine) × (right yes, yes said, yes that is right)
    sums: Floats = np.zeros((len(snippets), 2, 3))
    gold, predicted = np.array([snippet.answers for snippet in snippets]), np.array(answers)
    side = np.array([GROUPS.index(snippet.gender) - 1 for snippet in snippets])
    sums[np.arange(len(snippets)), side] = np.stack([gold & predicted, predicted, gold], axis=-1).sum(axis=1)
    estimates = estimates_of_sums(sums, _numbers, resampling, "snippets", reasons)
    scores = tuple(
        GapScore.of_estimate(estimate, subset=subset, metric=metric, n=counts[subset])
        for (subset, metric), estimate in zip(_NUMBERS, estimates, strict=True)
    )
    return GapF1(scores, resampling.to_settings())


def _numbers(sums: Floats) -> Floats:
    """Everything reported, in the order of `_NUMBERS`, from sums of the shape (…, gender, 3)."""
    groups = np.stack([sums.sum(axis=-2), sums[..., 0, :], sums[..., 1, :]], axis=-2)
    hits, predicted, gold = np.moveaxis(groups, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = 100 * np.stack([hits / predicted, hits / gold, 2 * hits / (predicted + gold)], axis=-1)
        f1 = rates[..., 2]
        compared = np.stack([f1[..., 1] - f1[..., 2], f1[..., 2] / f1[..., 1]], axis=-1)
    return np.concatenate([rates.reshape(*rates.shape[:-2], -1), compared], axis=-1)


def gap_answers(snippet: GapSnippet, predicted: Document) -> tuple[bool, bool]:
    """True for A, for B, if the pronoun is in a cluster with a mention of it."""
    clusters = [cluster for cluster in predicted.clusters if snippet.pronoun in cluster]
    a, b = (
        any(_is_mention_of(span, name, predicted.words) for cluster in clusters for span in cluster)
        for name in snippet.names
    )
    return a, b


def _is_mention_of(span: Span, name: Span, words: tuple[str, ...]) -> bool:
    first, last = span
    if last > first and words[last] in {"'s", "’s", "'", "’"}:
        last -= 1
    inside = name[0] <= first and last <= name[1]
    return inside or (last == name[1] and 0 <= name[0] - first <= _MAX_LEADING_WORDS)


def read_gap(tsv: str | os.PathLike[str]) -> list[GapSnippet]:
    """Snippets of a GAP file."""
    lines = io.StringIO(file_text(tsv), newline="")
    rows = (row.cells for row in csv_rows(lines, tsv, error=CorpusError, separator="\t", quotes=False))
    header = next(rows, [])
    if missing := [name for name in _COLUMNS if name not in header]:
        raise CorpusError(f"expected the columns {', '.join(_COLUMNS)}; {missing[0]!r} is missing", path=tsv, line=1)
    snippets = []
    for number, row in enumerate(rows, 2):
        try:
            snippets.append(_snippet(dict(zip(header, row, strict=True))))
        except (ValueError, KeyError) as problem:
            raise CorpusError(f"is no snippet of GAP: {problem}", path=tsv, line=number) from problem
    if not snippets:
        raise CorpusError("holds no snippet", path=tsv)
    return snippets


def _snippet(row: dict[str, str]) -> GapSnippet:
    words = words_with_offsets(row["Text"])
    gender = GENDER.get(row["Pronoun"].lower())
    if gender is None:
        raise ValueError(f"{row['Pronoun']!r} is not a pronoun that it uses")
    spans = []
    for column in ("Pronoun", "A", "B"):
        start = int(row[f"{column}-offset"])
        end = start + len(row[column])
        inside = [index for index, (_, a, b) in enumerate(words) if a < end and start < b]
        if not inside or row["Text"][start:end] != row[column]:
            raise ValueError(f"{column} is not at its offset {start}")
        spans.append((inside[0], inside[-1]))
    a, b = (_ANSWERS.get(row[f"{name}-coref"].lower()) for name in "AB")
    if a is None or b is None:
        raise ValueError("A-coref and B-coref must be TRUE or FALSE")
    document = Document(row["ID"], split_sentences([word for word, _, _ in words]))
    return GapSnippet(document, spans[0], (spans[1], spans[2]), (a, b), gender)
