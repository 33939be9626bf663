"""Du et al. 2021: what needs no data, and reliabilities on replicates that somebody holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.papers import reproduce

if TYPE_CHECKING:
    from pathlib import Path

WORDS = tuple(
    dict.fromkeys(
        [
            *(word for pair in bg.lexicon("du2021").pairs for word in pair),  # type: ignore[attr-defined]  # it has
            *bg.lexicon("occ16").words[:150],
            *bg.lexicon("du2021_queries").words,
        ]
    )
)


def replicates(folder: Path, count: int = 3, noise: float = 1.2) -> None:
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    true = random.standard_normal((len(WORDS), 20))
    for seed in range(count):
        vectors = true + noise * random.standard_normal(true.shape)
        bg.save(bg.Embedding(WORDS, vectors.astype(np.float32)), folder / f"seed{seed}.bin")


def test_without_data_lists_and_estimators_agree() -> None:
    found = reproduce("du2021")
    assert {row.part for row in found.rows if row.as_published is not None} == {"lists", "estimators"}
    assert (found.count("agrees"), found.count("differs"), found.count("not printed")) == (12, 0, 6)
    assert found.row("estimators.icc21").low is not None
    assert [one.name for one in found.missing] == ["replicates"]
    assert found.row("regression.inter_rater.estimate.pos_num").published == -0.0886
    assert "needs replicates" in found.row("pearson.dbwa.ripa").note


@pytest.mark.parametrize(
    ("name", "expected", "textbook"),
    [
        ("ms_rows", "11.2417", "11.24"), ("ms_columns", "32.4861", "32.49"), ("ms_error", "1.01944", "1.02"),
        ("icc21", ".28976", ".29"), ("icc31", ".71484", ".71"), ("alpha", ".90932", ".91"),
    ],
)  # fmt: skip
def test_estimators_give_what_the_textbook_prints_which_is_no_number_of_the_paper(
    name: str, expected: str, textbook: str
) -> None:
    row = reproduce("du2021", parts=["estimators"]).row(f"estimators.{name}")
    for printed in (expected, textbook):
        assert row.as_published == pytest.approx(float(printed), abs=0.5 * 10 ** -len(printed.partition(".")[2]))
    assert f"Shrout & Fleiss print {textbook}" in row.note
    assert (row.published, row.agrees, row.state) == (None, None, "not printed")


@pytest.mark.parametrize("inside", ["", "replicates/mine", "replicates/README"])
def test_a_folder_without_replicates_is_as_good_as_none(tmp_path: Path, inside: str) -> None:
    (tmp_path / "replicates").mkdir()
    if inside.endswith("README"):
        (tmp_path / inside).write_text("to come")
    elif inside:
        (tmp_path / inside).mkdir()
    found = reproduce("du2021", tmp_path, parts=["reliability"])
    assert [one.name for one in found.missing] == ["replicates"]
    assert found.warnings == ("not found: replicates, for reliability",)
    assert found.settings["files"] == {}


@pytest.mark.shared
def test_the_shared_folder_holds_no_replicates(shared_data: Path) -> None:
    assert [one.name for one in reproduce("du2021", shared_data, parts=["reliability"]).missing] == ["replicates"]


def test_own_replicates_stand_beside_the_papers_numbers(tmp_path: Path) -> None:
    replicates(tmp_path / "replicates" / "mine")
    found = reproduce("du2021", tmp_path, parts=["reliability"])
    models = [bg.load(path) for path in sorted((tmp_path / "replicates" / "mine").iterdir())]
    names = [f"seed{place}" for place in range(3)]
    renamed = [bg.Embedding(one.words, one.vectors, name=name) for one, name in zip(models, names, strict=True)]
    for rule, column in (("du2021", "as_published"), (None, "corrected")):
        scores = bg.score(renamed, pairs="du2021", words=WORDS, measures=["ripa"], as_published=rule)
        values = [bg.stats.icc(scores.values[0, :, place, :], "2,1").value for place, word in enumerate(WORDS)
                  if word in bg.lexicon("occ16").words and word not in bg.lexicon("du2021_queries").words]  # fmt: skip
        row = found.row("test_retest.sgns-wikitext103.occ16.ripa")
        assert getattr(row, column) == pytest.approx(
            float(np.median([one for one in values if one is not None])), abs=1e-6
        )
        assert (row.agrees, row.note) == (None, "3 replicates of mine")
    assert found.row("pearson.dbwa.ripa").as_published is not None
    assert found.row("inter_rater.glove-askscience.full").as_published is None
    assert found.missing == ()


def test_a_store_of_the_papers_name_is_held_to_its_numbers(tmp_path: Path) -> None:
    replicates(tmp_path / "models")
    paths = sorted((tmp_path / "models").iterdir())
    store = tmp_path / "du2021" / "sgns-wikitext103"
    store.parent.mkdir()
    bg.scores.score_to_store(store, list(paths), pairs="du2021", words="full", as_published="du2021")
    found = reproduce("du2021", tmp_path, parts=["reliability"])
    row = found.row("test_retest.sgns-wikitext103.full.dbwa")
    assert row.agrees is False  # random vectors
    assert (row.corrected, row.note) == (None, "3 replicates of sgns-wikitext103")
    assert found.row("inter_rater.sgns-wikitext103.full").as_published is not None
