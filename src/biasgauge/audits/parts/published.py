"""Published tests beside the questions of a battery: what their few words show, without a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.audits.measurement import Measured
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.core import Estimate, Record
from biasgauge.results import Column, RecordTable, counted

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

LEVEL = 0.95


@dataclass(frozen=True)
class PublishedTest(Record):
    """A test with the words of its paper, which is not judged.

    Attributes:
        test: name of its lexicon.
        title: of the lexicon.
        question: the question of the battery that asks the same with more words; empty without one.
        model: the vectors.
        words: words found in its shortest list.
        contrast: in cosine units with its 95 % interval, at equal word frequency where that is known; undefined, with
            the reason, where too few words are found.
        p: the largest of its tests, not adjusted for other questions; None without a contrast.
        claim: meaning of the sign of the contrast; empty without one.
    """

    test: str
    title: str
    question: str
    model: str
    words: int
    contrast: Estimate
    p: float | None = None
    claim: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTests(PartRows):
    """Every published test on every subject."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Published tests, not judged: contrasts at equal word frequency, where that is known",
            (
                Column("published test", "lexicon", source="test"),
                Column("question of the battery", "lexicon", source="question"),
                Column("vectors", source="model"),
                Column("fewest words of a list", "count", source="words"),
                Column("contrast [{level}]", "estimate", 3, source="contrast"),
                Column("p, not adjusted", "p", source="p"),
            ),
            drop_constant=("vectors",),
            name="published",
        ),
    )

    def _headline(self) -> str:
        measured = [row for row in self.rows if row.p is not None]
        found = sum(row.p <= 1 - LEVEL for row in measured)
        tests = counted(measured, "published test", "published tests")
        return f"{found} of {tests} would be significant at {1 - LEVEL:.2f} by themselves; none is judged."


def measure(context: AuditContext) -> PublishedTests | None:
    """Measure the published tests; None where there are none beside the questions."""
    return PublishedTests(tuple(_published_tests(context))) if context.published else None


def _published_tests(context: AuditContext) -> Iterator[PublishedTest]:
    asked = {query.name for query in context.queries}
    for outcome in context.published_outcomes:
        query, resolved = outcome.query, outcome.resolved
        powered = "" if query.lexicon is None else query.lexicon.powered
        labels = (query.name, query.title, powered if powered in asked else "", outcome.subject.name)
        words = min(len(resolved.sets[key].words) for key in (*query.target_keys, *query.attribute_keys))
        if not isinstance(outcome, Measured):
            yield PublishedTest(*labels, words, Estimate(value=None, reason=outcome.reason))
            continue
        low, high = outcome.test.decisive.interval(LEVEL)
        contrast = Estimate(value=outcome.value, low=low, high=high, level=LEVEL)
        yield PublishedTest(*labels, words, contrast, outcome.p, outcome.claim)


PART = ShippedPart(
    "published", "Published tests", measure, order=104, stage="published tests",
    read=PublishedTests.reader(PublishedTest.from_dict),
    about="The tests with the words of their papers, beside the questions of the battery that ask the same with 50 to "
    "100 words a list. Eight words seldom settle a question, so these are shown and not judged; name one "
    "(--lexicon weat6) to have it judged.",
)  # fmt: skip
