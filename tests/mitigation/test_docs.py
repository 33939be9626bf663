"""The page about mitigation: its tables are true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge import registry
from biasgauge.mitigation import mitigate, mitigation_effect, mitigation_method
from biasgauge.mitigation.effect_result import PARTS
from biasgauge.stats import Resampling
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors import Embedding

COLUMNS = (
    ("association", "weat", "weat6b"),
    ("association", "weat", "weat7"),
    ("neighbors", "10 nearest", "all"),
    ("benchmark", "spearman", "men"),
    ("recovery", "classifier accuracy", "bolukbasi2016"),
    ("recovery", "cluster match", "bolukbasi2016"),
    ("recovery", "neighbor correlation", "occ16"),
)
GIVEN: dict[str, dict[str, Any]] = {
    "attract_repel": {"lexicon": ["weat6b", "weat7"]},
    "multiclass_hard": {"lexicon": "gender"},
    "multiclass_soft": {"lexicon": "gender"},
}


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "applications" / "mitigation.md").read_text()


@pytest.fixture(scope="module")
def vectors() -> Embedding:
    return load_default()


def test_every_method_has_its_rows_and_every_part_is_explained(page: str) -> None:
    methods = page.split("## What the numbers", maxsplit=1)[0]
    told = re.findall(r"^\| `(\w+)` \| (?:.*) \| (.*) \|$", methods, re.MULTILINE)
    assert {name for name, _ in told} == set(registry.names("mitigation"))
    assert all((last == "–") != mitigation_method(name).inverse for name, last in told)
    shown = re.findall(r"^\| `(\w+)`", page.split("## What debiasing does not do")[1], re.MULTILINE)
    assert set(shown) == set(registry.names("mitigation"))
    explained = re.findall(r"^\| (\w+) \|", page.split("## What the numbers")[1], re.MULTILINE)
    assert set(PARTS) <= set(explained)


def stated(page: str, name: str) -> list[float]:
    (cells,) = re.findall(rf"^\| (?:`{name}`|{name})[^|]* \| (.*) \|$", page.split("does not do")[1], re.MULTILINE)
    return [float(cell.replace("−", "-")) for cell in cells.split(" | ")]


@pytest.mark.parametrize("name", ["nothing", "hard", "attract_repel"])
def test_the_table_is_true(name: str, page: str, vectors: Embedding) -> None:
    check(page, name, vectors)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*registry.names("mitigation")} - {"hard", "attract_repel"}))
def test_the_slow_rows_are_true(name: str, page: str, vectors: Embedding) -> None:
    check(page, name, vectors)


def check(page: str, name: str, vectors: Embedding) -> None:
    after = vectors if name == "nothing" else mitigate(vectors, name, **GIVEN.get(name, {}))
    few = Resampling("jackknife")
    effect = mitigation_effect(vectors, after, ["weat6b", "weat7"], interval=few, benchmarks=["men"])
    found = {(row.part, row.name, row.subject): row.after and row.after.value for row in effect.rows}
    for place, number in zip(COLUMNS, stated(page, name), strict=True):
        assert found[place] == pytest.approx(number, abs=0.006), place
