"""Association tests over replicates: does a bias survive another training run?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from biasgauge.audits.part import Part
from biasgauge.audits.parts.bias import concept_cell
from biasgauge.core import Estimate, JsonMapping, JsonObject, Record
from biasgauge.results import Column, Result, Shown, Summary, Table, counted
from biasgauge.scores import Association
from biasgauge.stats import mean_estimate

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

LEVEL = 0.95
SPREAD_TABLE = (
    "Mean over models with its 95 % interval, range and standard deviation over models, and how many lie on the mean's "
    "side of no bias"
)
NO_BIAS = {"weat": 0.0, "mac": 1.0}


@dataclass(frozen=True)
class ReplicateSpread(Record):
    """One test over models that differ by seed or sample.

    Attributes:
        name, test: which test.
        models: on how many models it is defined.
        mean: mean of its values over models; None when fewer than two models have one.
        sd: their standard deviation (n - 1): what another seed does to the number.
        low, high: Student's t interval of the mean over models, 95 %.
        least, most: the smallest and the largest value.
        agree: how many models lie on the same side of "no bias" as the mean does.
        reason: why there is no mean.
    """

    name: str
    test: str
    models: int
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    agree: int | None = None
    reason: str | None = None

    @classmethod
    def from_rows(cls, name: str, test: str, rows: Sequence[Association]) -> ReplicateSpread:
        """Gather one test's values over models."""
        values = np.array([row.value for row in rows if row.value is not None])
        if len(values) < 2:
            why = next((row.reason for row in rows if row.reason), None)
            return cls(name, test, len(values), reason=why or "fewer than two models have a value")
        interval = mean_estimate(values, level=LEVEL)
        mean = float(values.mean())
        middle = NO_BIAS[test]
        return cls(
            name,
            test,
            len(values),
            mean=mean,
            sd=float(values.std(ddof=1)),
            low=interval.low,
            high=interval.high,
            least=float(values.min()),
            most=float(values.max()),
            agree=int((np.sign(values - middle) == np.sign(mean - middle)).sum()),
        )

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`."""
        interval = {"low": self.low, "high": self.high, "level": LEVEL, "method": "t over models"}
        numbers = {name: getattr(self, name) for name in ("models", "mean", "sd", "least", "most", "agree")}
        why = {"reason": self.reason} if self.reason else {}
        return {"name": self.name, "test": self.test, **numbers, "interval": interval, **why}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """From what `to_dict` gave."""
        return super().from_dict({**content, **{end: content["interval"][end] for end in ("low", "high")}})


def spread_of(rows: Iterable[Association]) -> tuple[ReplicateSpread, ...]:
    """Gather the tests of several models, in the order in which they first occur."""
    tests: dict[tuple[str, str], list[Association]] = {}
    for row in rows:
        tests.setdefault((row.name, row.test), []).append(row)
    return tuple(ReplicateSpread.from_rows(name, test, values) for (name, test), values in tests.items())


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Result):
    """Each test over the replicates.

    Attributes:
        models: names of the models that have replicates.
        bias: one row for each test; none where there are no replicates.
    """

    tables: ClassVar[tuple[str, ...]] = ("bias",)

    models: tuple[str, ...]
    bias: tuple[ReplicateSpread, ...]

    def _headline(self) -> str:
        defined = [row for row in self.bias if row.agree is not None]
        same = sum(row.agree == row.models for row in defined)
        return f"{same} of {counted(defined, 'test lies', 'tests lie')} on the same side of no bias in all models."


def measure(context: AuditContext) -> Replicates:
    """Gather the tests of models that differ by random seed or sample; views of a transformer do not count."""
    trained = {
        model.name
        for subject in context.subjects
        if subject.replicated and not subject.viewed
        for model in subject.models
    }
    rows = context.result_of("bias").rows
    return Replicates(
        tuple(model.name for model in context.replicates), spread_of(row for row in rows if row.model in trained)
    )


def summarize(result: Replicates) -> Summary | None:
    """The same tests over replicates."""
    if not result.bias:
        return None
    columns: list[Column | str] = [
        "concept", Column("test", "name"), Column("mean", "estimate"), Column("least", "number"),
        Column("most", "number"), Column("standard deviation", "number", 3), Column("same side", "share"),
        Column("models", "count"),
    ]  # fmt: skip
    rows = [
        (
            concept_cell(row.name),
            row.test,
            Estimate(value=row.mean, low=row.low, high=row.high, reason=row.reason),
            row.least,
            row.most,
            row.sd,
            None if row.agree is None else Shown(row.agree / row.models, f"{row.agree} of {row.models}"),
            row.models,
        )
        for row in result.bias
    ]
    return Summary(
        title=PART.title,
        headline=result._headline(),  # noqa: SLF001 - of this module
        name="replicates",
        about=(
            f"The same tests on {len(result.models)} models that differ by random seed or sample. A finding that "
            "changes its sign with the random seed is no finding."
        ),
        tables=(Table.of("replicates", SPREAD_TABLE, columns, rows, folded=True),),
    )


PART = Part(
    "replicates", "Association tests over replicates", measure, summarize, order=120, stage="testing",
    read=Replicates.from_dict,
)  # fmt: skip
