"""GAP: is a pronoun resolved as well when it is feminine?

Webster et al. 2018: snippets of Wikipedia with a pronoun and two names, A and B, each of which it may refer to; both
answers of a snippet count. F1 of "the pronoun refers to this name" over all snippets, over masculine and over feminine
ones, and their ratio, feminine by masculine, as in the released scorer.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.applications.coref.conll_files import file_text
from biasgauge.applications.coref.document import Document, Span
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.coref.text import in_sentences, words_with_places
from biasgauge.applications.tasks.figures import gap_f1_charts
from biasgauge.arrays import Floats
from biasgauge.errors import CorpusError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.bootstrap import BootstrapMethod, bootstrap_settings
from biasgauge.stats.estimate import LabeledEstimate
from biasgauge.stats.item_sums import bootstrap_sums, estimate_of_sums

GENDER = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "feminine"),
}
GROUPS = ("overall", "masculine", "feminine")
RATIO = "feminine / masculine"
DIFFERENCE = "masculine − feminine"
_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
_LEADING = 2
"""Words before a name that a mention of it may begin with: "the late John Smith"."""
_ANSWERS = {"true": True, "false": False}


@dataclass(frozen=True)
class GapSnippet:
    """One snippet.

    Attributes:
        document: its text.
        pronoun: its words.
        names: those of A and B.
        answers: whether the pronoun refers to A, to B.
        gender: of the pronoun.
    """

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
        of: "overall", "masculine", "feminine", or what compares the latter two.
        metric: "precision", "recall" or "f1"; for comparisons always "f1".
        n: snippets.
    """

    of: str
    metric: str


@dataclass(frozen=True, repr=False)
class GapF1(Result):
    """How well pronouns of GAP are resolved.

    Attributes:
        scores: by group and metric, then masculine − feminine, then feminine / masculine (the released scorer's bias).
        settings: what was asked for.
        warnings: what to know before reading the table.
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)

    scores: tuple[GapScore, ...]
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()

    def score(self, of: str, metric: str = "f1") -> GapScore:
        """Find one, e.g. `score("feminine")`."""
        return next(score for score in self.scores if (score.of, score.metric) == (of, metric))

    def summary(self) -> Summary:
        """The released scorer's bias, and every number."""
        ratio = self.score(RATIO)
        told = (
            f"undefined: {ratio.reason}" if ratio.value is None else f"{ratio.value:.2f} (1: both genders fare alike)"
        )
        columns: list[Column | str] = ["snippets", "metric", Column("value", "estimate", 2), Column("number", "count")]
        rows = [(score.of, score.metric, score, score.n) for score in self.scores]
        return Summary(
            title="GAP",
            headline=f"F1 of feminine by masculine pronouns: {told}.",
            tables=(Table.of("scores", "How well pronouns are resolved, in percent", columns, rows),),
            charts=gap_f1_charts(self),
            warnings=self.warnings,
        )


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

    Args:
        model: from `train_coref`.
        tsv: such as gap-test.tsv.
        interval: "percentile" or "bca", snippets drawn again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples.
        random_state: seed.

    Raises:
        CorpusError: the file is not what it should be; names the line.
    """
    snippets = read_gap(tsv)
    found = model.predict([one.document for one in snippets])
    answers = [gap_answers(one, document) for one, document in zip(snippets, found, strict=True)]
    return score_gap(snippets, answers, interval=interval, level=level, resamples=resamples, random_state=random_state)


def score_gap(
    snippets: list[GapSnippet],
    answers: list[tuple[bool, bool]],
    *,
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> GapF1:
    """Gendered F1 of answers (the pronoun refers to A, to B). Arguments as in `gap_f1`."""
    how = bootstrap_settings("gap_f1", method=interval, level=level, resamples=resamples, random_state=random_state)
    sums = _sums(snippets, answers)
    totals, drawn = sums.sum(axis=0), _numbers(bootstrap_sums(sums, how))
    values, without = _numbers(totals), _numbers(totals - sums)
    counts = {group: len(snippets) for group in (*GROUPS[:1], RATIO, DIFFERENCE)}
    counts |= {group: sum(one.gender == group for one in snippets) for group in GROUPS[1:]}
    scores = []
    for at, (of, metric) in enumerate(_names()):
        value = float(values[at])
        about: dict[str, Any] = {"of": of, "metric": metric, "n": counts[of]}
        if not np.isfinite(value):
            scores.append(GapScore(value=None, reason="there is nothing to divide by", **about))
            continue
        estimate = estimate_of_sums(value, drawn[:, at], without[:, at], how, "snippets")
        scores.append(GapScore.of_estimate(estimate, **about))
    return GapF1(tuple(scores), how.to_settings())


def _names() -> list[tuple[str, str]]:
    rows = [(group, metric) for group in GROUPS for metric in ("precision", "recall", "f1")]
    return [*rows, (DIFFERENCE, "f1"), (RATIO, "f1")]


def _sums(snippets: list[GapSnippet], answers: list[tuple[bool, bool]]) -> Floats:
    """Snippets × (masculine, feminine) × (right yes, yes said, yes that is right)."""
    sums: Floats = np.zeros((len(snippets), 2, 3))
    gold, said = np.array([one.answers for one in snippets]), np.array(answers)
    side = np.array([GROUPS.index(one.gender) - 1 for one in snippets])
    sums[np.arange(len(snippets)), side] = np.stack([gold & said, said, gold], axis=-1).sum(axis=1)
    return sums


def _numbers(sums: Floats) -> Floats:
    """Everything reported, in the order of `_names`, from sums of the shape (…, gender, 3)."""
    groups = np.stack([sums.sum(axis=-2), sums[..., 0, :], sums[..., 1, :]], axis=-2)
    hits, said, gold = np.moveaxis(groups, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = 100 * np.stack([hits / said, hits / gold, 2 * hits / (said + gold)], axis=-1)
        f1 = rates[..., 2]
        compared = np.stack([f1[..., 1] - f1[..., 2], f1[..., 2] / f1[..., 1]], axis=-1)
    found: Floats = np.concatenate([rates.reshape(*rates.shape[:-2], -1), compared], axis=-1)
    return found


def gap_answers(snippet: GapSnippet, found: Document) -> tuple[bool, bool]:
    """Whether the pronoun is in a cluster with a mention of A, of B."""
    mine = [cluster for cluster in found.clusters if snippet.pronoun in cluster]
    a, b = (any(_names_it(span, name, found.words) for cluster in mine for span in cluster) for name in snippet.names)
    return a, b


def _names_it(span: Span, name: Span, words: tuple[str, ...]) -> bool:
    first, last = span
    if last > first and words[last] in {"'s", "’s", "'", "’"}:
        last -= 1
    inside = name[0] <= first and last <= name[1]
    return inside or (last == name[1] and 0 <= name[0] - first <= _LEADING)


def read_gap(tsv: str | os.PathLike[str]) -> list[GapSnippet]:
    """Snippets of a GAP file.

    Raises:
        CorpusError: the file is not what it should be; names the line.
    """
    rows = csv.reader(io.StringIO(file_text(tsv), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    lost = [name for name in _COLUMNS if name not in header]
    if lost:
        raise CorpusError(f"expected the columns {', '.join(_COLUMNS)}; {lost[0]!r} is missing", path=tsv, line=1)
    found = []
    for number, row in enumerate(rows, 2):
        try:
            found.append(_snippet(dict(zip(header, row, strict=True))))
        except (ValueError, KeyError) as problem:
            raise CorpusError(f"is no snippet of GAP: {problem}", path=tsv, line=number) from problem
    if not found:
        raise CorpusError("holds no snippet", path=tsv)
    return found


def _snippet(row: dict[str, str]) -> GapSnippet:
    words = words_with_places(row["Text"])
    gender = GENDER.get(row["Pronoun"].lower())
    if gender is None:
        raise ValueError(f"{row['Pronoun']!r} is not a pronoun that it uses")
    spans = []
    for column in ("Pronoun", "A", "B"):
        start = int(row[f"{column}-offset"])
        end = start + len(row[column])
        inside = [place for place, (_, a, b) in enumerate(words) if a < end and start < b]
        if not inside or row["Text"][start:end] != row[column]:
            raise ValueError(f"{column} is not at its offset {start}")
        spans.append((inside[0], inside[-1]))
    answers = tuple(_ANSWERS.get(row[f"{name}-coref"].lower()) for name in "AB")
    if None in answers:
        raise ValueError("A-coref and B-coref must be TRUE or FALSE")
    sentences = in_sentences([word for word, _, _ in words])
    return GapSnippet(
        Document(row["ID"], sentences), spans[0], (spans[1], spans[2]), (bool(answers[0]), bool(answers[1])), gender
    )
