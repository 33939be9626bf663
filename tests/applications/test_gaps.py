"""Gaps between groups: against scikit-learn, fairlearn, slow loops and tests that others wrote."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, recall_score

from biasgauge.applications import GapResult, gaps
from biasgauge.applications.confusion import Rate, rate_fraction, rate_from_fraction, rate_values
from biasgauge.errors import ParameterError
from biasgauge.stats import blocks, bootstrap_values, exact_p, left_out_values, shuffled_p

SCRIPT = """
from fairlearn.metrics import MetricFrame, false_positive_rate, true_positive_rate
from sklearn.metrics import accuracy_score, f1_score, precision_score
frame = MetricFrame(
    metrics={"precision": precision_score, "recall": true_positive_rate, "false_positive_rate": false_positive_rate,
             "f1": f1_score, "accuracy": accuracy_score},
    y_true=labels, y_pred=predictions, sensitive_features=groups)
print(frame.by_group.to_dict(), frame.difference(method="between_groups").to_dict())
"""
"""What fairlearn 0.15.0 was asked, on the items of `three_groups`, for the two tables below."""
FAIRLEARN = {
    "precision": {"a": 0.801980198019802, "b": 0.6666666666666666, "c": 0.8433734939759037},
    "recall": {"a": 0.7941176470588235, "b": 0.6464646464646465, "c": 0.9333333333333333},
    "false_positive_rate": {"a": 0.1724137931034483, "b": 0.2689075630252101, "c": 0.14606741573033707},
    "f1": {"a": 0.7980295566502463, "b": 0.6564102564102564, "c": 0.8860759493670886},
    "accuracy": {"a": 0.8119266055045872, "b": 0.6926605504587156, "c": 0.8902439024390244},
}
FAIRLEARN_LARGEST = {
    "precision": 0.17670682730923704,
    "recall": 0.28686868686868683,
    "false_positive_rate": 0.122840147294873,
    "f1": 0.22966569295683215,
    "accuracy": 0.19758335198030885,
}
Items = tuple[Any, Any, Any]


def exact(rate: Rate, a: Any, b: Any) -> float:  # noqa: ANN401 - counts
    """P of a gap, shuffling the items that a rate is about."""
    return exact_p(rate_fraction(rate, a), rate_fraction(rate, b), partial(rate_from_fraction, rate.metric))


def three_groups() -> Items:
    at = np.arange(600)
    groups = np.array(["a", "b", "c"])[(at * 7 + at // 11) % 3]
    labels = ((at * at + at // 5) % 7 < 3).astype(int)
    wrong = (at * 13 + at // 17) % 10 < np.where(groups == "a", 2, np.where(groups == "b", 3, 1))
    return labels, np.where(wrong, 1 - labels, labels), groups


def four_classes(items: int = 300, seed: int = 0) -> Items:
    random = np.random.default_rng(seed)
    labels = random.choice(4, items, p=[0.14, 0.54, 0.27, 0.05])
    predictions = np.where(random.random(items) < 0.7, labels, random.integers(0, 4, items))
    return labels, predictions, random.choice(["male", "female"], items)


def test_rates_and_gaps_are_those_of_fairlearn() -> None:
    found = gaps(*three_groups(), resamples=200)
    rates = {(one.metric, one.group): one.value for one in found.rates if one.positive_class in {1, None}}
    for metric, by_group in FAIRLEARN.items():
        assert {group: rates[metric, group] for group in "abc"} == pytest.approx(by_group, abs=1e-15)
        own = [
            one
            for one in found.gaps
            if one.metric == metric and one.positive_class in {1, None} and one.b != "the rest"
        ]
        assert [(one.a, one.b) for one in own] == [("a", "b"), ("a", "c"), ("b", "c")]
        for one in own:
            assert one.value == pytest.approx(by_group[str(one.a)] - by_group[str(one.b)], abs=1e-15)
        assert max(abs(one.value or 0) for one in own) == pytest.approx(FAIRLEARN_LARGEST[metric], abs=1e-15)


def test_fairlearn_itself_where_it_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fairlearn.metrics")
    labels, predictions, groups = three_groups()
    exec(SCRIPT, {"labels": labels, "predictions": predictions, "groups": groups})  # noqa: S102 - the text above
    assert capsys.readouterr().out.strip() == f"{FAIRLEARN} {FAIRLEARN_LARGEST}"


@pytest.mark.parametrize("positive", [None, 2])
def test_several_classes_are_those_of_scikit_learn(positive: int | None) -> None:
    labels, predictions, groups = four_classes()
    found = gaps(labels, predictions, groups, positive=positive, order=("male", "female"), resamples=50)
    scores = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
    male, female = groups == "male", groups == "female"
    for metric, score in scores.items():
        for of in (0, 1, 2, 3) if positive is None else (positive,):
            both = [score(labels[who], predictions[who], labels=[of], average=None)[0] for who in (male, female)]
            assert found.gap(metric, of).value == pytest.approx(both[0] - both[1], abs=1e-14)
        both = [score(labels[who], predictions[who], average="weighted") for who in (male, female)]
        assert found.gap(metric, "weighted").value == pytest.approx(both[0] - both[1], abs=1e-14)
    both = [accuracy_score(labels[who], predictions[who]) for who in (male, female)]
    assert found.gap("accuracy").value == pytest.approx(both[0] - both[1], abs=1e-14)
    for of in (0, 1, 2, 3) if positive is None else (positive,):
        rate = []
        for who in (male, female):
            (tn, fp), _ = confusion_matrix(labels[who] == of, predictions[who] == of)
            rate.append(fp / (fp + tn))
        assert found.gap("false_positive_rate", of).value == pytest.approx(rate[0] - rate[1], abs=1e-14)


def test_the_published_recall_is_accuracy() -> None:
    found = gaps(*four_classes(), resamples=100)
    weighted, accuracy = found.gap("recall", "weighted"), found.gap("accuracy")
    assert weighted.value == pytest.approx(accuracy.value, abs=1e-14)
    assert weighted.p_value == accuracy.p_value
    assert weighted.value != pytest.approx(found.gap("recall").value, abs=1e-3)


def test_the_rest_is_all_other_groups_together() -> None:
    labels, predictions, groups = three_groups()
    found = gaps(labels, predictions, groups, resamples=4_000, interval="bca")
    merged = gaps(labels, predictions, np.where(groups == "b", "b", "other"), resamples=4_000, interval="bca")
    for metric in ("precision", "recall", "f1", "accuracy"):
        one, two = found.gap(metric, a="b", b="the rest"), merged.gap(metric)
        assert (one.value, one.p_value, one.n_a, one.n_b) == (two.value, two.p_value, two.n_a, two.n_b)
        assert [one.low, one.high] == pytest.approx([two.low, two.high], abs=0.02)


def test_order_turns_signs_and_leaves_out_groups() -> None:
    items = three_groups()
    forward = gaps(*items, order=("a", "c"), resamples=400)
    backward = gaps(*items, order=("c", "a"), resamples=400)
    assert len(forward.gaps) == 9
    for one, other in zip(forward.gaps, backward.gaps, strict=True):
        assert other.value == pytest.approx(-(one.value or 0), abs=1e-15)
        if (one.p_method or "").startswith("exact"):
            assert other.p_value == pytest.approx(one.p_value, rel=1e-9)
    assert forward.counts == {"a": 218, "c": 164}
    assert forward.warnings == ("218 items of groups that 'order' does not name were left out",)


def test_the_bootstrap_draws_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts drawn have the mean and covariance of items drawn with replacement, and sizes do not change."""
    cells = np.array([[[30, 5], [4, 11]], [[8, 2], [3, 7]]])
    few = partial(blocks, cells=8 * 700)  # several blocks, the last one short
    monkeypatch.setattr("biasgauge.stats.count_tables.blocks", few)
    drawn = bootstrap_values(cells, lambda some: some.astype(float), 4_000, 1)
    assert (drawn.sum(axis=(2, 3)) == [50, 20]).all()
    assert drawn.mean(axis=0) == pytest.approx(cells, abs=0.25)
    share = cells[0].ravel() / 50
    expected = 50 * (np.diag(share) - np.outer(share, share))
    assert np.cov(drawn[:, 0].reshape(4_000, 4).T) == pytest.approx(expected, abs=1.0)
    assert np.abs(np.corrcoef(drawn[:, 0, 1, 1], drawn[:, 1, 1, 1])[0, 1]) < 0.06
    monkeypatch.undo()
    assert (bootstrap_values(cells, lambda some: some.astype(float), 4_000, 1) == drawn).all()


def test_leaving_out_items_one_by_one() -> None:
    labels, predictions, groups = (one[:60] for one in three_groups())
    cells = np.array([[confusion_matrix(labels[groups == g], predictions[groups == g])] for g in "ab"])[:, 0]

    def recall_gap(some: Any) -> Any:  # noqa: ANN401 - arrays
        recall = some[..., 1, 1] / some[..., 1, :].sum(-1)
        return recall[..., 0] - recall[..., 1]

    for place, own in enumerate("ab"):
        slow = []
        for item in np.flatnonzero(groups == own):
            kept = np.arange(60) != item
            both = [recall_score(labels[kept & (groups == g)], predictions[kept & (groups == g)]) for g in "ab"]
            slow.append(both[0] - both[1])
        (found,) = left_out_values(cells, recall_gap, [place])
        assert sorted(found) == pytest.approx(sorted(slow), abs=1e-14)


def test_exact_p_is_fishers_where_groups_are_of_one_size() -> None:
    """With equal trials, gaps of equal size are tables of equal chance: the test is Fisher's."""
    a, b = np.array([[9, 1], [6, 14]]), np.array([[7, 3], [12, 8]])
    expected = fisher_exact(np.array([[14, 6], [8, 12]])).pvalue
    assert exact(Rate("recall", 1, 1), a, b) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("metric", ["precision", "recall", "false_positive_rate", "f1"])
def test_exact_p_is_the_share_of_slow_shuffles(metric: str) -> None:
    labels, predictions, groups = (one[:90] for one in three_groups())
    kept = groups != "c"
    labels, predictions, groups = labels[kept], predictions[kept], groups[kept]
    about = {
        "precision": predictions == 1,
        "recall": labels == 1,
        "false_positive_rate": labels == 0,
        "f1": (labels == 1) | (predictions == 1),
    }[metric]

    def rate(who: Any) -> float:  # noqa: ANN401 - a mask
        if metric == "f1":
            hits = (labels[who] & predictions[who]).sum()
            return float(2 * hits / (labels[who].sum() + predictions[who].sum()))
        right = predictions == 1 if metric != "precision" else labels == 1
        return float(right[who & about].mean()) if (who & about).any() else np.nan

    found = gaps(labels, predictions, groups, resamples=10).gap(metric)
    random = np.random.default_rng(0)
    extreme = 0
    for _ in range(1_500):
        shuffled = groups.copy()
        shuffled[about] = random.permutation(groups[about])
        extreme += abs(rate(shuffled == "a") - rate(shuffled == "b")) >= abs(found.value or 0) - 1e-12
    assert found.p_value == pytest.approx(extreme / 1_500, abs=0.04)
    assert found.p_method is not None
    assert found.p_method.startswith("exact, groups shuffled among items")


@pytest.mark.parametrize("metric", ["precision", "f1"])
def test_shuffling_everyone_is_a_slow_shuffle(metric: str) -> None:
    labels, predictions, groups = (one[:80] for one in four_classes(seed=3))
    score = {"precision": precision_score, "f1": f1_score}[metric]

    def weighted(y: Any, p: Any) -> float:  # noqa: ANN401 - arrays
        total = 0.0
        for of in range(4):
            labeled, predicted, both = (y == of).sum(), (p == of).sum(), ((y == of) & (p == of)).sum()
            below = predicted if metric == "precision" else (labeled + predicted) / 2
            total += labeled * both / below if below else 0.0
        return float(total / len(y))

    def gap(who: Any) -> float:  # noqa: ANN401 - groups
        first = who == "female"
        return weighted(labels[first], predictions[first]) - weighted(labels[~first], predictions[~first])

    found = gaps(labels, predictions, groups, as_published=True, resamples=4_000).gap(metric, "weighted")
    both = [
        score(labels[groups == g], predictions[groups == g], average="weighted", zero_division=0)
        for g in ("female", "male")
    ]
    assert found.value == pytest.approx(both[0] - both[1], abs=1e-14)
    random = np.random.default_rng(1)
    slow = np.mean([abs(gap(random.permutation(groups))) >= abs(gap(groups)) - 1e-12 for _ in range(1_000)])
    assert found.p_value == pytest.approx(slow, abs=0.05)
    assert found.p_method == "monte-carlo, groups shuffled among all items"


def test_shuffles_without_a_gap_are_left_out() -> None:
    """One positive in each group: half of all shuffles leave a group without any."""
    a, b = np.array([[3, 0], [0, 1]]), np.array([[3, 0], [1, 0]])
    recall = Rate("recall", 1, 1)
    assert shuffled_p(a, b, partial(rate_values, recall, zeros=False), 2_000, [0]) == 1.0
    assert exact(recall, a, b) == pytest.approx(1.0)


def test_undefined_rates_say_why() -> None:
    labels = [1, 1, 0, 0, 0, 0, 0, 0]
    predictions = [1, 0, 0, 1, 0, 0, 0, 0]
    found = gaps(labels, predictions, list("aaaabbbb"), resamples=20)
    recall, precision, fpr = (found.gap(metric) for metric in ("recall", "precision", "false_positive_rate"))
    assert (recall.value, recall.low, recall.p_value) == (None, None, None)
    assert recall.reason == "nothing in group 'b' is labeled 1"
    assert precision.reason == "nothing in group 'b' is predicted 1"
    assert found.gap("f1").reason == "nothing in group 'b' is labeled or predicted 1"
    assert fpr.value == 0.5
    assert [one.reason for one in found.rates if one.metric == "recall" and one.positive_class == 1] == [
        None,
        recall.reason,
    ]
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert "nothing in group" in text
    one_class = gaps([1] * 6, [1, 1, 0, 1, 1, 1], list("aaabbb"), resamples=20)
    assert one_class.gap("false_positive_rate").reason == "everything in group 'a' is labeled 1"
    assert one_class.gap("recall").value == pytest.approx(-1 / 3)


def test_weighted_means_of_a_class_that_is_never_predicted() -> None:
    labels, predictions = [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1]
    groups = list("aaaabbbb")
    strict = gaps(labels, predictions, groups, resamples=20).gap("precision", "weighted")
    assert strict.value is None
    assert strict.reason == "nothing in group 'a' is predicted 1, and the mean counts that class"
    published = gaps(labels, predictions, groups, resamples=20, as_published=True).gap("precision", "weighted")
    both = [
        precision_score(labels[s], predictions[s], average="weighted", zero_division=0) for s in (slice(4), slice(4, 8))
    ]
    assert published.value == pytest.approx(both[0] - both[1])


def test_an_interval_that_cannot_be_is_undefined() -> None:
    perfect = gaps([0, 1] * 20, [0, 1] * 20, list("aabb") * 10, resamples=100).gap("recall")
    assert perfect.value == 0
    assert (perfect.low, perfect.reason) == (None, "every resample gives the same value")
    rare = gaps([1] + [0] * 19 + [1] * 20, [1] + [0] * 19 + [1, 0] * 10, ["a"] * 20 + ["b"] * 20, resamples=500)
    around = rare.gap("recall")
    assert around.reason is not None
    assert "of 500 resamples have no value" in around.reason
    assert rare.warnings == ("group 'a' has only 20 items", "group 'b' has only 20 items")


def test_types_of_input_do_not_matter() -> None:
    labels, predictions, groups = three_groups()
    text = np.array(["no", "hate"])
    lists = gaps(labels.tolist(), predictions.tolist(), groups.tolist(), resamples=50)
    frame = pd.DataFrame({"y": text[labels], "p": text[predictions], "g": groups})
    named = gaps(frame["y"], frame["p"], frame["g"], positive="hate", resamples=50)
    flags = gaps(labels == 1, predictions == 1, groups, positive=True, resamples=50)
    for other in (named, flags):
        for one, two in zip(lists.gaps[:6], other.gaps[:6], strict=True):
            assert one.value == pytest.approx(two.value)
            assert one.p_value == pytest.approx(two.p_value)
    assert lists.to_frame().equals(gaps(labels, predictions, groups, resamples=50).to_frame())


def test_classes_may_have_any_name() -> None:
    labels, predictions, groups = three_groups()
    names = np.array(["positive", "negative"])
    found = gaps(names[labels], names[predictions], groups, positive=None, order=("a", "b"), resamples=20)
    plain = gaps(labels, predictions, groups, positive=None, order=("a", "b"), resamples=20)
    assert found.gap("recall", "positive").value == plain.gap("recall", 0).value
    assert found.gap("recall").positive_class == "negative"


def test_holm_within_a_metric() -> None:
    found = gaps(*three_groups(), resamples=50)
    pairs = [one for one in found.gaps if one.metric == "recall" and one.positive_class == 1 and one.b != "the rest"]
    raw = sorted(one.p_value or 0 for one in pairs)
    corrected = sorted(one.p_holm or 0 for one in pairs)
    expected = [min(1, 3 * raw[0]), max(3 * raw[0], 2 * raw[1])]
    assert corrected[:2] == pytest.approx([min(1, one) for one in expected])
    assert corrected[2] == pytest.approx(max(min(1, expected[1]), raw[2]))


def test_tables_and_html() -> None:
    found = gaps(*three_groups(), resamples=50)
    frame = found.to_frame()
    assert list(frame["value"]) == [one.value for one in found.gaps]
    first = found.gaps[0]
    assert (frame["low"][0], frame["method"][0]) == (first.low, "percentile")
    assert len(found.rates_frame()) == 3 * 9
    assert "false positive rate" in found._repr_html_()
    assert GapResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    with pytest.raises(ParameterError, match="metrics are accuracy, f1"):
        found.gap("selection")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"labels": [0, 1]}, "Got lists of 2, 4, 4"),
        ({"labels": [], "predictions": [], "groups": []}, "one or more items"),
        ({"labels": [0, None, 1, 1]}, "Item 2 has None"),
        ({"predictions": [0.0, 1.0, float("nan"), 0.0]}, "The predictions of gaps must not be missing. Item 3"),
        ({"predictions": ["0", "1", "0", "1"]}, "all text or all numbers"),
        ({"labels": [(0,), (1,), [1], 0]}, "must be text or numbers"),
        ({"groups": ["a"] * 4}, "between two groups at least. Got 'a'"),
        ({"positive": "hate"}, r"\(0, 1\), or None for each of them. Got 'hate'"),
        ({"order": ("a", "z")}, "must name groups among 'a', 'b', each once"),
        ({"order": ("a", "a")}, "each once"),
        ({"order": ("a",)}, "Got 'a'"),
        ({"shuffle": "some"}, "'shuffle' parameter must be one of within, all"),
        ({"interval": "wald"}, "bca or percentile"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"resamples": 0}, "at least 1"),
    ],
)
def test_bad_input_gets_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    asked: dict[str, Any] = {"labels": [0, 1, 1, 0], "predictions": [0, 1, 0, 1], "groups": list("aabb")}
    with pytest.raises(ParameterError, match=sentence):
        gaps(**{**asked, **changed})
