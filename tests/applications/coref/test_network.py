"""The network's parts against slow loops over words, spans and pairs."""

# ruff: noqa: ANN401 - parts of a network, and a module, have no useful types

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from biasgauge.applications.coref import CorefSettings, Document, network
from biasgauge.applications.coref.features import BUCKETS, Arrays, Features, distance_buckets, word_coverage
from biasgauge.applications.coref.network import Letters, Ranking, SpanRanker, antecedent_loss

if TYPE_CHECKING:
    from torch import Tensor

FULL = CorefSettings(
    char_size=3, char_filters=5, lstm_size=4, hidden_size=6, feature_size=2, max_width=4, speakers=True, genres=True
)


@pytest.fixture
def parts(planted: Any) -> tuple[Features, SpanRanker]:
    torch.manual_seed(3)
    settings = replace(FULL, spans_per_word=0.6)
    documents = [replace(one, genre="news") for one in planted.stories(3, 0)]
    features = Features.of(planted.vectors(), settings, documents)
    return features, SpanRanker(settings, 20, features.alphabet, 1).eval()


def scorer(found: network.Scorer, first: Tensor) -> Tensor:
    hidden = first.clamp(min=0)
    for layer in found.layers:
        hidden = layer(hidden).clamp(min=0)
    result: Tensor = found.out(hidden)[..., 0]
    return result


def test_letters_are_looked_at_within_the_word_only() -> None:
    torch.manual_seed(0)
    letters = Letters(FULL, 9)
    word = [2, 3, 4, 5, 6, 7]
    alone = letters(torch.tensor([word]))
    assert torch.allclose(alone, letters(torch.tensor([word + [0] * 7]))[:1], atol=1e-6)
    slow = []
    for start in range(2):
        seen = letters.embed(torch.tensor(word[start : start + 5]))  # letters × size
        slow.append((letters.filters.weight * seen.T[None]).sum(dim=(1, 2)) + letters.filters.bias)
    assert torch.allclose(alone[0], torch.stack(slow).clamp(min=0).amax(dim=0), atol=1e-6)
    assert letters(torch.tensor([[3, 0, 0, 0, 0, 0]])).isfinite().all()


def test_words_go_through_the_lstm_sentence_by_sentence(parts: Any, planted: Any) -> None:
    features, ranker = parts
    documents = planted.stories(2, 5)
    arrays = features.arrays(documents)
    words, states = ranker.words(arrays)
    start = 0
    for document in documents:
        for sentence in document.sentences:
            end = start + len(sentence)
            for at, word in enumerate(sentence, start):
                expected = torch.from_numpy(np.array(features.vectors[word]))
                assert torch.equal(words[at, :20], expected)
            alone, _ = ranker.lstm(words[None, start:end])
            assert torch.allclose(states[start:end], alone[0], atol=1e-6)
            start = end


def test_mention_scores_and_span_vectors(parts: Any, planted: Any) -> None:
    features, ranker = parts
    words, states = ranker.words(features.arrays(planted.stories(1, 7)))
    spans = [(0, 0), (0, 3), (2, 4), (5, 6), (11, 11)]
    first, last = (torch.tensor(one) for one in zip(*spans, strict=True))
    scores = ranker.mention_scores(words, states, first, last)
    vectors = ranker.span_vectors(words, states, first, last)
    for number, (a, b) in enumerate(spans):
        weights = torch.stack([ranker.attention(states[at])[0] for at in range(a, b + 1)]).exp()
        head = sum(weight * words[at] for weight, at in zip(weights / weights.sum(), range(a, b + 1), strict=True))
        whole = torch.cat([states[a], states[b], torch.as_tensor(head), ranker.width.weight[b - a]])
        assert torch.allclose(vectors[number], whole, atol=1e-6)
        # one layer over everything: the layers of the parts side by side
        side_by_side = torch.cat([*(part.weight for part in ranker.mention_parts), ranker.mention_width.weight], dim=1)
        bias = ranker.mention_parts[0].bias + ranker.mention_parts[1].bias
        assert torch.allclose(scores[number], scorer(ranker.mention, side_by_side @ whole + bias), atol=1e-5)


def test_forward_against_loops_over_pairs(parts: Any, planted: Any) -> None:
    features, ranker = parts
    one, other = planted.stories(2, 9)
    documents = [replace(one, genre="news", speakers=("Ann",) * 7 + ("Bob",) * 5), other]
    arrays = features.arrays(documents)
    ranking = ranker(arrays)
    assert ranking.counts == [7, 7]  # 0.6 × 12 words
    words, states = ranker.words(arrays)
    first, last = torch.from_numpy(ranking.first), torch.from_numpy(ranking.last)
    spans = ranker.span_vectors(words, states, first, last)
    mention = ranker.mention_scores(words, states, first, last)
    own, theirs, product = ranker.pair_parts
    weights = torch.cat([own.weight, theirs.weight, product.weight], dim=1)
    assert ranking.scores.shape == (14, 7)
    for i in range(14):
        assert ranking.scores[i, 0] == 0
        for back in range(1, 7):
            j = i - back
            if j < 0 or i // 7 != j // 7:
                assert ranking.scores[i, back] == -torch.inf
                continue
            pair = weights @ torch.cat([spans[i], spans[j], spans[i] * spans[j]]) + own.bias
            if i < 7:
                same = (ranking.first[i] < 7) == (ranking.first[j] < 7)
                rows = {"distance": int(distance_buckets(np.array([back]))[0]), "speaker": 1 + int(same), "genre": 1}
            else:
                rows = {"distance": int(distance_buckets(np.array([back]))[0]), "speaker": 0, "genre": 0}
            for name, row in rows.items():
                pair = pair + ranker.pair_features[name](ranker.tables[name].weight[row])
            expected = scorer(ranker.pair, pair) + mention[i] + mention[j]
            assert torch.allclose(ranking.scores[i, back], expected, atol=1e-5)
    assert ranking.gold.tolist() == [
        int(span in one.clusters[0]) if place < 7 else 2 * ((span[0] - 12, span[1] - 12) in other.clusters[0])
        for place, span in enumerate(zip(ranking.first.tolist(), ranking.last.tolist(), strict=True))
    ]
    assert ranker.tables["speaker"].weight[0].tolist() == [0, 0]
    assert ranker.tables["distance"].weight.shape[0] == BUCKETS


def test_loss_against_loops() -> None:
    torch.manual_seed(1)
    gold = torch.tensor([1, 0, 1, 2, 1, 0, 2, 3])
    scores = torch.randn(8, 5)
    for i in range(8):
        scores[i, 1 + i :] = -torch.inf
    scores[:, 0] = 0
    expected = 0.0
    for i in range(8):
        right = [back for back in range(1, 5) if back <= i and gold[i] > 0 and gold[i - back] == gold[i]]
        chosen = sum(scores[i, back].exp() for back in right or [0])
        expected -= float(torch.as_tensor(chosen).log() - scores[i].exp().sum().log())
    nothing = np.zeros(0, np.int64)
    assert float(antecedent_loss(Ranking(nothing, nothing, [8], scores, gold))) == pytest.approx(expected, rel=1e-5)


def test_gradients_reach_every_weight(parts: Any, planted: Any) -> None:
    features, ranker = parts
    ranker.train()
    documents = [replace(one, speakers=("Ann",) * 12, genre="news") for one in planted.stories(6, 0)]
    antecedent_loss(ranker(features.arrays(documents))).backward()  # type: ignore[no-untyped-call]
    assert [name for name, one in ranker.named_parameters() if one.grad is None or not one.grad.abs().sum() > 0] == []


def test_half_of_the_words_numbers_are_dropped_in_training(parts: Any, planted: Any) -> None:
    features, ranker = parts
    arrays = features.arrays(planted.stories(40, 1))
    whole, states = ranker.words(arrays)
    ranker.train()
    words, dropped = ranker.words(arrays)
    there = whole[:, :20] != 0
    assert float((words[:, :20] == 0)[there].float().mean()) == pytest.approx(0.5, abs=0.03)
    kept = words[:, :20] != 0
    torch.testing.assert_close(words[:, :20][kept], 2 * whole[:, :20][kept])
    assert not (states == 0).any()
    assert float((dropped == 0).float().mean()) == pytest.approx(0.2, abs=0.03)


def test_blocks_of_pairs_do_not_matter(parts: Any, planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    features, ranker = parts
    arrays = features.arrays(planted.stories(3, 4))
    whole = ranker(arrays).scores
    monkeypatch.setitem(network.PAIRS_AT_ONCE, "cpu", 4)
    with torch.no_grad():
        torch.testing.assert_close(ranker(arrays).scores, whole, atol=1e-5, rtol=1e-5)


def test_words_are_looked_up_as_written_then_in_lower_case(planted: Any) -> None:
    features = Features.of(planted.vectors(), FULL, [Document("d", (("The", "Adam", "zzz", "adam"),))])
    arrays: Arrays = features.arrays([Document("d", (("The", "Adam", "zzz", "adam"),))])
    known = planted.vectors()
    expected = np.stack([known["the"], known["adam"], np.zeros(20), known["adam"]])
    np.testing.assert_array_equal(arrays.vectors[arrays.types], expected)
    found = word_coverage(features, [Document("d", (("The", "zzz", "zzz", "yyy"),))], "test")
    counts = {"asked": 3, "found": 1, "asked_tokens": 4, "found_tokens": 1}
    assert found == {**counts, "most_frequent_lost": ["zzz", "yyy"]}
