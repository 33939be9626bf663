"""The page about nulls: its tables are true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.posterior import read_distances, simulate_null

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.core.arrays import Floats


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "reliability" / "nulls.md").read_text()


def rejection(**asked: Any) -> float:  # noqa: ANN401 - settings
    found = simulate_null(**asked).rejection
    assert found is not None
    return found.hits / found.trials


def test_the_table_of_families_is_true(page: str) -> None:
    rows = re.findall(r"^\| (families of (\d)[^|]*|each target set a family) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for _, size, cells in rows:
        for family_sd, cell in zip((0.02, 0.04, 0.08), cells.split(" | "), strict=True):
            found = rejection(family_sd=family_sd, family_size=int(size) if size else None, simulations=6_000)
            assert 100 * found == pytest.approx(float(cell.split()[0]), abs=1.9)  # rounding and three standard errors


def test_more_targets_make_it_worse_and_more_attributes_do_not_help(page: str) -> None:
    stated = re.findall(r"(\d+) % with (\d+) \+", page)
    assert [int(words) for _, words in stated] == [4, 8, 16]
    for share, words in stated:
        found = rejection(family_sd=0.04, n_x=int(words), n_y=int(words), simulations=2_000)
        assert 100 * found == pytest.approx(float(share), abs=3.5)
    assert rejection(family_sd=0.04, n_a=64, n_b=64, simulations=2_000) > 0.2


def test_the_t_test_of_mac(page: str) -> None:
    stated = re.findall(r"(\d+) % with `(\w+)=(\.\d+)`", page)
    assert [name for _, name, _ in stated] == ["attribute_sd", "word_sd"]
    for share, name, sd in stated:
        assert 100 * rejection(test="mac", **{name: float(sd)}) == pytest.approx(float(share), abs=1.5)


def moments(table: Any) -> tuple[float, float]:  # noqa: ANN401 - a frame
    """Sd of residuals and of what the words of a set share with one attribute, within A and within B."""
    own = table[table["connection"] == "associated"]
    both = table[table["connection"].isin(["associated", "different"])]
    matrix = 1 - both.pivot_table(index="protected_word", columns="word_to_compare", values="cosine_distance")
    x, y = (sorted(set(own[own["word_class"] == name]["protected_word"])) for name in ("math", "arts"))
    residual, shared = [], []
    for name in ("math", "arts"):
        attributes = sorted(set(own[own["word_class"] == name]["word_to_compare"]))
        blocks: list[Floats] = [matrix.loc[words, attributes].to_numpy() for words in (x, y)]
        left = [b - b.mean(0) - b.mean(1, keepdims=True) + b.mean() for b in blocks]
        variance = sum((one**2).sum() for one in left) / (2 * 7 * 7)
        residual.append(variance)
        shared.append(((blocks[0].mean(0) - blocks[1].mean(0)).var(ddof=1) - 2 * variance / 8) / 2)
    return float(np.sqrt(np.mean(residual))), float(np.sqrt(np.mean(shared)))


@pytest.mark.shared
def test_the_table_of_real_similarities_is_true(page: str, shared_data: Path) -> None:
    rows = re.findall(r"^\| (Google|GloVe|Reddit) \| (\.\d+) \| (\.\d+) \| (\d+) % \|$", page, re.MULTILINE)
    assert len(rows) == 3
    for name, sd, family_sd, share in rows:
        table = read_distances(shared_data / "bayes_distances" / f"weat_7_{name.lower()}.csv.gz").to_frame()
        found = moments(table)
        assert found == pytest.approx((float(sd), float(family_sd)), abs=5.1e-4)
        assert 100 * rejection(sd=found[0], family_sd=found[1]) == pytest.approx(float(share), abs=1.8)
