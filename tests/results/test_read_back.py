"""Results read back from JSON that does not fit together are refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import pytest

from biasgauge.core import JsonMapping, Record
from biasgauge.errors import LONGEST, InputError
from biasgauge.results import Chart, Result, Summary
from biasgauge.results.page import summary_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Row(Record):
    """A label and a number."""

    label: str
    number: float


LABELS = {"a": "the first", "b": "the second"}


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Result):
    """Rows whose labels must be in a table, and settings with a level."""

    tables = ("rows",)

    rows: tuple[Row, ...]
    settings: JsonMapping
    texts: JsonMapping = field(default_factory=dict)

    def _headline(self) -> str:
        return f"level {self.settings['level']}"

    def _sentences(self) -> Sequence[str]:
        return [f"{LABELS[row.label]}: {1 / row.number:.2f}" for row in self.rows]


SOUND: dict[str, Any] = {"rows": [{"label": "a", "number": 2.0}], "settings": {"level": 0.95}, "texts": {}}


def altered(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {**SOUND, **changes}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            altered(settings={}),
            r"^The JSON of Numbers does not fit together at settings.level \(it has no 'level'\); it",
        ),
        (altered(rows=[SOUND["rows"][0], {"label": "c", "number": 1}]), r"at rows\[1\]\.label \(it has no 'c'\)"),
        (altered(rows=[{"label": "a", "number": 0}]), r"at rows\[0\] \(ZeroDivisionError"),
    ],
)
def test_what_does_not_fit_together_is_refused_when_it_is_shown(
    content: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    """It was a KeyError or a ZeroDivisionError; then the sentence had no path."""
    result = Numbers.from_dict(content)
    shows = (result.summary, result._repr_html_, lambda: repr(result), lambda: result.save(tmp_path / "r.html"))
    for show in shows:
        with pytest.raises(InputError, match=sentence):
            show()
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Numbers):
    """A chart whose drawing, and a page whose writing, needs what the summary does not."""

    def _headline(self) -> str:
        return "a chart"

    def _sentences(self) -> Sequence[str]:
        return ()

    def _charts(self) -> Sequence[Chart]:
        return [Chart("levels", "Levels", "", lambda: self.settings["levels"][3])]


def test_charts_and_pages_are_explained_though_they_are_drawn_later() -> None:
    """They were an IndexError or a KeyError, in a page and in that of a study."""
    result = Drawn.from_dict(altered(settings={"levels": [1]}))
    shows: tuple[Callable[[], object], ...] = (
        result.page,
        result.figures,
        result.summary().charts[0].drawn,
        lambda: summary_page(Summary("around", "it", parts=(result.summary(),))),
    )
    for show in shows:
        with pytest.raises(InputError, match=r"^The JSON of Drawn does not fit together \(IndexError"):
            show()


def test_a_computed_result_raises_what_it_raises() -> None:
    """A defect of ours is no altered file."""
    with pytest.raises(KeyError):
        Numbers((Row("a", 1.0),), {}).summary()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (altered(rows=[{"label": {"a": 1}, "number": 1.0}]), r"^rows\[0\]\.label must be text\. Got \{'a': 1\}\.$"),
        (altered(rows=[{"label": "a", "number": 10**400}]), r"^rows\[0\]\.number must be a"),
        (altered(rows=5), r"^rows must be a list\. Got 5\.$"),
        ({"rows": []}, r"^settings is missing\.$"),
        (altered(settings={"level": float("inf")}), "settings.level must be a finite number"),
        (altered(rows=[{"label": "x" * 9000, "number": "y" * 9000}]), r"^rows\[0\]\.number must be a number"),
    ],
)
def test_keys_of_another_type_are_refused_with_their_path(content: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as problem:
        Numbers.from_dict(content)
    assert len(str(problem.value)) <= LONGEST


def test_a_reader_of_its_own_is_explained() -> None:
    class Own(Numbers):
        @classmethod
        def from_dict(cls, content: JsonMapping) -> Self:
            return super().from_dict({**content, "settings": content["options"]})

    with pytest.raises(InputError, match=r"The JSON of Own does not fit together at options \(it has no 'options'\)"):
        Own.from_dict(SOUND)


def test_results_that_were_read_are_otherwise_the_same() -> None:
    computed = Numbers((Row("a", 2.0),), {"level": 0.95})
    back = Numbers.from_dict(json.loads(json.dumps(computed.to_dict())))
    assert back.to_dict() == computed.to_dict() == SOUND
    assert back.summary() == computed.summary()
    assert repr(back) == repr(computed)
