"""The ten associations of WEAT: what the page says of a set of vectors, where its package is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasgauge.audits.subjects import Subject
from biasgauge.vectors import load_default
from biasgauge_studies.vectors import glove_50d
from biasgauge_studies.weat_powered import ADJUSTED, CLASSIC, POWERED, association_rows, chart

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shown(repository: Path) -> pd.DataFrame:
    return pd.read_csv(repository / "docs" / "studies" / "weat" / "canon.csv")


def test_each_association_has_three_rows_in_each_set_of_vectors() -> None:
    rows = pd.DataFrame(association_rows(Subject("own", (load_default(),))))
    assert rows["association"].nunique() == 10
    assert list(rows["list"]) == 10 * [CLASSIC, POWERED, ADJUSTED]
    assert set(rows["answer"]) <= {"association", "too small to matter", "open", "too few words"}
    measured = rows.dropna(subset=["contrast"])
    assert ((measured["low"] <= measured["contrast"]) & (measured["contrast"] <= measured["high"])).all()
    assert (
        (measured["answer"] == "association")
        .eq(measured["p"] <= 0.05)[measured["answer"] != "too small to matter"]
        .all()
    )
    assert "svg" in str(chart(rows).to_dict()["$schema"]) or chart(rows).to_dict()["facet"]


def test_the_table_of_the_page_counts_the_rows(shown: pd.DataFrame, repository: Path) -> None:
    """Powered lists at equal frequency, in the three whole sets: answers and range of each row of the table."""
    page = (repository / "docs" / "studies" / "weat.md").read_text(encoding="utf-8")
    whole = shown[~shown["vectors"].str.contains("subset|shipped")]
    whole = whole[(whole["list"] == ADJUSTED) & whole["contrast"].notna()]
    for label, test in (
        ("| 7 ", "gender_math"),
        ("| 6 ", "gender_career"),
        ("| 10 ", "age_valence"),
        ("| 3 to 5", "race_valence"),
    ):
        (line,) = [line for line in page.splitlines() if line.startswith(label) and "in 3" in line]
        rows = whole[whole["test"] == test]
        assert rows["vectors"].nunique() == 3
        (answer,) = rows["answer"].unique()
        assert f"{answer} in 3" in line
        for end in (rows["contrast"].min(), rows["contrast"].max()):
            assert (
                f"{end:+.3f}".replace("-", "−").replace("+0", "+").replace("−0", "−").replace("+.000", ".000") in line
            )


def test_the_page_says_what_is_computed(shown: pd.DataFrame) -> None:
    vectors = glove_50d()
    if vectors is None:
        pytest.skip("NOT CHECKED: GloVe 6B 50d; pip install biasgauge[vectors]")
    name = "GloVe 6B 50d (400,000 words)"
    computed = pd.DataFrame(association_rows(Subject(name, (vectors,))))
    expected = shown[shown["vectors"] == name].reset_index(drop=True)
    assert list(computed["answer"]) == list(expected["answer"])
    pd.testing.assert_series_equal(computed["contrast"], expected["contrast"], atol=1e-4)
