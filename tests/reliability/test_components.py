"""Variance components: published tables, a slow reference, lme4, and simulation with planted faults."""

from __future__ import annotations

import json
import runpy
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.reliability import VarianceComponents, components, variance_components
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.scores.tensor import ModelScores
from biasgauge.stats import effect_squares, effective_freedom
from biasgauge.stats.crossed import simulate, subsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.core.arrays import Floats


GOLDENS = Path(__file__).parents[1] / "stats" / "goldens" / "lme4"

# Brennan, Generalizability Theory (2001), synthetic data set 3: 10 persons × 4 items × 2 occasions; items by persons.
BRENNAN_3 = np.array(
    [
        [
            [2, 4, 5, 5, 4, 4, 2, 3, 0, 6],
            [6, 5, 5, 9, 3, 4, 6, 4, 5, 8],
            [7, 6, 4, 8, 5, 4, 6, 4, 4, 7],
            [5, 7, 6, 6, 6, 7, 5, 5, 5, 6],
        ],
        [
            [2, 6, 5, 5, 4, 6, 2, 6, 5, 6],
            [5, 7, 4, 7, 5, 4, 7, 6, 5, 8],
            [5, 5, 5, 7, 6, 7, 7, 6, 5, 8],
            [5, 7, 5, 6, 4, 8, 5, 4, 3, 6],
        ],
    ],
    float,
)
# The same, data set 1: 10 persons × 12 items.
BRENNAN_1 = np.array(
    [
        [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    ],
    float,
)


def tensor(values: Floats, undefined: Any = None) -> ScoreTensor:  # noqa: ANN401 - None or an array
    """Measure × pair × word × model, with labels that say nothing."""
    measures, pairs, words, models = values.shape
    codes = np.zeros(values.shape, np.uint8) if undefined is None else undefined.astype(np.uint8)
    scores = np.where(codes > 0, np.nan, values).astype(np.float32)
    return ScoreTensor(
        scores,
        codes,
        tuple(f"measure{place}" for place in range(measures)),
        tuple((f"he{place}", f"she{place}") for place in range(pairs)),
        tuple(f"word{place}" for place in range(words)),
        tuple(f"model{place}" for place in range(models)),
        {},
    )


def brennan_3() -> ScoreTensor:
    """Persons are words, items are pairs, occasions are models."""
    return tensor(BRENNAN_3.transpose(1, 2, 0)[None])


def brennan_1() -> ScoreTensor:
    return tensor(BRENNAN_1.T[None, :, :, None])


def by_name(found: VarianceComponents) -> dict[str, float]:
    return {one.name: one.raw for one in found.components}


def test_the_published_components_of_a_person_item_occasion_table() -> None:
    found = variance_components(brennan_3())
    expected = {
        "word": 0.5528,
        "pair": 0.4417,
        "model": 0.0074,
        "word:pair": 0.5750,
        "word:model": 0.1009,
        "pair:model": 0.1565,
        "word:pair:model": 0.9352,
    }
    assert by_name(found) == pytest.approx(expected, abs=5e-5)
    squares = {one.name: one.mean_square for one in found.components}
    assert squares == pytest.approx(
        {
            "word": 6.9111,
            "pair": 12.4833,
            "model": 3.2,
            "word:pair": 2.0852,
            "word:model": 1.3389,
            "pair:model": 2.5,
            "word:pair:model": 0.9352,
        },
        abs=6e-5,
    )
    assert [one.df for one in found.components] == [9, 3, 1, 27, 9, 3, 27]
    assert found.method == "anova"
    assert any("model has 2 levels" in one for one in found.warnings)


def test_the_published_components_of_a_person_item_table() -> None:
    found = variance_components(brennan_1())
    assert by_name(found) == pytest.approx({"word": 0.0574, "pair": 0.0754, "word:pair": 0.1269}, abs=5e-5)
    assert found.facets == {"word": 10, "pair": 12}
    assert any("only one model" in one for one in found.warnings)


def test_reml_is_anova_where_nothing_is_missing_and_nothing_below_zero() -> None:
    anova, reml = (variance_components(brennan_3(), method=method) for method in ("anova", "reml"))
    assert by_name(reml) == pytest.approx(by_name(anova), rel=1e-6)
    assert reml.method == "reml"


def layout(name: str) -> ScoreTensor:
    table = runpy.run_path(str(GOLDENS / "make_data.py"))[name]()
    values, undefined = np.zeros((1, 5, 12, 4)), np.ones((1, 5, 12, 4))
    for word, pair, model, y in zip(*(table[key] for key in ("word", "pair", "model", "y")), strict=True):
        place = (0, int(pair[1:]), int(word[1:]), int(model[1:]))
        values[place], undefined[place] = y, 0
    return tensor(values, undefined)


@pytest.mark.parametrize(("name", "method"), [("layout", "anova"), ("layout", "reml"), ("layout_gaps", "reml")])
def test_lme4_gives_the_same(name: str, method: Any) -> None:  # noqa: ANN401 - a literal
    golden = json.loads((GOLDENS / "goldens.json").read_text())[name]["variances"]
    golden["word:pair:model"] = golden.pop("Residual")
    scores = layout(name)
    assert (scores.undefined.sum() > 0) == (name == "layout_gaps")
    assert by_name(variance_components(scores, method=method)) == pytest.approx(golden, rel=2e-5)


def slow_components(layout: Floats, defined: Any) -> dict[tuple[int, ...], float]:  # noqa: ANN401 - a mask
    """Henderson's method I by projections and traces, one matrix of rows × rows for each set of facets."""
    places, y = np.argwhere(defined), layout[defined]
    subsets: list[tuple[int, ...]] = [()]
    subsets += chain.from_iterable(combinations(range(layout.ndim), size) for size in range(1, layout.ndim + 1))
    indicators = {}
    for one in subsets:
        _, codes = np.unique(places[:, list(one)], axis=0, return_inverse=True)
        indicators[one] = np.eye(int(codes.max()) + 1)[codes.ravel()]
    projections = {one: z @ np.linalg.pinv(z) for one, z in indicators.items()}
    left = [
        [len(y), *(np.trace(projections[a] @ indicators[b] @ indicators[b].T) for b in subsets[1:])] for a in subsets
    ]
    right = [y @ projections[one] @ y for one in subsets]
    return dict(zip(subsets[1:], np.linalg.solve(left, right)[1:].tolist(), strict=True))


@pytest.mark.parametrize("shape", [(3, 5), (4, 3, 5), (2, 3, 3, 4)], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.12])
def test_the_slow_reference_gives_the_same(shape: tuple[int, ...], missing: float) -> None:
    random = np.random.default_rng(7)
    values = random.normal(3, 1, shape) + random.normal(size=(shape[0], *(1,) * (len(shape) - 1)))
    defined = random.random(shape) >= missing
    squares = effect_squares(values, defined if missing else None, shift=2.9, scale=np.ones(1))
    found = dict(zip(squares.subsets, squares.components().tolist(), strict=True))
    assert found == pytest.approx(slow_components(values, defined), rel=1e-9, abs=1e-10)
    assert squares.mean == pytest.approx(float(values[defined].mean()), rel=1e-12)


def test_where_a_sixth_is_missing_the_slow_reference_gives_the_same_and_reml_lies_in_the_intervals() -> None:
    scores = layout("layout_gaps")
    found = variance_components(scores)
    assert (found.method, found.undefined) == ("analogous anova", 60)
    slow = slow_components(scores.values[0].astype(float), scores.undefined[0] == 0)
    names = {":".join(np.array(["word", "pair", "model"])[sorted([1, 0, 2][axis] for axis in one)]): value
             for one, value in slow.items()}  # fmt: skip
    assert by_name(found) == pytest.approx(names, rel=1e-5)
    reml = variance_components(scores, method="reml")
    for one, other in zip(found.components, reml.components, strict=True):
        assert one.interval.low is not None
        assert one.interval.high is not None
        assert one.interval.low <= other.variance <= one.interval.high


@pytest.mark.parametrize("gaps", [False, True])
def test_blocks_do_not_matter(gaps: bool) -> None:  # noqa: FBT001 - a parameter of the test
    random = np.random.default_rng(0)
    values = random.normal(size=(2, 3, 4, 50))
    defined = random.random(values.shape) < 0.9 if gaps else None
    whole, parts = (
        effect_squares(values, defined, shift=0.1, scale=np.array([1.0, 2.0]), block_size=size) for size in (10**6, 60)
    )
    assert parts.scores == whole.scores
    assert parts.mean == pytest.approx(whole.mean, rel=1e-9)
    np.testing.assert_allclose(parts.mean_squares, whole.mean_squares, rtol=1e-9)
    np.testing.assert_allclose(parts.expected, whole.expected, rtol=1e-9)
    np.testing.assert_allclose(parts.mean_error, whole.mean_error, rtol=1e-9)


TRUTH = {"word": 1.0, "pair": 0.3, "model": 0.1, "word:pair": 0.6, "word:model": 0.1, "pair:model": 0.05,
         "word:pair:model": 0.4}  # fmt: skip
AXES = ("pair", "model", "word")


def drawn(random: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Pair × model × word with the true components."""
    variances = np.array([TRUTH[":".join(name for name in ("word", "pair", "model") if AXES.index(name) in one)]
                          for one in subsets_of(3)])  # fmt: skip
    return simulate(shape, subsets_of(3), variances, random)


def coverage(
    runs: int, missing: float, *, layouts: int = 100, nominal: bool = False, random_state: int = 0
) -> tuple[dict[str, float], Any]:
    """Share of intervals that hold the truth, and mean estimates; `nominal` plants a fault."""
    freedom = (lambda squares, *_: squares.freedom) if nominal else partial(effective_freedom, layouts=layouts)
    random = np.random.default_rng(random_state)
    hits, sums = dict.fromkeys(TRUTH, 0.0), dict.fromkeys(TRUTH, 0.0)
    for run in range(runs):
        values = drawn(random, (8, 5, 30)).transpose(0, 2, 1)[None]
        gaps = None
        if missing:
            gaps = (random.random((1, 1, 30, 5)) < missing) | (random.random((1, 8, 1, 5)) < missing / 2)
            gaps = np.broadcast_to(gaps, values.shape)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(components, "effective_freedom", freedom)
            found = variance_components(tensor(values, gaps), draws=800, random_state=run)
        for one in found.components:
            assert one.interval.low is not None
            assert one.interval.high is not None
            hits[one.name] += (one.interval.low <= TRUTH[one.name] <= one.interval.high) / runs
            sums[one.name] += one.raw / runs
    return hits, sums


@pytest.mark.calibration
def test_complete_layouts_recover_the_components_and_intervals_cover() -> None:
    hits, means = coverage(400, 0.0)
    for name, share in hits.items():
        assert 0.915 <= share <= 0.985, name  # 400 runs: standard error 0.011
    for name, mean in means.items():
        assert mean == pytest.approx(TRUTH[name], rel=0.12), name


@pytest.mark.calibration
@pytest.mark.slow
def test_layouts_with_gaps_recover_the_components_and_intervals_cover() -> None:
    hits, means = coverage(120, 0.2, layouts=40)
    for name, share in hits.items():
        assert share >= 0.88, name  # 120 runs: standard error 0.02
    for name, mean in means.items():
        assert mean == pytest.approx(TRUTH[name], rel=0.25), name


@pytest.mark.calibration
@pytest.mark.slow
def test_nominal_degrees_of_freedom_would_not_cover_where_there_are_gaps() -> None:
    hits, _ = coverage(300, 0.2, nominal=True)
    assert hits["word:model"] < 0.9  # the planted fault is found


def test_leaving_an_interaction_out_would_bias_the_rest() -> None:
    """A layout averaged over pairs first, as if word:pair were not there, gives the word what belongs to the pairs."""
    random = np.random.default_rng(3)
    words = [variance_components(tensor(drawn(random, (8, 5, 60)).mean(axis=0).T[None, None]))["word"].raw
             for _ in range(60)]  # fmt: skip
    assert np.mean(words) == pytest.approx(1.0 + 0.6 / 8, rel=0.06)
    assert np.mean(words) > 1.02


def test_measures_as_a_facet_are_compared_in_their_own_standard_deviations() -> None:
    random = np.random.default_rng(4)
    values = random.normal(0.3, 1, (3, 4, 20, 5)) + random.normal(size=(1, 1, 20, 1))
    scale = np.array([1.0, 0.02, 700.0])[:, None, None, None]
    plain, scaled = variance_components(tensor(values)), variance_components(tensor(values * scale))
    assert by_name(scaled) == pytest.approx(by_name(plain), rel=1e-3, abs=1e-6)
    assert plain.standardized
    assert plain.measure is None
    assert len(plain.components) == 15
    raw = variance_components(tensor(values * scale), standardize=False)
    assert raw["measure:word"].variance > 100  # without it the third measure drowns the rest
    spread = values.reshape(3, -1).std(axis=1)
    by_hand = effect_squares(
        (values / spread[:, None, None, None]).transpose(0, 1, 3, 2), None, shift=0.0, scale=np.ones(1)
    )
    expected = dict(zip(by_hand.subsets, by_hand.components().tolist(), strict=True))
    assert plain["word"].raw == pytest.approx(expected[3,], rel=1e-5)
    assert plain["word:measure"].raw == pytest.approx(expected[0, 3], abs=1e-6)


def test_threads_change_no_bit_of_components_over_measures() -> None:
    """Also of what comes before them: the standard deviation that each measure's scores are divided by."""
    from threadpoolctl import threadpool_limits

    scores = tensor(np.random.default_rng(8).standard_normal((2, 20, 4_000, 2)))
    found = []
    for threads in (1, 4):
        with threadpool_limits(threads, "blas"):
            found.append(variance_components(scores, draws=10).to_dict())
    assert found[0] == found[1]


def test_one_measure_is_never_divided_and_can_be_picked() -> None:
    values = np.random.default_rng(5).normal(size=(2, 4, 20, 5)) * np.array([1.0, 10.0])[:, None, None, None]
    found = variance_components(tensor(values), measure="measure1")
    alone = variance_components(tensor(values[1:]))
    assert by_name(found) == by_name(alone)
    assert not found.standardized
    assert (found.measure, alone.measure) == ("measure1", "measure0")
    assert found["word:pair:model"].variance == pytest.approx(100, rel=0.2)


def test_a_store_gives_what_the_tensor_gives(tmp_path: Path) -> None:
    scores = tensor(np.random.default_rng(6).normal(size=(2, 3, 10, 4)))
    labels: dict[str, Any] = {"measures": scores.measures, "pairs": scores.pairs, "words": scores.words}
    store = ScoreStore.create(tmp_path / "scores", **labels, provenance={})
    for place, model in enumerate(scores.models):
        none = np.zeros(10, np.uint8), np.zeros((2, 3), np.uint8)
        store.append(model, ModelScores(np.ascontiguousarray(scores.values[..., place]), *none), {})
    for measure in (None, "measure1"):
        found = [variance_components(one, measure=measure) for one in (scores, store)]
        assert by_name(found[0]) == by_name(found[1])


def test_scores_far_from_zero_keep_their_digits() -> None:
    values = np.random.default_rng(8).normal(size=(6, 5, 40))
    near, far = (effect_squares(values + shift, None, shift=shift, scale=np.ones(1)) for shift in (0.0, 1e6))
    assert far.components() == pytest.approx(near.components(), rel=1e-6, abs=1e-9)
    assert far.mean == pytest.approx(near.mean + 1e6)


def test_estimates_below_zero_are_shown_as_zero_and_kept() -> None:
    found = variance_components(tensor(np.random.default_rng(1).normal(size=(1, 4, 10, 5))))
    below = [one for one in found.components if one.raw < 0]
    assert below
    assert all(one.variance == 0 and one.share == 0 for one in below)
    assert any(note.startswith("estimated below 0") and below[0].name in note for note in found.warnings)
    assert sum(one.share for one in found.components) == pytest.approx(1)


def test_levels_without_any_score_are_left_out_and_counted() -> None:
    values = np.random.default_rng(2).normal(size=(1, 4, 10, 5))
    gaps = np.zeros(values.shape, bool)
    gaps[:, 2], gaps[:, :, 7] = True, True
    found = variance_components(tensor(values, gaps))
    kept = variance_components(tensor(np.delete(np.delete(values, 2, axis=1), 7, axis=2)))
    assert by_name(found) == pytest.approx(by_name(kept), rel=1e-12)
    assert found.method == "anova"
    assert found.warnings[:2] == ("1 pair without any score left out", "1 word without any score left out")


def bad(values: Sequence[int], fill: float | None = None) -> ScoreTensor:
    return tensor(np.random.default_rng(0).normal(size=tuple(values)) if fill is None else np.full(tuple(values), fill))


@pytest.mark.parametrize(
    ("scores", "settings", "sentence"),
    [
        (bad((1, 1, 10, 1)), {}, "at least two facets"),
        (bad((1, 3, 10, 4), 2.0), {}, "no variance to split"),
        (tensor(np.zeros((1, 3, 10, 4)), np.ones((1, 3, 10, 4))), {}, "No score is defined"),
        (bad((1, 3, 10, 4)), {"method": "ml"}, "'method' parameter"),
        (bad((1, 3, 10, 4)), {"level": 0}, "between 0 and 1"),
        (bad((1, 3, 10, 4)), {"measure": "nbm"}, "no measure 'nbm'"),
        (bad((1, 10, 500, 10)), {"method": "reml"}, "use method='anova'"),
    ],
)
def test_bad_input_gets_one_sentence(scores: ScoreTensor, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        variance_components(scores, **settings)


def test_words_that_never_meet_cannot_be_told_from_models() -> None:
    gaps = np.ones((1, 3, 8, 4), bool)
    for model in range(4):
        gaps[:, :, 2 * model : 2 * model + 2, model] = False
    with pytest.raises(ParameterError, match="do not overlap"):
        variance_components(tensor(np.random.default_rng(0).normal(size=gaps.shape), gaps))


def test_results_are_ready_for_json_tables_and_notebooks() -> None:
    found = variance_components(brennan_3())
    about = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert about["design"] == {"word": 10, "pair": 4, "model": 2}
    assert about["components"][0]["interval"]["method"] == "generalized pivots"
    assert found.to_frame()["share"].sum() == pytest.approx(1)
    assert "model has 2 levels" in found._repr_html_()
    assert found["pair:word"] is found["word:pair"]
    with pytest.raises(ParameterError, match="no component 'item'"):
        found["item"]
    again = variance_components(brennan_3())
    assert again.to_dict() == found.to_dict()
    assert variance_components(brennan_3(), random_state=1).to_dict() != found.to_dict()
