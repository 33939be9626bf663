"""Finds the papers: every module here that is named by author and year holds a `PAPER`."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from biasgauge.errors import ParameterError
from biasgauge.lexicons.nearest import meant

if TYPE_CHECKING:
    from biasgauge.papers.paper import Paper

_NAMED_BY_YEAR = re.compile(r"[a-z]+\d{4}")


@cache
def paper_names() -> tuple[str, ...]:
    """Names of all papers that can be reproduced, sorted."""
    modules = (info.name for info in iter_modules([str(Path(__file__).parent)]))
    return tuple(sorted(name for name in modules if _NAMED_BY_YEAR.fullmatch(name)))


def paper_named(name: str) -> Paper:
    """The paper of that name.

    Raises:
        ParameterError: there is none.
    """
    if name not in paper_names():
        near = meant(name, paper_names()) if isinstance(name, str) else ""
        raise ParameterError(f"A paper must be one of {', '.join(paper_names())}. Got {name!r}{near or '.'}")
    paper: Paper = import_module(f"{__package__}.{name}").PAPER
    return paper
