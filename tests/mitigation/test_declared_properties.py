"""What every registered method promises: a new file in `methods/` is held to it unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.mitigation import Mitigation, mitigate, mitigation_method
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SMALL: dict[str, dict[str, Any]] = {"ran": {"epochs": 15, "neighbors": 10}, "double_hard": {"biased_words": 40}}
"""Settings that keep a test short; the method is the same."""

every_method = pytest.mark.parametrize("name", registry.names("mitigation"))


def method(name: str, **settings: Any) -> Mitigation:  # noqa: ANN401 - settings of the method
    return mitigation_method(name, **{**SMALL.get(name, {}), **settings})


def lengths(vectors: NDArray[Any]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.sqrt((np.asarray(vectors, np.float64) ** 2).sum(axis=1))
    return found


def directions(name: str) -> list[str]:
    return ["debias", "overbias"] if mitigation_method(name).inverse else ["debias"]


def test_the_methods_of_the_papers_and_of_the_peers_are_there() -> None:
    expected = {"hard", "multiclass_hard", "multiclass_soft", "attract_repel", "double_hard", "half_sibling", "ran"}
    assert expected <= set(registry.names("mitigation"))


@every_method
def test_the_same_twice_and_the_input_as_it_was(name: str, embedding: Embedding) -> None:
    before = embedding.vectors.copy()
    for direction in directions(name):
        first, second = (method(name, direction=direction).fit_transform(embedding) for _ in range(2))
        np.testing.assert_array_equal(first.vectors, second.vectors)
        assert first.checksum == second.checksum
    np.testing.assert_array_equal(embedding.vectors, before)


@every_method
def test_words_order_and_precision_are_kept_and_something_changes(name: str, embedding: Embedding) -> None:
    for direction in directions(name):
        found = method(name, direction=direction).fit_transform(embedding)
        assert found.words == embedding.words
        assert found.vectors.dtype == embedding.vectors.dtype
        assert np.isfinite(found.vectors).all()
        assert not np.allclose(found.vectors, embedding.vectors)
        assert name in found.name


@every_method
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_half_and_single_precision_give_single(name: str, embedding: Embedding, dtype: type) -> None:
    given = Embedding(embedding.words, embedding.vectors.astype(dtype))
    found = method(name).fit_transform(given)
    assert found.vectors.dtype == np.float32
    wide = method(name).fit_transform(Embedding(given.words, given.vectors.astype(np.float64)))
    np.testing.assert_allclose(lengths(found.vectors), lengths(given.vectors), rtol=2e-5)
    close = np.abs(found.vectors - wide.vectors).max(axis=1) < 2e-3 * lengths(wide.vectors)
    assert close.mean() > 0.99  # a neighbor at the edge of its list may fall either way


@every_method
@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_norms_are_as_declared(name: str, embedding: Embedding, strength: float) -> None:
    before = lengths(embedding.vectors)
    for direction in directions(name):
        kept = method(name, direction=direction, strength=strength)
        np.testing.assert_allclose(lengths(kept.fit_transform(embedding).vectors), before, rtol=1e-9)
        assert kept.emptied_ == ()
        scaled = method(name, direction=direction, strength=strength, norms="unit").fit_transform(embedding)
        np.testing.assert_allclose(lengths(scaled.vectors), 1, rtol=1e-9)


@every_method
def test_strength_0_is_the_identity_and_half_is_between(name: str, embedding: Embedding) -> None:
    for direction in directions(name):
        still = method(name, direction=direction, strength=0).fit_transform(embedding)
        np.testing.assert_array_equal(still.vectors, embedding.vectors)
        half, whole = (method(name, direction=direction, strength=s).fit_transform(embedding) for s in (0.5, 1))
        way = [np.linalg.norm(one.vectors - embedding.vectors) for one in (half, whole)]
        assert 0 < way[0] < way[1]


@every_method
def test_an_inverse_exists_as_declared(name: str, embedding: Embedding) -> None:
    if mitigation_method(name).inverse:
        there, back = (method(name, direction=one).fit_transform(embedding) for one in ("debias", "overbias"))
        moved = [(one.vectors - embedding.vectors).ravel() for one in (there, back)]
        assert moved[0] @ moved[1] < 0
    else:
        with pytest.raises(ParameterError, match="has no inverse"):
            method(name, direction="overbias").fit(embedding)


def turned(name: str, embedding: Embedding, turn: NDArray[np.float64]) -> float:
    """By how much rotating before differs from rotating after, as a share of the vectors."""
    after = method(name).fit_transform(embedding).vectors @ turn
    before = method(name).fit_transform(Embedding(embedding.words, embedding.vectors @ turn)).vectors
    return float(np.abs(after - before).max() / np.abs(after).max())


@every_method
def test_rotation_equivariance_as_declared(name: str, embedding: Embedding) -> None:
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((embedding.dim, embedding.dim)))[0]
    found = turned(name, embedding, turn)
    if mitigation_method(name).rotation_equivariant:
        assert found < 1e-6
    else:
        assert found > 1e-4


@every_method
def test_a_second_transform_as_declared(name: str, embedding: Embedding) -> None:
    one = method(name).fit(embedding)
    once = one.transform(embedding)
    if mitigation_method(name).idempotent:
        np.testing.assert_allclose(one.transform(once).vectors, once.vectors, atol=1e-9)
    else:
        try:
            twice = one.transform(once).vectors
        except ParameterError:
            return  # it refuses to
        assert np.abs(twice - once.vectors).max() > 1e-4


@every_method
def test_zero_vectors_stay_zero(name: str, embedding: Embedding) -> None:
    vectors = embedding.vectors.copy()
    vectors[embedding.index["other7"]] = 0
    found = method(name).fit_transform(Embedding(embedding.words, vectors))
    assert np.isfinite(found.vectors).all()
    if name != "double_hard":  # which moves the origin
        assert not found["other7"].any()


@every_method
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_very_short_and_very_long_vectors(name: str, embedding: Embedding, scale: float) -> None:
    settings: dict[str, Any] = {"alpha": 60.0 * scale**2} if name == "half_sibling" else {}
    found = method(name, **settings).fit_transform(Embedding(embedding.words, embedding.vectors * scale))
    expected = method(name).fit_transform(embedding).vectors
    np.testing.assert_allclose(found.vectors / scale, expected, rtol=1e-6, atol=1e-6)


@every_method
def test_what_cannot_be_used_is_said(name: str, embedding: Embedding) -> None:
    with pytest.raises(ParameterError, match="must be fitted"):
        method(name).transform(embedding)
    bad: list[dict[str, Any]] = [{"strength": -0.1}, {"strength": 1.5}, {"norms": "none"}, {"direction": "up"}]
    for wrong in bad:
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            method(name, **wrong).fit(embedding)
    with pytest.raises(ParameterError, match="'strenght'"):
        mitigate(embedding, name, strenght=1)
    fitted = method(name).fit(embedding)
    with pytest.raises(ParameterError, match="dimensions"):
        fitted.transform(Embedding(embedding.words, embedding.vectors[:, :-1]))
    with pytest.raises(ParameterError):
        method(name).fit(Embedding(("a", "b"), np.eye(2)))


@every_method
def test_it_says_what_it_is(name: str) -> None:
    one = mitigation_method(name)
    assert one.name == name
    assert one.summary.endswith(".")
    assert any(character.isdigit() for character in one.source)
    for declared in ("inverse", "rotation_equivariant", "idempotent"):
        assert getattr(one, declared) is True or getattr(one, declared) is False
    assert "direction" in one.get_params()


def test_an_unknown_method() -> None:
    with pytest.raises(ParameterError, match="attract_repel"):
        mitigation_method("soft")


def as_it_is(_method: Mitigation, _old: object, new: NDArray[Any], out: NDArray[Any]) -> NDArray[np.intp]:
    """Forgets about lengths."""
    np.copyto(out, new)
    return np.empty(0, np.intp)


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (lambda block: block * 2, "norms"),
        (lambda block: block + np.nan, "finite"),
        (lambda block: block + np.arange(block.shape[1]), "rotation"),
    ],
)
def test_a_planted_fault_is_found(
    fault: Callable[[NDArray[Any]], NDArray[Any]], check: str, embedding: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = type(mitigation_method("hard"))
    honest = kind._block  # noqa: SLF001 - to break it
    monkeypatch.setattr(kind, "_block", lambda self, block, part: fault(honest(self, block, part)))
    if check == "norms":
        monkeypatch.setattr(kind, "_rescale", as_it_is)
        with pytest.raises(AssertionError):
            test_norms_are_as_declared("hard", embedding, 1.0)
    elif check == "finite":
        with pytest.raises((AssertionError, RuntimeWarning, ValueError)):
            test_words_order_and_precision_are_kept_and_something_changes("hard", embedding)
    else:
        with pytest.raises(AssertionError):
            test_rotation_equivariance_as_declared("hard", embedding)
