"""Du et al. 2021: what needs no data, and reliabilities on replicates that somebody holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.errors import InputError, ParameterError
from biasgauge.papers import reproduce
from biasgauge.stats import Iccs
from biasgauge.vectors import Frequencies

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.papers import Reproduction

WORDS = tuple(
    dict.fromkeys(
        [
            *(word for pair in bg.lexicon("du2021").pairs for word in pair),  # type: ignore[attr-defined]  # it has
            *bg.lexicon("occ16").words[:150],
            *bg.lexicon("du2021_queries").words,
        ]
    )
)


def replicates(folder: Path, count: int = 3, noise: float = 1.2, *, counts: bool = False) -> None:
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    true = random.standard_normal((len(WORDS), 20))
    frequencies = Frequencies(np.arange(len(WORDS), 0, -1) * 7, "counts", "test") if counts else None
    for seed in range(count):
        vectors = true + noise * random.standard_normal(true.shape)
        model = bg.Embedding(WORDS, vectors.astype(np.float32), frequencies=frequencies)
        bg.save(model, folder / f"seed{seed}.{'safetensors' if counts else 'bin'}")


def listed(known: set[str], *more: str) -> list[str]:
    """Words of the short lists, and of others, that are known."""
    lists = ("occ16", "occ18", "adj", "du2021_queries", *more)
    return list(dict.fromkeys(word for name in lists for word in bg.lexicon(name).words if word in known))


def test_without_data_lists_and_sums_agree_and_what_ships_stands_beside_the_rest(
    reproduced: Callable[..., Reproduction],
) -> None:
    found = reproduced("du2021")
    computed = {row.part for row in found.rows if row.as_published is not None}
    assert computed == {"lists", "estimators", "arithmetic", "reliability"}
    assert {kind: found.count("agrees", kind) for kind in ("identity", "value", "range")} == {
        "identity": 16, "value": 0, "range": 3,
    }  # fmt: skip
    assert (found.count("differs"), found.count("not printed")) == (0, 6)
    assert found.row("estimators.icc21").low is not None
    assert [one.name for one in found.missing] == ["replicates"]
    row = found.row("regression.inter_rater.estimate.pos_num")
    assert (row.published, row.as_published) == (-0.0886, None)
    assert "needs replicates" in row.note
    shipped = bg.score(bg.vectors.load_default_replicates(), pairs="du2021", words="occ16", measures=["dbwa"])
    stack = bg.stats.icc(shipped.values[0].transpose(1, 0, 2), "2,1")
    assert isinstance(stack, Iccs)
    values = [value for value in stack.value if value == value]  # noqa: PLR0124 - NaN
    row = found.row("test_retest.sgns-wikitext103.occ16.dbwa")
    assert row.corrected == pytest.approx(float(np.median(values)), abs=1e-6)
    assert (row.agrees, row.note) == (None, "4 replicates of sgns-enwiki, which ship with biasgauge")
    # only short lists are scored: nothing is said of google10k or the vocabulary
    for name in ("test_retest.sgns-wikitext103.full.dbwa", "below.sgns-wikitext103.full", "alpha.pairs.wikitext103"):
        assert found.row(name).as_published is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # P by tables of Student's t: t(7) = 2.365 has .05, 2.998 has .02; r of 23 points .526 has .01, .640 has .001.
        ("p.forms.test_retest", (0.02, 0.05)), ("p.forms.inter_rater", (0.8, 1.0)), ("p.forms.r", (0.0005, 0.001)),
        ("r2.test_retest", (0.51765, 0.51766)), ("r2.inter_rater", (0.51596, 0.51597)),
        ("rows.complete", (464_088, 464_088)), ("rows.missing", (1_200_582, 1_200_582)),
    ],
)  # fmt: skip
def test_printed_numbers_that_follow_from_others(name: str, expected: tuple[float, float]) -> None:
    row = reproduce("du2021", parts=["arithmetic"]).row(f"arithmetic.{name}")
    assert isinstance(row.as_published, int | float)
    assert expected[0] <= row.as_published <= expected[1]
    assert row.agrees


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


@pytest.mark.parametrize(
    "inside", [pytest.param("", marks=pytest.mark.slow), pytest.param("replicates/mine", marks=pytest.mark.slow),
               "replicates/README"],
)  # fmt: skip
def test_a_folder_without_replicates_is_as_good_as_none(tmp_path: Path, inside: str) -> None:
    (tmp_path / "replicates").mkdir()
    if inside.endswith("README"):
        (tmp_path / inside).write_text("to come")
    elif inside:
        (tmp_path / inside).mkdir()
    found = reproduce("du2021", tmp_path, parts=["reliability"])
    assert "which ship" in found.row("pearson.dbwa.ripa").note
    assert [one.name for one in found.missing] == ["replicates"]
    assert found.warnings == ("not found: replicates, for reliability",)
    assert found.settings["files"] == {}


@pytest.mark.shared
@pytest.mark.slow
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


@pytest.mark.slow
def test_every_set_is_used_and_glove_stands_for_glove(tmp_path: Path) -> None:
    for number, name in enumerate(("sgns-here", "mine")):
        replicates(tmp_path / "replicates" / name, count=2, noise=0.4 + 0.4 * number)
    replicates(tmp_path / "models", count=2)
    paths = sorted((tmp_path / "models").iterdir())
    store = tmp_path / "replicates" / "glove-here"
    bg.scores.score_to_store(store, list(paths), pairs="du2021", words="full")
    alone = {}
    for name in ("sgns-here", "mine"):
        other = tmp_path / f"only-{name}" / "replicates"
        other.mkdir(parents=True)
        (other / name).symlink_to(tmp_path / "replicates" / name)
        alone[name] = reproduce("du2021", other.parent, parts=["reliability"])
    found = reproduce("du2021", tmp_path, parts=["reliability"])
    for name in (
        "test_retest.sgns-wikitext103.occ16.dbwa",
        "pearson.dbwa.nbm",
        "forms.r",
        "below.sgns-wikitext103.google10k",
    ):
        row = found.row(name)
        for side in ("as_published", "corrected"):
            values = [getattr(one.row(name), side) for one in alone.values()]
            assert getattr(row, side) == pytest.approx(float(np.median(values)), abs=1e-9)
        assert row.note == "median over 2 sets: 2 replicates of mine; 2 replicates of sgns-here"
        assert row.agrees is None
    row = found.row("inter_rater.glove-wikitext103.full")
    assert (row.as_published, row.note) == (None, "2 replicates of glove-here")
    assert row.corrected is not None
    assert found.row("inter_rater.glove-askscience.full").as_published is None


@pytest.mark.slow
def test_the_regression_is_fitted_to_the_sets_given_alone_where_there_are_two(tmp_path: Path) -> None:
    for number, name in enumerate(("sgns-here", "glove-here")):
        replicates(tmp_path / "replicates" / name, count=3, noise=0.6 + 0.5 * number, counts=True)
    found = reproduce("du2021", tmp_path, parts=["regression"])
    rows = {row.id: row for row in found.rows if row.as_published is not None}
    sources = []
    for name in ("glove-here", "sgns-here"):
        paths = [str(path) for path in sorted((tmp_path / "replicates" / name).iterdir())]
        scores = bg.score(paths, pairs="du2021", words=listed(set(WORDS), "google10k"))
        algorithm, corpus = name.split("-")
        counts = bg.analyses.reliability.stored_counts(scores)
        assert counts is not None
        sources.append(bg.analyses.reliability.FactorSource(algorithm, corpus, scores, counts=counts))
    fit = bg.factors(sources, refits=50)
    by_name = {effect.name: effect for effect in fit.fixed}
    for column, row in (
        *(("measure[ripa]", "ripa"), ("stability", "stability"), ("pos[NOUN]", "pos_noun")),
        *((name, name) for name in ("log_frequency", "log_frequency_squared")),
    ):
        one = rows[f"regression.test_retest.estimate.{row}"]
        estimate = by_name[column].estimate
        assert estimate is not None
        assert one.corrected == pytest.approx(estimate, abs=1e-9)
        assert one.low is not None
        assert one.high is not None
        assert one.low < estimate < one.high
        assert one.agrees is None
    assert rows["regression.test_retest.r2.total"].corrected == pytest.approx(fit.r2.total.value, abs=1e-9)
    assert rows["regression.test_retest.drop.stability"].corrected == pytest.approx(fit.drops["stability"].fixed.value)
    assert rows["regression.test_retest.drop.log_frequency"].corrected is not None
    residual = next(one for one in fit.random_intercept_only if one.name == "residual")
    assert rows["regression.test_retest.empty.residual"].corrected == pytest.approx(residual.variance)
    note = rows["regression.test_retest.estimate.norm"].note
    assert note == "fitted to 2 sets: 3 replicates of glove-here; 3 replicates of sgns-here; without corpus"
    assert found.row("regression.test_retest.r2.corpus").note == "corpus is not in the fit: all rows have the same"
    assert "regression.inter_rater.estimate.norm" in rows
    assert "regression.inter_rater.estimate.ripa" not in rows
    assert rows["regression.words"].as_published == fit.words


@pytest.mark.slow
def test_a_single_set_is_joined_by_the_one_that_ships_and_rows_say_what_they_lack(tmp_path: Path) -> None:
    replicates(tmp_path / "replicates" / "glove-here", count=2)
    found = reproduce("du2021", tmp_path, parts=["regression", "reliability"])
    note = found.row("regression.test_retest.estimate.norm").note
    assert "4 replicates of sgns-enwiki, which ship with biasgauge" in note
    row = found.row("regression.test_retest.estimate.log_frequency")
    assert row.as_published is None
    assert row.note.startswith("log_frequency is not in the fit: ")
    assert row.note.endswith("models that biasgauge train wrote hold their counts")
    assert "--words full" in found.row("inter_rater.glove-wikitext103.full").note
    for name in ("r2.corpus", "r2.algorithm", "empty.corpus"):  # each algorithm has a text of its own
        share = found.row(f"regression.test_retest.{name}")
        assert share.corrected is None
        assert share.note.startswith("undefined: it rests on the variance of algorithm and of corpus, ")


@pytest.mark.slow
def test_frequency_is_regressed_on_where_the_single_set_holds_counts(tmp_path: Path) -> None:
    replicates(tmp_path / "replicates" / "glove-here", count=2, counts=True)
    found = reproduce("du2021", tmp_path, parts=["regression"])
    assert found.row("regression.test_retest.estimate.log_frequency").corrected is not None


def test_replicates_that_are_named_stand_alone(tmp_path: Path) -> None:
    replicates(tmp_path / "mine" / "sgns-here", count=2)
    (tmp_path / "data" / "replicates").mkdir(parents=True)
    replicates(tmp_path / "data" / "replicates" / "glove-here", count=2)
    found = reproduce("du2021", tmp_path / "data", ["regression", "reliability"], replicates=tmp_path / "mine")
    empty = [row for row in found.rows if row.part == "regression" and row.id.startswith("regression.")]
    assert {row.as_published for row in empty} == {row.corrected for row in empty} == {None}
    assert {row.note for row in empty} == {
        "one set alone tells no algorithm and no corpus apart; name a folder with two sets or more"
    }
    assert found.row("test_retest.sgns-wikitext103.occ16.dbwa").note == "2 replicates of sgns-here"
    assert found.row("inter_rater.glove-askscience.full").note == "no set is called glove-askscience"
    assert found.row("alpha.pairs.askhistorians").note == "no set is called sgns-askhistorians or so"
    assert "--words full" in found.row("below.sgns-wikitext103.full").note
    assert found.settings["replicates"] == str(tmp_path / "mine")
    assert found.settings["files"] == {"replicates": (tmp_path / "mine").as_posix()}
    assert found.missing == ()
    itself = reproduce("du2021", None, ["reliability"], replicates=tmp_path / "mine" / "sgns-here")
    assert itself.row("forms.r").corrected == found.row("forms.r").corrected


def test_replicates_that_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no replicates"):
        reproduce("du2021", replicates=tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        reproduce("du2021", replicates=tmp_path / "nowhere")
    with pytest.raises(ParameterError, match="zhang2020 takes no replicates; du2021 does"):
        reproduce("zhang2020", replicates=tmp_path)
