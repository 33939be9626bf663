"""Results of studies: the state of every cell after a run, and the state of a study without running it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import JsonMapping, JsonObject
from biasgauge.io import parse_json, write_text
from biasgauge.results import Result, Summary, counted
from biasgauge.study.cell import CellRun, Failure, State
from biasgauge.study.planning.plan import REPORT, Plan
from biasgauge.study.preregistration import Registered
from biasgauge.study.step import RESULT
from biasgauge.study.store import CellStore, cell_file

if TYPE_CHECKING:
    import pandas as pd

_MOST_RESULTS = 40
"""Results that are listed one by one; the index has them all."""
_MOST_CONCLUSIONS = 8
"""Conclusions that a terminal shows."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyState(Result):
    """State of a study.

    Attributes:
        out: the folder or URL of its outcomes.
        plan: its cells, which of them are there, which failed.
        results: results that are there: name to the folder (or URL) that holds each.
        missing: names of results that are not.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "study": str,
        "cells": tuple[JsonObject, ...],
        "failures": tuple[JsonObject, ...],
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"plan"})

    out: str
    plan: Plan
    results: Mapping[str, str]
    missing: tuple[str, ...]

    def derived(self) -> JsonMapping:
        """The plan, and why cells failed."""
        plan = {name: value for name, value in self.plan.to_dict().items() if name != "results"}
        return {**plan, "failures": list(self.plan.failures.values())}

    def to_frame(self) -> pd.DataFrame:
        """One row per cell."""
        return self.plan.to_frame()

    def summary(self) -> Summary:
        """Count cells and results; list failures and missing results."""
        cells, finished, failures = self.plan.cells, self.plan.finished, self.plan.failures
        title = f"State of the study {self.plan.study.name}"
        if cells and not finished and not failures:
            return Summary(title, f"Nothing of this study has been run in {self.out}.")
        missing = Summary("Not there yet", "", self.missing, name="missing")
        return Summary(
            title,
            f"{counted(cells, 'cell')}: {len(finished):,} there, {len(failures):,} failed; {len(self.results):,} of "
            f"{counted(self.plan.results, 'result')} there, in {self.out}",
            parts=(
                *self.conclusions(),
                *_outcome_parts(self.results, failures.values(), self.out),
                *([missing] if self.missing else []),
            ),
        )

    def conclusions(self) -> tuple[Summary, ...]:
        """Conclusions of the results that are there, one sentence each; nothing where no analysis has a result."""
        if not any(entry["key"] in self.plan.finished for entry in self.plan.about):
            return ()
        findings = self.findings()
        sentences = findings.sentences
        if not any(sentence in findings.headline for sentence in sentences):
            sentences = (findings.headline, *sentences)
        shown = _shortened(sentences, _MOST_CONCLUSIONS, "the page has them all")
        return (Summary("Conclusions", "", shown, name="conclusions"),)

    def save_page(self, path: str | os.PathLike[str]) -> Path:
        """Write the page of `findings`: one HTML file, whole or not at all."""
        from biasgauge.results.page import summary_page

        write_text(path, summary_page(self.findings()))
        return Path(path)

    def findings(self) -> Summary:
        """Summary for the page of the study as of now, with failures and missing results."""
        from biasgauge.study.page import study_summary

        study, store = self.plan.study, CellStore(self.out, make=False)
        results = []
        for entry in self.plan.about:
            if study.is_on_page(entry["name"]) and entry["key"] in self.plan.finished:
                text = store.read(cell_file(entry["key"], RESULT))
                results += [] if text is None else [{**entry, "result": parse_json(text)}]
        content = study.to_dict()
        headings = {
            name: text for name, text in content.get("report", {}).items() if name in {"title", "about"} and text
        }
        failures = [failure.to_dict() for failure in self.plan.failures.values()]
        outcome = {"toml": study.text, "results": results, "failures": failures, "missing": list(self.missing)}
        return study_summary({**content, **content["study"], **headings, **outcome})


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
    plan: Plan | None = None

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

    def _count(self, state: State) -> int:
        return sum(cell.state == state for cell in self.cells)

    def derived(self) -> JsonMapping:
        """Count cells by state."""
        return {"done": self.done, "reused": self.reused, "failed": self.failed, "blocked": self.blocked}

    def conclusions(self) -> tuple[Summary, ...]:
        """Conclusions of the results that are there, one sentence each."""
        return () if self.plan is None else StudyState(self.out, self.plan, self.results, ()).conclusions()

    @property
    def advice(self) -> str:
        """Advice on cells that failed."""
        behind = f", and {self.blocked:,} that need them were not tried" if self.blocked else ""
        failed = counted(self.failures, "cell")
        return f"{failed} failed{behind}; correct what the errors say, then run with --retry-failed"

    def summary(self) -> Summary:
        """Count cells by state; list results and failures."""
        states = f"{self.done:,} computed now, {self.reused:,} were there, {self.failed:,} failed"
        blocked = f", {self.blocked:,} wait for those that failed" if self.blocked else ""
        return Summary(
            title=f"Study in {self.out}",
            headline=f"{counted(self.cells, 'cell')}: {states}{blocked}."
            if self.cells
            else "The study asks for nothing: it has no corpora, vectors, analyses or tasks.",
            warnings=self.warnings,
            parts=(
                *([] if self.preregistration is None else [self.preregistration.summary()]),
                *_outcome_parts(self.results, self.failures, self.out),
            ),
        )


def _outcome_parts(results: Mapping[str, str], failures: Iterable[Failure], out: str) -> tuple[Summary, ...]:
    """Locations of results, and each cell that failed with its error and its log."""
    named = [f"{name}: {location}" for name, location in results.items() if name != REPORT]
    sentences = _shortened(named, _MOST_RESULTS, "results/index.json names them all")
    if REPORT in results:
        sentences = (*sentences, f"The page: {results[REPORT]}/page.html")
    failed = tuple(
        f"{failure.label}: {failure.error}; log: {out.rstrip('/')}/failed/{failure.key}.json" for failure in failures
    )
    return (
        *([Summary("Results", "", sentences, name="results")] if sentences else []),
        *([Summary("Failed", "What does not need them went on.", failed, name="failed")] if failed else []),
    )


def _shortened(sentences: Sequence[str], most: int, complete: str) -> tuple[str, ...]:
    """The first of several sentences, and where the others are."""
    more = (f"and {len(sentences) - most:,} more; {complete}",) if len(sentences) > most else ()
    return (*sentences[:most], *more)
