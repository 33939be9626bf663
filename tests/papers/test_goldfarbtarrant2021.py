"""Goldfarb-Tarrant et al. 2021: the released points against what METHODS says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasgauge.errors import InputError
from biasgauge.papers import reproduce

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.papers import Reproduction

DIFFERS = {
    "spanish_lists.art": 12,  # the longer set is cut from its end
    "spanish_lists.art.feminine": 4,
    "spanish_lists.migrant.names": 15,
    "spanish_lists.migrant.unpleasant": 29,
    "baseline.fastText.precision": 9.48,  # printed as 10
    "hsd_en.precision.postprocess.fasttext.p": 0.0423,
    "hsd_en.recall.postprocess.word2vec.p": 0.0556,
    "hsd_en.recall.preprocess.word2vec.p": 0.0560,
}
"""Published numbers that cannot be reached, and what there is instead."""


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Reproduction:
    return reproduce("goldfarbtarrant2021", shared_data)


@pytest.mark.shared
def test_what_can_be_checked_agrees_but_for_documented_differences(found: Reproduction) -> None:
    differing = {row.id: row.as_published for row in found.rows if row.agrees is False}
    assert differing == pytest.approx(DIFFERS, abs=5e-5)
    assert all(found.row(name).note for name in differing)
    assert found.count("agrees") == 69
    assert [one.name for one in found.missing] == ["coref", "spanish"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [  # METHODS 5.9
        ("hsd_en.recall.postprocess.both.r", 0.6053),
        ("hsd_en.recall.postprocess.both.p", 0.0017),
        ("hsd_en.recall.postprocess.word2vec.r", 0.5649),
        ("hsd_en.recall.postprocess.fasttext.r", 0.8159),
        ("hsd_en.recall.preprocess.both.r", -0.4968),
        ("hsd_en.recall.preprocess.both.p", 0.0021),
        ("hsd_en.recall.preprocess.word2vec.r", -0.4580),
        ("hsd_en.recall.preprocess.fasttext.r", -0.6388),
        ("hsd_en.precision.r", 0.0075),
        ("unfiltered.all.r", 0.0007),
        ("unfiltered.precision.r", 0.0738),
        ("unfiltered.recall.r", -0.1678),
        ("unfiltered.recall.postprocess.r", 0.0828),
        ("baseline.word2vec.precision", -4.42),
        ("baseline.fastText.recall", -6.15),
    ],
)
def test_as_published(found: Reproduction, name: str, expected: float) -> None:
    assert found.row(name).as_published == pytest.approx(expected, abs=5e-5)


@pytest.mark.shared
def test_corrected_by_file_name_and_embedding(found: Reproduction) -> None:
    """METHODS 5.9: relabeled, post +.245 and pre −.359."""
    for method, r in (("postprocess", 0.245), ("preprocess", -0.359)):
        for row in (found.row(f"unfiltered.recall.{method}.r"), found.row(f"hsd_en.recall.{method}.both.r")):
            assert row.corrected == pytest.approx(r, abs=5e-4)
            assert row.low is not None
            assert row.high is not None
            assert row.low < r < row.high
    assert "unmodified fastText stands under preprocessing and under postprocessing" in row.note
    undefined = found.row("hsd_en.recall.postprocess.word2vec.r")
    assert undefined.low is None
    assert "no interval: " in undefined.note


def test_without_data() -> None:
    found = reproduce("goldfarbtarrant2021")
    computed = {row.part for row in found.rows if row.as_published is not None}
    assert computed == {"lists", "spanish_lists"}
    assert found.count("agrees") == 37
    assert [one.name for one in found.missing] == ["hsd_en", "coref", "spanish"]
    assert found.row("lists.expansion.all").as_published == 254


def points(tests: list[str]) -> pd.DataFrame:
    """A table in the authors' layout: WEAT and gap go together for word2vec and against each other for fastText."""
    return pd.DataFrame([
        {"WEAT": weat, "Performance Gap": sign * weat + 0.3 * (at % 2), "Metric": metric, "Test": test,
         "Embedding": embedding, "Name": f"{embedding}{at}", "Method": "Postprocess"}
        for embedding, sign in (("word2vec", 1), ("fastText", -1))
        for metric in ("Precision", "Recall")
        for test in tests
        for at, weat in enumerate((-1.5, -0.5, 0.1, 0.9, 1.8))
    ])  # fmt: skip


def test_preliminary_tables_are_read_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    read = points(["6", "7", "8"])
    read.to_csv(tmp_path / "results" / "coref_results_orig.csv", index=False)
    points(["es1", "es2"]).to_csv(tmp_path / "prelim_results_twitter_es.csv", index=False)
    found = reproduce("goldfarbtarrant2021", tmp_path, parts=["coref", "spanish"])
    r, p = (found.row(f"coref.recall.word2vec.{end}") for end in "rp")
    assert (r.agrees, p.agrees) == (True, True)
    assert r.note.startswith("15 points; corrected: 10 points of 5 embeddings, without test 8")
    assert found.row("coref.recall.fasttext.p").agrees is False
    assert found.row("spanish.es1.precision.fasttext.r").agrees is True
    assert found.row("spanish.es2.precision.word2vec.r").agrees is False
    assert found.row("coref.all.r").as_published == pytest.approx(
        np.corrcoef(read["WEAT"], read["Performance Gap"])[0, 1]
    )
    positive, none = found.row("spanish.es2.recall.fasttext.r"), found.row("spanish.largest.r")
    assert (positive.published, positive.agrees) == ("positive", False)
    assert (none.published, none.agrees) == ("no positive correlation", False)
    assert none.as_published == found.row("spanish.es1.recall.word2vec.r").as_published
    assert "cannot both hold" in none.note
    assert found.missing == ()


def test_a_table_that_is_not_as_released_gets_a_sentence(tmp_path: Path) -> None:
    points(["6"]).drop(columns="Name").to_csv(tmp_path / "hsd_en.csv", index=False)
    with pytest.raises(InputError, match="has no column 'Name'"):
        reproduce("goldfarbtarrant2021", tmp_path)
    (tmp_path / "hsd_en.csv").write_text("WEAT,Name\n1\n")
    with pytest.raises(InputError, match=r"hsd_en.csv, line 2: expected 2 fields"):
        reproduce("goldfarbtarrant2021", tmp_path)


HEAD = "WEAT,Performance Gap,Metric,Test,Embedding,Name,Method\n"
ROW = "1.2,9.5,Precision,7,fastText,fasttext_all_tweets,Preprocess\n"
OTHER = ROW.replace("all_tweets", "debias")
TABLES = {"hsd_en": "hsd_en.csv", "coref": "coref_results_orig.csv", "spanish": "prelim_results_twitter_es.csv"}


@pytest.mark.parametrize(
    ("need", "part", "text", "sentence"),
    [
        *((need, part, HEAD, r"{}: expected rows below the header, found none") for need, part in (
            ("hsd_en", "baselines"), ("hsd_en", "figure4b"), ("coref", "coref"), ("spanish", "spanish")
        )),
        ("hsd_en", "baselines", HEAD + ROW, r"{}: has no Precision gap of the unmodified word2vec, named 'all_tweets'"),
        ("hsd_en", "baselines", HEAD + OTHER, r"{}: has no Precision gap of the unmodified word2vec"),
        ("hsd_en", "figure4b", HEAD + ROW, r"{}:? has no points"),
        ("hsd_en", "figure4b", HEAD + OTHER, r"{}: has no points of Metric Precision, Method Postprocess"),
        ("hsd_en", "unfiltered", HEAD + ROW, r"{}: has no points of Metric Recall"),
        ("hsd_en", "figure3", HEAD + ROW, r"{}: has no points of Test 6, Metric Precision, Embedding word2vec"),
        ("coref", "coref", HEAD + ROW, r"{}: has no points of Metric Precision, Embedding word2vec"),
        ("spanish", "spanish", HEAD + ROW, r"{}: has no points of Test es1, Metric Precision, Embedding word2vec"),
        *((need, part, HEAD + ROW.replace("1.2", "abc"), r"{}, line 2: 'WEAT' must be a number or empty; found 'abc'")
          for need, part in (("hsd_en", "figure4b"), ("coref", "coref"), ("spanish", "spanish"))),
        ("hsd_en", "baselines", HEAD + ROW.replace("9.5", "x"), r"{}, line 2: 'Performance Gap' must be a number"),
    ],
)  # fmt: skip
def test_a_table_that_lacks_points_gets_a_sentence(
    tmp_path: Path, need: str, part: str, text: str, sentence: str
) -> None:
    (tmp_path / TABLES[need]).write_text(text)
    with pytest.raises(InputError, match=sentence.format(TABLES[need])):
        reproduce("goldfarbtarrant2021", tmp_path, parts=[part])
