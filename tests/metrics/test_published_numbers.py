"""Numbers that papers print or that follow from their data, and the null data set drawn as R draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasgauge.metrics import effect_size, mac_change, mac_from_similarities, weat_from_similarities
from biasgauge.papers.dobrzeniecka2023 import r_normal

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.core.arrays import Floats
    from biasgauge.metrics import MacResult


def distances(folder: Path, name: str) -> pd.DataFrame:
    """The rows of the two attribute sets; words that the model lacks have the similarity -100."""
    rows = pd.read_csv(folder / "bayes_distances" / f"{name}.csv.gz")
    return rows[(rows["cosine_similarity"] >= -1) & rows["connection"].isin(["associated", "different"])]


def similarities(rows: pd.DataFrame, targets: list[str], attributes: list[str]) -> Floats:
    table = rows.pivot_table(index="protected_word", columns="word_to_compare", values="cosine_similarity")
    return table.loc[targets, attributes].to_numpy()


def mac_of(folder: Path, name: str) -> MacResult:
    rows = distances(folder, name)
    targets = sorted(set(rows["protected_word"]))
    sets = [sorted(set(part["word_to_compare"])) for _, part in rows.groupby("word_class")]
    return mac_from_similarities([similarities(rows, targets, one) for one in sets], interval=None)


@pytest.mark.parametrize(("ddof", "expected"), [(0, 1.9157), (1, 1.6590)])
def test_the_worked_example_of_dobrzeniecka_and_urbaniak(ddof: int, expected: float) -> None:
    assert effect_size([0.5, 0.3], [-0.6, -0.3], ddof=ddof) == pytest.approx(expected, abs=5e-5)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "population", "sample"),
    [("weat_7_google", 0.9981, 0.9664), ("weat_7_glove", 1.1621, 1.1252), ("weat_7_reddit", 0.4313, 0.4176)],
)
def test_weat_7_from_the_authors_similarities(shared_data: Path, name: str, population: float, sample: float) -> None:
    rows = distances(shared_data, name)
    own = rows[rows["connection"] == "associated"]
    concepts = [own[own["word_class"] == name] for name in ("math", "arts")]
    x, y = (sorted(set(concept["protected_word"])) for concept in concepts)
    a, b = (sorted(set(concept["word_to_compare"])) for concept in concepts)
    assert [len(words) for words in (x, y, a, b)] == [8, 8, 8, 8]
    blocks = [similarities(rows, targets, attributes) for targets in (x, y) for attributes in (a, b)]
    for ddof, expected in ((0, population), (1, sample)):
        result = weat_from_similarities(*blocks, ddof=ddof)
        assert result.effect_size == pytest.approx(expected, abs=5e-5)
        assert result.splits == 12_870


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("religion_group_reddit_dataset", 0.8614),
        ("debiased_religion_reddit", 0.9334),
        ("gender_group_reddit_dataset", 0.6232),
        ("religion_group_google_dataset", 0.8831),
        ("religion_group_glove_dataset", 0.9236),
        ("gender_group_google_dataset", 0.8128),
        ("gender_group_glove_dataset", 0.8034),
    ],
)
def test_mac_from_the_authors_similarities(shared_data: Path, name: str, expected: float) -> None:
    assert mac_of(shared_data, name).value == pytest.approx(expected, abs=5e-5)


@pytest.mark.shared
def test_the_paired_t_test_of_manzini(shared_data: Path) -> None:
    before, after = (
        mac_of(shared_data, name) for name in ("religion_group_reddit_dataset", "debiased_religion_reddit")
    )
    change = mac_change(before, after)
    assert change.df == 44
    assert change.t == pytest.approx(-5.436, abs=5e-4)
    assert change.p_value == pytest.approx(2.26e-06, rel=2e-3)
    assert before.value is not None
    assert after.value is not None
    assert change.value == pytest.approx(before.value - after.value, abs=1e-12)
    assert change.interval is not None
    assert change.interval.high is not None
    assert change.interval.high < 0


def test_the_null_data_set() -> None:
    values = (0.08 * r_normal(10_232_169, 256)).reshape(16, 16)
    blocks = (values[:8, :8], values[:8, 8:], values[8:, :8], values[8:, 8:])
    result = weat_from_similarities(*blocks, alternative="two-sided")
    assert result.statistic == pytest.approx(0.386222, abs=5e-7)
    assert result.effect_size == pytest.approx(1.267195, abs=5e-7)
    assert result.splits == 12_870
    assert result.p_method == "exact"
    assert result.p_value == 124 / 12_870  # .009635
    one_sided = weat_from_similarities(*blocks, alternative="greater")
    assert one_sided.p_value == 62 / 12_870  # .0048
