"""What `similarity_explained` found, as tables and as one JSON object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.embeddings.analogies import Method
from biasgauge.sensitivity.analogy_search import Direction
from biasgauge.stats.repeated_words import WordStatistic

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WordAnswer:
    """The answer to "first is to x as second is to …?" for one word x.

    Attributes:
        category: the category that x stands in.
        x: the word asked about.
        expected: the word that stands beside x in the list; "" where there is none.
        direction: "stated", or "reversed": "second is to x as first is to …?".
        exclude_inputs: whether x and the pair were kept from being the answer.
        answer: the answer; None where it is undefined.
        score: its score by the method.
        cosine: of x and the answer, in [−1, 1].
        rank: place of the answer among the neighbors of x; 1: the nearest; 0: x itself.
        nearest: the nearest neighbor of x, the pair aside.
        reason: why there is no answer; None when there is one.
    """

    category: str
    x: str
    expected: str
    direction: Direction
    exclude_inputs: bool
    answer: str | None
    score: float | None
    cosine: float | None
    rank: int | None
    nearest: str | None
    reason: str | None = None


@dataclass(frozen=True)
class Condition:
    """How one way of asking came out.

    Attributes:
        category: the category; "all" for all but those excluded.
        direction: "stated" or "reversed".
        exclude_inputs: whether x and the pair were kept from being the answer.
        itself: share of the words for which the answer is x itself.
        explained: share for which the answer is x itself or its nearest neighbor: what similarity alone explains.
        near: share for which the answer is x itself or among its `neighbors` nearest.
        correct: share for which the answer is the expected word, among those whose expected word has a vector. Where no
            relation of gender holds between x and that word, a right answer cannot be due to the pair.
        rank: median rank of the answer among the neighbors of x.
        cosine: mean cosine of x and the answer.
    """

    category: str
    direction: Direction
    exclude_inputs: bool
    itself: WordStatistic
    explained: WordStatistic
    near: WordStatistic
    correct: WordStatistic
    rank: WordStatistic
    cosine: WordStatistic

    STATISTICS: ClassVar = ("itself", "explained", "near", "correct", "rank", "cosine")

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        about = {"category": self.category, "direction": self.direction, "exclude_inputs": self.exclude_inputs}
        return {**about, **{name: getattr(self, name).to_dict() for name in self.STATISTICS}}


@dataclass(frozen=True, eq=False)
class SimilarityExplained:
    """Does "first is to x as second is to …?" return more than what is similar to x?

    Attributes:
        model: the model's name.
        pair: the two words, (first, second).
        method: "3cosadd" or "3cosmul".
        restrict: how many of the model's first words could be an answer; None: all.
        neighbors: how many neighbors of x count as near.
        excluded: categories that `conditions` leaves out, because their pairs are of the kind that `pair` is.
        pair_cosine: cosine of the two words of the pair; None where one is lost. The nearer to 1, the less the pair can
            move x.
        conditions: both directions, with and without the inputs, over all categories that are not excluded.
        by_category: the same for every category, excluded or not; empty where the words came without categories.
        nearest_correct: share of the words whose nearest neighbor is the expected word: what is answered rightly
            without any pair.
        listed: mean cosine of x and its expected word, over the categories not excluded.
        listed_with_excluded: the same over all categories.
        random_pairs: mean cosine of two words drawn at random from those that could be an answer.
        answers: for each word, each way of asking.
        lost: words x that could not be asked about, with the reason; expected words without a vector likewise.
        reason: why nothing could be asked; None when it could.
    """

    model: str
    pair: tuple[str, str]
    method: Method
    restrict: int | None
    neighbors: int
    excluded: tuple[str, ...]
    pair_cosine: float | None
    conditions: tuple[Condition, ...]
    by_category: tuple[Condition, ...]
    nearest_correct: WordStatistic
    listed: WordStatistic
    listed_with_excluded: WordStatistic
    random_pairs: WordStatistic
    answers: tuple[WordAnswer, ...]
    lost: dict[str, str]
    reason: str | None = None

    def condition(self, direction: Direction = "stated", *, exclude_inputs: bool = True) -> Condition:
        """One way of asking, over all categories that are not excluded."""
        return next(
            one for one in self.conditions if (one.direction, one.exclude_inputs) == (direction, exclude_inputs)
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each way of asking, category and statistic, all categories first."""
        import pandas as pd

        rows = [
            {**one.to_dict(), "statistic": name, **_flat(getattr(one, name))}
            for one in (*self.conditions, *self.by_category)
            for name in one.STATISTICS
        ]
        columns = ["category", "direction", "exclude_inputs", "statistic", "value", "low", "high", "sd", "n", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def words_frame(self) -> pd.DataFrame:
        """One row for each word and way of asking."""
        import pandas as pd

        return pd.DataFrame([asdict(one) for one in self.answers])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object without the single answers, which `words_frame` has.

        `as_published` follows the published code, `corrected` the published text.
        """
        return {
            "model": self.model,
            "pair": list(self.pair),
            "method": self.method,
            "restrict": self.restrict,
            "neighbors": self.neighbors,
            "excluded": list(self.excluded),
            "pair_cosine": self.pair_cosine,
            "as_published": {
                "correct": self.condition("reversed").correct.to_dict(),
                "listed": self.listed_with_excluded.to_dict(),
            },
            "corrected": {"correct": self.condition().correct.to_dict(), "listed": self.listed.to_dict()},
            "nearest_correct": self.nearest_correct.to_dict(),
            "random_pairs": self.random_pairs.to_dict(),
            "conditions": [one.to_dict() for one in self.conditions],
            "by_category": [one.to_dict() for one in self.by_category],
            "lost": dict(self.lost),
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        first, second = self.pair
        shown = self.condition().explained
        return f"<SimilarityExplained of {self.model!r}, {first} : x :: {second} : ?; share explained {shown}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("direction", "inputs excluded", *Condition.STATISTICS))
        rows = "".join(
            f"<tr><td>{one.direction}</td><td>{'yes' if one.exclude_inputs else 'no'}</td>"
            + "".join(f"<td>{escape(str(getattr(one, name)))}</td>" for name in one.STATISTICS)
            + "</tr>"
            for one in self.conditions
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>"


def _flat(found: WordStatistic) -> dict[str, Any]:
    return {**found.to_dict(), "low": found.low, "high": found.high}
