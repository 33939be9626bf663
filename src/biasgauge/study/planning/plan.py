"""A study to its cells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import JsonMapping, JsonObject
from biasgauge.results import Column, Result, Shown, Summary, Table, counted, duration_text
from biasgauge.study.cell import Cell, Failure
from biasgauge.study.files import Checksums
from biasgauge.study.planning.analyses import plan_analyses, plan_scores, plan_tasks
from biasgauge.study.planning.builder import MODELS, PlanBuilder, numbered
from biasgauge.study.planning.corpora import plan_corpora
from biasgauge.study.planning.models import plan_encoders, plan_mitigations, plan_models, plan_vectors
from biasgauge.study.preregistration import Registered, registered
from biasgauge.study.read import Study, open_study

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.study.store import CellStore

REPORT = "report"
"""Name of the page among the results."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Cells of a study, and which of them are there.

    Attributes:
        study: what was planned.
        cells: in an order in which what a cell reads comes before it; no key occurs twice.
        results: outcomes that users look for: analyses, tasks, the report; name to key.
        models: every model by its name, as "sgns/wiki/seed0"; to key.
        about: of every result its name, key, part of the study ("analyses" or "tasks"), kind, and what it is of.
        finished: keys of the cells that were in the store when it was planned.
        seconds: time that finished cells took, and the median of finished cells of the same step for others, by key.
        failures: why cells failed in the last run that tried them, by key.
        preregistration: what is done otherwise than planned; None for a study that was not preregistered.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"study": str, "cells": tuple[JsonObject, ...]}
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"study", "cells", "about", "finished", "seconds", "failures", "preregistration"}
    )

    study: Study
    cells: tuple[Cell, ...]
    results: Mapping[str, str]
    models: Mapping[str, str]
    about: tuple[Mapping[str, str], ...]
    finished: frozenset[str] = frozenset()
    seconds: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    preregistration: Registered | None = None

    def state(self, key: str) -> str:
        """Of a cell: "there", "failed" or "to do"."""
        return "there" if key in self.finished else "failed" if key in self.failures else "to do"

    def derived(self) -> JsonMapping:
        """The study's name, and of each cell its step, its time where that is known, and whether it is there."""
        return {"study": self.study.name, "cells": self._rows()}

    def to_frame(self) -> pd.DataFrame:
        """One row per cell."""
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=["label", "step", "key", "seconds", "state"])

    def _rows(self) -> list[JsonObject]:
        return [
            {
                "label": cell.label, "step": cell.step, "key": cell.key, "seconds": self.seconds.get(cell.key),
                "state": self.state(cell.key),
            }
            for cell in self.cells
        ]  # fmt: skip

    def summary(self) -> Summary:
        """Count cells of each step, those that are there, and the time of the others."""
        left = [cell for cell in self.cells if cell.key not in self.finished]
        timed = [cell for cell in left if cell.key in self.seconds]
        sentences = []
        if timed:
            seconds = sum(self.seconds[cell.key] for cell in timed)
            sentences.append(
                f"{len(timed):,} of the other {len(left):,} take about {duration_text(seconds)} of one core, by what "
                "finished cells of the same step took."
            )
        if self.failures:
            failed = counted(self.failures, "cell")
            sentences.append(f"{failed} failed in an earlier run; run with --retry-failed to try again.")
        return Summary(
            title=f"Plan of the study {self.study.name}",
            headline=f"{counted(self.cells, 'cell')}, {len(self.cells) - len(left):,} of them there already.",
            sentences=tuple(sentences),
            tables=(self._table(),),
        )

    def _table(self) -> Table:
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            words = cell.label.split("/", maxsplit=1)[0].split(" ")  # "train sgns" of "train sgns/wiki/seed0"
            name = " ".join(words[:3] if words[1:2] == ["of"] else words[:2])
            groups.setdefault((cell.step, name), []).append(cell)
        rows = []
        for (step, name), cells in groups.items():
            left = [cell for cell in cells if cell.key not in self.finished]
            label = f"{name} …" if len(cells) > 1 else cells[0].label
            rows.append((step, len(cells), len(cells) - len(left), self._time(left), label))
        counts = [Column("cells", "count"), Column("there", "count"), Column("core time", "number")]
        return Table.of("cells", "", ("step", *counts, "what"), rows)

    def cell_table(self) -> Table:
        """Every cell on a line of its own."""
        rows = [(self.state(cell.key), cell.step, self._time([cell]), cell.key[:12], cell.label) for cell in self.cells]
        return Table.of("cells", "", ("state", "step", Column("time", "number"), "key", "what"), rows)

    def _time(self, cells: Sequence[Cell]) -> Shown | None:
        """Time of some cells together; None where there are none or that of one is not known."""
        if not cells or any(cell.key not in self.seconds for cell in cells):
            return None
        seconds = sum(self.seconds[cell.key] for cell in cells)
        return Shown(seconds, duration_text(seconds))


def _expected_seconds(cells: Iterable[Cell], finished: frozenset[str], store: CellStore | None) -> dict[str, float]:
    """Seconds by key: measured for finished cells, else the median of finished ones of the same step and algorithm."""
    if store is None:
        return {}
    times = {key: store.seconds(key) for key in finished}
    seconds = {key: time for key, time in times.items() if time is not None}
    similar: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        similar.setdefault((cell.step, str(cell.settings.get("algorithm", ""))), []).append(cell)
    for group in similar.values():
        if measured := [seconds[cell.key] for cell in group if cell.key in seconds]:
            seconds |= {cell.key: median(measured) for cell in group if cell.key not in seconds}
    return seconds


def plan_study(study: Study | str | os.PathLike[str], store: CellStore | None = None) -> Plan:
    """List the cells of a study; nothing is computed but checksums of the user's files.

    Args:
        study: what `read_study` returned, or the path of a TOML file.
        store: where outcomes are kept: tells which cells are there already and how long their like took, and remembers
            checksums of large files.

    Raises:
        InputError: something is wrong with the study; every problem is on a line of its own.
    """
    declared = open_study(study)
    checksums = Checksums() if store is None else store.checksums
    plan = build_plan(declared, checksums, Path(store.url) if store is not None and store.local else None)
    declared.refuse(plan.problems)
    checksums.keep()
    models = {member.label: member.key for group in plan.groups.values() for member in group.members}
    finished = frozenset() if store is None else store.finished() & plan.cells.keys()
    failures = {} if store is None else store.failures()
    return Plan(
        study=declared,
        cells=tuple(plan.cells.values()),
        results=MappingProxyType(plan.results),
        models=MappingProxyType(models),
        about=tuple(map(MappingProxyType, plan.entries)),
        finished=finished,
        seconds=MappingProxyType(_expected_seconds(plan.cells.values(), finished, store)),
        failures={key: failure for key, failure in failures.items() if key in plan.cells and key not in finished},
        preregistration=plan.preregistration,
    )


_SECTIONS = (
    plan_corpora, plan_models, plan_vectors, plan_encoders, plan_mitigations, plan_scores, plan_tasks, plan_analyses,
)  # fmt: skip
"""Each after those that it is made of."""


def build_plan(study: Study, checksums: Checksums | None, outcomes: Path | None = None) -> PlanBuilder:
    """Plan a study, with the problems of its tables and of the plan.

    Without `checksums` it is only checked: the user's files are looked for and not read, and keys mean nothing.
    """
    plan = PlanBuilder(study, checksums, outcomes)
    plan.problems += study.problems
    for sections in (MODELS, ("analyses", "tasks")):
        owners: dict[str, str] = {}
        for section in sections:
            for name in getattr(study, section):
                if (owner := owners.setdefault(name, section)) != section:
                    plan.problem((section, name), f"the name {name!r} is taken by [{owner}.{name}]; choose another")
    for plan_section in _SECTIONS:
        plan_section(plan)
    if checksums is not None and not plan.problems:
        plan.preregistration = registered(study, plan.cells.values(), plan.results)
    _plan_report(plan)
    return plan


def _plan_report(plan: PlanBuilder) -> None:
    """Add the cell of the page, where the study asks for one, over all results or those that it names."""
    table = plan.study.report
    for section in ("analyses", "tasks"):
        if REPORT in getattr(plan.study, section):
            plan.problem((section, REPORT), "the name 'report' is taken by the page; choose another")
    if table is None:
        return
    names = list(dict.fromkeys(entry["name"].split("/")[0] for entry in plan.entries))
    for name in table.of or ():
        if name not in names and not any((section, name) in plan.study.broken for section in ("analyses", "tasks")):
            plan.unknown((REPORT, "of"), f"there is no {name!r} in analyses or tasks", name, names)
    if plan.problems:  # some result is missing, or some setting is none that a cell could hold
        return
    content = plan.study.to_dict()
    description = content["study"]
    results = [entry for entry in plan.entries if plan.study.is_on_page(entry["name"])]
    settings = {
        "name": description["name"],
        "title": table.title or description["title"],
        "about": table.about or description["about"],
        "seed": description["seed"],
        **{section: content[section] for section in ("corpora", "models", "vectors", "mitigations", "scores")},
        **({"encoders": content["encoders"]} if content["encoders"] else {}),
        "results": results,
        "toml": plan.study.text,
    }
    if plan.preregistration is not None:
        settings["preregistration"] = plan.preregistration.to_dict()
    inputs = numbered("result", (entry["key"] for entry in results))
    plan.results[REPORT] = plan.add("report", settings, inputs=inputs, label=REPORT)
