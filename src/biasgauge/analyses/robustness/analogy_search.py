"""`analogies`: a is to b as c is to …? `analogy_report`: what such answers are worth as evidence of bias."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from biasgauge.analyses.robustness.explained import Direction, SimilarityExplained, similarity_explained
from biasgauge.analyses.robustness.pair_generator import DELTA, GeneratedPairs, generate_pairs
from biasgauge.analyses.robustness.word_similarity import RESTRICT, candidate_rows
from biasgauge.core import (
    EXACT_POLICY,
    FALLBACK_POLICY,
    JsonMapping,
    JsonObject,
    Record,
    VectorsLike,
    WordPolicy,
    check_choice,
)
from biasgauge.results import Result, Summary, Table, counted, share_text
from biasgauge.vectors import (
    REASONS,
    AnalogyAccuracy,
    Method,
    Question,
    analogy_accuracy,
    load,
    question_rows,
    questions_of,
    solve_analogies,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.vectors import Questions


@dataclass(frozen=True)
class AnalogyAnswer(Record):
    """One question, and what a model answers.

    Attributes:
        question: the words as they were asked about. Where `direction` is "reversed", a and c have changed places, and
            no right answer is known.
        direction: "stated", or "reversed": "c is to b as a is to …?".
        answers: the best candidates, best first, each with its score: 3CosAdd the cosine with b − a + c, in [−1, 1];
            3CosMul the quotient, at least 0. Empty where the question is undefined.
        reason: why there is no answer, naming the lost words; None when there is one.
    """

    json_types: ClassVar[Mapping[str, Any]] = {"answers": tuple[JsonObject, ...]}

    hidden: ClassVar[frozenset[str]] = frozenset({"question"})

    question: Question
    direction: Direction
    answers: tuple[tuple[str, float], ...]
    reason: str | None = None

    @property
    def answer(self) -> str | None:
        """The best candidate; None where the question is undefined."""
        return self.answers[0][0] if self.answers else None

    def derived(self) -> JsonMapping:
        """The words of the question, and each answer with its score."""
        return {**self.question._asdict(), "answers": [{"word": word, "score": score} for word, score in self.answers]}


@dataclass(frozen=True, eq=False, repr=False)
class Analogies(Result):
    """Answers of one model to analogy questions.

    Attributes:
        model: the model's name.
        method: "3cosadd" or "3cosmul".
        exclude_inputs: whether a, b and c were kept from being the answer.
        restrict: how many of the model's first words could be an answer; None: all.
        answers: one for each question and direction, in the order of the questions.
    """

    abridged: ClassVar[bool] = True

    model: str
    method: Method
    exclude_inputs: bool
    restrict: int | None
    answers: tuple[AnalogyAnswer, ...]

    @property
    def undefined(self) -> int:
        """Number of questions without an answer."""
        return sum(answer.reason is not None for answer in self.answers)

    def to_frame(self) -> pd.DataFrame:
        """One row for each answer, `rank` 1 being the best; one without an answer for each undefined question."""
        import pandas as pd

        rows = [
            (*answer.question, answer.direction, rank, word, score, answer.reason)
            for answer in self.answers
            for rank, (word, score) in enumerate(answer.answers or ((None, None),), start=1)
        ]
        columns = [*Question._fields, "direction", "rank", "answer", "score", "reason"]
        return pd.DataFrame(rows, columns=columns, dtype=object).astype({"rank": int, "score": float})

    def summary(self) -> Summary:
        """Number of questions with an answer, and the answers."""
        name = f"{self.model}, {self.method}"
        headline = f"{name}: {counted(self.answers, 'answer')}, {self.undefined:,} undefined"
        rows = []
        for row in self.answers:
            answers = ", ".join(word for word, _ in row.answers) or f"undefined: {row.reason}"
            rows.append(("{} : {} :: {} :".format(*row.question[1:4]), answers))
        table = Table.of("answers", "", ["question", "answer"], rows, most=20)
        return Summary(f"Analogies of {name}", headline, tables=(table,))


def analogies(
    vectors: VectorsLike,
    questions: Questions | None = None,
    *,
    method: Method = "3cosadd",
    exclude_inputs: bool = True,
    restrict: int | None = RESTRICT,
    direction: Direction | Literal["both"] = "stated",
    top: int = 1,
    policy: WordPolicy = EXACT_POLICY,
) -> Analogies:
    """Solve analogy questions: which word is to c as b is to a?

    Args:
        vectors: an `Embedding` or anything `load` takes.
        questions: three or four words each (the fourth is the answer expected), such questions by category, or a file
            as the Google set has it; None: the Google set itself.
        method: "3cosadd" or "3cosmul", as in `biasgauge.solve_analogies`.
        exclude_inputs: a, b and c cannot be the answer. Without this the answer is b or c more often than not (Nissim,
            van Noord & van der Goot, *Computational Linguistics* 46, 2020).
        restrict: only the first `restrict` words of the model can be an answer; None: all. Any word may be asked about.
        direction: "stated"; "reversed" asks "c is to b as a is to …?" instead; or "both".
        top: how many answers to each question.
        policy: how words are looked up.

    Raises:
        LexiconError: the file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_choice((*get_args(Direction), "both"), direction=direction)
    model = load(vectors)
    stated = questions_of(questions, "analogies", answers=False)
    pool, fallback = candidate_rows(model, restrict), policy.uses_fallback([model])
    by_direction = []
    for way in get_args(Direction) if direction == "both" else (direction,):
        asked = list(stated)
        if way == "reversed":
            asked = [question._replace(a=question.c, c=question.a, d="") for question in stated]
        rows, lost = question_rows(model, asked, roles=3, case_fallback=fallback)
        answers = [AnalogyAnswer(question, way, (), lost.get(index)) for index, question in enumerate(asked)]
        usable = [index for index in range(len(asked)) if index not in lost]
        solved = solve_analogies(
            model, *rows[usable].T, method=method, exclude_inputs=exclude_inputs, candidates=pool, top=top
        )
        columns = (column.tolist() for column in (solved.ranked, solved.ranked_scores, solved.undefined))
        for index, ranked, scores, undefined in zip(usable, *columns, strict=True):
            best = tuple((model.words[row], score) for row, score in zip(ranked, scores, strict=True) if row >= 0)
            answers[index] = AnalogyAnswer(asked[index], way, best, REASONS[undefined] or None)
        by_direction.append(answers)
    in_order = tuple(answer for both in zip(*by_direction, strict=True) for answer in both)
    return Analogies(model.name, method, exclude_inputs, restrict, in_order)


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
    json_types: ClassVar[Mapping[str, Any]] = {"accuracy": tuple[JsonObject, ...]}
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
    policy: WordPolicy = FALLBACK_POLICY,
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
        restrict: only the first `restrict` words of the model can be an answer; None: all.
        excluded: categories whose pairs are of the kind that `pair` is: they are left out of the totals.
        delta: the largest distance of the two words of a generated pair.
        top: how many pairs are generated.
        policy: how words are looked up.
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
    shared: dict[str, Any] = {"policy": policy, "level": level}
    settings: dict[str, Any] = {"pair": pair, "method": method, "excluded": excluded, "random_state": random_state}
    explained = similarity_explained(model, listed if words is None else words, restrict=restrict, **settings, **shared)
    generated = generate_pairs(model, pair, delta=delta, top=top, restrict=restrict, **shared)
    accuracy_settings: dict[str, Any] = {
        "limit": restrict, "policy": replace(policy, min_coverage=0.0), "level": level,
    }  # fmt: skip
    accuracy = tuple(
        analogy_accuracy(model, by_category, method=way, exclude_inputs=exclude, **accuracy_settings)
        for way in get_args(Method)
        for exclude in (True, False)
    )
    return AnalogyReport(model.name, explained, generated, accuracy)
