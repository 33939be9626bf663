"""Rows, data and missing parts, on a paper that does not exist."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.errors import InputError, InternalError, ParameterError
from biasgauge.papers import Data, Need, Paper, Part, Recomputed, Row, reproduce
from biasgauge.papers.published import published_rows, read_paper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from biasgauge.papers.paper import Progress

NEEDS = (
    Need("vectors", "Some vectors.", "Fetch vectors.bin of that project (MIT).", ("vectors.bin", "deep/*.bin")),
    Need("table", "A table.", "Type it in.", ("table.csv",)),
)


def filled(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    if progress is not None:
        progress(1, 2)
        progress(2, 2)
    size = data.path("vectors").stat().st_size
    return {
        "t.size": Recomputed(size, size + seed, size - 1, size + 1),
        "t.other": Recomputed(3.0, same_data=False, note="mine"),
    }


PAPER = Paper(
    name="nobody1900",
    title="On nothing",
    citation="Nobody 1900",
    needs=NEEDS,
    parts=(
        Part(
            "free",
            "Needs nothing.",
            (Row("f.one", "one", "§1", 1, tolerance=0),),
            lambda *_: {"f.one": Recomputed(1, 2)},
        ),
        Part(
            "t",
            "Needs vectors.",
            (
                Row("t.size", "size", "Table 1", 4, tolerance=0.5),
                Row("t.other", "other", "Table 1", 3.5, tolerance=0.1, note="theirs"),
                Row("t.more", "more", "Table 1", 9, needs="table"),
            ),
            filled,
            ("vectors",),
        ),
        Part("lost", "Cannot be had.", (Row("l.one", "one", "Table 2", "many", note="not released"),)),
    ),
)


@pytest.fixture
def nobody() -> Iterator[str]:
    registry.register(PAPER)
    yield PAPER.name
    registry.unregister("paper", PAPER.name)


@pytest.mark.parametrize(
    ("published", "ours", "tolerance", "expected"),
    [
        (0.84, 0.83, 0.01, True),  # a little more than .01 in binary
        (0.84, 0.8299, 0.01, False),
        (5, 5, 0, True),
        (5, 5.0001, 0, False),
        (5, 5, None, None),
        (None, 5, 0, None),
        (5, None, 0, None),
        ("none", "none", 0, True),
        ("none", "some", 0, False),
        ("none", 5, 0, False),
    ],
)
def test_agreement(
    published: float | str | None, ours: float | str | None, tolerance: float | None, *, expected: bool | None
) -> None:
    assert Row("a", "", "", published, ours, tolerance=tolerance).agrees is expected


def test_words_stand_for_a_range() -> None:
    row = Row("a", "", "", "significant", between=(0, 0.05))
    assert [replace(row, as_published=p).agrees for p in (0.0, 0.05, 0.051, None)] == [True, True, False, None]
    assert row.rule == "0 to 0.05 agrees"


def test_states_and_texts() -> None:
    row = Row("a", "", "", 0.5, 0.123456, 0.98765, tolerance=0.01, low=-0.1, high=0.2)
    assert (row.state, row.rule) == ("differs", "within 0.01 agrees")
    assert row.texts == {
        "published": "0.5",
        "as_published": "0.1235",
        "corrected": "0.9877",
        "interval": "−0.1 to 0.2",
    }
    assert replace(row, published=None).state == "not printed"
    assert replace(row, as_published=None).state == "not checked"
    big = Row("a", "", "", 439_935_872, 3.006e-07)
    assert (big.texts["published"], big.texts["as_published"]) == ("439,935,872", "3.006e−07")
    assert Row("a", "", "").texts == dict.fromkeys(("published", "as_published", "corrected", "interval"), "")


def test_row_are_held_to_nothing() -> None:
    row = Row("a", "", "", 0.5, tolerance=0.01, between=(0, 1), note="theirs")
    same, other = row.filled(Recomputed(0.9)), row.filled(Recomputed(0.9, same_data=False, note="mine"))
    assert (same.agrees, same.note, other.agrees, other.note) == (True, "theirs", None, "mine")


def test_data_are_found_by_what_they_accept(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.bin", "a.bin"):
        (tmp_path / "deep" / name).write_text(name)
    data = Data(tmp_path, NEEDS)
    assert [one.name for one in data.find_all("vectors")] == ["a.bin", "b.bin"]
    assert (data.find("table"), data.used()) == (None, {"vectors": "deep/a.bin"})
    (tmp_path / "vectors.bin").write_text("best")
    assert Data(tmp_path, NEEDS).path("vectors").name == "vectors.bin"
    assert Data(None, NEEDS).find("vectors") is None
    made = [data.once("key", lambda: object()) for _ in range(2)]  # noqa: PLW0108 - a new one each time it is called
    assert made[0] is made[1]
    with pytest.raises(InternalError, match="no need 'vector'"):
        data.find("vector")
    with pytest.raises(InternalError, match="'table' is not met"):
        data.path("table")
    with pytest.raises(InputError, match="nowhere: is not a folder"):
        Data(tmp_path / "nowhere")


def test_without_data_every_row_is_listed_and_none_is_invented(nobody: str) -> None:
    found = reproduce(nobody)
    assert [row.id for row in found.rows] == ["f.one", "t.size", "t.other", "t.more", "l.one"]
    assert found.row("f.one").as_published == 1
    for row in found.rows[1:]:
        assert (row.as_published, row.corrected, row.agrees) == (None, None, None)
    assert [row.note for row in found.rows[1:]] == [
        "needs vectors",
        "needs vectors; theirs",
        "needs vectors",
        "not released",
    ]
    assert [(one.name, one.parts) for one in found.missing] == [("vectors", ("t",)), ("table", ("t",))]
    assert [found.count(state) for state in ("agrees", "differs", "not printed", "not checked")] == [1, 0, 0, 4]


def test_with_data_rows_are_filled(nobody: str, tmp_path: Path) -> None:
    (tmp_path / "vectors.bin").write_text("12345")
    seen: list[tuple[int, int]] = []
    found = reproduce(nobody, tmp_path, random_state=7, progress=lambda done, total: seen.append((done, total)))
    size, other, more = (found.row(f"t.{name}") for name in ("size", "other", "more"))
    assert (size.as_published, size.corrected, size.low, size.high, size.agrees) == (5, 12, 4, 6, False)
    assert (other.as_published, other.agrees, other.note) == (3.0, None, "mine")
    assert (more.note, more.part) == ("needs table", "t")
    assert [one.name for one in found.missing] == ["table"]
    assert found.settings["files"] == {"vectors": "vectors.bin"}
    assert seen == [(1500, 3000), (2000, 3000)]
    assert found.warnings == (
        "1 of 2 published numbers that were checked differ: t.size",
        "not found: table, for t",
    )
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"id", "published", "as_published", "corrected", "note"} <= content["rows"][0].keys()
    assert found.to_frame()["id"].tolist() == [row.id for row in found.rows]


def test_parts_can_be_chosen(nobody: str) -> None:
    found = reproduce(nobody, parts=["lost", "free"])
    assert (list(found.parts), found.missing) == (["free", "lost"], ())
    with pytest.raises(ParameterError, match=r"must be one of free, t, lost\. Got 'fre'; did you mean 'free'"):
        reproduce(nobody, parts=["fre"])


def test_a_part_fills_its_own_rows_alone() -> None:
    strange = replace(PAPER, parts=(replace(PAPER.parts[0], compute=lambda *_: {"f.two": Recomputed(1)}),))
    registry.register(strange)
    try:
        with pytest.raises(InternalError, match=r"f\.two"):
            reproduce(strange.name)
    finally:
        registry.unregister("paper", strange.name)


def test_names_of_papers() -> None:
    assert {"du2021", "dobrzeniecka2023", "goldfarbtarrant2021"} <= set(registry.names("paper"))
    with pytest.raises(ParameterError, match="Got 'du2020'; did you mean 'du2021'"):
        registry.get("paper", "du2020")


@pytest.mark.parametrize("name", registry.names("paper"))
def test_every_paper_is_whole(name: str) -> None:
    paper = registry.get("paper", name)
    rows = [row for part in paper.parts for row in part.published]
    known = {need.name for need in paper.needs}
    assert paper.name == name
    assert len({row.id for row in rows}) == len(rows)
    assert {row.needs for row in rows if row.needs} | {one for part in paper.parts for one in part.needs} <= known
    for row in rows:
        assert row.what
        assert row.where
        assert (row.as_published, row.corrected, row.low, row.high) == (None,) * 4, row.id
    for need in paper.needs:
        assert need.accepts
        assert need.fetch
    json.dumps(paper.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", registry.names("paper"))
def test_the_data_files_of_a_paper_fit_each_other(name: str) -> None:
    package = f"biasgauge.papers.{name}"
    paper, rows = read_paper(package), published_rows(package)
    assert sum(len(part.published) for part in paper.parts) == len(rows) == len({row.id for row in rows})
    content = tomllib.loads(files(package).joinpath("paper.toml").read_text(encoding="utf-8"))
    for pattern in content.get("notes", ()):
        assert any(fnmatchcase(row.id, pattern) for row in rows), pattern
    functions = [
        item[key] for key in ("compute", "holds") for item in (*content["parts"], *content["needs"]) if key in item
    ]
    for function in functions:
        module, _, attribute = function.partition(":")
        assert callable(getattr(import_module(f"{package}.{module}".rstrip(".")), attribute))
    assert {need for row in rows if (need := row.needs)} <= {need.name for need in paper.needs}


def test_a_published_number_is_read_as_it_is_written() -> None:
    rows = {row.id: row for row in published_rows("biasgauge.papers.dobrzeniecka2023")}
    printed = [
        rows[name].published for name in ("table2.religion.hard.p", "null.a.times", "lists.human", "mac.gender_glove")
    ]
    assert list(map(repr, printed)) == ["3.006e-07", "'more than ten times'", "85", "None"]
    assert rows["null.a.times"].between == (10.0, 1e9)
