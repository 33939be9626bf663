"""Associations counted in the text itself, beside those of the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import Estimate, IntervalsBeside, JsonMapping, WordPolicy
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest
from biasgauge.results import Column, RecordTable, Result, counted
from biasgauge.scores import Weat

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.text import TokenCorpus

WINDOW = 5
"""Tokens on either side within which words count as near each other."""


@dataclass(frozen=True)
class CorpusAssociation(IntervalsBeside):
    """Association of one test in the text and in the vectors.

    Attributes:
        question: the lexicon.
        title: what it asks.
        text: difference of the log odds ratios of the two target sets, counts pooled, with its interval over documents
            and words.
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
class CorpusComparison(Result):
    """Associations in a text for the questions of an audit.

    Attributes:
        answers: one per association test.
        settings: which text, and how it was counted.
    """

    tables: ClassVar[tuple[str, ...]] = ("answers",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "answers",
            "Text and vectors side by side",
            (
                "question",
                Column("text: log odds", "estimate", source="text"),
                Column("vectors: contrast", "number", 3, source="vectors"),
                Column("slope", "estimate", 3),
                Column("r", "estimate"),
                "words",
            ),
            name="text",
        ),
    )

    answers: tuple[CorpusAssociation, ...]
    settings: JsonMapping

    def _headline(self) -> str:
        shown = [row for row in self.answers if row.text.excludes(0)]
        both = [row for row in shown if row.vectors is not None]
        agree = sum((row.text.value or 0) * (row.vectors or 0) > 0 for row in both)
        return (
            f"The text itself shows {len(shown)} of {counted(self.answers, 'association')}; the vectors have the same "
            f"direction in {agree} of {len(both)}."
        )

    def _sentences(self) -> Sequence[str]:
        documents, window = counted(self.settings["documents"], "document"), self.settings["window"]
        return [f"{self.settings['tokens']:,} tokens in {documents}, within {window} tokens of each other."]


def compare_with_text(context: AuditContext, corpus: Any) -> CorpusComparison:  # noqa: ANN401 - as `corpus_of` takes
    """Count every association test in the text, and set the vectors' associations beside it.

    Raises:
        CorpusError: the text cannot be read.
    """
    from biasgauge.text import corpus_of

    text = corpus_of(corpus)
    rows = [row for row in context.result_of("bias").rows if row.test == "weat" and row.value is not None]
    asked = {query.name for query in context.queries}
    answers = [
        _compare(text, test, [row for row in rows if row.name == test.name], context)
        for test in context.lexicons
        if isinstance(test, AssociationTest) and test.name in asked
    ]
    settings = {
        "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, "window": WINDOW,
    }  # fmt: skip
    return CorpusComparison(tuple(answers), settings)


def _compare(
    text: TokenCorpus, test: AssociationTest, models: Sequence[Weat], context: AuditContext
) -> CorpusAssociation:
    from biasgauge.analyses.corpus_bias import corpus_bias
    from biasgauge.analyses.criterion import amplification

    values = [model.contrast.value for model in models if model.contrast is not None]
    contrasts = [value for value in values if value is not None]
    vectors = sum(contrasts) / len(contrasts) if contrasts else None
    try:
        counts = corpus_bias(text, test=test, window=WINDOW, policy=WordPolicy(context.policy.min_coverage))
    except ParameterError as problem:
        none = Estimate(value=None, reason=str(problem))
        return CorpusAssociation(test.name, test.title, none, vectors, none, none, 0)
    contrast = counts.contrast or Estimate(value=None, reason="there is no contrast")
    plain = Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})
    words: dict[str, list[float]] = {}
    for model in models:
        for word, number in model.associations.items():
            words.setdefault(word, []).append(number)
    if not words:
        none = Estimate(value=None, reason="the vectors have no association")
        return CorpusAssociation(test.name, test.title, plain, vectors, none, none, 0)
    means = {word: sum(numbers) / len(numbers) for word, numbers in words.items()}
    row = amplification(counts, means, random_state=context.random_state, resamples=1_000).rows[0]
    return CorpusAssociation(test.name, test.title, plain, vectors, row.slope, row.r, row.words)
