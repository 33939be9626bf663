"""What `mitigation_effect` reports, against definitions, other libraries and vectors whose effect is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression

from biasgauge import registry
from biasgauge.analyses.posterior import bayes_change
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, lexicon, parse_lexicon
from biasgauge.mitigation import MitigationEffect, Recovery, count_changed_words, mitigate, mitigation_effect
from biasgauge.mitigation.effect_result import PARTS
from biasgauge.mitigation.recovery import recovery_rows
from biasgauge.scores import association_test, neighbor_overlap, weat
from biasgauge.stats import Resampling, correlations_differ
from biasgauge.vectors import Embedding, Frequencies, load, load_default, load_default_replicates, similarity_benchmark

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from biasgauge.core.estimate import Estimate
    from biasgauge.mitigation.effect_result import EffectRow

TESTS = registry.everything("association_test")

FEW = Resampling(resamples=200)


@pytest.fixture(scope="module")
def default() -> Embedding:
    return load_default()


@pytest.fixture(scope="module")
def debiased(default: Embedding) -> Embedding:
    return mitigate(default, "hard")


@pytest.fixture(scope="module")
def effect(default: Embedding, debiased: Embedding) -> MitigationEffect:
    return mitigation_effect(default, debiased, ["weat7", "religion"], interval=FEW)


def row(effect: MitigationEffect, part: str, name: str, of: str | None = None) -> EffectRow:
    (found,) = [one for one in effect.part(part) if one.name == name and of in {None, one.subject}]
    return found


def number(estimate: Estimate | None) -> float:
    assert estimate is not None
    assert estimate.value is not None
    return estimate.value


def test_every_registered_test_is_there_and_is_what_the_test_says(
    effect: MitigationEffect, default: Embedding, debiased: Embedding
) -> None:
    assert [one.name for one in effect.part("association")] == list(TESTS)
    for kind in TESTS:
        found = row(effect, "association", kind)
        first, second = (association_test(model, "weat7", kind=kind, interval=FEW) for model in (default, debiased))
        assert number(found.before) == pytest.approx(first.value)
        assert number(found.after) == pytest.approx(second.value)
        assert number(found.change) == pytest.approx(second.value - first.value)  # type: ignore[operator]  # defined
        assert found.before == first.interval


def test_contrasts_are_those_of_weat_as_they_are_and_at_equal_word_frequency(
    effect: MitigationEffect, default: Embedding, debiased: Embedding
) -> None:
    before, after = (weat(model, "weat7", interval=None).contrast for model in (default, debiased))
    plain, equal = (row(effect, "contrast", name, "weat7") for name in ("as it is", "at equal word frequency"))
    assert number(plain.before) == pytest.approx(before.value)
    assert number(plain.after) == pytest.approx(after.value)
    assert number(equal.before) == pytest.approx(before.adjusted.value)
    assert number(equal.after) == pytest.approx(after.adjusted.value)
    for found in (plain, equal):
        assert number(found.change) == pytest.approx(number(found.after) - number(found.before))
        assert found.before is not None
        assert found.before.low is not None
    (sentence,) = [line for line in effect.sentences if line.startswith("Contrast of WEAT 7 at equal word frequency")]
    assert "change" in sentence
    assert {one.subject for one in effect.part("contrast")} == {"weat7", "religion"}


def test_a_change_of_frequency_alone_is_explained_by_it() -> None:
    random, ranks = np.random.default_rng(2), np.arange(1, 3_001)
    words = [f"w{rank}" for rank in ranks]
    sets = {role: [f"{role}{n}" for n in range(10)] for role in "xyab"}
    words[20:820:40], words[510:2_900:120] = [*sets["x"], *sets["a"]], [*sets["y"], *sets["b"]]
    vectors = random.standard_normal((3_000, 30))
    pulled = vectors + np.outer(np.linspace(6, -6, 3_000), np.eye(30)[0])
    models = [Embedding(tuple(words), rows, frequencies=Frequencies(ranks, "ranks")) for rows in (pulled, vectors)]
    test = parse_lexicon({"kind": "test", "name": "own", **{role: {"words": words} for role, words in sets.items()}})
    for after in (
        models[1],
        replace(models[1], frequencies=None),
    ):  # a file without counts: those of the vectors before
        found = mitigation_effect(models[0], after, test, interval=FEW, benchmarks=(), controls=(), recovery=None)
        plain, equal = found.part("contrast")
        assert plain.change is not None
        assert equal.change is not None
        assert plain.change.excludes()
        assert not equal.change.excludes()
        assert any("is explained by word frequency" in sentence for sentence in found.sentences)


def test_the_interval_of_a_change_draws_the_same_words_on_both_sides(default: Embedding) -> None:
    """Vectors that did not change have a change of exactly 0, where two intervals of their own would overlap widely."""
    same = mitigation_effect(
        default, replace(default, name="copy"), "weat7", interval=FEW, benchmarks=["rg65"], recovery=None
    )
    found = row(same, "association", "weat")
    assert found.change is not None
    assert found.change.value == 0
    assert found.change.reason == "every resample gives the same value"
    assert same.changed == 0
    assert number(row(same, "neighbors", "10 nearest").after) == 1
    assert number(row(same, "moved", "cosine", "all").after) == pytest.approx(1)
    assert number(row(same, "benchmark", "spearman").change) == 0
    assert row(same, "distances", "associated").reason == "no distance changed"
    assert not same.part("recovery")


def test_the_interval_of_a_change_against_a_bootstrap_in_plain_loops(
    effect: MitigationEffect, default: Embedding, debiased: Embedding
) -> None:
    random = np.random.default_rng(0)
    sets = lexicon("weat7").sets

    def size(model: Embedding, chosen: dict[str, NDArray[np.intp]]) -> float:
        units = {}
        for role, places in chosen.items():
            vectors = np.array([model[sets[role][place]] for place in places], np.float64)
            units[role] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = {
            role: (units[role] @ units["a"].T).mean(axis=1) - (units[role] @ units["b"].T).mean(axis=1) for role in "xy"
        }
        spread = np.concatenate([scores["x"], scores["y"]]).std()
        return float((scores["x"].mean() - scores["y"].mean()) / spread)

    changes = []
    for _ in range(600):
        chosen = {role: random.integers(0, len(words), len(words)) for role, words in sets.items()}
        changes.append(size(debiased, chosen) - size(default, chosen))
    percentile = mitigation_effect(
        default, debiased, "weat7", interval=Resampling("percentile"), benchmarks=(), recovery=None
    )
    found = row(percentile, "association", "weat").change
    assert found is not None
    low, high = np.quantile(changes, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.25)
    assert found.high == pytest.approx(high, abs=0.25)
    assert number(row(effect, "association", "weat").change) == pytest.approx(-1.62, abs=0.01)


def test_distances_are_those_of_bayes_change(effect: MitigationEffect, default: Embedding, debiased: Embedding) -> None:
    expected = bayes_change(default, debiased, "religion")
    for one, old in zip(expected.groups, expected.before.groups, strict=True):
        found = row(effect, "distances", one.connection, "religion")
        assert (number(found.change), number(found.before)) == (one.mean, old.mean)
        assert found.change is not None
        assert (found.change.low, found.change.method) == (one.low, "hpdi")


def test_what_else_moved(effect: MitigationEffect, default: Embedding, debiased: Embedding) -> None:
    words = [word for word in lexicon("human").words if word in default]
    cosines = []
    for word in words:
        old, new = (np.asarray(model[word], np.float64) for model in (default, debiased))
        cosines.append(float(old @ new / np.sqrt((old @ old) * (new @ new))))
    found = row(effect, "moved", "cosine", "human")
    assert number(found.after) == pytest.approx(np.mean(cosines))
    assert found.count == len(words)
    for name in ("rg65", "men"):
        one = row(effect, "benchmark", "spearman", name)
        first, second = (similarity_benchmark(model, name) for model in (default, debiased))
        assert (number(one.before), number(one.after)) == (first.spearman.value, second.spearman.value)
    asked = default.words[:: -(-len(default) // 2000)]
    overlap = neighbor_overlap(replace(default, name="a"), replace(debiased, name="b"), words=asked)
    assert number(row(effect, "neighbors", "10 nearest").after) == overlap.mean.value


def test_difference_of_correlations_by_the_published_example() -> None:
    """Zou 2007, overlapping correlations: .396, .179 and .088 between, n = 66."""
    found = correlations_differ(0.396, 0.179, 0.088, 66, 0.95, "pearson")
    assert found.low == pytest.approx(-0.093, abs=5e-4)
    assert found.high == pytest.approx(0.517, abs=5e-4)


@pytest.mark.calibration
def test_difference_of_correlations_covers() -> None:
    random = np.random.default_rng(1)
    covariance = np.array([[1, 0.6, 0.5], [0.6, 1, 0.7], [0.5, 0.7, 1]])
    hits = 0
    for _ in range(400):
        drawn = random.multivariate_normal(np.zeros(3), covariance, 80)
        r = np.atleast_2d(np.corrcoef(drawn.T))
        found = correlations_differ(r[0, 1], r[0, 2], r[1, 2], 80, 0.9, "pearson")
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.1 <= found.high
    assert 0.85 <= hits / 400 <= 0.95
    assert correlations_differ(1.0, 0.5, 0.5, 80, 0.9).reason == "the correlation is perfect"


def leaky(seed: int = 0, words: int = 400) -> Embedding:
    """A planted embedding with clusters besides the direction: each biased word also leans along five other axes.

    Removing the direction of he and she leaves those axes, as Gonen & Goldberg found of real vectors.
    """
    random = np.random.default_rng(seed)
    lean = np.repeat([1.0, -1.0, 0.0], [words // 4, words // 4, words // 2])
    vectors = random.standard_normal((words, 20)) * 0.5
    vectors[:, 0] += 3 * lean  # so that the most biased words by projection are those that lean
    vectors[:, 1:6] += 0.8 * lean[:, None]
    ends = np.array([[2.0] + [0.0] * 19, [-2.0] + [0.0] * 19]) + np.eye(20)[19] * 2
    names = ("he", "she", *(f"w{number}" for number in range(words)))
    return Embedding(names, np.concatenate([ends, vectors]), name="leaky")


CHECKS = Recovery(pairs=[("he", "she")], biased_words=60, neighbors=20, words=[f"w{n}" for n in range(400)])


def test_hard_debiasing_leaves_what_was_planted_besides_the_direction() -> None:
    before = leaky()
    after = mitigate(before, "hard", lexicon=[("he", "she")])
    classifier, clusters, neighbors = recovery_rows(before, after, CHECKS)
    along = np.asarray(after.vectors[2:, 0])
    assert np.abs(along).max() < 1e-9
    for one in (classifier, clusters):
        assert one.after is not None
        assert number(one.after) > 0.9
        assert one.after.low is not None
        assert one.after.low > 0.5
        assert one.chance == 0.5
    assert number(neighbors.after) > 0.5
    vectors = before.vectors.copy()
    vectors[2:, :6] = np.random.default_rng(5).standard_normal((400, 6)) * 0.5
    gone = recovery_rows(before, Embedding(before.words, vectors), CHECKS)
    for one in gone[:2]:
        assert one.after is not None
        assert one.after.low is not None
        assert one.after.low < 0.55
    assert abs(number(gone[2].after)) < 0.3


def test_checks_against_other_libraries() -> None:
    before = leaky(3)
    after = mitigate(before, "hard", lexicon=[("he", "she")])
    classifier, _, neighbors = recovery_rows(before, after, CHECKS)

    def unit(model: Embedding) -> NDArray[np.float64]:
        wide = np.asarray(model.vectors, np.float64)
        scaled: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
        return scaled

    first = unit(before)[0] - unit(before)[1]
    bias = unit(before) @ first / np.linalg.norm(first)
    order = 2 + np.argsort(bias[2:], kind="stable")
    chosen = np.concatenate([order[:60], order[-60:]])
    sides = np.arange(120) >= 60
    random = np.random.default_rng(0)
    learn = np.zeros(120, bool)
    for side in (False, True):
        learn[random.permutation(np.flatnonzero(sides == side))[:30]] = True
    points = unit(after)[chosen]
    model = LogisticRegression(C=10, max_iter=10_000, tol=1e-10).fit(points[learn], sides[learn])
    assert number(classifier.after) == pytest.approx(
        float((model.predict(points[~learn]) == sides[~learn]).mean()), abs=0.017
    )
    similar = unit(after) @ unit(after).T
    np.fill_diagonal(similar, -2)
    shares = [float((bias[np.argsort(-similar[place])[:20]] > 0).mean()) for place in range(2, 402)]
    assert number(neighbors.after) == pytest.approx(pearsonr(bias[2:], shares).statistic, abs=1e-6)
    assert neighbors.count == 400


def test_the_published_finding_holds_on_real_vectors(effect: MitigationEffect) -> None:
    """Gonen & Goldberg: after hard debiasing a classifier still reaches .89, clusters .925 (on other vectors)."""
    for name in ("classifier accuracy", "cluster match"):
        found = row(effect, "recovery", name)
        assert number(found.before) > 0.99
        assert found.after is not None
        assert found.after.low is not None
        assert found.after.low > 0.8
        assert found.change is not None
        assert found.change.high is not None
        assert found.change.high < 0


@pytest.mark.shared
def test_a_classifier_does_as_well_as_the_published_one(shared_data: Path) -> None:
    """Gonen & Goldberg, §5: .8888 on hard-debiased GoogleNews, 2,500 words a side (theirs has a radial kernel)."""
    vectors = load(shared_data / "googlenews_subset_union" / "googlenews_union_31927x300.npz")
    found = recovery_rows(vectors, mitigate(vectors), Recovery(biased_words=2500))[0]
    assert number(found.before) > 0.98  # theirs: .9825
    assert number(found.after) == pytest.approx(0.8888, abs=0.02)


def test_reasons_where_there_is_no_number(embedding: Embedding) -> None:
    found = mitigation_effect(
        embedding, mitigate(embedding), ["weat1", "weat7"], interval=FEW, benchmarks=["rg65"], recovery=CHECKS
    )
    lost = row(found, "association", "weat", "weat1")
    assert lost.before is None
    assert "fewer than 80 % of the words found" in str(lost.reason)
    assert "pairs can be compared" in str(row(found, "benchmark", "spearman").reason)
    assert "fewer than 10 of the words" in str(row(found, "recovery", "neighbor correlation").reason)
    assert row(found, "association", "weat", "weat7").change is not None
    other = recovery_rows(embedding, embedding, Recovery(pairs=[("uno", "dos")]))
    assert [one.reason for one in other] == ["No pair of 'given pairs' has both ends in planted."] * 3


def test_words_of_one_side_only_are_left_out_and_said(embedding: Embedding) -> None:
    after = mitigate(embedding)
    shuffled = Embedding(after.words[::-1][5:], after.vectors[::-1][5:], name="after")
    found = mitigation_effect(embedding, shuffled, "weat7", interval=FEW, benchmarks=(), recovery=None)
    assert found.words == len(embedding) - 5
    assert found.warnings == ("5 words are in one of the two only and are left out",)
    whole = mitigation_effect(embedding, after, "weat7", interval=FEW, benchmarks=(), recovery=None)
    assert number(row(found, "association", "weat").after) == pytest.approx(
        number(row(whole, "association", "weat").after)
    )


def test_no_words_to_leave_out_of_the_recovery(embedding: Embedding) -> None:
    checks = Recovery(pairs=[("he", "she")], specific=None, biased_words=60)
    found = mitigation_effect(embedding, embedding, "weat7", interval=FEW, benchmarks=(), recovery=checks)
    assert found.settings["recovery"]["specific"] is None
    assert found.settings["recovery"]["pairs"] == "1 given"


def test_what_cannot_be_compared_is_said(embedding: Embedding) -> None:
    with pytest.raises(ParameterError, match="number of dimensions"):
        mitigation_effect(embedding, Embedding(embedding.words, embedding.vectors[:, :-1]))
    with pytest.raises(ParameterError, match="no word in common"):
        mitigation_effect(embedding, Embedding(("zzz",), embedding.vectors[:1]))
    with pytest.raises(ParameterError, match="is of kind 'pairs'"):
        mitigation_effect(embedding, embedding, "bolukbasi2016")


def test_shapes_for_people_and_machines(effect: MitigationEffect) -> None:
    frame = effect.to_frame()
    assert len(frame) == len(effect.rows)
    assert set(frame.part) == set(PARTS)
    shape: dict[str, Any] = json.loads(json.dumps(effect.to_dict(), allow_nan=False))
    assert len(shape["rows"]) == len(effect.rows)
    assert shape["rows"][0]["before_interval"]["level"] == 0.95
    assert shape["changed"] == effect.changed
    assert effect.sentences[0] == f"{effect.changed:,} of {effect.words:,} words changed."
    said = " ".join(effect.sentences)
    assert "Effect size of WEAT 7: 1.32 → −0.30, change −1.62" in said
    assert "A classifier still tells the side of the most biased words: 1.00 → 0.94, where chance is 0.5." in said
    assert "The neighbors still share a word's old bias: 0.83 → 0.61, where chance is 0." in said
    assert "<li>Effect size of WEAT 7" in effect._repr_html_()
    assert "→" in repr(effect)
    assert MitigationEffect.from_dict(shape).to_dict() == shape


def test_changed_words_counts_rows(embedding: Embedding) -> None:
    vectors = embedding.vectors.copy()
    vectors[[3, 5], [0, 2]] += 1
    assert count_changed_words(embedding, Embedding(embedding.words, vectors)) == 2


def test_spearman_between_sides_is_that_of_scipy(default: Embedding, debiased: Embedding) -> None:
    old, new = (similarity_benchmark(model, "men") for model in (default, debiased))
    human = [pair.score for pair in old.pairs]
    assert old.spearman.value == pytest.approx(spearmanr(human, old.cosines).statistic)
    found = mitigation_effect(default, debiased, "weat7", interval=FEW, benchmarks=["men"], recovery=None)
    between = float(spearmanr(old.cosines, new.cosines).statistic)
    assert old.spearman.value is not None
    assert new.spearman.value is not None
    expected = correlations_differ(new.spearman.value, old.spearman.value, between, len(old.pairs), 0.95)
    change = row(found, "benchmark", "spearman").change
    assert change is not None
    assert (change.value, change.low, change.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert (change.method, change.n) == (expected.method, expected.n)


def test_separately_trained_models_are_told_of(effect: MitigationEffect) -> None:
    assert not effect.warnings
    first, second = load_default_replicates()[:2]
    told = mitigation_effect(first, second, "weat7", interval=FEW, benchmarks=[], recovery=None, controls=())
    assert "trained separately" in told.warnings[0]
    assert "trained separately" in told.summary().warnings[0]


def test_spanish_lists_of_unequal_length_and_counterparts_are_those_of_the_association_test() -> None:
    """Lists that cannot be paired have a reason, and words without their counterpart go, as in `association_test`."""
    names = [name for name in registry.names("lexicon") if registry.get("lexicon", name).language == "es"]
    tests = [entry for entry in map(lexicon, names) if isinstance(entry, AssociationTest)]
    named = next(entry for entry in tests if entry.counterparts and len(entry.x.words) != len(entry.y.words))
    first, second = named.counterparts[0]
    words = [word for word in named.words if word != first]
    random = np.random.default_rng(0)
    before = Embedding(tuple(words), random.standard_normal((len(words), 20)), name="before")
    after = replace(before, vectors=random.standard_normal((len(words), 20)), name="after")
    settings: dict[str, Any] = {"controls": (), "benchmarks": (), "neighbors": 2, "recovery": None, "interval": FEW}
    found = mitigation_effect(before, after, named, **settings)
    expected = [association_test(model, named, kind="weat", interval=None).value for model in (before, after)]
    assert row(found, "association", "weat").sides == pytest.approx(expected)
    for test in registry.everything("association_test").values():
        if test.paired:
            assert "by position" in str(row(found, "association", test.name).reason)
    assert second in before
