"""`analogy_report`: what analogies with a pair of words are worth as evidence of bias, on one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, get_args

from biasgauge.embeddings.analogies import Method
from biasgauge.embeddings.analogy_questions import AnalogyAccuracy, analogy_accuracy
from biasgauge.embeddings.benchmark_files import questions_of
from biasgauge.embeddings.loading import load
from biasgauge.inputs import VectorsLike
from biasgauge.sensitivity.analogy_search import RESTRICT
from biasgauge.sensitivity.explained import similarity_explained
from biasgauge.sensitivity.pair_generator import DELTA, GeneratedPairs, generate_pairs

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.embeddings.analogy_questions import Questions
    from biasgauge.sensitivity.explained_result import SimilarityExplained


@dataclass(frozen=True, eq=False)
class AnalogyReport:
    """Analogies of one model.

    Attributes:
        model: the model's name.
        explained: how often "first is to x as second is to …?" returns what is merely similar to x.
        generated: the pairs of words that differ most nearly as the pair does.
        accuracy: the share of the questions answered rightly, by both methods, with and without excluding the inputs.
    """

    model: str
    explained: SimilarityExplained
    generated: GeneratedPairs
    accuracy: tuple[AnalogyAccuracy, ...]

    @property
    def summary(self) -> str:
        """The finding in one sentence."""
        question = "“{} is to x as {} is to …?”".format(*self.explained.pair)
        found, alone = (self.explained.condition(exclude_inputs=exclude) for exclude in (True, False))
        near, itself = found.explained, alone.itself
        if near.value is None or itself.value is None:
            return f"{question} is undefined: {self.explained.reason or near.reason or itself.reason}."
        return (
            f"{question} returns the nearest neighbor of x for {near.value:.1%} of {near.n:,} words "
            f"({near.level:.0%} interval {near.low:.1%} to {near.high:.1%}), and x itself "
            f"for {itself.value:.1%} when it may."
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The findings, a sentence each: what similarity explains, what it solves by itself, what exclusion does."""
        found = [self.summary]
        pair, alone = self.explained.condition().correct, self.explained.nearest_correct
        if pair.value is not None and alone.value is not None:
            found.append(
                f"Of {pair.n:,} words with a listed answer the pair finds {pair.value:.1%}; the nearest neighbor of "
                f"x, without any pair, is the listed answer for {alone.value:.1%}."
            )
        shares = {one.exclude_inputs: one.total for one in self.accuracy if one.method == self.explained.method}
        excluded, free = shares[True], shares[False]
        if excluded.value is not None and free.value is not None:
            found.append(
                f"Of {excluded.n:,} analogy questions {excluded.value:.1%} are answered rightly when the "
                f"inputs are excluded, {free.value:.1%} when they are not."
            )
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """One row for each way of asking, category and statistic; `generated` and `accuracy` have their own frames."""
        return self.explained.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "model": self.model,
            "verdicts": list(self.verdicts),
            "explained": self.explained.to_dict(),
            "generated": self.generated.to_dict(),
            "accuracy": [
                {"method": each.method, "exclude_inputs": each.exclude_inputs, **one.to_dict()}
                for each in self.accuracy
                for one in each.rows()
            ],
        }

    def __repr__(self) -> str:
        return f"<AnalogyReport of {self.model!r}: {self.summary}>"

    def _repr_html_(self) -> str:
        parts: list[Any] = [self.explained, self.generated, *self.accuracy]
        return f"<p>{escape(self.summary)}</p>" + "".join(one._repr_html_() for one in parts)


def analogy_report(
    vectors: VectorsLike,
    pair: tuple[str, str] = ("man", "woman"),
    questions: Questions | None = None,
    *,
    words: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    method: Method = "3cosadd",
    restrict: int | None = RESTRICT,
    excluded: Sequence[str] = ("family",),
    delta: float = DELTA,
    top: int = 50,
    case_fallback: bool = True,
    level: float = 0.95,
    random_state: int = 0,
) -> AnalogyReport:
    """Solve analogies with a pair of words in every way, and say what similarity alone explains of the answers.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        pair: (first, second).
        questions: four words each, such questions by category, or a file of them; None: the Google set.
        words: words x for "first is to x as second is to …?", or such words by category; None: the first two words of
            each question, x and what is expected for it.
        method: "3cosadd" or "3cosmul", for the words x; the questions are asked by both.
        restrict: only the first so many words of the model can be an answer; None: all.
        excluded: categories whose pairs are of the kind that `pair` is: they are left out of the totals.
        delta: the largest distance of the two words of a generated pair.
        top: how many pairs are generated.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        level: nominal coverage of the intervals.
        random_state: seed of the random pairs that similarities are held against.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    model = load(vectors)
    asked = questions_of(questions, "analogy_report")
    by_category: dict[str, list[tuple[str, ...]]] = {}
    for one in asked:
        by_category.setdefault(one.category, []).append(tuple(one[1:]))
    listed = {category: [(a, b) for a, b, _, _ in some] for category, some in by_category.items()}
    return AnalogyReport(
        model=model.name,
        explained=similarity_explained(
            model,
            words if words is not None else listed,
            pair=pair,
            method=method,
            restrict=restrict,
            excluded=excluded,
            case_fallback=case_fallback,
            level=level,
            random_state=random_state,
        ),
        generated=generate_pairs(
            model, pair, delta=delta, top=top, restrict=restrict, case_fallback=case_fallback, level=level
        ),
        accuracy=tuple(
            analogy_accuracy(
                model,
                by_category,
                method=one,
                exclude_inputs=exclude,
                limit=restrict,
                case_fallback=case_fallback,
                level=level,
            )
            for one in get_args(Method)
            for exclude in (True, False)
        ),
    )
