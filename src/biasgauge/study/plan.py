"""A study to its cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from biasgauge.study.book import Book
from biasgauge.study.costs import corrected
from biasgauge.study.files import Checksums
from biasgauge.study.plan_analyses import plan_analyses
from biasgauge.study.plan_corpora import plan_corpora
from biasgauge.study.plan_models import OF, plan_mitigations, plan_models, plan_vectors
from biasgauge.study.plan_report import plan_report
from biasgauge.study.plan_scores import plan_scores
from biasgauge.study.plan_tasks import plan_tasks
from biasgauge.study.read import Problem, Study, read_study

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import pandas as pd

    from biasgauge.study.cell import Cell
    from biasgauge.study.store import CellStore

CHECKSUMS = "checksums.json"


@dataclass(frozen=True)
class Plan:
    """What a study comes to.

    Attributes:
        study: what was planned.
        cells: in an order in which what a cell reads comes before it; no key occurs twice.
        results: outcomes that users look for: analyses, tasks, the report; name to key.
        models: every model by its name, as "sgns/wiki/seed0"; to key.
        about: of every result its name, key, part of the study ("analyses" or "tasks"), kind, and what it is of.
        finished: keys of the cells that were in the store when it was planned.
    """

    study: Study
    cells: tuple[Cell, ...]
    results: Mapping[str, str]
    models: Mapping[str, str]
    about: tuple[Mapping[str, str], ...]
    finished: frozenset[str] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """As `study plan --json` prints it."""
        return {
            "study": self.study.name,
            "cells": [
                {
                    "label": one.label,
                    "step": one.step,
                    "key": one.key,
                    "seconds": round(one.seconds, 3),
                    "memory": one.memory,
                    "state": "finished" if one.key in self.finished else "to do",
                }
                for one in self.cells
            ],
            "results": dict(self.results),
            "models": dict(self.models),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

        return pd.DataFrame(self.to_dict()["cells"], columns=["label", "step", "key", "seconds", "memory", "state"])

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, max_rows=40))


def plan_study(study: Study | str | os.PathLike[str], store: CellStore | None = None) -> Plan:
    """Say which cells a study has; nothing is computed but checksums of the user's files.

    Args:
        study: what `read_study` gave, or the path of a TOML file.
        store: where outcomes are kept: tells which cells are there already and how long their like took, and remembers
            checksums of large files.

    Raises:
        InputError: something is wrong with the study; every problem is on a line of its own.
    """
    told = study if isinstance(study, Study) else read_study(study)
    memory = _memory(store)
    checksums = Checksums(memory)
    book = _planned(told, checksums, None if memory is None else memory.parent)
    told.refuse(book.problems)
    checksums.keep()
    models = {one.label: one.key for group in book.groups.values() for one in group.members}
    finished = frozenset() if store is None else store.finished() & book.cells.keys()
    return Plan(
        study=told,
        cells=corrected(tuple(book.cells.values()), finished, store),
        results=MappingProxyType(book.results),
        models=MappingProxyType(models),
        about=tuple(MappingProxyType(one) for one in book.entries),
        finished=finished,
    )


def problems_of(study: Study) -> list[Problem]:
    """All that is wrong with a study whose tables could be read; the user's files are looked for and not read."""
    return _planned(study, None).problems


def _planned(study: Study, checksums: Checksums | None, outcomes: Path | None = None) -> Book:
    book = Book(study, checksums, outcomes)
    for sections in (OF, ("analyses", "tasks")):
        owners: dict[str, str] = {}
        for section in sections:
            for name in getattr(study, section):
                if (owner := owners.setdefault(name, section)) != section:
                    book.problem((section, name), f"the name {name!r} is taken by [{owner}.{name}]; choose another")
    corpora = plan_corpora(book)
    plan_models(book, corpora)
    plan_vectors(book)
    plan_mitigations(book)
    plan_scores(book)
    plan_tasks(book)
    plan_analyses(book)
    plan_report(book)
    return book


def _memory(store: CellStore | None) -> Path | None:
    """Where checksums are remembered: in a store that is a folder."""
    if store is None or not store.local:
        return None
    import fsspec  # noqa: PLC0415 - the store has imported it

    return Path(fsspec.core.url_to_fs(store.url)[1]) / CHECKSUMS
