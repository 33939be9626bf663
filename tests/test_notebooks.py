"""In a notebook results show themselves: every public result class has an HTML form."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import biasgauge as bg

if TYPE_CHECKING:
    from collections.abc import Iterator


def results(kind: type[Any]) -> Iterator[type[Any]]:
    """Every class of results, of all rooms."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("biasgauge."):
            yield one
        yield from results(one)


def test_every_result_says_what_it_comes_to() -> None:
    for info in walk_packages(bg.__path__, "biasgauge."):
        if "__main__" not in info.name:
            import_module(info.name)
    found = {one.__name__: one for one in results(bg.Result)}
    assert len(found) > 20
    assert [name for name, one in found.items() if one.summary is bg.Result.summary] == []
    repeated = [name for name, one in found.items() if {"__repr__", "_repr_html_"} & set(vars(one))]
    assert repeated == []  # written once, in Result


def test_direct_bias_shows_its_value_and_its_interval() -> None:
    vectors = bg.embeddings.load_default(3_000)
    found = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["nurse", "teacher", "judge"], min_coverage=0)
    shown = found._repr_html_()
    assert f"{found.mean.value:.3f} [{found.mean.low:.3f}, {found.mean.high:.3f}]" in shown
    lost = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["<b>nobody"])
    assert "undefined: fewer than 80 % found" in lost._repr_html_()
    assert "<b>nobody" not in lost._repr_html_()
