"""What the text itself says about each question, beside what the vectors say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.analyses.corpus_bias import corpus_bias
from biasgauge.analyses.criterion import amplification
from biasgauge.core import Estimate, IntervalsBeside, JsonMapping
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Lexicon
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.scores import Association, Weat
from biasgauge.text import corpus_of

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult
    from biasgauge.text import TokenCorpus

ABOUT = (
    "Log odds ratios counted in the text that was given: how much more likely the words of the first target set are "
    "near words of the first attribute set than near the second, less the same for the second target set. The interval "
    "speaks of other documents of the same kind. Slope: by how much a word's association in the vectors rises where "
    "its odds in the text are e = 2.7 times as large; 0 means that the vectors do not follow these counts."
)


@dataclass(frozen=True)
class TextAnswer(IntervalsBeside):
    """What the text and the vectors say about one test.

    Attributes:
        question: the lexicon.
        title: what it asks.
        text: difference of the mean log odds ratios of the two target sets, with its interval over documents.
        vectors: the contrast in cosine units, mean over models.
        slope: of words' associations in the vectors on their log odds ratios.
        r: correlation of the two over words.
        words: target words that both have.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("text", "slope", "r")

    question: str
    title: str
    text: Estimate
    vectors: float | None
    slope: Estimate
    r: Estimate
    words: int


@dataclass(frozen=True, eq=False, repr=False)
class TextSide(Result):
    """What a text says about the questions of an audit.

    Attributes:
        answers: one per association test.
        settings: which text, and how it was counted.
    """

    tables: ClassVar[tuple[str, ...]] = ("answers",)

    answers: tuple[TextAnswer, ...]
    settings: JsonMapping

    def summary(self) -> Summary:
        """Text and vectors side by side."""
        columns = [
            "question", Column("text: log odds", "estimate"), Column("vectors: contrast", "number", 3),
            Column("slope", "estimate", 3), Column("r", "estimate"), Column("words", "count"),
        ]  # fmt: skip
        rows = [(row.question, row.text, row.vectors, row.slope, row.r, row.words) for row in self.answers]
        both = [row for row in self.answers if row.text.excludes(0) and row.vectors is not None]
        agree = sum((row.text.value or 0) * (row.vectors or 0) > 0 for row in both)
        sized = (
            f"{self.settings['tokens']:,} tokens in {counted(self.settings['documents'], 'document')}, within "
            f"{self.settings['window']} tokens of each other."
        )
        shown = sum(row.text.excludes(0) is True for row in self.answers)
        return Summary(
            title="What the text says",
            headline=f"The text itself shows {shown} of {counted(self.answers, 'association')}; the vectors have the "
            f"same direction in {agree} of {len(both)}.",
            sentences=(sized,),
            tables=(Table.of("text", "Text and vectors side by side", columns, rows),),
            name="text",
            question="What does the text itself say?",
            about=ABOUT,
        )  # fmt: skip


def measure_text(
    corpus: Any,  # noqa: ANN401 - what corpus_bias takes
    lexicons: Iterable[Lexicon],
    bias: Sequence[Association],
    *,
    window: int = 5,
    min_coverage: float,
    random_state: int,
    **_: object,
) -> TextSide:
    """Count every association test in the text, and set the vectors' associations beside it.

    Raises:
        CorpusError: the text cannot be read.
    """
    text = corpus_of(corpus)
    answers = []
    for test in lexicons:
        if isinstance(test, AssociationTest):
            own = [row for row in bias if isinstance(row, Weat) and row.name == test.name and row.value is not None]
            answers.append(_answer(text, test, own, window, min_coverage, random_state))
    settings = {
        "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, "window": window,
    }  # fmt: skip
    return TextSide(tuple(answers), settings)


def _answer(
    text: TokenCorpus,
    test: AssociationTest, models: Sequence[Weat], window: int, min_coverage: float, random_state: int,
) -> TextAnswer:  # fmt: skip
    contrasts = [
        model.contrast.value for model in models if model.contrast is not None and model.contrast.value is not None
    ]
    vectors = sum(contrasts) / len(contrasts) if contrasts else None
    try:
        counted = corpus_bias(text, test=test, window=window, min_coverage=min_coverage)
    except ParameterError as problem:
        none = Estimate(value=None, reason=str(problem))
        return TextAnswer(test.name, test.title, none, vectors, none, none, 0)
    contrast = counted.contrast or Estimate(value=None, reason="there is no contrast")
    plain = Estimate(**{name: getattr(contrast, name) for name in (field.name for field in fields(Estimate))})
    words: dict[str, list[float]] = {}
    for model in models:
        for word, number in model.associations.items():
            words.setdefault(word, []).append(number)
    if not words:
        none = Estimate(value=None, reason="the vectors have no association")
        return TextAnswer(test.name, test.title, plain, vectors, none, none, 0)
    means = {word: sum(numbers) / len(numbers) for word, numbers in words.items()}
    row = amplification(counted, means, random_state=random_state, resamples=1_000).rows[0]
    return TextAnswer(test.name, test.title, plain, vectors, row.slope, row.r, row.words)


def text_section(result: AuditResult) -> Summary | None:
    """The section of an audit; none where no text was given."""
    return None if result.text is None else replace(result.text.summary(), name="text")
