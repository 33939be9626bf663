"""Results of a run: the state of every cell, errors of those that failed, locations of the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from biasgauge.core import JsonMapping, Record
from biasgauge.results import Result, Summary, Table, counted

State = Literal["done", "reused", "failed", "blocked"]
REPORT = "report"
"""What the page of a study is called among its results."""
_MOST_RESULTS = 40
"""Results that are listed one by one; the index has them all."""


@dataclass(frozen=True)
class Failure(Record):
    """Error of a cell that has no outcome.

    Attributes:
        key: of the cell.
        label: what people call it.
        step: its kind.
        error: one sentence.
        log: what was printed and the traceback.
        transient: it may go well the next time without any change (full disk, lost worker), so it is always retried.
    """

    renamed: ClassVar[Mapping[str, str]] = {"transient": "passing"}

    key: str
    label: str
    step: str
    error: str
    log: str
    transient: bool = False


@dataclass(frozen=True)
class CellRun(Record):
    """State of one cell after a run.

    Attributes:
        label: what people call it.
        step: its kind.
        key: its address in the store.
        state: computed now, found in the store, failed, or blocked: not tried because one that it needs failed.
        seconds: that it took when it was computed; None where it was not.
        error: why it failed or is blocked, one sentence.
    """

    label: str
    step: str
    key: str
    state: State
    seconds: float | None
    error: str | None


@dataclass(frozen=True)
class Deviation(Record):
    """One thing that was done otherwise than planned.

    Attributes:
        what: the choice, list or result.
        planned: what was planned, in words.
        done: what was done.
    """

    what: str
    planned: str
    done: str


@dataclass(frozen=True)
class Registered(Record):
    """A study beside its preregistration.

    Attributes:
        date: the day of the preregistration.
        sha256: its checksum.
        deviations: what was done otherwise; none: all was done as planned.
    """

    date: str
    sha256: str
    deviations: tuple[Deviation, ...]

    @property
    def sentence(self) -> str:
        """State whether the plan was followed."""
        adherence = "and done as planned" if not self.deviations else f"with {counted(self.deviations, 'deviation')}"
        return f"Preregistered on {self.date} (SHA-256 {self.sha256}) {adherence}."

    def summary(self) -> Summary:
        """State whether the plan was followed, with a table of deviations."""
        rows = [(deviation.what, deviation.planned, deviation.done) for deviation in self.deviations]
        table = Table.of("deviations", "Done otherwise", ("what", "planned", "done"), rows)
        return Summary("Preregistration", self.sentence, tables=(table,) if rows else (), name="preregistration")


@dataclass(frozen=True, eq=False, repr=False)
class StudyRun(Result):
    """State of a study after a run.

    Attributes:
        out: the folder or URL that holds all outcomes.
        cells: all of them, inputs first.
        failures: why cells failed, with logs.
        results: name to the folder (or URL) that holds it; those of cells that failed or are blocked are missing.
        warnings: what was odd: damaged outcomes that were computed again, cells that hardly fit the machine.
        preregistration: what was done otherwise than planned; None for a study that was not preregistered.
        plan: the plan that was run, as it stands afterwards; None where this was read back from JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("cells",)
    hidden: ClassVar[frozenset[str]] = frozenset({"plan"})

    out: str
    cells: tuple[CellRun, ...]
    failures: tuple[Failure, ...]
    results: Mapping[str, str]
    warnings: tuple[str, ...]
    preregistration: Registered | None = None
    plan: Any = None  # a Plan, whose module imports this one

    @property
    def done(self) -> int:
        """Cells that were computed now."""
        return self._count("done")

    @property
    def reused(self) -> int:
        """Cells that were in the store."""
        return self._count("reused")

    @property
    def failed(self) -> int:
        """Cells that failed, now or in an earlier run that is not repeated."""
        return self._count("failed")

    @property
    def blocked(self) -> int:
        """Cells that need one that failed."""
        return self._count("blocked")

    def derived(self) -> JsonMapping:
        """Count cells by state."""
        return {"done": self.done, "reused": self.reused, "failed": self.failed, "blocked": self.blocked}

    def conclusions(self) -> tuple[Summary, ...]:
        """Conclusions of the results that are there, one sentence each."""
        from biasgauge.study.state import StudyState

        return () if self.plan is None else StudyState(self.out, self.plan, self.results, ()).conclusions()

    @property
    def advice(self) -> str:
        """Advice on cells that failed."""
        behind = f", and {self.blocked:,} that need them were not tried" if self.blocked else ""
        failed = counted(self.failures, "cell")
        return f"{failed} failed{behind}; correct what the errors say, then run with --retry-failed"

    def summary(self) -> Summary:
        """Count cells by state; list results and failures."""
        ends = f"{self.done:,} computed now, {self.reused:,} were there, {self.failed:,} failed"
        blocked = f", {self.blocked:,} wait for those that failed" if self.blocked else ""
        return Summary(
            title=f"Study in {self.out}",
            headline=f"{counted(self.cells, 'cell')}: {ends}{blocked}."
            if self.cells
            else "The study asks for nothing: it has no corpora, vectors, analyses or tasks.",
            warnings=self.warnings,
            parts=(
                *([] if self.preregistration is None else [self.preregistration.summary()]),
                *outcome_parts(self.results, self.failures, self.out),
            ),
        )

    def _count(self, state: State) -> int:
        return sum(cell.state == state for cell in self.cells)


def outcome_parts(results: Mapping[str, str], failures: Iterable[Failure], out: str) -> tuple[Summary, ...]:
    """Locations of results, and each cell that failed with its error and its log."""
    named = [f"{name}: {location}" for name, location in results.items() if name != REPORT]
    more = [f"and {len(named) - _MOST_RESULTS:,} more; results/index.json names them all"]
    page = [f"The page: {results[REPORT]}/page.html"] if REPORT in results else []
    sentences = (*named[:_MOST_RESULTS], *(more if len(named) > _MOST_RESULTS else ()), *page)
    failed = tuple(
        f"{failure.label}: {failure.error}; log: {out.rstrip('/')}/failed/{failure.key}.json" for failure in failures
    )
    return (
        *([Summary("Results", "", sentences, name="results")] if sentences else []),
        *([Summary("Failed", "What does not need them went on.", failed, name="failed")] if failed else []),
    )
