"""`analogy_report`: what analogies with a pair of words are worth as evidence of bias, on one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from biasgauge.analyses.robustness.analogy_search import RESTRICT
from biasgauge.analyses.robustness.explained import SimilarityExplained, similarity_explained
from biasgauge.analyses.robustness.pair_generator import DELTA, GeneratedPairs, generate_pairs
from biasgauge.core import JsonMapping, VectorsLike
from biasgauge.results import Result, Summary, share_text
from biasgauge.vectors import AnalogyAccuracy, Method, analogy_accuracy, load, questions_of

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.vectors import Questions


@dataclass(frozen=True, eq=False, repr=False)
class AnalogyReport(Result):
    """Analogies of one model.

    Attributes:
        model: the model's name.
        explained: how often "first is to x as second is to …?" returns what is merely similar to x.
        generated: the pairs of words that differ most nearly as the pair does.
        accuracy: the share of the questions answered rightly, by both methods, with and without excluding the inputs.
    """

    abridged: ClassVar[bool] = True
    hidden: ClassVar[frozenset[str]] = frozenset({"accuracy"})

    model: str
    explained: SimilarityExplained
    generated: GeneratedPairs
    accuracy: tuple[AnalogyAccuracy, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The findings, a sentence each: what similarity explains, what it solves by itself, what exclusion does."""
        sentences = [self.explained.summary().headline]
        pair, alone = self.explained.condition().correct, self.explained.nearest_correct
        if pair.value is not None and alone.value is not None:
            sentences.append(
                f"Of {pair.n:,} words with a listed answer the pair finds {share_text(pair.value, 1)}; the nearest "
                f"neighbor of x, without any pair, is the listed answer for {share_text(alone.value, 1)}."
            )
        shares = {way.exclude_inputs: way.total for way in self.accuracy if way.method == self.explained.method}
        excluded, free = shares[True], shares[False]
        if excluded.value is not None and free.value is not None:
            sentences.append(
                f"Of {excluded.n:,} analogy questions {share_text(excluded.value, 1)} are answered rightly when the "
                f"inputs are excluded, {share_text(free.value, 1)} when they are not."
            )
        return tuple(sentences)

    def derived(self) -> JsonMapping:
        """Its sentences, and every total and category of the questions."""
        rows = [
            {"method": way.method, "exclude_inputs": way.exclude_inputs, **row.to_dict()}
            for way in self.accuracy
            for row in way.rows()
        ]
        return {"verdicts": self.verdicts, "accuracy": rows}

    def to_frame(self) -> pd.DataFrame:
        """One row for each way of asking, category and statistic; `generated` and `accuracy` have their own frames."""
        return self.explained.to_frame()

    def summary(self) -> Summary:
        """Its sentences, and its parts."""
        first, *sentences = self.verdicts
        parts = tuple(result.summary() for result in (self.explained, self.generated, *self.accuracy))
        return Summary("Analogies", first, tuple(sentences), parts=parts, name="analogies")


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
    by_category: dict[str, list[tuple[str, ...]]] = {}
    for category, *four in questions_of(questions, "analogy_report"):
        by_category.setdefault(category, []).append(tuple(four))
    listed = {category: [(a, b) for a, b, _, _ in rows] for category, rows in by_category.items()}
    shared: dict[str, Any] = {"case_fallback": case_fallback, "level": level}
    explained = similarity_explained(
        model,
        listed if words is None else words,
        pair=pair,
        method=method,
        restrict=restrict,
        excluded=excluded,
        random_state=random_state,
        **shared,
    )
    generated = generate_pairs(model, pair, delta=delta, top=top, restrict=restrict, **shared)
    accuracy = tuple(
        analogy_accuracy(model, by_category, method=way, exclude_inputs=exclude, limit=restrict, **shared)
        for way in get_args(Method)
        for exclude in (True, False)
    )
    return AnalogyReport(model.name, explained, generated, accuracy)
