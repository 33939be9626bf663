"""Where a study stands: what is there and where, what failed and why, what is missing. No cell is computed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge._io.atomic import write_text
from biasgauge.study.plan import plan_study
from biasgauge.study.publish import INDEX
from biasgauge.study.read import Study, read_study
from biasgauge.study.results import RESULT
from biasgauge.study.run import default_out
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from biasgauge.study.plan import Plan
    from biasgauge.study.store import Failure


@dataclass(frozen=True)
class StudyState:
    """Where a study stands.

    Attributes:
        out: the folder or URL of its outcomes.
        plan: its cells, and which of them are there.
        results: results that are there: name to the folder (or URL) that holds each.
        missing: names of results that are not.
        failures: cells of the plan that failed in the last run that tried them, by key.
    """

    out: str
    plan: Plan
    results: Mapping[str, str]
    missing: tuple[str, ...]
    failures: Mapping[str, Failure]

    def state(self, key: str) -> str:
        """Of a cell: "there", "failed" or "to do"."""
        return "there" if key in self.plan.finished else "failed" if key in self.failures else "to do"

    def summary(self) -> dict[str, Any]:
        """What the page of the study would tell if it were written now, with what failed and what is missing."""
        study, store = self.plan.study, CellStore(self.out, make=False)
        page = study.report
        results = []
        for about in self.plan.about:
            if page is not None and page.of is not None and about["name"].split("/")[0] not in page.of:
                continue
            text = store.read(f"cells/{about['key'][:2]}/{about['key']}/files/{RESULT}")
            if about["key"] in self.plan.finished and text is not None:
                results.append({**about, "result": json.loads(text)})
        content = study.to_dict()
        failed = [{"label": one.label, "step": one.step, "error": one.error} for one in self.failures.values()]
        told = {"toml": study.text, "results": results, "failures": failed, "missing": list(self.missing)}
        titled = {} if page is None else {"title": page.title, "about": page.about}
        return {**content, **content["study"], **{key: text for key, text in titled.items() if text}, **told}

    def save_page(self, path: str | os.PathLike[str]) -> Path:
        """Write that page: one HTML file, whole or not at all."""
        from biasgauge.report.study_page import study_page  # noqa: PLC0415 - only the page needs templates

        write_text(path, study_page(self.summary()))
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        told = self.plan.to_dict()
        return {
            **told,
            "out": self.out,
            "cells": [{**cell, "state": self.state(cell["key"])} for cell in told["cells"]],
            "results": dict(self.results),
            "missing": list(self.missing),
            "failures": [one.to_dict() for one in self.failures.values()],
        }


def study_state(study: Study | str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> StudyState:
    """Say where a study stands.

    Args:
        study: what `read_study` gave, or the path of a TOML file.
        out: folder or URL of its outcomes; `NAME-study` beside the file by default.

    Raises:
        InputError: something is wrong with the study or with `out`.
    """
    known = study if isinstance(study, Study) else read_study(study)
    store = CellStore(default_out(known) if out is None else out, make=False)
    plan = plan_study(known, store)
    keys = {cell.key for cell in plan.cells} - plan.finished
    index = _index(store)
    results = {
        name: f"{store.url}/{index[name, key]}" if (name, key) in index else store.place(key)
        for name, key in plan.results.items()
        if key in plan.finished
    }
    return StudyState(
        out=store.url,
        plan=plan,
        results=results,
        missing=tuple(name for name in plan.results if name not in results),
        failures={key: one for key, one in store.failures().items() if key in keys},
    )


def _index(store: CellStore) -> dict[tuple[str, str], str]:
    """Where the last run, of whichever study and settings, put results that are copied: by name and key."""
    try:
        entries = json.loads(store.read(INDEX) or b"{}")["results"]
        return {(str(name), str(one["key"])): str(one["folder"]) for name, one in entries.items() if one["folder"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # nothing was run yet, or somebody changed the file
