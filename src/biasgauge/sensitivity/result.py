"""What `robustness` found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement import Estimate
from biasgauge.agreement.rows import pair_name
from biasgauge.embeddings import Coverage
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.scores import ScoreTensor
from biasgauge.sensitivity.agreements import Agreement, MeanKappa
from biasgauge.sensitivity.base_pairs import BasePairs
from biasgauge.sensitivity.difference_vectors import SimilarityAgreement
from biasgauge.sensitivity.figures import robustness_charts
from biasgauge.sensitivity.flipped_result import Flips
from biasgauge.sensitivity.forms import PairForms, WordForms
from biasgauge.sensitivity.reference import Reference

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("pairwise", "pair_forms", "word_forms", "correspondence", "between_measures")
AS_GIVEN = "as given"
"""Name of the form in which words were asked for."""


TITLES = {
    "pair_forms": ("Other forms of the pairs", "does She~He give what she~he gives?", "form"),
    "word_forms": ("Other forms of the words", "do words and their plurals have the same direction?", "form"),
    "correspondence": ("Against what is known", "do words have the direction that is known?", "truth"),
    "between_measures": ("Between measures", "do measures agree?", "with"),
}


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
    cosines: NDArray[np.float64]
    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    forms: tuple[WordForms, ...]
    formed_pairs: tuple[PairForms, ...]
    scores: ScoreTensor
    coverage: Coverage
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]
    analogies: Any = None
    flips: Flips | None = None

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What it all comes to, in sentences."""
        from biasgauge.sensitivity.verdicts import sentences

        return sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; `base_pairs`, `word_forms`, `correspondence`, `between_measures` are a contract."""
        return {
            "base_pairs": [one.to_dict() for one in self.base_pairs],
            **{name: [one.to_dict() for one in getattr(self, name)] for name in PARTS},
            "means": [one.to_dict() for one in self.means],
            "similarity": [one.to_dict() for one in self.similarity],
            "difference_vectors": {
                "pairs": [pair_name(pair) for pair in self.pairs],
                "cosines": [[_number(one) for one in row] for row in self.cosines.tolist()],
                "mean": self.mean_cosine,
            },
            "reference": [one.to_dict() for one in self.reference],
            "analogies": None if self.analogies is None else self.analogies.to_dict(),
            "forms": [one.to_dict() for one in self.forms],
            "lost_pair_forms": {
                one.name: {pair_name(pair): reason for pair, reason in one.lost.items()} for one in self.formed_pairs
            },
            "verdicts": list(self.verdicts),
            "coverage": self.coverage.to_dict(),
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            **({} if self.flips is None else self.flips.to_dict()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Every number in one tidy table: part, measure, pair, against, statistic, value, low, high, n, reason."""
        import pandas as pd

        rows = [
            _row("base_pairs", one.measure, None, None, estimate)
            for one in self.base_pairs
            for estimate in (one.kappa, one.unanimous, one.changed_by_one_sd)
        ]
        rows += [
            _row(name, one.measure, one.pair, one.against, estimate)
            for name in PARTS
            for one in getattr(self, name)
            for estimate in (one.kappa, one.same)
        ]
        rows += [_row(one.part, one.measure, None, one.against, one.kappa) for one in self.means]
        rows += [_row("similarity", one.measure, one.pair, None, one.r) for one in self.similarity]
        rows += [
            _row("reference", one.measure, None, None, estimate)
            for one in self.reference
            for estimate in (one.mean, one.sd)
        ]
        return pd.DataFrame(rows)

    def word_scores(self, word: str) -> pd.DataFrame:
        """Scores of a word and its forms on every pair: measure, pair, form, spelling, score.

        Raises:
            KeyError: the word was not asked for.
        """
        import pandas as pd

        if word not in self.words:
            raise KeyError(f"{word!r} is not among the words of this result")
        spelled = {AS_GIVEN: word, **{one.name: one.found[word] for one in self.forms if word in one.found}}
        part = self.scores.select(pair=self.pairs, word=list(dict.fromkeys(spelled.values())))
        values, place = part.to_numpy(), {one: number for number, one in enumerate(part.words)}
        return pd.DataFrame(
            [
                {
                    "measure": measure,
                    "pair": pair_name(pair),
                    "form": form,
                    "spelling": spelling,
                    "score": _number(float(values[i, j, place[spelling], 0])),
                }
                for i, measure in enumerate(part.measures)
                for j, pair in enumerate(self.pairs)
                for form, spelling in spelled.items()
            ]
        )

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
        parts = [self._agreement(part) for part in TITLES if getattr(self, part)]
        if self.analogies is not None:
            told = self.analogies.verdicts
            parts.append(Summary("Analogies", "", sentences=told, name="analogies"))
        told = self.verdicts or ("Nothing could be compared.",)
        more: tuple[str, ...] = ()
        if self.flips is not None:
            parts.insert(0, replace(self.flips.summary(), headline="", sentences=()))
            told, more = self.flips.headlines, told
        return Summary(
            title="Robustness of bias scores",
            headline=told[0],
            sentences=told[1:],
            more=more,
            charts=robustness_charts(self),
            warnings=(*self.warnings, *lost),
            parts=(self._base_pairs(), *parts),
        )

    def _interval(self) -> str:
        return f"[{self.settings['level']:.0%} interval]"

    def _base_pairs(self) -> Summary:
        published = any(one.as_published for one in self.base_pairs)
        columns: list[Column | str] = [
            "measure",
            Column(f"Fleiss' kappa {self._interval()}", "estimate"),
            Column("all agree", "share"),
            Column("moved by 1 sd", "share"),
            *([Column("as printed", "share")] if published else []),
            Column("words", "count"),
        ]
        rows = []
        for one in self.base_pairs:
            moved = one.changed_by_one_sd.value
            printed = [None if moved is None else 1 - moved] if published else []
            rows.append((one.measure, one.kappa, one.unanimous.value, moved, *printed, one.kappa.n))
        question = "does another pair give the same scores?"
        return Summary("Base pairs", "", question=question, tables=(Table.of("base_pairs", "", columns, rows),))

    def _agreement(self, part: str) -> Summary:
        """For each form, truth or measure the mean over pairs, the worst and the best pair; or why there is none."""
        title, question, against = TITLES[part]
        rows, reasons = [], {}
        for mean in (mean for mean in self.means if mean.part == part):
            mine = [one for one in getattr(self, part) if (one.measure, one.against) == (mean.measure, mean.against)]
            known = sorted((one.kappa.value, pair_name(one.pair)) for one in mine if one.kappa.value is not None)
            if mean.kappa.value is None or not known:
                reasons[mean.against] = next((one.kappa.reason for one in mine if one.kappa.reason), "") or "no kappas"
                continue
            (low, lowest), (high, _) = known[0], known[-1]
            rows.append((mean.measure, mean.against, mean.kappa, len(known), mean.kappa.n, low, high, lowest))
        columns: list[Column | str] = [
            "measure",
            against,
            Column(f"mean kappa {self._interval()}", "estimate"),
            Column("pairs", "count"),
            Column("words", "count"),
            Column("lowest", "number"),
            Column("highest", "number"),
            "lowest pair",
        ]
        return Summary(
            title,
            "",
            question=f"{question} Kappa, mean over pairs",
            sentences=tuple(f"{name}: unknown; {reason}" for name, reason in reasons.items()),
            tables=(Table.of(part, "", columns, rows),),
        )


def _row(
    part: str, measure: str, pair: tuple[str, str] | None, against: str | None, estimate: Estimate
) -> dict[str, Any]:
    return {
        "part": part,
        "measure": measure,
        "pair": None if pair is None else pair_name(pair),
        "against": against,
        "statistic": estimate.statistic,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "k": estimate.k,
        "method": estimate.method,
        "reason": estimate.reason,
    }


def _number(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124 - NaN
