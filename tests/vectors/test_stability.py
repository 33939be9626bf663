"""`stability`: slow loops over pairs with SciPy's Procrustes, planted noise, and a simulation of its intervals."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import norm
from scipy.stats import t as student

from biasgauge.errors import ParameterError
from biasgauge.stats import leave_one_out
from biasgauge.vectors import ROWS, Embedding, load, save, similarity_names, stability, stability_by_pair
from biasgauge.vectors.benchmarks import find_similarity
from biasgauge.vectors.replicate_stability import REASONS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SEEDS = range(3)


def turned(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    matrix: NDArray[np.float64] = np.linalg.qr(random.normal(size=(size, size)))[0]
    return matrix


def replicates(
    random: np.random.Generator,
    count: int = 4,
    dtype: Any = np.float32,  # noqa: ANN401 - whatever NumPy takes
    *,
    lose: int = 0,
    noise: float = 0.4,
    size: int = 150,
) -> list[Embedding]:
    """Noisy rotated views of the same words; each model loses some words and shuffles the rest."""
    truth = random.normal(size=(size, 10)) * np.geomspace(2, 0.2, 10) + 0.5 * random.normal(size=10)
    models = []
    for number in range(count):
        rows = random.permutation(size)[: size - lose] if lose else np.arange(size)
        vectors = (truth + noise * random.normal(size=truth.shape)) @ turned(random, 10)
        models.append(Embedding(tuple(f"w{row}" for row in rows), vectors[rows].astype(dtype), name=f"m{number}"))
    return models


def slow_cosines(a: Embedding, b: Embedding, *, center: bool = False, unit: bool = False) -> dict[str, float]:
    """One pair, by the definition: SciPy's Procrustes on the words of both, then a cosine for each word."""
    words = sorted(set(a.words) & set(b.words))
    left, right = (np.array([model[word] for word in words]).astype(np.float64) for model in (a, b))
    if unit:
        left, right = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (left, right))
    if center:
        left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    moved = left @ orthogonal_procrustes(left, right)[0]
    return {
        word: float(x @ y / np.sqrt((x @ x) * (y @ y)))
        for word, x, y in zip(words, moved, right, strict=True)
        if x.any() and y.any()
    }


def slow_stability(models: list[Embedding], **settings: bool) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for a, b in combinations(models, 2):
        for word, cosine in slow_cosines(a, b, **settings).items():
            found.setdefault(word, []).append(cosine)
    return {word: float(np.mean(cosines)) for word, cosines in found.items()}


@pytest.fixture(params=SEEDS)
def random(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"unit": True}, {"center": True, "unit": True}])
@pytest.mark.parametrize(("dtype", "lose"), [("float16", 0), ("float32", 30), ("float64", 30)])
def test_equal_to_slow_loops(random: np.random.Generator, settings: dict[str, bool], dtype: str, lose: int) -> None:
    models = replicates(random, dtype=dtype, lose=lose)
    expected = slow_stability(models, **settings)
    found = stability(models, **settings)  # type: ignore[arg-type]
    assert set(found.words) == {word for model in models for word in model.words}
    assert {word for word, value in zip(found.words, found.values, strict=True) if not np.isnan(value)} == set(expected)
    for word, value in expected.items():
        assert found[word].value == pytest.approx(value, abs=1e-6), word


def test_mapped_models_give_the_same(random: np.random.Generator, tmp_path: Path) -> None:
    models = replicates(random, dtype=np.float16)
    mapped = [load(save(one, tmp_path / f"{one.name}.safetensors")) for one in models]
    np.testing.assert_array_equal(stability(mapped).values, stability(models).values)


def test_rotated_copies_are_perfectly_stable(random: np.random.Generator) -> None:
    found = stability(replicates(random, noise=0))
    np.testing.assert_allclose(found.values, 1, atol=1e-6)
    assert found.mean.value == pytest.approx(1, abs=1e-6)
    assert np.isnan(found.low).all()


def test_rotating_a_model_changes_nothing(random: np.random.Generator) -> None:
    models = replicates(random, dtype=np.float64)
    other = [
        Embedding(one.words, one.vectors @ turned(random, 10), name=one.name) if number % 2 else one
        for number, one in enumerate(models)
    ]
    np.testing.assert_allclose(stability(other).values, stability(models).values, atol=1e-9)


def test_pairs_have_no_order(random: np.random.Generator) -> None:
    models = replicates(random, dtype=np.float64, lose=20)
    there, back = stability(models), stability(models[::-1])
    for word in there.words:
        assert back[word].value == pytest.approx(there[word].value, abs=1e-9)
        assert back[word].low == pytest.approx(there[word].low, abs=1e-9)


def test_planted_noise_is_found(random: np.random.Generator) -> None:
    models = replicates(random, count=12, noise=0.1)
    for one in models:
        vectors = np.array(one.vectors)
        vectors[42] = random.normal(size=10)
        object.__setattr__(one, "vectors", vectors)
    found = stability(models)
    assert found.words[int(np.argmin(found.values))] == "w42"
    assert found["w42"].high is not None
    assert found["w42"].high < found.mean.value  # type: ignore[operator]


def test_interval_is_the_jackknife_over_models(random: np.random.Generator) -> None:
    """Leave out each model in earnest: run everything again without it."""
    models = replicates(random, count=5, dtype=np.float64)
    found = stability(models, level=0.9)
    without = np.array([stability(models[:left] + models[left + 1 :]).values for left in range(5)])
    error = np.sqrt(4 / 5 * np.square(without - without.mean(axis=0)).sum(axis=0))
    margin = student.ppf(0.95, 4) * error
    np.testing.assert_allclose(found.low, np.maximum(found.values - margin, -1), atol=1e-9)
    np.testing.assert_allclose(found.high, np.minimum(found.values + margin, 1), atol=1e-9)
    means = without.mean(axis=1)
    overall = student.ppf(0.95, 4) * np.sqrt(4 / 5 * np.square(means - means.mean()).sum())
    assert found.mean.value == pytest.approx(found.values.mean(), abs=1e-12)
    assert found.mean.low == pytest.approx(found.values.mean() - overall, abs=1e-9)
    assert (found.mean.method, found.mean.over, found.mean.level) == (
        "jackknife-t",
        "models",
        0.9,
    )


@pytest.mark.calibration
@pytest.mark.parametrize("models", [4, 8, 16])
def test_intervals_hold_the_truth_as_often_as_they_say(models: int) -> None:
    """Models are draws around a direction; pairs taken for independent would be right far too seldom."""
    random = np.random.default_rng(models)

    def draws(count: int, repeats: int) -> NDArray[np.float64]:
        vectors: NDArray[np.float64] = np.eye(20)[0] + 0.2 * random.normal(size=(repeats, count, 20))
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        return vectors

    one, other = draws(2, 200_000).transpose(1, 0, 2)
    truth = np.einsum("ij,ij->i", one, other).mean()
    units = draws(models, 4_000)
    cosines = units @ units.transpose(0, 2, 1)
    sums = cosines.sum(axis=2).T - 1
    pairs = models * (models - 1) / 2
    total = sums.sum(axis=0) / 2
    margin = leave_one_out(total, np.full(4_000, pairs), sums, np.full(sums.shape, models - 1.0)).margins(0.95)
    assert 0.935 < np.mean(np.abs(total / pairs - truth) <= margin) < 0.985
    spread = cosines[:, *np.triu_indices(models, 1)].std(axis=1, ddof=1) / np.sqrt(pairs)
    assert np.mean(np.abs(total / pairs - truth) <= norm.ppf(0.975) * spread) < 0.9


def test_pairs_are_reported(random: np.random.Generator) -> None:
    models = replicates(random, count=3, lose=30)
    found = stability(models)
    columns = list(stability_by_pair(models))
    assert [(one.first, one.second) for one in found.pairs] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    for one, column, (a, b) in zip(found.pairs, columns, combinations(models, 2), strict=True):
        expected = slow_cosines(a, b)
        assert (one.shared, one.n, one.rank) == (len(expected), len(expected), 10)
        values = np.array(list(expected.values()))
        assert one.value == pytest.approx(values.mean(), abs=1e-6)
        assert one.low == pytest.approx(values.mean() - 1.959964 * values.std(ddof=1) / len(values) ** 0.5)
        assert one.method == "normal"
        got = {word: value for word, value in zip(found.words, column.cosines, strict=True) if not np.isnan(value)}
        assert got == pytest.approx(expected, abs=1e-6)
        assert column.mean == one
    table = found.pairs_to_frame()
    assert list(table["mean"]) == [one.value for one in found.pairs]


def test_words_are_reported_but_do_not_decide(random: np.random.Generator) -> None:
    models = replicates(random, lose=20)
    whole, some = stability(models), stability(models, words=["w7", "nowhere", "w3", "w7"])
    assert some.words == ("w7", "nowhere", "w3")
    for word in ("w7", "w3"):
        assert some[word].value == whole[word].value
    assert some["nowhere"].value is None
    assert some["nowhere"].reason == "in no model"
    with pytest.raises(KeyError, match="'w9' was not asked for"):
        some["w9"]


@pytest.mark.parametrize("center", [False, True])
def test_other_words_beside_a_word_do_not_matter(center: bool) -> None:  # noqa: FBT001 - a case
    random = np.random.default_rng(0)
    truth = random.normal(size=(2_500, 30))
    words = tuple(f"w{row}" for row in range(2_500))
    models = [
        Embedding(words, ((truth + random.normal(size=truth.shape)) @ turned(random, 30)).astype(np.float32), name=name)
        for name in "ab"
    ]
    whole = stability(models, center=center).values
    for rows in ([0], [1_023, 1_024], [2_499, 7], random.permutation(2_500)[:700].tolist()):
        some = stability(models, words=[words[row] for row in rows], center=center)
        np.testing.assert_array_equal(some.values, whole[rows])


def test_undefined_has_a_reason() -> None:
    random = np.random.default_rng(0)
    models = []
    for number in range(3):
        vectors = random.normal(size=(40, 4))
        vectors[0] = 0
        vectors[1] = vectors[1] if number else 0
        words = [f"w{row}" for row in range(40)]
        words[2] = f"alone{number}"
        words[3] = words[3] if number else "other"
        models.append(Embedding(tuple(words), vectors, name=f"m{number}"))
    found = stability(models)
    assert found["w0"].value is None
    assert found["w0"].reason == REASONS[3]
    assert found["alone1"].reason == REASONS[2]
    for word in ("w1", "w3"):
        assert found[word].value is not None
        assert (found[word].models, found[word].pairs) == (2, 1)
        assert found[word].low is None
        assert found[word].reason == "fewer than three models have the word with a direction"
    assert found["w5"].reason is None
    assert np.array_equal(np.isnan(found.values), found.undefined > 0)
    assert found.to_dict()["undefined"] == {REASONS[2]: 4, REASONS[3]: 1}
    frame = found.to_frame().set_index("word")
    assert frame.loc["w0", "undefined"] == REASONS[3]
    assert frame.loc["w5", "undefined"] == ""


def test_an_interval_without_width_is_undefined() -> None:
    """Three copies tell nothing about a fourth model."""
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    found = stability([Embedding(tuple(f"w{row}" for row in range(30)), vectors, name=name) for name in "abc"])
    assert found["w1"].value == pytest.approx(1)
    assert found["w1"].low is None
    assert found["w1"].reason == found.mean.reason == "leaving out any model gives the same value"


def test_two_models_have_no_interval(random: np.random.Generator) -> None:
    found = stability(replicates(random, count=2))
    assert found.mean.value is not None
    assert (found.mean.low, found.mean.reason) == (None, "there are fewer than three models")
    assert json.loads(json.dumps(found.to_dict()))["interval"]["low"] is None
    assert "mean 0." in repr(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths_of_all_sizes(random: np.random.Generator, dtype: str) -> None:
    """Squares of these lengths are beyond the numbers' range; cosines are not.

    The longest vectors alone decide the rotation: there are enough of them to determine it, whatever library finds it.
    """
    largest = 30 if dtype == "float32" else 150
    models = []
    for model in replicates(random, count=2, dtype=np.float64):
        powers = random.integers(-largest, largest, (150, 1))
        powers[:60] = largest
        models.append(Embedding(model.words, (model.vectors * 10.0**powers).astype(dtype), model.name))
    a, b = (one.vectors.astype(np.float64) for one in models)
    rotation, _ = orthogonal_procrustes(a, b)
    a, b = (one / np.abs(one).max(axis=1, keepdims=True) for one in (a, b))
    a, b = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (a, b))
    found = stability(models)
    np.testing.assert_allclose(found.values, np.einsum("ij,ij->i", a @ rotation, b), atol=1e-5)


def test_threads_do_not_matter(random: np.random.Generator) -> None:
    models = replicates(random, count=5, lose=20)
    whole = stability(models, n_jobs=1)
    several = stability(models, n_jobs=3)
    np.testing.assert_array_equal(several.values, whole.values)
    np.testing.assert_array_equal(several.low, whole.low)


def test_several_blocks_are_one_model(random: np.random.Generator) -> None:
    a, b = replicates(random, count=2, lose=20, size=2 * ROWS + 500)
    found = stability([a, b])
    expected = slow_cosines(a, b)
    values = {word: value for word, value in zip(found.words, found.values, strict=True) if word in expected}
    assert values == pytest.approx(expected, abs=1e-6)


def test_too_few_words_are_noted() -> None:
    random = np.random.default_rng(0)
    models = [Embedding(("a", "b", "c"), random.normal(size=(3, 5)), name=name) for name in "xy"]
    assert "a rotation then fits almost anything" in stability(models).notices[0]
    assert "fits almost anything" in stability(models)._repr_html_()
    assert stability(replicates(random)).notices == ()


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    stability(replicates(np.random.default_rng(0)), progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 6) for done in range(1, 7)]


def test_what_cannot_be_compared_is_refused() -> None:
    one = Embedding(("a", "b"), np.eye(2), name="one")
    with pytest.raises(ParameterError, match="models"):
        stability([one])
    with pytest.raises(ParameterError, match="share 0 words"):
        stability([one, Embedding(("c", "d"), np.eye(2), name="other")])
    with pytest.raises(ParameterError, match="one number of dimensions"):
        stability([one, Embedding(("a", "b"), np.eye(3)[:2], name="other")])
    with pytest.raises(ParameterError, match="'level'"):
        stability([one, Embedding(("a", "b"), np.eye(2), name="other")], level=95)
    with pytest.raises(ParameterError, match="'n_jobs'"):
        stability([one, Embedding(("a", "b"), np.eye(2), name="other")], n_jobs=0)


def test_the_page_lists_the_benchmarks_that_ship(repository: Path) -> None:
    page = (repository / "docs" / "text" / "replicates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, re.MULTILINE)
    listed = {name: int(count.replace(",", "")) for name, count in rows}
    assert listed == {name: len(find_similarity(name)[1]) for name in similarity_names()}
