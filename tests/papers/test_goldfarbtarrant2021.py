"""Goldfarb-Tarrant et al. 2021: the released points against what METHODS says of them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasgauge.errors import InputError
from biasgauge.papers import reproduce

if TYPE_CHECKING:
    from collections.abc import Callable
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
def found(shared_data: Path, reproduced: Callable[..., Reproduction]) -> Reproduction:
    return reproduced("goldfarbtarrant2021", shared_data)


def test_tweets_and_labels_that_the_authors_link_are_counted_where_they_are_brought(tmp_path: Path) -> None:
    (tmp_path / "tweets_en").mkdir()
    (tmp_path / "tweets_en" / "a.tsv").write_text("1\tgood morning all\n2\thello\n\n")
    (tmp_path / "tweets_en" / "b.tsv").write_text("3\ttwo words\n")
    (tmp_path / "founta_test.tsv").write_text("a tweet\tnormal\tmale\n" * 4)
    found = reproduce("goldfarbtarrant2021", tmp_path, parts=["corpora"])
    counts = {row.id: row.as_published for row in found.rows if row.as_published is not None}
    assert counts == {
        "corpus.twitter_en.tweets": 3, "corpus.twitter_en.words": 6, "corpus.hate_speech_test": 4,
    }  # fmt: skip
    assert found.row("corpus.twitter_en.tweets").state == "not checked"  # the layout of the files is not known here
    spanish = found.row("corpus.twitter_es.tweets")
    assert (spanish.obtainable, spanish.needs) == (True, "tweets_es")
    assert not found.row("f1.coref").obtainable


@pytest.mark.shared
def test_what_can_be_checked_agrees_but_for_documented_differences(found: Reproduction) -> None:
    differing = {row.id: row.as_published for row in found.rows if row.agrees is False}
    assert differing == pytest.approx(DIFFERS, abs=5e-5)
    assert all(found.row(name).note for name in differing)
    assert found.count("agrees") == 70
    assert [one.name for one in found.missing] == ["spanish", "tweets_en", "tweets_es", "founta"]


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
        ("coref.all.r", 0.2782),
        ("coref.precision.word2vec.r", 0.4437),
        ("coref.precision.word2vec.p", 0.0439),
        ("coref.recall.word2vec.r", 0.4005),
        ("coref.recall.word2vec.p", 0.0720),
        ("coref.precision.fasttext.r", 0.2666),
        ("coref.precision.fasttext.p", 0.2427),
        ("coref.recall.fasttext.r", 0.2904),
        ("coref.recall.fasttext.p", 0.2017),
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


@pytest.mark.shared
@pytest.mark.parametrize(
    ("embedding", "metric", "r"),
    [  # METHODS 5.9, without test 8
        ("word2vec", "Precision", 0.5176),
        ("word2vec", "Recall", 0.4586),
        ("fastText", "Precision", 0.1081),
        ("fastText", "Recall", 0.1196),
    ],
)
def test_embeddings_without_a_name_are_told_apart_by_order(
    found: Reproduction, shared_data: Path, embedding: str, metric: str, r: float
) -> None:
    """Seven embeddings, each with one gap: p goes through all 5,040 orders, here by a slow loop."""
    frame = pd.read_csv(shared_data / "goldfarb_tarrant_coref" / "coref_points.csv")
    part = frame[(frame["Embedding"] == embedding) & (frame["Metric"] == metric) & (frame["Test"] != 8)]
    weat = np.stack([rows["WEAT"].to_numpy() for _, rows in part.groupby("Test")])
    gaps = [rows["Performance Gap"].tolist() for _, rows in part.groupby("Test")]
    assert gaps[0] == gaps[1]
    orders = np.array(list(permutations(gaps[0])))
    every = np.array([np.corrcoef(weat.ravel(), np.tile(order, 2))[0, 1] for order in orders])
    start = f"coref.{metric}.{embedding}".lower()
    row, p = found.row(f"{start}.r"), found.row(f"{start}.p")
    assert row.corrected == pytest.approx(r, abs=5e-5)
    assert p.corrected == pytest.approx((np.abs(every) >= abs(every[0]) - 1e-12).mean())
    assert row.low is not None
    assert row.high is not None
    assert row.low < r < row.high
    assert "7 embeddings" in row.note


@pytest.mark.shared
def test_preliminary_points_are_held_to_nothing(found: Reproduction) -> None:
    rows = [row for row in found.rows if row.part in {"coref", "figure4a"} and row.as_published is not None]
    assert len(rows) == 11
    assert [row.agrees for row in rows] == [None] * 11
    assert all("preliminary points" in row.note for row in rows)


def test_order_that_does_not_tell_embeddings_apart_gets_a_sentence(tmp_path: Path) -> None:
    table = points(["6", "7"]).assign(Name="")
    table["Performance Gap"] += table.index == 6
    table.to_csv(tmp_path / "coref_points.csv", index=False)
    with pytest.raises(InputError, match="coref_points"):
        reproduce("goldfarbtarrant2021", tmp_path, parts=["coref"])


@pytest.mark.shared
def test_recall_varies_less_than_precision(found: Reproduction, shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "goldfarb_tarrant_results" / "hsd_en.csv")
    once = frame[frame["Test"] != 9].drop_duplicates(["Metric", "Name"])
    variance = once.groupby("Metric")["Performance Gap"].var()
    row = found.row("hsd_en.recall.variance")
    assert row.corrected == pytest.approx(variance["Recall"] / variance["Precision"])
    assert row.agrees is True


def test_without_data() -> None:
    found = reproduce("goldfarbtarrant2021")
    computed = {row.part for row in found.rows if row.as_published is not None}
    assert computed == {"lists", "spanish_lists"}
    assert found.count("agrees") == 37
    assert [one.name for one in found.missing] == [*("hsd_en", "coref", "spanish", "tweets_en", "tweets_es", "founta")]
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
    found = reproduce("goldfarbtarrant2021", tmp_path, parts=["coref", "spanish", "figure4c"])
    r = found.row("coref.recall.word2vec.r")
    assert r.note.startswith("15 points; corrected: 10 points of 5 embeddings, without test 8")
    assert {row.agrees for row in found.rows} == {None}
    assert found.row("coref.all.r").as_published == pytest.approx(
        np.corrcoef(read["WEAT"], read["Performance Gap"])[0, 1]
    )
    gender = points(["es1"])
    precision = gender[gender["Metric"] == "Precision"]
    assert found.row("figure4c.precision.preprocess.r").as_published == pytest.approx(
        np.corrcoef(precision["WEAT"], precision["Performance Gap"])[0, 1]
    )
    assert found.row("figure4c.precision.postprocess.r").state == "no number"
    assert found.row("spanish.es1.all.r").as_published == pytest.approx(
        np.corrcoef(gender["WEAT"], gender["Performance Gap"])[0, 1]
    )
    positive, none = found.row("spanish.es2.recall.fasttext.r"), found.row("spanish.largest.r")
    assert (positive.published, none.published) == ("positive", "no positive correlation")
    assert none.as_published == found.row("spanish.es1.recall.word2vec.r").as_published
    assert "cannot both hold" in none.note
    assert found.missing == ()


def test_a_table_that_is_not_as_released_gets_a_sentence(tmp_path: Path) -> None:
    points(["6"]).drop(columns="Name").to_csv(tmp_path / "hsd_en.csv", index=False)
    with pytest.raises(InputError, match="has no column 'Name'"):
        reproduce("goldfarbtarrant2021", tmp_path)
    (tmp_path / "hsd_en.csv").write_text("WEAT,Name\n1\n")
    with pytest.raises(InputError, match="hsd_en"):
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
