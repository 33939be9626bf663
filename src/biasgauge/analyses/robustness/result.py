"""Result of `robustness`, as data and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness.agreements import Agreement, MeanKappa, SimilarityAgreement
from biasgauge.analyses.robustness.analogy_search import AnalogyReport
from biasgauge.analyses.robustness.base_pairs import BasePairs, Reference
from biasgauge.analyses.robustness.figures import robustness_charts
from biasgauge.analyses.robustness.flipped import AS_GIVEN, Flips
from biasgauge.analyses.robustness.forms import Pair, PairForms, WordForms
from biasgauge.core import Estimate, Floats, JsonMapping
from biasgauge.results import (
    Column,
    RecordTable,
    Result,
    Summary,
    Table,
    estimate_text,
    level_text,
    measure_name,
    share_text,
)
from biasgauge.scores import ScoreTensor
from biasgauge.vectors import Coverage

if TYPE_CHECKING:
    import pandas as pd

TITLES = {
    "pair_forms": ("Other forms of the pairs", "agreement of She~He with she~he", "form"),
    "word_forms": ("Other forms of the words", "agreement of words with their plurals on direction", "form"),
    "correspondence": ("Against known directions", "agreement with the known direction of words", "truth"),
    "between_measures": ("Between measures", "agreement of measures on direction", "with"),
}
"""Title and question of each part, and what its rows are held against."""
CHANGES = {
    "pair_forms": "Another form of the pair",
    "word_forms": "Another form of the words",
    "correspondence": "Against known directions",
    "between_measures": "Another measure",
}
PARTS = ("pairwise", *CHANGES)
BANDS = ("poor", "slight", "fair", "moderate", "substantial", "almost perfect")
LIMITS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Landis & Koch 1977: to 0 poor, .2 slight, .4 fair, .6 moderate, .8 substantial; above almost perfect."""


@dataclass(frozen=True, eq=False, repr=False)
class RobustnessResult(Result):
    """Do directions and sizes of scores survive another pair, word form or measure, and do they fit what is known?

    Attributes:
        reference: scores of the frequent words, by measure: what gives "one standard deviation" its meaning.
        base_pairs: by measure, agreement over pairs and how much a change of the pair moves a score.
        pairwise: every two pairs.
        pair_forms: each pair against another form of it, such as (She, He) for (she, he).
        word_forms: each word against another form of it.
        correspondence: directions against those that are known.
        between_measures: every two measures.
        means: means over pairs of the kappas of the last four, with their intervals.
        similarity: do pairs with like difference vectors agree more?
        mean_cosine: mean likeness of two pairs' difference vectors; None with fewer than two pairs.
        cosines: of the pairs' difference vectors, pairs × pairs; NaN where a pair is lost.
        pairs, words: as asked for, found or not.
        forms, formed_pairs: which words and pairs have which form, and why the others have not.
        scores: of all words and forms, from which all of this follows.
        coverage: which words and pairs were found.
        analogies: what the analogies of a pair come to, where that was asked for.
        flips: which conclusions change with one choice, where that was asked for.
        settings: everything that decides the result.
        warnings: what the reader should know before trusting any number.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "difference_vectors": JsonMapping,
        "lost_pair_forms": Mapping[str, Mapping[str, str]],
    }
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"mean_cosine", "cosines", "pairs", "words", "formed_pairs", "scores", "flips"}
    )

    reference: tuple[Reference, ...]
    base_pairs: tuple[BasePairs, ...]
    pairwise: tuple[Agreement, ...]
    pair_forms: tuple[Agreement, ...]
    word_forms: tuple[Agreement, ...]
    correspondence: tuple[Agreement, ...]
    between_measures: tuple[Agreement, ...]
    means: tuple[MeanKappa, ...]
    similarity: tuple[SimilarityAgreement, ...]
    mean_cosine: float | None
    cosines: Floats
    pairs: tuple[Pair, ...]
    words: tuple[str, ...]
    forms: tuple[WordForms, ...]
    formed_pairs: tuple[PairForms, ...]
    scores: ScoreTensor
    coverage: Coverage
    settings: JsonMapping
    warnings: tuple[str, ...]
    analogies: AnalogyReport | None = None
    flips: Flips | None = None

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Conclusions: one sentence for each question that has an answer with an interval."""
        sentences = [_base_pair_sentence(row) for row in self.base_pairs if row.kappa.value is not None]
        for change, label in CHANGES.items():
            means = [row for row in self.means if row.part == change and row.kappa.low is not None]
            for against in dict.fromkeys(row.against for row in means):
                rows = [row for row in means if row.against == against]
                values = [row.kappa.value for row in rows if row.kappa.value is not None]
                bands = dict.fromkeys((kappa_band(min(values)), kappa_band(max(values))))
                kappas = ", ".join(f"{measure_name(row.measure)} {_with_interval(row.kappa)}" for row in rows)
                subject = f"{label}, {against} ({rows[0].kappa.n:,} words)"
                sentences.append(f"{subject}: {' to '.join(bands)} agreement; {kappas}.")
        return tuple(sentences)

    def derived(self) -> JsonMapping:
        """Difference vectors, lost forms of pairs, sentences; what `flips` found, where that was asked for."""
        pairs = [pair_name(pair) for pair in self.pairs]
        return {
            "difference_vectors": {"pairs": pairs, "cosines": self.cosines, "mean": self.mean_cosine},
            "lost_pair_forms": {
                form.name: {pair_name(pair): reason for pair, reason in form.lost.items()} for form in self.formed_pairs
            },
            "verdicts": self.verdicts,
            **({} if self.flips is None else self.flips.to_dict()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Every number in one tidy table: part, measure, pair, against, statistic, value, low, high, n, reason."""
        import pandas as pd

        columns = ("statistic", "value", "low", "high", "n", "k", "method", "reason")
        rows = []
        for table in ("base_pairs", *PARTS, "means", "similarity", "reference"):
            for row in getattr(self, table):
                pair = getattr(row, "pair", None)
                part, against = getattr(row, "part", table), getattr(row, "against", None)
                numbers = ([getattr(estimate, name) for name in columns] for estimate in row.estimates().values())
                rows += [(part, row.measure, pair and pair_name(pair), against, *number) for number in numbers]
        return pd.DataFrame(rows, columns=["part", "measure", "pair", "against", *columns])

    def word_scores(self, word: str) -> pd.DataFrame:
        """Scores of a word and its forms on every pair: measure, pair, form, spelling, score.

        Raises:
            KeyError: the word was not asked for.
        """
        import pandas as pd

        if word not in self.words:
            raise KeyError(f"{word!r} is not among the words of this result")
        spelled = {AS_GIVEN: word, **{form.name: form.found[word] for form in self.forms if word in form.found}}
        scores = self.scores.select(pair=self.pairs, word=list(dict.fromkeys(spelled.values())))
        values = scores.to_numpy()
        rows = [
            (measure, pair_name(pair), form, spelling, float(values[i, j, scores.words.index(spelling), 0]))
            for i, measure in enumerate(scores.measures)
            for j, pair in enumerate(self.pairs)
            for form, spelling in spelled.items()
        ]
        return pd.DataFrame(rows, columns=["measure", "pair", "form", "spelling", "score"])

    def summary(self) -> Summary:
        """One table for each question: what survives another pair, form or measure."""
        lost = [
            f"not in the vocabulary (OOV), {name}: {', '.join(words)}" for name, words in self.coverage.lost.items()
        ]
        lost += [
            f"without the form {form.name}: {len(form.lost):,} of {len(form.found) + len(form.lost):,} words"
            for form in self.forms
            if form.found and form.lost
        ]
        parts = [self._base_pairs(), *(self._agreement(change) for change in TITLES if getattr(self, change))]
        if self.analogies is not None:
            parts.append(Summary("Analogies", "", sentences=self.analogies.verdicts, name="analogies"))
        sentences: tuple[str, ...] = self.verdicts or ("Nothing could be compared.",)
        more: tuple[str, ...] = ()
        if self.flips is not None:
            parts.insert(1, replace(self.flips.summary(), headline="", sentences=()))
            sentences, more = self.flips.headlines, sentences
        return Summary(
            title="Robustness of bias scores",
            headline=sentences[0],
            sentences=sentences[1:],
            more=more,
            charts=robustness_charts(self),
            warnings=(*self.warnings, *lost),
            parts=tuple(parts),
        )

    def _base_pairs(self) -> Summary:
        columns: list[Column | str] = [
            Column("measure", "name"),
            Column("Fleiss' kappa [{level} interval]", "estimate", source="kappa"),
            Column("all agree", "share", source="unanimous.value"),
            Column("moved by 1 sd", "share", source="changed_by_one_sd.value"),
            Column("words", "count", source="kappa.n"),
        ]
        if any(row.as_published for row in self.base_pairs):
            columns.insert(4, Column("as printed", "share", source="magnitude_as_published"))
        table = RecordTable("base_pairs", "", tuple(columns)).fill(self)
        return Summary("Base pairs", "", question="agreement of base pairs on scores", tables=(table,))

    def _agreement(self, change: str) -> Summary:
        """For each form, truth or measure the mean over pairs, the worst and the best pair; or why there is none."""
        title, question, against = TITLES[change]
        rows, reasons = [], {}
        for mean in (mean for mean in self.means if mean.part == change):
            agreements = [
                row for row in getattr(self, change) if (row.measure, row.against) == (mean.measure, mean.against)
            ]
            kappas = sorted((row.kappa.value, pair_name(row.pair)) for row in agreements if row.kappa.value is not None)
            if mean.kappa.value is None or not kappas:
                reasons[mean.against] = next((row.kappa.reason for row in agreements if row.kappa.reason), "no kappas")
                continue
            (low, lowest), (high, _) = kappas[0], kappas[-1]
            rows.append((mean.measure, mean.against, mean.kappa, len(kappas), mean.kappa.n, low, high, lowest))
        columns: list[Column | str] = [
            Column("measure", "name"), against,
            Column(f"mean kappa [{level_text(self.settings['level'])} interval]", "estimate"),
            Column("pairs", "count"), Column("words", "count"),
            Column("lowest", "number"), Column("highest", "number"), "lowest pair",
        ]  # fmt: skip
        return Summary(
            title,
            "",
            question=f"{question} Kappa, mean over pairs",
            sentences=tuple(f"{name}: unknown; {reason}" for name, reason in reasons.items()),
            tables=(Table.of(change, "", columns, rows),),
        )


def kappa_band(value: float) -> str:
    """Name of a kappa after Landis & Koch: 0 is slight, .2 still slight, .21 fair."""
    return BANDS[int(value >= LIMITS[0]) + sum(value > limit for limit in LIMITS[1:])]


def _base_pair_sentence(row: BasePairs) -> str:
    shares = row.unanimous.value, row.changed_by_one_sd.value
    agreed, moved = ("an unknown share" if share is None else share_text(share) for share in shares)
    return (
        f"Another base pair, {measure_name(row.measure)}: agreement on the direction of words is "
        f"{kappa_band(row.kappa.value or 0)} ({_with_interval(row.kappa)}); all "
        f"{row.kappa.k} pairs agree on {agreed} of {row.kappa.n:,} words; {moved} "
        "of the changes move a score by one standard deviation or more."
    )


def _with_interval(estimate: Estimate) -> str:
    name = "κ" if estimate.statistic.endswith("kappa") else "mean κ"
    return f"{name} = {estimate_text(estimate)}"
