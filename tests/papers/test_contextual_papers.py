"""SEAT, CEAT, StereoSet and CrowS-Pairs: what needs no model."""

from __future__ import annotations

import csv
import json
import lzma
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import binomtest

from biasgauge import registry
from biasgauge.errors import CorpusError
from biasgauge.papers import Reproduction, reproduce
from biasgauge.papers.word_nulls import WORDS, null_vectors, rejections

if TYPE_CHECKING:
    from pathlib import Path

PAPERS = ("may2019", "guo2021", "nadeem2021", "nangia2020")


@pytest.mark.parametrize("name", PAPERS)
def test_every_number_has_one_row_and_a_paper_says_what_it_needs(name: str) -> None:
    paper = registry.get("paper", name)
    rows = [row.id for part in paper.parts for row in part.published]
    assert len(set(rows)) == len(rows)
    assert {row.needs for part in paper.parts for row in part.published if row.needs} <= {n.name for n in paper.needs}
    assert "released" in paper.about


@pytest.fixture(scope="module")
def stereoset(shared_data: Path) -> Reproduction:
    return reproduce("nadeem2021", shared_data)


@pytest.mark.shared
def test_all_that_the_authors_evaluation_printed_is_reached(stereoset: Reproduction) -> None:
    """METHODS.md, section 9.3, has eight of them."""
    values = [row for row in stereoset.rows if row.kind == "value" and row.part != "models"]
    assert {row.state for row in values} == {"agrees"}
    assert len(values) == 66 + 6
    assert stereoset.row("gpt2.intrasentence.all.lms").as_published == pytest.approx(91.114943, abs=1e-6)
    assert stereoset.row("bert.intersentence.all.icat").as_published == pytest.approx(70.061916, abs=1e-6)
    assert all(row.low is not None and row.high is not None for row in values)


@pytest.mark.shared
def test_clusters_of_a_domain_are_counted_three_times(stereoset: Reproduction, shared_data: Path) -> None:
    with lzma.open(shared_data / "stereoset" / "dev.json.xz", "rt", encoding="utf-8") as file:
        clusters = json.load(file)["data"]["intrasentence"]
    gender = sum(cluster["bias_type"] == "gender" for cluster in clusters)
    row = stereoset.row("gpt2.intrasentence.gender.count")
    assert (row.published, row.as_published, row.corrected) == (765, 3 * gender, gender)
    assert stereoset.row("gpt2.intrasentence.all.count").as_published == len(clusters)


def test_icat_follows_from_lms_and_ss() -> None:
    found = reproduce("nadeem2021", parts=["sums"])
    assert {row.state for row in found.rows} == {"agrees"}
    assert {row.kind for row in found.rows} == {"identity"}
    assert found.row("sums.dev.gpt2.icat").as_published == pytest.approx(83.7 * 43 / 50)
    assert [one.name for one in reproduce("nadeem2021").missing] == [
        "stereoset",
        "predictions_gpt2",
        "predictions_bert",
    ]


def test_printed_shares_are_shares_of_whole_pairs() -> None:
    """All 36 of them, to the printed digit; and the interval is Wilson's."""
    found = reproduce("nangia2020", parts=["table2"])
    assert {row.state for row in found.rows} == {"agrees"}
    assert len(found.rows) == 36
    row = found.row("table2.bert.age")
    assert row.as_published == pytest.approx(100 * 48 / 87)
    ends = binomtest(48, 87).proportion_ci(method="wilson")
    assert (row.low, row.high) == pytest.approx((100 * ends.low, 100 * ends.high))


def test_one_category_is_not_shown() -> None:
    found = reproduce("nangia2020", parts=["claim"])
    assert [row.id for row in found.rows if row.state == "differs"] == ["claim.bert.age"]
    row = found.row("claim.bert.age")
    assert row.as_published == pytest.approx(binomtest(48, 87, alternative="greater").pvalue)
    assert len(found.rows) == 27
    assert {row.kind for row in found.rows} == {"range"}


def test_scores_over_all_pairs_follow_from_parts() -> None:
    found = reproduce("nangia2020", parts=["sums"])
    assert {row.state for row in found.rows} == {"agrees"}
    assert len(found.rows) == 6


@pytest.mark.shared
def test_the_pairs_are_counted(shared_data: Path) -> None:
    found = reproduce("nangia2020", shared_data, parts=["data"])
    assert {row.state for row in found.rows if row.kind == "identity"} == {"agrees"}
    with (shared_data / "crows_pairs" / "crows_pairs_anonymized.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert found.row("data.writers").as_published == len({row["anon_writer"] for row in rows})
    assert 0.7 < float(found.row("data.agreement").as_published or 0) < 0.9


def test_another_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "crows_pairs_anonymized.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="line 1: has no column 'annotations'"):
        reproduce("nangia2020", tmp_path, parts=["data"])


def test_sentences_taken_for_words_reject_a_true_null() -> None:
    """One sentence a word: the level holds. More: it does not, as published; over words it does."""
    found = reproduce("may2019", parts=["null", "sentences"])
    single, eight = (found.row(f"null.sentences.{size}") for size in (1, 8))
    assert single.state == "agrees"
    assert eight.state == "differs"
    assert float(eight.as_published or 0) > 0.2
    assert all(float(row.low or 0) < 0.05 < float(row.high or 0) + 0.02 for row in (single, eight))
    assert found.row("sentences.weat7.targets").corrected == 8


def test_the_more_draws_the_surer_ceat_is_of_nothing() -> None:
    found = reproduce("guo2021", parts=["null"])
    rates = [float(row.as_published or 0) for row in found.rows]
    assert rates == sorted(rates)
    assert rates[0] > 0.7
    assert rates[-1] > 0.9
    assert all(float(row.corrected or 0) < 0.12 for row in found.rows)
    assert {row.state for row in found.rows} == {"differs"}


def test_lists_of_ceat_are_weat_less_what_its_text_lacks() -> None:
    found = reproduce("guo2021", parts=["lists"])
    assert {row.state for row in found.rows} == {"agrees"}
    row = found.row("lists.weat3.x")
    assert (row.as_published, row.corrected) == (27, 32)


def test_the_null_gives_words_a_lean_and_the_sets_none() -> None:
    random = np.random.default_rng(0)
    sets: dict[str, Any] = null_vectors(random, 50)
    assert sets["x"].shape[:2] == (WORDS, 50)
    between = sets["x"].mean(axis=1).var(axis=0).mean()
    assert 0.5 < between < 1.8, "words differ: their leans have variance 1"
    assert sets["x"].var(axis=1).mean() == pytest.approx(0.36, abs=0.05)
    share = rejections(iter([0.01, 0.5, 0.2, 0.04]))
    assert share.value == 0.5
