"""A paper as data: what it needs, and its numbers part by part with the functions that fill them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.papers.data import Data, Need
from biasgauge.papers.row import Recomputed, Row
from biasgauge.results import Record

if TYPE_CHECKING:
    Progress = Callable[[int, int], None]
    Compute = Callable[[Data, int, Progress | None], Mapping[str, Recomputed]]


def late(module: str, function: str) -> Compute:
    """A function of a module of this room that is imported when it is called: listing papers should cost nothing."""

    def compute(data: Data, random_state: int, progress: Progress | None) -> Mapping[str, Recomputed]:
        filling: Compute = getattr(import_module(f"biasgauge.papers.{module}"), function)
        return filling(data, random_state, progress)

    return compute


@dataclass(frozen=True)
class Part:
    """A table of published numbers and the function that fills it.

    Attributes:
        name: such as "table2".
        about: what it is, in a sentence.
        published: its rows without our numbers; a row that needs more than the part names it in `needs`.
        compute: takes the data, the random seed and a progress function (or None), and gives our numbers by row id. It
            may leave rows out. None: nothing of it can be computed from any data that we read; its rows say why.
        needs: names of the data without which nothing of it can be computed.
    """

    name: str
    about: str
    published: tuple[Row, ...]
    compute: Compute | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper(Record):
    """A paper that can be reproduced.

    Attributes:
        name: as the command takes it, such as "zhang2020".
        title: of the paper.
        citation: who, where, when.
        needs: the data that its parts take.
        parts: in the order of the table.
        about: what can be checked and what cannot, in a few sentences.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"parts"})

    name: str
    title: str
    citation: str
    needs: tuple[Need, ...] = ()
    parts: tuple[Part, ...] = ()
    about: str = ""

    def derived(self) -> Mapping[str, Any]:
        """What its parts are about, and how many numbers they have."""
        return {
            "parts": {part.name: part.about for part in self.parts},
            "numbers": sum(len(part.published) for part in self.parts),
        }
