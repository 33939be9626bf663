"""What `robustness` found, as data."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from biasgauge.reliability.rows import pair_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from biasgauge.embeddings import Coverage
    from biasgauge.reliability import Estimate
    from biasgauge.robustness.agreements import Agreement, MeanKappa
    from biasgauge.robustness.base_pairs import BasePairs
    from biasgauge.robustness.difference_vectors import SimilarityAgreement
    from biasgauge.robustness.forms import PairForms, WordForms
    from biasgauge.robustness.reference import Reference
    from biasgauge.scores import ScoreTensor

PARTS = ("pairwise", "pair_forms", "word_forms", "correspondence", "between_measures")
AS_GIVEN = "as given"
"""Name of the form in which words were asked for."""


@dataclass(frozen=True, eq=False)
class RobustnessResult:
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

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What it all comes to, in sentences."""
        from biasgauge.robustness.verdicts import sentences  # noqa: PLC0415 - it reads this module's class

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
        }

    def to_frame(self) -> pd.DataFrame:
        """Every number in one tidy table: part, measure, pair, against, statistic, value, low, high, n, reason."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most results take to compute

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
        import pandas as pd  # noqa: PLC0415 - as in to_frame

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

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in (*self.warnings, *self.verdicts))
        frame = self.to_frame()
        table = frame[frame["part"] == "base_pairs"].drop(columns=["part", "pair", "against"])
        return said + str(table.to_html(index=False, float_format=lambda number: f"{number:.2f}"))


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
