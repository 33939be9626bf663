"""State of a study without computing any cell: results that are there, failures, missing results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import JsonMapping
from biasgauge.io import parse_json, write_text
from biasgauge.results import Result, Summary, counted
from biasgauge.study.outcomes import RESULT
from biasgauge.study.planning.plan import Plan, plan_study
from biasgauge.study.publish import read_index
from biasgauge.study.read import Study, read_study
from biasgauge.study.result import outcome_parts
from biasgauge.study.run import default_out
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    import pandas as pd

_MOST = 8
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
                *outcome_parts(self.results, failures.values(), self.out),
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
        more = (f"and {len(sentences) - _MOST:,} more; the page has them all",) if len(sentences) > _MOST else ()
        return (Summary("Conclusions", "", (*sentences[:_MOST], *more), name="conclusions"),)

    def save_page(self, path: str | os.PathLike[str]) -> Path:
        """Write the page of `findings`: one HTML file, whole or not at all."""
        from biasgauge.results.page import summary_page

        write_text(path, summary_page(self.findings()))
        return Path(path)

    def findings(self) -> Summary:
        """Summary for the page of the study as of now, with failures and missing results."""
        from biasgauge.study.page import study_summary

        study, store = self.plan.study, CellStore(self.out, make=False)
        page = study.report
        results = []
        for entry in self.plan.about:
            if page is not None and page.of is not None and entry["name"].split("/")[0] not in page.of:
                continue
            text = store.read(f"cells/{entry['key'][:2]}/{entry['key']}/files/{RESULT}")
            if entry["key"] in self.plan.finished and text is not None:
                results.append({**entry, "result": parse_json(text)})
        content = study.to_dict()
        failed = [failure.to_dict() for failure in self.plan.failures.values()]
        outcome = {"toml": study.text, "results": results, "failures": failed, "missing": list(self.missing)}
        texts = {} if page is None else {"title": page.title, "about": page.about}
        headings = {name: text for name, text in texts.items() if text}
        return study_summary({**content, **content["study"], **headings, **outcome})


def study_state(study: Study | str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> StudyState:
    """Say where a study stands.

    Args:
        study: what `read_study` gave, or the path of a TOML file.
        out: folder or URL of its outcomes; `NAME-study` beside the file by default.

    Raises:
        InputError: something is wrong with the study or with `out`.
    """
    declared = study if isinstance(study, Study) else read_study(study)
    store = CellStore(default_out(declared) if out is None else out, make=False)
    plan = plan_study(declared, store)
    copies = {(name, entry.key): entry.folder for name, entry in read_index(store).results.items() if entry.folder}
    results = {
        name: f"{store.url}/{copies[name, key]}" if (name, key) in copies else store.location(key)
        for name, key in plan.results.items()
        if key in plan.finished
    }
    return StudyState(store.url, plan, results, tuple(name for name in plan.results if name not in results))
