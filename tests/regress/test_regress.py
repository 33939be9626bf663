"""The three readings of a regression: conText's printed numbers, single occurrences in plain Python, statsmodels."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from tests.regress.slow_regression import DIM, STOP_WORDS, slow_occurrences, small_text, small_vectors

import biasgauge as bg
from biasgauge.analyses.regress import AssociationReading, EmbeddingRegression
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.core import Floats

MATRIX = np.random.default_rng(9).normal(size=(DIM, DIM))
BY_LM = {
    "nominate_dim1": [[12.55589741, 1.775429452, 10.78046795]],
    "party * gender": [
        [12.61384475, 5.154812143, 7.459032606],
        [14.01879459, 2.970079139, 11.048715454],
        [25.63708571, 7.186420151, 18.450665559],
    ],
    "party * nominate_dim1": [
        [37.36751713, 19.30131937, 18.06619776],
        [126.42664906, 60.90128493, 65.52536413],
        [238.08988911, 98.79495721, 139.2949319],
    ],
    "gender + nominate_dim1 + I(nominate_dim1**2)": [
        [7.459449846, 1.826444194, 5.633005651],
        [13.231432955, 2.623106784, 10.608326171],
        [68.416181718, 30.851727476, 37.564454242],
    ],
}
"""Squared norms, biases and corrected norms of immigration by R 4.2.2: by_lm.R."""
A, B = ["w0", "w1", "w2", "w3", "w4"], ["w10", "w11", "w12", "w13", "w14"]


def fit_small(
    records: list[dict[str, Any]],
    formula: str = "t0 ~ group",
    **more: Any,  # noqa: ANN401 - settings of regress
) -> EmbeddingRegression:
    settings = {"vectors": small_vectors(), "transform": MATRIX, "text": "tokens", "window": 3, "permutations": 99}
    return bg.regress(records, formula, **{**settings, **more})


@pytest.fixture(scope="module")
def congress(shared_data: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The congressional sample as conText's quick start prepares it, with its vectors and transformation."""
    folder = shared_data / "context_congress"
    with (folder / "congress_sample.csv").open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    texts = [[w for w in row.pop("text").split() if w not in STOP_WORDS and len(w) >= 3] for row in rows]
    counts = Counter(word for text in texts for word in text)
    for row, text in zip(rows, texts, strict=True):
        row["tokens"] = [word if counts[word] >= 5 else "" for word in text]
    arrays = np.load(folder / "glove_500x300_and_transform.npz")
    vectors = (arrays["words"].tolist(), arrays["vectors"])
    return rows, {"vectors": vectors, "transform": arrays["transform"], "text": "tokens", "window": 6}


@pytest.mark.shared
def test_the_numbers_that_context_prints(congress: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    """Quick start of conText 3.0.1: immigration ~ party + gender."""
    rows, settings = congress
    fit = bg.regress(rows, "immigration ~ party + gender", permutations=99, **settings)
    frame = fit.to_frame().set_index("term")
    assert frame["n"].tolist() == [924, 924]
    np.testing.assert_allclose(frame.loc["party_R", ["norm2", "norm2_bias", "norm2_corrected"]].astype(float),
                               [10.139940, 1.471687, 8.668252], atol=6e-7)  # fmt: skip
    np.testing.assert_allclose(frame.loc["gender_M", ["norm2", "norm2_bias", "norm2_corrected"]].astype(float),
                               [6.908761, 1.754048, 5.154713], atol=6e-7)  # fmt: skip
    assert fit.model is not None
    means = fit.model.design.weights @ fit.model.design.matrix / 924
    np.testing.assert_allclose(means, [1, 0.4740260, 0.6709957], atol=6e-8)


@pytest.mark.shared
def test_the_same_numbers_from_the_table_itself(shared_data: Path) -> None:
    """Stop words and short words are removed by `remove`, rare ones become padding by `min_count`."""
    folder = shared_data / "context_congress"
    words = {word for text in pd.read_csv(folder / "congress_sample.csv")["text"] for word in text.split()}
    arrays = folder / "glove_500x300_and_transform.npz"
    fit = bg.regress(
        folder / "congress_sample.csv", "immigration ~ party + gender", vectors=arrays, transform=arrays, window=6,
        tokenizer="whitespace", remove=[*STOP_WORDS, *(word for word in words if len(word) < 3)], min_count=5,
        permutations=19,
    )  # fmt: skip
    assert [row.n for row in fit.terms] == [924, 924]
    np.testing.assert_allclose([row.norm2 for row in fit.terms], [10.139940, 6.908761], atol=6e-7)
    np.testing.assert_allclose(np.array([row.norm2_bias for row in fit.terms], float), [1.471687, 1.754048], atol=6e-7)


@pytest.mark.shared
def test_a_number_as_covariate_and_predicted_embeddings(
    congress: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    rows, settings = congress
    words, matrix = settings["vectors"]
    vectors = dict(zip(words, matrix, strict=True))
    slow = slow_occurrences(
        rows, ["immigration"], vectors, settings["transform"], 6,
        lambda row: [1, row["party"] == "R", float(row["nominate_dim1"])],
    )  # fmt: skip
    fit = bg.regress(rows, "immigration ~ party + nominate_dim1", permutations=99, **settings)
    np.testing.assert_allclose(fit.coefficients, slow.fit(), atol=1e-9)
    np.testing.assert_allclose(np.array([term.norm2_bias for term in fit.terms], float), slow.hc1_bias()[1:], rtol=1e-9)
    expected = np.array([1, 1, 0.25]) @ slow.fit()
    np.testing.assert_allclose(fit.predict({"party": "R", "nominate_dim1": 0.25}), expected, atol=1e-9)
    np.testing.assert_allclose(fit.predict(party="R", nominate_dim1=0.25), expected, atol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize(("right", "expected"), BY_LM.items())
def test_numbers_and_interactions_are_those_of_lm_in_r(
    right: str, expected: list[list[float]], congress: tuple[list[dict[str, Any]], dict[str, Any]]
) -> None:
    rows, settings = congress
    fit = bg.regress(rows, f"immigration ~ {right}", permutations=9, **settings)
    found = np.array([[row.norm2, row.norm2_bias, row.norm2_corrected] for row in fit.terms], float)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.shared
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_script_of_r_prints_its_numbers(
    congress: tuple[list[dict[str, Any]], dict[str, Any]], tmp_path: Path
) -> None:
    rows, settings = congress
    vectors = dict(zip(*settings["vectors"], strict=True))
    slow = slow_occurrences(rows, ["immigration"], vectors, settings["transform"], 6, lambda row: [row["party"] == "R"])
    names = ["party", "gender", "nominate_dim1"]
    table = pd.DataFrame([{name: rows[document][name] for name in names} for document in slow.documents])
    numbers = pd.DataFrame(slow.embeddings, columns=[f"d{number}" for number in range(slow.embeddings.shape[1])])
    pd.concat([table, numbers], axis=1).to_csv(tmp_path / "occurrences.csv", index=False)
    command = ["Rscript", "--vanilla", str(Path(__file__).with_name("by_lm.R")), str(tmp_path / "occurrences.csv")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [float(number) for line in printed.splitlines() for number in line.split()[1:] if number[0].isdigit()]
    np.testing.assert_allclose(found, np.concatenate(list(BY_LM.values())).ravel(), rtol=1e-8)


@pytest.mark.shared
def test_the_predictions_and_neighbors_that_context_prints(
    congress: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    """Vignette "Embedding Regression with conText" of the same version: nns and cos_sim of predict, get_nns_ratio."""
    rows, settings = congress
    words = list(settings["vectors"][0])
    product = bg.regress(rows, "immigration ~ party * gender", permutations=9, **settings)
    assert list(product.coefficients.index) == ["Intercept", "party_R", "gender_M", "party_R:gender_M"]
    printed = {
        ("D", "F"): "immigration .849 immigrants .660 enforcement .621 legal .603 law .601",
        ("D", "M"): "immigration .803 broken .706 reform .685 comprehensive .671 illegal .560",
        ("R", "F"): "immigration .786 illegal .674 enforcement .670 border .656 laws .615",
        ("R", "M"): "immigration .879 illegal .701 enforce .639 amnesty .635 immigrants .634",
    }
    for (party, gender), line in printed.items():
        nearest = product.nearest({"party": party, "gender": gender}, candidates=words, most=5, resamples=20).rows
        assert [row.word for row in nearest] == line.split()[::2]
        assert [f"{row.cosine:.3f}"[1:] for row in nearest] == line.split()[1::2]
    number = bg.regress(rows, "immigration ~ nominate_dim1", permutations=9, **settings)
    reform = settings["vectors"][1][words.index("reform")]
    cosines = []
    for value in (-1.0, -0.8, -0.6, -0.4, -0.2, 0.0):
        embedding = number.predict({"nominate_dim1": value})
        cosines.append(reform @ embedding / np.linalg.norm(reform) / np.linalg.norm(embedding))
    expected = [0.6855243, 0.6831449, 0.6741428, 0.6575746, 0.6330861, 0.6010969]
    np.testing.assert_allclose(cosines, expected, atol=6e-8)
    parties = bg.regress(rows, "immigration ~ party", permutations=9, **settings)
    ratios = parties.neighbors({"party": "R"}, {"party": "D"}, candidates=words, most=5, resamples=20)
    expected_ratios = {
        "illegal": 1.193326, "amnesty": 1.190681, "laws": 1.183587, "enforcement": 1.093526, "immigrants": 1.034103,
        "immigration": 1.031344,
    }  # fmt: skip
    assert {row.word: row.ratio for row in ratios.rows if row.word in expected_ratios} == pytest.approx(
        expected_ratios, abs=6e-7
    )
    assert {row.word for row in ratios.rows if row.nearest_of == "both"} == {"immigration"}


@pytest.mark.parametrize("formula", ["t0 + t1 ~ group * year", "t0 ~ group + year"])
def test_norms_coefficients_and_bias_are_those_of_single_occurrences(formula: str) -> None:
    records = small_text(1, targets=2)
    product = "*" in formula

    def row(record: dict[str, Any]) -> list[float]:
        is_y = float(record["group"] == "y")
        return [1, is_y, record["year"], *([is_y * record["year"]] if product else [])]

    targets = ["t0", "t1"] if product else ["t0"]
    slow = slow_occurrences(records, targets, small_vectors(), MATRIX, 3, row)
    fit = fit_small(records, formula)
    np.testing.assert_allclose(fit.coefficients, slow.fit(), atol=1e-10)
    np.testing.assert_allclose([term.norm2 for term in fit.terms], (slow.fit() ** 2).sum(axis=1)[1:])
    np.testing.assert_allclose(np.array([term.norm2_bias for term in fit.terms], float), slow.hc1_bias()[1:])
    assert {term.n for term in fit.terms} == {len(slow.embeddings)}


def test_jackknife_and_clustered_bias_by_leaving_out_each_document() -> None:
    records = small_text(2, documents=20)
    fit = fit_small(records, "t0 ~ group")
    slow = slow_occurrences(records, ["t0"], small_vectors(), MATRIX, 3, lambda r: [1, r["group"] == "y"])
    left_out = []
    for document in range(20):
        kept = slow.documents != document
        left_out.append(np.linalg.lstsq(slow.design[kept], slow.embeddings[kept], rcond=None)[0][1])
    norms = (np.array(left_out) ** 2).sum(axis=1)
    assert fit.terms[0].se == pytest.approx(np.sqrt(19 / 20 * ((norms - norms.mean()) ** 2).sum()))
    # Two groups of documents of the same size: CR2 is the unbiased variance of the document means.
    means = np.array([slow.embeddings[slow.documents == document].mean(axis=0) for document in range(20)])
    expected = sum(means[group::2].var(axis=0, ddof=1).sum() / 10 for group in (0, 1))
    assert fit.terms[0].clustered_bias == pytest.approx(expected)
    assert fit_small(small_text(2, documents=20), "t0 ~ group").terms == fit.terms


def effects(reading: AssociationReading) -> list[float]:
    return [row.estimate for row in reading.rows if row.estimate is not None]


def axis_of(vectors: dict[str, Floats]) -> Floats:
    ends = [np.mean([vectors[w] / np.linalg.norm(vectors[w]) for w in side], axis=0) for side in (A, B)]
    axis = ends[0] - ends[1]
    unit: Floats = axis / np.linalg.norm(axis)
    return unit


def test_the_projection_is_ordinary_regression_of_one_number_per_occurrence() -> None:
    records = small_text(3, authors=12)
    axis = axis_of(small_vectors())
    slow = slow_occurrences(records, ["t0"], small_vectors(), MATRIX, 3, lambda r: [1, r["group"] == "y", r["year"]])
    fit = fit_small(records, "t0 ~ group + year")
    reading = fit.axis(A, B)
    peer = sm.OLS(slow.embeddings @ axis, slow.design).fit()
    np.testing.assert_allclose(effects(reading), peer.params[1:])
    assert reading.unit == pytest.approx((slow.embeddings @ axis).std())
    assert list(reading.to_frame().columns[:6]) == ["term", "estimate", "se", "low", "high", "p"]
    assert reading.predict({"group": "y", "year": 4}).estimate == pytest.approx(peer.params @ [1, 1, 4])
    difference = reading.contrast({"group": "y", "year": 4}, {"group": "x", "year": 1})
    assert difference.estimate == pytest.approx(peer.params @ [0, 1, 3])
    assert reading.trend("year").estimate == pytest.approx(peer.params[2])
    assert reading.trend("year").se == pytest.approx(reading.rows[1].se)
    assert reading.trend("year").p == pytest.approx(reading.rows[1].p)
    # Swapping the ends of the axis swaps the signs.
    assert fit.axis(B, A).rows[0].estimate == pytest.approx(-(reading.rows[0].estimate or 0))


def test_counts_of_two_groups_are_the_difference_of_the_log_odds_of_corpus_bias() -> None:
    records = small_text(4, odds=2.0)
    reading = fit_small(records, "t0 ~ group").counts(A, B)
    odds = {}
    for group in ("x", "y"):
        lines = [" ".join(record["tokens"]) for record in records if record["group"] == group]
        single = bg.corpus_bias(iter(lines), ["t0"], a=A, b=B, window=3, tokenizer="whitespace")
        odds[group] = single.words[0].log_odds or 0.0
    assert reading.rows[0].estimate == pytest.approx(odds["y"] - odds["x"], abs=1e-7)
    assert reading.predict({"group": "x"}).estimate == pytest.approx(odds["x"], abs=1e-7)
    assert reading.contrast({"group": "y"}, {"group": "x"}).se == pytest.approx(reading.rows[0].se)


def test_counts_with_a_number_are_a_logistic_regression() -> None:
    records = small_text(5, odds=2.0)
    rows = []
    for record in records:
        tokens = record["tokens"]
        table = np.zeros((2, 2))
        for center, token in enumerate(tokens):
            side = 0 if token in A else 1 if token in B else None
            if side is None:
                continue
            for other in tokens[max(0, center - 3) : center] + tokens[center + 1 : center + 4]:
                table[int(other == "t0"), side] += 1
        z = [1.0, float(record["group"] == "y"), record["year"]]
        rows += [(table[0], [*z, 0, 0, 0]), (table[1], [*z, *z])]
    peer = sm.GLM(np.array([t for t, _ in rows]), np.array([z for _, z in rows]), sm.families.Binomial()).fit()
    reading = fit_small(records, "t0 ~ group + year").counts(A, B)
    np.testing.assert_allclose(effects(reading), peer.params[4:], atol=1e-6)


def test_words_of_a_list_have_an_intercept_each() -> None:
    records = small_text(6, targets=4)
    words = ["t0", "t1", "t2", "t3"]
    slow = slow_occurrences(records, words, small_vectors(), MATRIX, 3, lambda r: [r["group"] == "y", r["year"]])
    dummies = np.array([[float(word == other) for other in words] for word in slow.words])
    axis = axis_of(small_vectors())
    peer = sm.OLS(slow.embeddings @ axis, np.hstack([slow.design, dummies])).fit()
    fit = fit_small(records, "list ~ group + year", targets={"list": words})
    reading = fit.axis(A, B)
    np.testing.assert_allclose(effects(reading), peer.params[:2])
    assert "words" in reading.rows[0].method
    expected = np.linalg.lstsq(np.hstack([slow.design, dummies]), slow.embeddings, rcond=None)[0][:2]
    np.testing.assert_allclose([term.norm2 for term in fit.terms], (expected**2).sum(axis=1))
    level = reading.predict({"group": "y"})
    assert (level.low, level.reason) == (
        None,
        "the level of a list depends on its words; contrasts and trends have intervals",
    )


def test_counts_of_a_list_are_a_logistic_regression_with_an_intercept_of_each_word() -> None:
    records, words = small_text(6, targets=4), ["t0", "t1", "t2", "t3"]
    blocks = []
    for record in records:
        tokens, z = record["tokens"], [1.0, float(record["group"] == "y"), record["year"]]
        table = np.zeros((5, 2))
        for center, token in enumerate(tokens):
            side = 0 if token in A else 1 if token in B else None
            if side is None:
                continue
            for other in tokens[max(0, center - 3) : center] + tokens[center + 1 : center + 4]:
                table[words.index(other) if other in words else 4, side] += 1
        near = [(table[word], [*z, *np.eye(4)[word], *z[1:]]) for word in range(4) if table[word].any()]
        blocks.append([(table[4], [*z, 0, 0, 0, 0, 0, 0]), *near])
    rows = [row for block in blocks for row in block]
    peer = sm.GLM(np.array([t for t, _ in rows]), np.array([z for _, z in rows]), sm.families.Binomial()).fit()
    counts = fit_small(records, "list ~ group + year", targets={"list": words}).counts(A, B)
    np.testing.assert_allclose(effects(counts), peer.params[7:], atol=1e-6)
    assert all("words" in row.method for row in counts.rows)
    # Scores of documents are those of the whole design, with the intercepts partialled out.
    documents = np.repeat(np.arange(len(records)), [len(block) for block in blocks])
    clustered = peer.model.fit(cov_type="cluster", cov_kwds={"groups": documents, "use_correction": False})
    weights = counts.weights_of(np.array([0.0, 1.0, 0.0]))
    assert weights is not None
    assert counts.fits[0].plain_variance(weights) == pytest.approx(clustered.cov_params()[7, 7], rel=1e-6)


@pytest.mark.parametrize("formula", ["t0 + t1 ~ group * year", "list ~ group"])
def test_sums_in_single_precision_and_small_blocks_change_nothing_that_is_shown(
    formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = small_text(1, targets=2)
    lists = {"list": ["t0", "t1"]} if formula.startswith("list") else {}
    usual = fit_small(records, formula, targets=lists, a=A, b=B)
    monkeypatch.setattr("biasgauge.analyses.regress.occurrences.MOST_DOUBLES", 100)
    monkeypatch.setattr("biasgauge.analyses.regress.contexts.BLOCK", 50)
    monkeypatch.setattr("biasgauge.stats.clustered_regression.NUMBERS", 64)
    monkeypatch.setattr("biasgauge.analyses.regress.readings.CELLS", 7)
    single = fit_small(records, formula, targets=lists, a=A, b=B)
    assert single.model is not None
    assert single.model.occurrences.sums.dtype == np.float32
    for rows, others in ((usual.terms, single.terms), (usual.axis_terms, single.axis_terms)):
        for row, other in zip(rows, others, strict=True):
            numbers = [value for value in vars(row).values() if isinstance(value, float)]
            assert [value for value in vars(other).values() if isinstance(value, float)] == pytest.approx(
                numbers, rel=1e-4, abs=1e-6
            )


def test_a_planted_difference_is_reported_and_none_is_not() -> None:
    toward: dict[str, Any] = {"a": A, "b": B, "transform": np.eye(DIM)}
    planted = fit_small(small_text(7, odds=6.0, documents=200), **toward)
    assert planted.verdicts[0].decision == "report"
    assert planted.verdicts[0].claim.startswith("the targets are more associated with A")
    assert planted.speakers == {"group_y": "counts"}
    assert planted.axis_terms[0].interval.excludes(0)
    nothing = fit_small(small_text(8, documents=200), **toward)
    assert nothing.verdicts[0].decision in {"inconclusive", "no-association-shown"}
    alone = fit_small(small_text(7, odds=6.0, documents=200))
    assert alone.speakers == {"group_y": "norm"}
    assert alone.verdicts[0].decision in {"report", "report-with-care"}


def test_words_that_a_group_uses_more_everywhere_are_no_finding_about_the_target() -> None:
    rng = np.random.default_rng(3)
    records = []
    for number in range(300):
        shares = np.ones(30)
        shares[:5] *= 4.0 if number % 2 else 1.0
        tokens = [f"w{word}" for word in rng.choice(30, 120, p=shares / shares.sum())]
        tokens[6::12] = ["t0"] * 10
        records.append({"tokens": tokens, "group": "y" if number % 2 else "x"})
    fit = fit_small(records, a=A, b=B, transform=np.eye(DIM))
    assert fit.axis_terms[0].interval.excludes(0)
    assert not fit.background_terms[0].interval.excludes(0)
    assert fit.verdicts[0].decision in {"inconclusive", "no-association-shown"}
    assert "a difference of all words" in fit.verdicts[0].why or fit.speakers["group_y"] == "counts"


def test_a_projection_that_shows_nothing_is_not_explained_by_all_words() -> None:
    rng = np.random.default_rng(1)
    records = [
        {"tokens": [f"w{word}" for word in rng.choice(20, 6)] + ["t0"] + [f"w{word}" for word in rng.choice(20, 6)],
         "group": "xy"[number % 2]} for number in range(60)
    ]  # fmt: skip
    fit = fit_small(records, a=A, b=B)
    assert (fit.axis_terms[0].p or 0) > 0.05
    assert (fit.background_terms[0].p or 0) > 0.05
    assert fit.speakers["group_y"] == "axis"
    assert "a difference of all words" not in fit.verdicts[0].why
    # One verdict: the headline is the answer alone, and its numbers are the first sentence.
    summary = fit.summary()
    assert summary.headline.startswith("Inconclusive: does the association of t0 with A (w0, w1, w2")
    assert summary.headline.endswith("differ by group_y?")
    assert summary.sentences[0] == fit.verdicts[0].sentence


def test_the_background_is_the_mean_projection_of_all_words_of_the_document() -> None:
    records = small_text(3, authors=12)
    vectors, axis = small_vectors(), axis_of(small_vectors())
    slow = slow_occurrences(records, ["t0"], vectors, MATRIX, 3, lambda r: [1, r["group"] == "y", r["year"]])
    words = [[MATRIX @ vectors[word] @ axis for word in record["tokens"] if word in vectors] for record in records]
    means = np.array([np.mean(numbers) for numbers in words])
    peer = sm.OLS(slow.embeddings @ axis - means[slow.documents], slow.design).fit()
    reading = fit_small(records, "t0 ~ group + year").axis(A, B)
    np.testing.assert_allclose([row.estimate or 0.0 for row in reading.background], peer.params[1:])


def test_a_difference_that_is_shown_and_small_takes_care() -> None:
    # The words that are planted are like w5, which is the list: the projection sees them, counts of w5 do not.
    rng, vectors = np.random.default_rng(0), small_vectors()
    vectors |= {word: vectors["w5"] + 0.3 * rng.normal(size=DIM) for word in A}
    toward: dict[str, Any] = {"a": ["w5"], "b": B[:1], "transform": np.eye(DIM), "vectors": vectors}
    records = small_text(9, odds=3.0, documents=200)
    fit = fit_small(records, **toward)
    assert (fit.speakers, fit.decision) == ({"group_y": "axis"}, "report")
    (effect,), unit = fit.axis_terms, fit.axis(["w5"], B[:1]).unit
    ruled_out = (abs(effect.estimate or 0) + 1.653 * (effect.se or 0)) / unit  # one-sided, of 198 degrees of freedom
    verdict = fit_small(records, smallest=ruled_out * 1.02, **toward).verdicts[0]
    assert verdict.decision == "report-with-care"
    assert "the difference is small" in verdict.why
    assert fit_small(records, smallest=ruled_out * 0.98, **toward).decision == "report"


def test_few_clusters_are_said() -> None:
    fit = fit_small(small_text(7, odds=6.0, authors=4), a=A, b=B, cluster="author")
    assert fit.settings["clusters"] == 4
    assert fit.verdicts[0].decision == "inconclusive"
    assert "required" in fit.verdicts[0].why


def test_one_author_on_one_side_has_no_error() -> None:
    records = small_text(1, documents=20)
    for number, record in enumerate(records):
        record["author"] = "single" if record["group"] == "y" else f"a{number % 5}"
    fit = fit_small(records, a=A, b=B, cluster="author")
    assert (fit.terms[0].p, fit.terms[0].low) == (None, None)
    assert fit.verdicts[0].decision == "not-measurable"
    assert "a single cluster" in fit.verdicts[0].why


@pytest.mark.parametrize(("documents", "cluster"), [(2, None), (20, "group")])
def test_a_bias_that_nothing_is_left_to_estimate_from_is_undefined(documents: int, cluster: str | None) -> None:
    """As many occurrences as coefficients, or a cluster for each: residuals are 0, and that is no bias of 0."""
    records = small_text(2, documents=20)[:documents]
    if documents == 2:  # one occurrence each
        records = [
            {**record, "tokens": ["w0", "w1", "t0", "w2", f"w{number}"]} for number, record in enumerate(records)
        ]
    (term,) = fit_small(records, "t0 ~ group", cluster=cluster).terms
    assert (term.norm2_bias, term.norm2_corrected, term.clustered_bias, term.p) == (None, None, None, None)
    assert term.norm2 > 0
    assert term.reason == "a single cluster determines this coefficient, so its error is unknown"


def test_no_squared_norm_is_said_to_be_below_0() -> None:
    """Where nothing differs the interval of the corrected norm may lie below 0."""
    records = [
        {"tokens": ["w0", "w1", "t0", "w2", f"w{number // 2 % 15}"], "group": "xy"[number % 2]} for number in range(60)
    ]
    fit = fit_small(records, "t0 ~ group")
    assert fit.terms[0].high is not None
    assert fit.terms[0].high < 0
    assert fit.verdicts[0].decision == "no-association-shown"
    assert "at most 0.00 (smallest that matters" in fit.verdicts[0].sentence


def test_documents_without_a_covariate_are_left_out_and_told() -> None:
    records = small_text(1)
    records[0]["group"] = None
    fit = fit_small(records)
    assert fit.targets[0].incomplete == 10
    assert fit.warnings == ("10 occurrences in documents that lack a covariate left out",)
    np.testing.assert_allclose(fit.coefficients, fit_small(records[1:]).coefficients)


def test_removed_and_rare_words_make_the_tokens_that_were_given_by_hand() -> None:
    records = small_text(1)
    for record in records:
        record["tokens"] = [word for token in record["tokens"] for word in ("the", token)]
    records[3]["tokens"].insert(2, "rare")
    by_hand = [
        {**record, "tokens": ["" if word == "rare" else word for word in record["tokens"] if word != "the"]}
        for record in records
    ]
    vectors = {**small_vectors(), "the": np.ones(DIM), "rare": np.ones(DIM)}
    automatic = fit_small(records, vectors=vectors, remove=["the"], min_count=2)
    np.testing.assert_allclose(automatic.coefficients, fit_small(by_hand, vectors=vectors).coefficients)


def test_the_result_goes_to_json_and_back_and_a_frame_has_a_row_per_term() -> None:
    fit = fit_small(small_text(1), "t0 ~ group + year", a=A, b=B)
    content = json.loads(json.dumps(fit.to_dict()))
    again = EmbeddingRegression.from_dict(content)
    assert again.to_dict() == fit.to_dict()
    assert [row["term"] for row in content["terms"]] == ["group_y", "year"]
    assert {"term", "norm2", "norm2_corrected", "p"} <= set(content["terms"][0])
    assert [row["term"] for row in content["axis"]] == [row["term"] for row in content["counts"]] == ["group_y", "year"]
    assert list(fit.to_frame().columns[:8]) == [
        "term", "norm2", "norm2_bias", "norm2_corrected", "low", "high", "p", "n",
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="run regress again"):
        again.predict({"group": "y"})
    for reading in (fit.axis(A, B), fit.counts(A, B)):
        stored = AssociationReading.from_dict(json.loads(json.dumps(reading.to_dict())))
        assert stored.to_dict() == reading.to_dict()
        with pytest.raises(ParameterError, match="run regress again"):
            stored.predict({"group": "y"})
    assert isinstance(fit.coefficients, pd.DataFrame)
    assert list(fit.coefficients.index) == ["Intercept", "group_y", "year"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"formula": "absent ~ group"}, "no occurrence of 'absent'"),
        ({"formula": "t00 ~ group"}, r"no occurrence of 't00'; did you mean 't0'\?$"),
        ({"formula": "t0 ~ grup"}, "no column 'grup'.*did you mean 'group'"),
        ({"a": A}, "Give both"),
        ({"a": A, "b": A}, "one of 'a' and 'b' only"),
        ({"a": ["absent"], "b": B}, "too few words of the axis"),
        ({"transform": np.eye(3)}, "has 3 dimensions and the vectors have 5"),
        ({"formula": "t0 ~ log(year - 3000)"}, r"term 'log\(year - 3000\)' of the formula is not finite"),
        ({"window": 0}, "'window' parameter"),
        ({"smallest": 0}, "'smallest' parameter"),
        ({"cluster": "tokens"}, "'cluster' parameter names the column of the text"),
        ({"formula": "list + t0 ~ group", "targets": {"list": ["t0"]}}, "stands alone"),
        (
            {"formula": "lists ~ group", "targets": {"list": ["t0"]}},
            "'list' of targets is not on .*did you mean 'lists'",
        ),
        ({"transform": None}, "needs 10 words"),
        ({"cluster": "group"}, "one cluster|single|group"),
    ],
)
def test_bad_arguments_are_one_sentence(change: dict[str, Any], sentence: str) -> None:
    records = small_text(1, documents=10)
    if change.get("transform", 0) is None:
        for record in records:
            record["tokens"] = [token for token in record["tokens"] if token in {"t0", "w0", "w1"}]
    if change == {"cluster": "group"}:
        fit = fit_small(records, **change)
        assert fit.terms[0].reason is not None
        return
    with pytest.raises(bg.BiasgaugeError, match=sentence):
        fit_small(records, **{"formula": "t0 ~ group", **change})


def test_years_and_their_squares_are_read_as_well_as_centered_ones() -> None:
    records = small_text(3, authors=12)
    for record in records:
        record |= {"year": record["year"] + 2003, "since": record["year"] - 5}
    fits = [
        fit_small(records, f"t0 ~ group * ({year} + I({year}**2))", a=A, b=B, cluster="author")
        for year in ("year", "since")
    ]
    for kind in ("axis_terms", "count_terms"):
        raw, centered = (getattr(fit, kind) for fit in fits)
        for term in (2, 4):  # of the squares: the others are differences at the year 0
            expected = (centered[term].estimate, centered[term].se, centered[term].df, centered[term].p)
            assert (raw[term].estimate, raw[term].se, raw[term].df, raw[term].p) == pytest.approx(expected, rel=1e-5)
    assert fits[0].terms[4].se == pytest.approx(fits[1].terms[4].se, rel=1e-5)
    assert fits[0].terms[4].p == fits[1].terms[4].p
    later, earlier = ({"group": "y", "year": 2010}, {"group": "x", "year": 2005})
    difference = fits[0].counts(A, B).contrast(later, earlier)
    assert difference.low == pytest.approx(
        fits[1].counts(A, B).contrast({"group": "y", "since": 2}, {"group": "x", "since": -3}).low, rel=1e-5
    )
    nearest = [
        fit.nearest({"group": "y", name: value}, most=3, resamples=20).rows
        for fit, name, value in zip(fits, ("year", "since"), (2010, 2), strict=True)
    ]
    assert [row.low for row in nearest[0]] == pytest.approx([row.low for row in nearest[1]], rel=1e-5)
    (warning,) = fits[0].warnings
    assert warning.startswith("terms that interact with year are differences at year = 0, outside of the data (2003 to")
    assert fits[1].warnings == ()


def test_a_document_without_a_cluster_is_left_out() -> None:
    records = small_text(1, authors=9)
    records[3]["author"] = None
    fit = fit_small(records, cluster="author")
    assert fit.warnings == ("10 occurrences in documents that lack a covariate left out",)
    assert fit.terms == fit_small([*records[:3], *records[4:]], cluster="author").terms


def test_a_text_among_numbers_is_told() -> None:
    records = small_text(1)
    records[5]["year"] = "unknown"
    fit = fit_small(records, "t0 ~ year")
    assert "year is a factor, since one of its cells is 'unknown'; most are numbers" in fit.warnings
    assert fit_small(small_text(1), "t0 ~ group").warnings == ()


def test_a_factor_of_very_many_values_is_refused_at_once() -> None:
    records = small_text(2, documents=1200, length=6)
    for number, record in enumerate(records):
        record["place"] = f"p{number // 2}"
    with pytest.raises(ParameterError, match="600 coefficients over 1,200 clusters are too many"):
        fit_small(records, "t0 ~ place")
    formula = "t0 ~ place + " + " + ".join(f"I(year**{power})" for power in range(1, 9)) + " + place:year"
    with pytest.raises(ParameterError, match="columns of 1,200 documents"):
        fit_small(records, formula)


@pytest.mark.parametrize("right", ["C(year)", "group + bs(year, df=3)", "poly(year, 2)"])
def test_documents_without_a_target_may_lie_beyond_those_with_one(right: str) -> None:
    records = small_text(5, odds=2.0)
    outside = [{"tokens": ["w0", "w1", "w10", "w11"] * 9, "group": "y", "year": 50.0} for _ in range(5)]
    fit = fit_small([*records, *outside], f"t0 ~ {right}", a=A, b=B)
    alone = fit_small(records, f"t0 ~ {right}", a=A, b=B)
    assert [row.estimate for row in fit.axis_terms] == pytest.approx([row.estimate for row in alone.axis_terms])
    assert len(fit.count_terms) == len(alone.count_terms) > 0
    if not right.startswith("poly"):  # a polynomial goes on; a factor and a spline know nothing of the year 50
        assert fit.count_terms == alone.count_terms
