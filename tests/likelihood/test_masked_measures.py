"""Measures of masked models against a slow reference: one sentence and one mask at a time, in plain torch."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import biasgauge as bg
from biasgauge.analyses.likelihood.models import LanguageModel
from biasgauge.vectors.encoders import load_model

PAIRS = [
    ("He is a nurse.", "She is a nurse."),
    ("My uncle likes the old book.", "My aunt likes the old book."),
    ("The walkers are here and the cat is not.", "The teachers are here and the cat is not."),
    ("The young man is walking slowish.", "The woman is walking slowish."),
    ("He is a baker in the house, very old.", "She is a teacher in the house, very young."),
]
MASK = 4


def matched(one: list[tuple[tuple[int, ...], list[int]]], other: list[tuple[tuple[int, ...], list[int]]]) -> Any:  # noqa: ANN401
    return SequenceMatcher(None, [key for key, _ in one], [key for key, _ in other], autojunk=False)


class Reference:
    """Every number with a forward pass of its own, no batches and no shortcuts."""

    def __init__(self, model: Any, tokenizer: Any) -> None:  # noqa: ANN401 - the library has no types
        self.model, self.tokenizer = model, tokenizer

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def words(self, text: str) -> list[int | None]:
        return list(self.tokenizer(text).word_ids())

    @torch.no_grad()
    def likely(self, ids: list[int], place: int, target: int) -> float:
        logits = self.model(torch.tensor([ids])).logits[0, place].double()
        return float(torch.log_softmax(logits, 0)[target])

    def hidden(self, text: str, place: int, *, later: bool) -> float:
        ids, words = self.ids(text), self.words(text)
        masked = list(ids)
        for at in range(place, len(ids)):
            if at == place or (later and words[at] == words[place]):
                masked[at] = MASK
        return self.likely(masked, place, ids[place])

    def spans(self, text: str) -> list[tuple[tuple[int, ...], list[int]]]:
        ids, words = self.ids(text), self.words(text)
        order = sorted({word for word in words if word is not None})
        places = [[at for at, own in enumerate(words) if own == word] for word in order]
        return [(tuple(ids[at] for at in own), own) for own in places]

    def aligned(self, first: str, second: str, *, equal: bool) -> tuple[list[int], list[int]]:
        one, other = self.spans(first), self.spans(second)
        found: tuple[list[int], list[int]] = ([], [])
        for kind, a, b, c, d in matched(one, other).get_opcodes():
            if (kind == "equal") is equal:
                for own, part in ((0, one[a:b]), (1, other[c:d])):
                    found[own].extend(at for _, places in part for at in places)
        return found

    def cps(self, first: str, second: str) -> list[float]:
        places = self.aligned(first, second, equal=True)
        return [
            sum(self.hidden(text, at, later=True) for at in own)
            for text, own in zip((first, second), places, strict=True)
        ]

    def cps_released(self, first: str, second: str) -> list[float]:
        ids = [[str(piece) for piece in self.ids(text)] for text in (first, second)]
        shared: tuple[list[int], list[int]] = ([], [])
        for kind, a, b, c, d in SequenceMatcher(None, ids[0], ids[1]).get_opcodes():
            if kind == "equal":
                shared[0].extend(range(a, b))
                shared[1].extend(range(c, d))
        return [
            round(sum(self.hidden(text, at, later=False) for at in own[1:-1]), 3)
            for text, own in zip((first, second), shared, strict=True)
        ]

    def sss(self, first: str, second: str, *, matrix: bool = False) -> list[float]:
        scores = []
        for text, own in zip((first, second), self.aligned(first, second, equal=False), strict=True):
            ids = self.ids(text)
            masked = [MASK if at in own else piece for at, piece in enumerate(ids)]
            pairs = [(at, ids[to]) for at in own for to in own] if matrix else [(at, ids[at]) for at in own]
            scores.append(float(np.mean([self.likely(masked, at, to) for at, to in pairs])))
        return scores

    @torch.no_grad()
    def aula(self, text: str, weights: str) -> float:
        ids = self.ids(text)
        values = np.array([self.likely(ids, at, ids[at]) for at in range(1, len(ids) - 1)])
        if weights == "none":
            return float(values.mean())
        self.model.set_attn_implementation("eager")
        layers = self.model(torch.tensor([ids]), output_attentions=True).attentions
        self.model.set_attn_implementation("sdpa")
        received = np.mean([layer[0].double().numpy() for layer in layers], axis=(0, 1)).mean(axis=0)[1:-1]
        total = (values * received).sum()
        return float(total / received.sum() if weights == "normalized" else total / len(values))

    def pll(self, text: str, *, later: bool) -> float:
        return sum(self.hidden(text, at, later=later) for at in range(1, len(self.ids(text)) - 1))


def scores(model: Any, measure: str, pairs: list[tuple[str, str]] = PAIRS) -> np.ndarray:  # noqa: ANN401 - as above
    result = bg.analyses.likelihood.score_pairs(model, pairs, measures=measure, min_coverage=0.0)
    return result.scores_frame()[["first_score", "second_score"]].to_numpy(float)


@pytest.fixture
def reference(masked: tuple[Any, Any]) -> Reference:
    return Reference(*masked)


def test_the_sentences_have_words_of_several_pieces(reference: Reference) -> None:
    assert max(len(ids) for first, _ in PAIRS for ids, _ in reference.spans(first)) == 3


@pytest.mark.parametrize(
    "measure", ["cps", "cps-released", "sss", "aul", "aula", "aula-released", "pll", "pll-released"]
)
def test_against_the_slow_reference(masked: tuple[Any, Any], reference: Reference, measure: str) -> None:
    single = {
        "aul": lambda text: reference.aula(text, "none"),
        "aula": lambda text: reference.aula(text, "normalized"),
        "aula-released": lambda text: reference.aula(text, "plain"),
        "pll": lambda text: reference.pll(text, later=True),
        "pll-released": lambda text: reference.pll(text, later=False),
    }
    both = {"cps": reference.cps, "cps-released": reference.cps_released, "sss": reference.sss}
    rule = both.get(measure) or (lambda first, second: [single[measure](first), single[measure](second)])
    expected = [rule(*pair) for pair in PAIRS]
    assert scores(masked, measure) == pytest.approx(np.array(expected), abs=2e-5 if measure != "cps-released" else 1e-9)


def test_batches_and_neighbors_change_nothing(masked: tuple[Any, Any]) -> None:
    rounding = 5e-5  # of a sum of ten logarithms of about 5 in single precision, whatever the number of threads
    whole = scores(masked, "cps")
    alone = np.concatenate([scores(masked, "cps", [pair]) for pair in PAIRS])
    assert alone == pytest.approx(whole, abs=rounding)
    one_by_one = LanguageModel(load_model(masked, kind="masked"), cells=100)
    assert scores(one_by_one, "cps") == pytest.approx(whole, abs=rounding)


def test_swapping_the_sentences_swaps_the_scores(masked: tuple[Any, Any]) -> None:
    for measure in ("cps", "sss", "aul", "aula", "pll"):
        swapped = scores(masked, measure, [(second, first) for first, second in PAIRS])
        assert swapped[:, ::-1] == pytest.approx(scores(masked, measure), abs=1e-5)


# ---- faults of released codes


def test_released_sss_averages_a_matrix_in_the_place_of_its_diagonal(
    masked: tuple[Any, Any], reference: Reference
) -> None:
    one, several = PAIRS[0], ("The walker is old.", "The teachers is old.")
    assert scores(masked, "sss-released", [one]) == pytest.approx(scores(masked, "sss", [one]), abs=1e-6)
    released = scores(masked, "sss-released", [several])[0]
    assert np.abs(released - scores(masked, "sss", [several])[0]).max() > 0.05
    masks = [("He is a singer.", "She is a dancer.")]
    first, second = scores(masked, "sss-released", masks)[0]
    assert [first, second] == pytest.approx(_piecewise_matrix(reference, *masks[0]), abs=2e-5)


def _piecewise_matrix(reference: Reference, first: str, second: str) -> list[float]:
    """The k × k mean, with pieces aligned as that code aligns them."""
    ids = [reference.ids(text) for text in (first, second)]
    places: tuple[list[int], list[int]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, ids[0], ids[1]).get_opcodes():
        if kind != "equal":
            places[0].extend(range(a, b))
            places[1].extend(range(c, d))
    means = []
    for own, at in zip(ids, places, strict=True):
        hidden = [MASK if place in at else piece for place, piece in enumerate(own)]
        means.append(float(np.mean([reference.likely(hidden, place, own[to]) for place in at for to in at])))
    return means


def test_released_cps_rounds_and_keeps_ties_in_the_denominator(tmp_path: Path) -> None:
    rows = ["id,sent_more,sent_less,bias_type,anon_writer", "0,x,y,a,w0", "1,x,y,a,w1", "2,x,y,a,w2", "3,x,y,a,w3"]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    scored = ["id,sent_more_score,sent_less_score", "0,-1.0004,-1.0001", "1,-1,-2", "2,-1,-3", "3,-5,-2"]
    (tmp_path / "scores.csv").write_text("\n".join(scored) + "\n")
    crows_pairs = partial(
        bg.analyses.likelihood.crows_pairs, tmp_path / "data.csv", predictions=tmp_path / "scores.csv"
    )
    published = crows_pairs(as_published=True).measures[0]
    corrected = crows_pairs().measures[0]
    assert (published.preferred.value, published.ties) == (50.0, 1)  # 2 of 4: the tie counts against the stereotype
    assert (corrected.preferred.value, corrected.ties) == (50.0, 0)  # 2 of 4: the second sentence was preferred
    (tmp_path / "scores.csv").write_text("\n".join([scored[0], "0,-1,-1", *scored[2:]]) + "\n")
    left_out = crows_pairs().measures[0]
    assert left_out.preferred.value is None  # three of four pairs are below the coverage that is required
    left_out = crows_pairs(min_coverage=0.5).measures[0]
    assert left_out.preferred.value == pytest.approx(200 / 3)
    assert (left_out.ties, left_out.compared) == (1, 3)


def test_released_pll_gives_pieces_of_a_word_away(masked: tuple[Any, Any], reference: Reference) -> None:
    """With one piece hidden the others of its word are seen; a word of one piece is scored alike by both."""
    plain = [("He is old.", "She is old.")]
    assert scores(masked, "pll", plain) == pytest.approx(scores(masked, "pll-released", plain), abs=1e-6)
    pieces = [("The walkers are here.", "The teachers are here.")]
    gap = np.abs(scores(masked, "pll", pieces) - scores(masked, "pll-released", pieces))
    assert gap.min() > 1e-3
    ids = reference.ids(pieces[0][0])
    seen = [MASK if place == 2 else piece for place, piece in enumerate(ids)]
    assert reference.hidden(pieces[0][0], 2, later=False) == pytest.approx(reference.likely(seen, 2, ids[2]))


def test_released_aula_scores_a_sentence_by_its_length() -> None:
    """Weights sum to about 1 and are averaged over tokens once more: of equal tokens the longer sentence wins."""
    short, long = np.full(4, -2.0), np.full(16, -2.0)

    def published(values: np.ndarray) -> float:
        return float((values * np.full(len(values), 1 / (len(values) + 2))).mean())

    assert published(long) > published(short)
    assert published(long) / published(short) == pytest.approx(6 / 18)


def test_a_pair_without_a_value_is_undefined_where_released_code_counts_it_as_anti(masked: tuple[Any, Any]) -> None:
    """An inserted word leaves the other sentence without modified tokens; the mean of nothing compares as false."""
    pairs = [*PAIRS, ("He is a very old man.", "He is a old man."), ("He is here.", "He is here.")]
    result = bg.analyses.likelihood.score_pairs(masked, pairs, measures=["sss", "cps"], min_coverage=0.5)
    by_measure = {row.measure: row for row in result.measures}
    assert (by_measure["sss"].undefined, by_measure["sss"].compared) == (2, 5)
    assert (by_measure["cps"].ties, by_measure["cps"].compared) == (1, 6)
    assert [entry.id for entry in result.undefined] == ["5", "6"]
    assert all("no word of its own" in entry.reason for entry in result.undefined)
    assert not np.greater(np.nan, -1.0)  # what the released comparison comes to
