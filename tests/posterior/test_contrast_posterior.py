"""`posterior`: the contrast of a question as it is asked of vectors, of replicates and of distances."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.posterior import ContrastPosterior, bayes, distances, read_distances
from biasgauge.cli.entry import run
from biasgauge.core import Query, SimilarityTable, WordPolicy, resolve
from biasgauge.errors import ParameterError
from biasgauge.stats import contrast_estimate
from biasgauge.vectors import DEFAULT_PATH, ByModel, Embedding, Frequencies

if TYPE_CHECKING:
    from biasgauge.core import Floats, Integers
    from biasgauge.vectors.frequencies import FrequencyKind


@pytest.fixture(scope="module")
def vectors() -> Embedding:
    return bg.vectors.load_default()


def with_frequencies(values: Floats | Integers, kind: FrequencyKind = "counts") -> Embedding:
    """Vectors of the words of WEAT 7 whose cosines rise with the frequency of both words."""
    words = Query.from_lexicon("weat7").words
    random = np.random.default_rng(0)
    counts = values.astype(np.int64)
    common = np.log10(counts if kind == "counts" else 1e6 / counts)[:, None]
    table = 0.3 * random.standard_normal((len(words), 60)) + 0.5 * (common - 4) * np.eye(60)[0]
    return Embedding(words, table, "made", frequencies=Frequencies(counts, kind))


@pytest.mark.parametrize("test", ["weat1", "weat3", "weat6", "weat7"])
def test_the_interval_is_that_of_two_way_clustering(vectors: Embedding, test: str) -> None:
    """Another method for the same question: METHODS 7.5. It takes words as independent, near ones too."""
    found = bg.posterior(vectors, test).contrast
    table = SimilarityTable(resolve(Query.from_lexicon(test), [vectors], WordPolicy()))
    expected = contrast_estimate(table.values, table.targets.groups, table.attributes.groups).at(0.89)
    half = (float(expected.high or 0) - float(expected.low or 0)) / 2
    assert found.value == pytest.approx(expected.value, abs=0.05 * half)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.12 * half)


def test_cells_and_what_is_not_known(vectors: Embedding) -> None:
    found = bg.posterior(vectors, "weat1")
    assert found.contrast.p_direction == pytest.approx(1.0, abs=0.01)
    assert found.contrast.p_equivalent is None
    cell = found.cells[0]
    assert (cell.targets, cell.attributes, cell.n, cell.k) == (
        "flowers",
        "pleasant",
        24,
        25,
    )  # one is out of vocabulary
    means = [cell.mean for cell in found.cells]
    assert found.contrast.value == pytest.approx(means[0] - means[1] - means[2] + means[3], abs=0.003)
    assert found.adjusted.value is not None
    assert found.adjusted.value != found.contrast.value


def test_the_probability_of_less_than_the_smallest_that_matters(vectors: Embedding) -> None:
    found = bg.posterior(vectors, "weat7", smallest=0.05).contrast
    assert found.p_equivalent is not None
    normal = np.random.default_rng(0).normal(float(found.value or 0), float(found.sd or 0), 100_000)
    assert found.p_equivalent == pytest.approx((np.abs(normal) < 0.05).mean(), abs=0.03)
    with pytest.raises(ParameterError, match="smallest"):
        bg.posterior(vectors, "weat7", smallest=0.0)


def test_wider_priors_move_the_interval_little(vectors: Embedding) -> None:
    found = bg.posterior(vectors, "weat7")
    half, twice = found.prior_sensitivity
    assert (half.factor, twice.factor) == (0.5, 2.0)
    assert abs(float(twice.value or 0) - float(found.contrast.value or 0)) < 0.1 * float(found.contrast.sd or 0)
    assert float(half.sd or 0) <= float(twice.sd or 0)
    narrow = bg.posterior(vectors, "weat7", priors={"cell": "normal(0, 0.001)"}).contrast
    assert abs(float(narrow.value or 1)) < 0.003
    with pytest.raises(ParameterError, match="prior"):
        bg.posterior(vectors, "weat7", priors={"between": "exponential(2)"})


def test_json_there_and_back_and_too_few_words(vectors: Embedding) -> None:
    found = bg.posterior(vectors, "weat7", draws=400)
    again = ContrastPosterior.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.to_dict() == found.to_dict()
    assert len(found.to_frame()) == 4
    few = bg.posterior({"math": [1.0, 2.0], "poetry": [2.0, 1.0]}, "weat7", policy=WordPolicy(min_coverage=1.0))
    assert few.contrast.value is None
    assert "undefined" in few.summary().headline
    assert few.warnings


def test_a_list_of_models_is_one_posterior_and_views_are_several(vectors: Embedding) -> None:
    random = np.random.default_rng(0)
    replicates = [
        Embedding(vectors.words, vectors.vectors + 0.3 * random.standard_normal(vectors.vectors.shape), f"run {run}")
        for run in range(3)
    ]
    found = bg.posterior(replicates, "weat1")
    assert found.over == "targets, attributes and models"
    assert "replicate contrast" in found.sds
    assert found.contrast.value == pytest.approx(bg.posterior(vectors, "weat1").contrast.value, abs=0.03)
    views: Any = [
        Embedding(model.words, model.vectors, model.name, facets={"layer": layer})
        for layer, model in enumerate(replicates[:2])
    ]
    each = bg.posterior(views, "weat1", draws=400)
    assert isinstance(each, ByModel)
    assert [row.facets["layer"] for row in each.models] == [0, 1]


@pytest.mark.parametrize("kind", ["counts", "ranks"])
def test_at_equal_frequency(kind: FrequencyKind) -> None:
    """X and A frequent, Y and B rare: the contrast is the frequency's."""
    frequent, rare = (100_000, 900) if kind == "counts" else (10, 1_100)
    pattern = np.repeat([frequent, rare, frequent, rare], 8) * np.random.default_rng(1).integers(2, 30, 32) // 10
    found = bg.posterior(with_frequencies(pattern, kind), "weat7", smallest=0.05)
    assert float(found.contrast.low or 0) > 0
    assert float(found.adjusted.low or 0) < 0 < float(found.adjusted.high or 0)
    assert any(sentence.startswith("At equal frequency") for sentence in found.summary().sentences)


def test_a_count_of_zero_is_taken_for_a_half() -> None:
    model = with_frequencies(np.arange(1, 33) * 100)
    counts = np.array(model.frequencies.values)  # type: ignore[union-attr]
    counts[3] = 0
    found = bg.posterior(Embedding(model.words, model.vectors, "made", frequencies=Frequencies(counts)), "weat7")
    assert found.contrast.value is not None
    assert found.adjusted.value is not None


def test_distances_give_what_their_vectors_give(vectors: Embedding) -> None:
    table = distances(vectors, "religion")
    of_table, of_vectors = bg.posterior(table), bg.posterior(vectors, "religion")
    assert of_table.contrast.value == pytest.approx(of_vectors.contrast.value, abs=0.003)
    assert of_table.contrast.sd == pytest.approx(of_vectors.contrast.sd, rel=0.1)
    for between in (("associated", "human"), ("human", "neutral")):
        pair = [bg.posterior(table, between=between), bg.posterior(vectors, "religion", between=between)]
        assert pair[0].contrast.value == pytest.approx(pair[1].contrast.value, abs=0.005)
        assert "attribute" in pair[0].sds  # other attributes on either side: their main effects do not cancel
    means = {name: 1 - table.distance[table.rows_of([name])].mean() for name in ("human", "neutral")}
    assert pair[0].contrast.value == pytest.approx(means["human"] - means["neutral"], abs=0.005)
    with pytest.raises(ParameterError, match="associated"):
        bg.posterior(table.select(table.rows_of(["different"])))
    gap = table.select(np.arange(len(table)) > 0)
    assert "every attribute" in str(bg.posterior(gap).contrast.reason)
    with pytest.raises(ParameterError, match="lexicon"):
        bg.posterior(vectors)


@pytest.mark.shared
def test_the_direction_of_gender_in_glove_is_that_of_the_published_model(shared_data: object) -> None:
    """The crossed variant has words differ in each connection anew; what a word has in all of them cancels here."""
    table = read_distances(f"{shared_data}/bayes_distances/gender_group_glove_dataset.csv.gz")
    found = bg.posterior(table).contrast
    published = bayes(table, variant="crossed").contrasts[0]  # in distances: nearer is less
    assert found.value == pytest.approx(-float(published.mean or 0), abs=0.005)
    assert float(found.sd or 1) < float(published.sd or 0)
    assert float(found.low or 0) > 0


def test_the_command_is_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["posterior", str(DEFAULT_PATH), "--lexicon", "religion", "--draws", "400", "--json", "--seed", "3"]
    assert run([*words, "--smallest", "0.02", "--set", "between=associated,human"]) == 0
    found = json.loads(capsys.readouterr().out)
    same = bg.posterior(
        DEFAULT_PATH, "religion", smallest=0.02, between=("associated", "human"), draws=400, random_state=3
    )
    assert found["contrast"] == json.loads(json.dumps(same.to_dict()["contrast"]))
    for typed, message in (
        (["posterior", str(DEFAULT_PATH)], "--lexicon is missing"),
        (["posterior", "--lexicon", "weat7"], "--distances"),
    ):
        assert run(typed) == 2
        assert message in capsys.readouterr().err
