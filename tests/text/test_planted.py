"""What was planted is there, and nothing else is; scores of vectors trained on it rise with it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.text import PlantedCorpus, planted_corpus, read_corpus
from biasgauge.text.planted import PAIRS, invented_words

if TYPE_CHECKING:
    from pathlib import Path

STRENGTHS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)


def ends_beside(planted: PlantedCorpus) -> dict[str, Counter[int]]:
    """For each target word, how many of its sentences hold words of the first and of the second end; from the text."""
    end = {word: place for pair in planted.pairs for place, word in enumerate(pair)}
    found: dict[str, Counter[int]] = {word: Counter() for word in planted.strengths}
    for text in planted.documents():
        words = text.split()
        ends = {end[word] for word in words if word in end}
        assert len(ends) <= 1, text
        for word in found.keys() & set(words):
            found[word].update(ends)
    return found


def test_truth_is_what_stands_in_the_sentences() -> None:
    planted = planted_corpus(STRENGTHS, lines=40_000, random_state=2)
    beside = ends_beside(planted)
    for row in planted.to_dict()["truth"]:
        assert (beside[row["word"]][0], beside[row["word"]][1]) == (row["first"], row["second"])


@pytest.mark.parametrize("seed", range(3))
def test_ends_are_drawn_as_strongly_as_they_were_told(seed: int) -> None:
    planted = planted_corpus(STRENGTHS, lines=40_000, random_state=seed)
    frame = planted.to_frame()
    assert frame["strength"].tolist() == list(STRENGTHS)
    for _, row in frame.iterrows():
        test = stats.binomtest(row["first"], row["first"] + row["second"], (1 + row["strength"]) / 2)
        assert test.pvalue > 1e-4, row
    assert frame["second"].iloc[-1] == frame["first"].iloc[0] == 0
    assert f"<td>{frame['word'][0]}</td>" in planted._repr_html_()


def test_everything_else_is_balanced() -> None:
    planted = planted_corpus({"nurse": -0.9, "engineer": 0.9, "tree": 0.0}, lines=60_000, random_state=1)
    counts = Counter(word for text in planted.documents() for word in text.split())
    targets = [counts[word] for word in planted.strengths]
    assert max(targets) - min(targets) <= 8  # one a chunk of sentences and kind
    for first, second in PAIRS:
        total = counts[first] + counts[second]
        assert abs(counts[first] - counts[second]) < 5 * total**0.5
    without = [text.split() for text in planted.documents() if not planted.strengths.keys() & set(text.split())]
    for ends in PAIRS:
        near = [Counter(word for text in without if end in text for word in set(text)) for end in ends]
        for word in ("market", "morning", "letter", "carried", "old", "the"):
            total = near[0][word] + near[1][word]
            assert abs(near[0][word] - near[1][word]) < 5 * total**0.5, (ends, word)


def test_same_seed_same_sentences(tmp_path: Path) -> None:
    planted = planted_corpus(STRENGTHS, lines=20_000, random_state=5)
    texts = list(planted.documents())
    assert texts == list(planted_corpus(STRENGTHS, lines=20_000, random_state=5).documents())
    assert texts != list(planted_corpus(STRENGTHS, lines=20_000, random_state=6).documents())
    assert len(texts) == 20_000
    assert texts[:16_384] == list(planted_corpus(STRENGTHS, lines=16_384, random_state=5).documents())
    path = planted.write(tmp_path / "planted.txt")
    assert path.read_text(encoding="utf-8").splitlines() == texts
    assert read_corpus(path).checksum == read_corpus(planted.documents()).checksum


def test_every_word_survives_the_default_tokenizer() -> None:
    corpus = read_corpus(planted_corpus(STRENGTHS, lines=3_000).documents())
    assert set(invented_words(9)) | {word for pair in PAIRS for word in pair} <= set(corpus.words)
    assert len(corpus.words) > 150
    assert 8 < len(corpus.tokens) / (len(corpus.lines) - 1) < 12


def test_null_has_the_same_words_and_no_bias() -> None:
    null = planted_corpus(STRENGTHS, lines=40_000, random_state=3).null()
    assert set(null.strengths.values()) == {0.0}
    assert list(null.strengths) == list(invented_words(9))
    for first, second in null.counts.tolist():
        assert stats.binomtest(first, first + second, 0.5).pvalue > 1e-3


def test_pairs_of_ones_own() -> None:
    planted = planted_corpus({"zig": 0.5}, pairs=[("rich", "poor")], lines=2_000)
    counts = Counter(word for text in planted.documents() for word in text.split())
    assert counts["rich"] > 0 < counts["poor"]
    assert counts["he"] == counts["she"] == 0


def test_invented_words_are_all_different() -> None:
    words = invented_words(70**3)
    assert len(set(words)) == 70**3
    assert invented_words(3) == words[:3]


@pytest.mark.parametrize(
    ("strengths", "options", "sentence"),
    [
        ({}, {}, "must not be empty"),
        ([0.5], {"pairs": []}, "must not be empty"),
        ({"x": 1.5}, {}, r"number from -1 to 1\. Got 1\.5"),
        ({"x": float("nan")}, {}, r"number from -1 to 1\. Got nan"),
        ({"x": "y"}, {}, r"number from -1 to 1\. Got 'y'"),
        ({"two words": 0}, {}, r"one word in lower case\. Got 'two words'"),
        ({"Nurse": 0}, {}, r"one word in lower case\. Got 'Nurse'"),
        ({"market": 0}, {}, r"in none of its sentences\. Got 'market' again"),
        ({"he": 0}, {}, r"Got 'he' again"),
        ({"x": 0}, {"pairs": [("a1", "b")]}, r"one word in lower case\. Got 'a1'"),
        ({"x": 0}, {"pairs": [("man", "man")]}, r"Got 'man' again"),
        ({"x": 0}, {"lines": 0}, r"'lines' parameter must be a whole number of at least 1"),
        ({"x": 0}, {"random_state": -1}, r"'random_state' parameter"),
        ([0.0] * 343_001, {}, r"No more than 343,000 words can be invented"),
    ],
)
def test_impossible_settings(strengths: Any, options: dict[str, Any], sentence: str) -> None:  # noqa: ANN401 - on purpose
    with pytest.raises(ParameterError, match=sentence):
        planted_corpus(strengths, **options)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_scores_rise_with_what_was_planted(seed: int) -> None:
    """Skip-gram vectors by gensim: DB/WA, mean over pairs, rises from step to step, and lies near 0 without bias."""
    planted = planted_corpus(STRENGTHS, lines=20_000, random_state=seed)
    for corpus in (planted, planted.null()):
        model = Word2Vec(
            [text.split() for text in corpus.documents()], vector_size=50, sg=1, epochs=5, workers=1, seed=seed + 1
        )
        unit = {word: model.wv.get_vector(word, norm=True) for word in model.wv.index_to_key}
        scores = np.array([[unit[word] @ (unit[a] - unit[b]) for a, b in PAIRS] for word in corpus.strengths]).mean(
            axis=1
        )
        if corpus is planted:
            assert np.diff(scores).min() > 0.02, scores
            assert scores[-1] - scores[0] > 1.0
        else:
            assert np.abs(scores).max() < 0.1, scores
