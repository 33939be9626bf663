"""Quality benchmarks: gensim, SciPy, statsmodels and slow loops as witnesses; files good and bad."""

from __future__ import annotations

import gzip
import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.stats import fisher_interval, wilson
from biasgauge.vectors import (
    Embedding,
    analogies,
    analogy_accuracy,
    load,
    load_default,
    read_analogies,
    similarity_benchmark,
    similarity_names,
    solve_analogies,
)
from biasgauge.vectors.analogies import Answers
from biasgauge.vectors.benchmarks import Question, google_analogies, read_similarity

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

PAIRS_IN = {"men": 2_997, "mturk771": 770, "rg65": 65, "rw": 2_034, "simlex999": 999, "wordsim353": 353}
"""As published, but for what the files' own remarks say: three pairs of MEN and one of MTurk-771 are not there."""

PAIRS = {
    "capital": "paris france rome italy athens greece berlin germany madrid spain tokyo japan",
    "gram-plural": "dog dogs cat cats car cars bird birds house houses hand hands",
    "family": "king queen man woman boy girl father mother brother sister son daughter",
}


@pytest.fixture(scope="module")
def glove() -> Embedding:
    return load_default()


@pytest.fixture(scope="module")
def peer(glove: Embedding) -> KeyedVectors:
    """The same vectors in gensim."""
    keyed = KeyedVectors(glove.dim)
    keyed.add_vectors(list(glove.words), glove.vectors.astype(np.float32))
    return keyed


@pytest.fixture(scope="module")
def shipped(package: Path) -> Path:
    return package / "vectors" / "data" / "similarity"


# --- similarity ---------------------------------------------------------------------------------------------------


def test_shipped_benchmarks_are_whole_and_say_where_they_are_from(shipped: Path) -> None:
    assert {name: len(read_similarity(shipped / f"{name}.tsv")) for name in similarity_names()} == PAIRS_IN
    for name in similarity_names():
        head = (shipped / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[:4]
        assert [line.partition(":")[0] for line in head[1:]] == ["# citation", "# source", "# license"], name


@pytest.mark.shared
def test_shipped_benchmarks_are_those_of_the_source(shipped: Path, shared_data: Path) -> None:
    for path in sorted(shipped.glob("*.tsv")):
        source = next(line for line in path.read_text().splitlines() if line.startswith("# source: ")).split()[2]
        original = read_similarity(shared_data / "word_lists" / "similarity_benchmarks" / source)
        assert read_similarity(path) == original


@pytest.mark.parametrize("name", PAIRS_IN)
def test_correlations_are_those_of_gensim(name: str, glove: Embedding, peer: KeyedVectors, shipped: Path) -> None:
    pearson, spearman, lost = peer.evaluate_word_pairs(
        shipped / f"{name}.tsv", restrict_vocab=len(glove), case_insensitive=False
    )
    found = similarity_benchmark(glove, name)
    assert found.pearson.value == pytest.approx(pearson.statistic, abs=1e-5)  # gensim's cosines are 32-bit
    assert found.spearman.value == pytest.approx(spearman.statistic, abs=1e-5)
    assert 100 * len(found.lost) / found.asked == pytest.approx(lost)
    assert found.asked == PAIRS_IN[name]
    human = [pair.score for pair in found.pairs]
    ends = stats.pearsonr(human, found.cosines).confidence_interval(0.95)
    assert found.pearson.low == pytest.approx(ends.low)
    assert found.pearson.high == pytest.approx(ends.high)
    assert found.spearman.value == pytest.approx(stats.spearmanr(human, found.cosines).statistic, abs=1e-9)


def test_ties_share_their_rank() -> None:
    model = Embedding(("a", "b", "c", "d"), np.array([[1.0, 0], [2, 0], [0, 1], [1, 1]]))
    rows = [("a", "b", 5), ("a", "c", 1), ("b", "c", 1), ("a", "d", 3), ("b", "d", 2), ("d", "c", 2)]
    found = similarity_benchmark(model, rows)
    expected = stats.spearmanr([5, 1, 1, 3, 2, 2], [1, 0, 0, 0.5**0.5, 0.5**0.5, 0.5**0.5]).statistic
    assert found.spearman.value == pytest.approx(expected)
    assert found.benchmark == "given pairs"


def test_spearman_interval_is_that_of_bonett_and_wright() -> None:
    """tanh(atanh r ± z √((1 + r²/2) / (n − 3))), by hand for r = .6 and n = 28: √(1.18 / 25) = .217256."""
    found = fisher_interval(0.6, 28, kind="spearman", over="word pairs")
    assert found.low == pytest.approx(np.tanh(0.693147 - 1.959964 * 0.217256), abs=1e-6)
    assert found.high == pytest.approx(np.tanh(0.693147 + 1.959964 * 0.217256), abs=1e-6)
    assert (found.method, found.over) == ("fisher-z, bonett-wright", "word pairs")


@pytest.mark.parametrize("truth", [0.0, 0.5, 0.8])
def test_spearman_interval_holds_the_truth_as_often_as_it_says(truth: float) -> None:
    random = np.random.default_rng(7)
    population = 6 / np.pi * np.arcsin(truth / 2)
    draws = random.multivariate_normal([0, 0], [[1, truth], [truth, 1]], size=(2_000, 60))
    ranks = draws.argsort(axis=1).argsort(axis=1) - 29.5
    found = (ranks[..., 0] * ranks[..., 1]).sum(axis=1) / (ranks[..., 0] ** 2).sum(axis=1)
    ends = [fisher_interval(float(one), 60, kind="spearman") for one in found]
    held = np.mean([one.low <= population <= one.high for one in ends])
    assert 0.93 < held < 0.97


def test_lost_pairs_are_listed() -> None:
    model = Embedding(("a", "b", "c", "nil"), np.array([[1.0, 0], [2, 1], [0, 1], [0, 0]]))
    rows = [("a", "b", 1.0), ("A", "b", 2.0), ("x", "y", 3.0), ("a", "nil", 4.0), ("x", "x", 5.0)]
    found = similarity_benchmark(model, rows)
    assert [(pair.score, why) for pair, why in found.lost] == [
        (2.0, "A: not in the vocabulary"),
        (3.0, "x: not in the vocabulary; y: not in the vocabulary"),
        (4.0, "nil: its vector is zero"),
        (5.0, "x: not in the vocabulary"),
    ]
    assert (found.asked, len(found.pairs), found.spearman.value) == (5, 1, None)
    assert found.reason == found.spearman.reason == "only 1 of the pairs can be compared"
    assert len(similarity_benchmark(model, rows, policy=WordPolicy(0.0, "fallback")).pairs) == 2
    table = found.to_frame()
    assert list(table["lost"] != "") == [False, True, True, True, True]
    assert json.loads(json.dumps(found.to_dict()))["lost"][0] == {
        "first": "A",
        "second": "b",
        "reason": "A: not in the vocabulary",
    }
    assert "undefined: only 1" in found._repr_html_()


def test_correlations_without_spread_are_undefined() -> None:
    model = Embedding(("a", "b", "c"), np.array([[1.0, 0], [2, 0], [3, 0.0]]))
    assert similarity_benchmark(model, [("a", "b", 1), ("b", "c", 2)]).reason == "all cosines are the same"
    other = Embedding(("a", "b", "c"), np.array([[1.0, 0], [2, 1], [3, 7.0]]))
    assert similarity_benchmark(other, [("a", "b", 1), ("b", "c", 1)]).reason == "all human scores are the same"
    perfect = similarity_benchmark(other, [("a", "b", 2), ("b", "c", 1)])
    assert perfect.spearman.value == pytest.approx(1)
    assert (perfect.spearman.low, perfect.spearman.reason) == (
        None,
        "an interval takes at least 4 word pairs",
    )
    three = similarity_benchmark(other, [("a", "b", 2), ("b", "c", 1), ("a", "c", 3)])
    assert three.spearman.reason == "an interval takes at least 4 word pairs"


GOOD = {
    "tabs": "# remark\nold\tnew\t1.5\nnew york\tcity\t2\n",
    "commas and a heading": "Word 1,Word 2,Human (mean)\nold,new,1.5\nnew york,city,2\n",
    "two tabs between": "old\t\tnew\t\t1.5\nnew york\t\tcity\t\t2",
    "further fields": "old\tnew\t1.5\tx\nnew york\tcity\t2e0\t9\t9\n",
    "byte order mark, CR LF and blank lines": "\ufeffold\tnew\t1.5\r\n\r\nnew york\tcity\t2\r\n\r\n",
}
BAD = {
    "no third field": ("old\tnew\t1\nold\tnew\n", "line 2: expected two words and a finite number; found 'old"),
    "no number": ("old\tnew\t1\nold\tnew\tO.5\n", "line 2: expected two words"),
    "a number misspelled at the start": ("old\tnew\t7.3O\nold\tnew\t1\n", "line 1: expected two words"),
    "nan": ("old\tnew\tnan\nold\tnew\t1\n", "line 1: expected two words"),
    "infinity": ("old\tnew\t1\nold\tnew\tinf\n", "line 2: expected two words"),
    "two headings": ("a\tb\tscore\na\tb\tscore\n", "line 2: expected two words"),
    "nothing": ("# remark\n\n", "holds no pair of words with a score"),
    "a long line": ("old\tnew\t1\n" + "x" * 5_000, "line 2: expected .* found 'x+…'$"),
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("gzipped", [False, True])
def test_files_of_pairs(name: str, tmp_path: Path, *, gzipped: bool) -> None:
    content = GOOD[name].encode()
    path = tmp_path / "pairs"
    path.write_bytes(gzip.compress(content) if gzipped else content)
    assert read_similarity(path) == (("old", "new", 1.5), ("new york", "city", 2.0))


@pytest.mark.parametrize("name", BAD)
def test_bad_files_of_pairs(name: str, tmp_path: Path) -> None:
    content, expected = BAD[name]
    path = tmp_path / "pairs"
    path.write_text(content)
    with pytest.raises(LexiconError, match=expected) as caught:
        read_similarity(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400


def test_unknown_benchmarks(glove: Embedding, tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="'simlex'"):
        similarity_benchmark(glove, "simlex")
    with pytest.raises(LexiconError, match="similarity"):
        similarity_benchmark(glove, "x" * 10_000)
    with pytest.raises(LexiconError, match="there is no such file"):
        similarity_benchmark(glove, tmp_path / "men")
    (tmp_path / "latin").write_bytes(b"caf\xe9\tbar\t1\n")
    with pytest.raises(LexiconError, match="line 1: is not UTF-8 text"):
        similarity_benchmark(glove, tmp_path / "latin")
    for bad in ([], [("a", "b")], 7, [("a", "b", "c")], [("a", "b", np.nan)]):
        with pytest.raises(ParameterError, match="'benchmark' parameter of similarity_benchmark"):
            similarity_benchmark(glove, bad)  # type: ignore[arg-type]


# --- analogies ----------------------------------------------------------------------------------------------------


def questions() -> dict[str, list[list[str]]]:
    """Every pair of a category against every other, as in the Google set."""
    asked = {}
    for name, text in PAIRS.items():
        words = text.split()
        pairs = list(zip(words[::2], words[1::2], strict=True))
        asked[name] = [[*first, *second] for first, second in permutations(pairs, 2)]
    return asked


def as_file(asked: dict[str, list[list[str]]]) -> str:
    return "".join(f": {name}\n" + "".join(" ".join(words) + "\n" for words in rows) for name, rows in asked.items())


def test_accuracy_is_that_of_gensim(glove: Embedding, peer: KeyedVectors, tmp_path: Path) -> None:
    asked = questions()
    asked["family"].append(["king", "queen", "man", "nosuchword"])
    path = tmp_path / "questions.txt"
    path.write_text(as_file(asked))
    for limit in (None, 5_000):
        score, sections = peer.evaluate_word_analogies(path, restrict_vocab=limit or len(glove), case_insensitive=False)
        found = analogy_accuracy(glove, path, limit=limit)
        assert found.total.value == pytest.approx(score)
        for one, section in zip(found.categories, sections[:-1], strict=True):
            assert one.name == section["section"]
            assert (one.correct, one.n) == (
                len(section["correct"]),
                len(section["correct"]) + len(section["incorrect"]),
            )
        assert 0.4 < score < 1
    assert found.lost[-1][1].startswith("nosuchword: not in the vocabulary")
    assert any("not among the first 5,000 words" in why for _, why in found.lost)
    given = analogy_accuracy(glove, asked, limit=5_000)
    assert given.to_dict() == found.to_dict()
    assert json.loads(json.dumps(found.to_dict()))["total"]["lost"] == len(found.lost)


def test_limit_keeps_the_first_words() -> None:
    model = Embedding(tuple("abcde"), np.random.default_rng(0).normal(size=(5, 3)))
    asked = [("a", "b", "c", "d"), ("a", "b", "c", "e")]
    assert [question.d for question, _ in analogy_accuracy(model, asked, limit=4).lost] == ["e"]
    assert analogy_accuracy(model, asked, limit=4).total.correct == 1  # "d" is all that is left
    assert analogy_accuracy(model, asked, limit=5).lost == ()


@pytest.mark.shared
def test_google_questions_as_gensim_answers_them(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "word_lists" / "word-test.v1.txt"
    asked = read_analogies(path)
    assert len(asked) == 19_544
    assert len({one.category for one in asked}) == 14
    chosen = {name: [list(one[1:]) for one in asked if one.category == name] for name in ("family", "gram2-opposite")}
    part = tmp_path / "part.txt"
    part.write_text(as_file(chosen))
    model = load(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz", limit=20_000)
    keyed = KeyedVectors(model.dim)
    keyed.add_vectors(list(model.words), model.vectors.astype(np.float32))
    score, sections = keyed.evaluate_word_analogies(part, restrict_vocab=len(model))
    found = analogy_accuracy(model, part, policy=WordPolicy(0.0, "fallback"))
    assert found.total.value == pytest.approx(score)
    assert [one.correct for one in found.categories] == [len(one["correct"]) for one in sections[:-1]]
    assert found.semantic is not None
    assert found.syntactic is not None
    assert (found.semantic.correct, found.syntactic.correct) == tuple(one.correct for one in found.categories)


def test_kinds_are_told_apart_by_their_names(glove: Embedding) -> None:
    asked = questions()
    found = analogy_accuracy(glove, asked)
    assert found.semantic is not None
    assert found.syntactic is not None
    by_name = {one.name: one for one in found.categories}
    assert found.syntactic.correct == by_name["gram-plural"].correct
    assert found.semantic.n == by_name["capital"].n + by_name["family"].n
    assert list(found.to_frame()["name"]) == ["total", "semantic", "syntactic", *asked]
    plain = analogy_accuracy(glove, asked["capital"])
    assert (plain.semantic, plain.syntactic, plain.categories[0].name) == (None, None, "all")
    assert plain.total.correct == by_name["capital"].correct


def slow_ranking(
    vectors: NDArray[Any], question: list[int], method: str, allowed: list[int], epsilon: float
) -> list[tuple[int, float]]:
    """All candidates one by one in double precision, best first; equal to 12 decimals: the lower row first."""
    wide = vectors.astype(np.float64)
    units = [one / np.sqrt(one @ one) if one.any() else one for one in wide]
    a, b, c = (units[row] for row in question)
    found = []
    for row in sorted(allowed):
        if not units[row].any():
            continue
        to_a, to_b, to_c = (float(units[row] @ one) for one in (a, b, c))
        if method == "3cosadd":
            score = to_b - to_a + to_c
        else:
            score = (1 + to_b) / 2 * (1 + to_c) / 2 / ((1 + to_a) / 2 + epsilon)
        found.append((row, score))
    return sorted(found, key=lambda one: (-round(one[1], 12), one[0]))


def world(kind: str, seed: int) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(60, 6))
    if kind == "duplicates":
        vectors = vectors[random.integers(0, 12, 60)]
    elif kind == "near duplicates":
        vectors = vectors[random.integers(0, 6, 60)] + 1e-8 * random.normal(size=(60, 6))
    elif kind == "zero vectors":
        vectors[random.random(60) < 0.2] = 0
    elif kind == "opposites":
        vectors[30:] = -vectors[:30]
    elif kind == "lengths of all sizes":
        vectors *= 10.0 ** random.integers(-30, 30, (60, 1))
    elif kind == "half precision":
        return vectors.astype(np.float16)
    return vectors.astype(np.float64 if kind == "lengths of all sizes" else np.float32)


WORLDS = (
    "random",
    "duplicates",
    "near duplicates",
    "zero vectors",
    "opposites",
    "lengths of all sizes",
    "half precision",
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exclude", [True, False])
@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
@pytest.mark.parametrize("kind", WORLDS)
def test_solver_is_the_slow_loop(kind: str, method: analogies.Method, seed: int, *, exclude: bool) -> None:
    vectors = world(kind, seed)
    random = np.random.default_rng(seed + 100)
    model = Embedding(tuple(f"w{row}" for row in range(60)), vectors)
    rows = random.integers(0, 60, size=(3, 40))
    allowed = None if seed == 0 else random.choice(60, 25)
    top, block = (1, 5, 30)[seed], (11, 7) if seed == 2 else (256, 1024)
    found = solve_analogies(
        model, *rows, method=method, exclude_inputs=exclude, candidates=allowed, top=top, block=block
    )
    assert found.ranked.shape == (40, top)
    for place, question in enumerate(rows.T.tolist()):
        pool = set(range(60) if allowed is None else allowed.tolist()) - (set(question) if exclude else set())
        if not all(vectors[row].any() for row in question):
            assert (found.rows[place], analogies.REASONS[found.undefined[place]]) == (
                -1,
                "the vector of a, b or c is zero",
            )
            continue
        expected = slow_ranking(vectors, question, method, sorted(pool), 0.001)[:top]
        units = [vectors[row].astype(np.float64) / np.linalg.norm(vectors[row].astype(np.float64)) for row in question]
        size = float(np.linalg.norm(units[1] - units[0] + units[2])) if method == "3cosadd" else 1
        there = len(expected)
        assert found.ranked[place, :there].tolist() == [row for row, _ in expected], question
        assert found.ranked_scores[place, :there] == pytest.approx([one / size for _, one in expected], 1e-9, abs=1e-9)
        assert (found.ranked[place, there:] == -1).all()
    assert np.array_equal(np.isnan(found.scores), found.undefined > 0)
    assert np.array_equal(np.isnan(found.ranked_scores), found.ranked < 0)


@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")  # gensim calls it itself
def test_products_are_those_of_gensim(glove: Embedding, peer: KeyedVectors) -> None:
    """Its ε is .000001."""
    asked = [words for rows in questions().values() for words in rows][::5]
    rows = np.array([[glove.index[word] for word in words[:3]] for words in asked]).T
    found = solve_analogies(glove, *rows, method="3cosmul", epsilon=1e-6)
    for (a, b, c, _), row, score in zip(asked, found.rows, found.scores, strict=True):
        ((word, value),) = peer.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)
        assert (glove.words[row], score) == (word, pytest.approx(value, rel=1e-4))


def test_scores_are_the_cosines_of_gensim(glove: Embedding, peer: KeyedVectors) -> None:
    found = solve_analogies(glove, *([glove.index[word]] for word in ("man", "king", "woman")))
    ((word, value),) = peer.most_similar(positive=["king", "woman"], negative=["man"], topn=1)
    assert glove.words[found.rows[0]] == word == "queen"
    assert found.scores[0] == pytest.approx(value, abs=1e-5)


def test_questions_without_an_answer_have_a_reason() -> None:
    angle = np.pi / 3
    fan = [[1.0, 0.0], [np.cos(angle), np.sin(angle)], [np.cos(angle), -np.sin(angle)], [0.0, 0.0], [0.3, 0.2]]
    model = Embedding(tuple("abcde"), np.array(fan))
    found = solve_analogies(model, [0, 0, 0], [1, 3, 1], [2, 1, 1])
    assert [analogies.REASONS[place] for place in found.undefined] == [
        "b − a + c is zero",
        "the vector of a, b or c is zero",
        "",
    ]
    alone = solve_analogies(model, [0], [1], [4], candidates=[0, 1, 3, 4])
    assert (alone.rows[0], analogies.REASONS[alone.undefined[0]]) == (-1, "there is no candidate")
    empty = solve_analogies(model, [], [], [])
    assert len(empty.rows) == 0
    lost = analogy_accuracy(model, [["a", "b", "c", "e"], ["a", "d", "b", "e"], ["a", "b", "b", "e"]])
    assert [why for _, why in lost.lost] == ["b − a + c is zero", "the vector of a, b or c is zero"]
    assert lost.total.n == 1
    nothing = analogy_accuracy(model, [["x", "b", "c", "e"]])
    assert (nothing.total.value, nothing.total.reason) == (None, "none of the questions can be asked")


def test_where_all_candidates_tie_the_first_is_the_answer() -> None:
    model = Embedding(tuple(f"w{row}" for row in range(3_000)), np.ones((3_000, 4), np.float32))
    found = solve_analogies(model, *np.zeros((3, 300), int))
    assert set(found.rows.tolist()) == {1}


@pytest.mark.parametrize(("right", "size"), [(0, 10), (3, 10), (10, 10), (77, 200)])
def test_wilson_is_that_of_statsmodels(right: int, size: int) -> None:
    low, high = proportion_confint(right, size, 0.1, "wilson")
    found = wilson(right / size, size, 0.9)
    assert found.low == pytest.approx(low, abs=1e-12)
    assert found.high == pytest.approx(high, abs=1e-12)


@pytest.mark.calibration
def test_accuracy_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Some pairs are easy, some hard. Taking 380 questions from 20 pairs for independent is right far too seldom."""
    random = np.random.default_rng(3)
    ends = np.array(list(permutations(range(20), 2)))
    asked = [Question("all", f"a{i}", f"b{i}", f"a{j}", f"b{j}") for i, j in ends]

    def answers(count: int) -> NDArray[np.bool_]:
        ease = random.normal(size=(count, 20))
        right: NDArray[np.bool_] = ease[:, ends[:, 0]] + ease[:, ends[:, 1]] + random.normal(size=(count, 380)) > -1
        return right

    truth = answers(20_000).mean()
    held, naive = [], []
    for right in answers(400):
        found = Answers(asked, right, frozenset(range(380)), 0.95).accuracy("total", ["all"])
        held.append(found.low <= truth <= found.high)
        plain = wilson(float(right.mean()), 380, 0.95)
        naive.append(plain.low <= truth <= plain.high)
    assert 0.92 < np.mean(held) < 0.99
    assert np.mean(naive) < 0.6


def test_interval_of_no_or_all_right_rests_on_the_pairs() -> None:
    asked = [
        Question("all", *first, *second) for first, second in permutations([("a", "b"), ("c", "d"), ("e", "f")], 2)
    ]
    for value in (0, 1):
        found = Answers(asked, np.full(6, bool(value)), frozenset(range(6)), 0.95).accuracy("total", ["all"])
        low, high = proportion_confint(3 * value, 3, 0.05, "wilson")
        assert found.low == pytest.approx(low)
        assert found.high == pytest.approx(high)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (": family\nking queen man\n", "line 2: expected four words, or ': ' and a category; found 'king queen man'"),
        ("king queen man woman boy\n", "line 1: expected four words"),
        ("// remark\n: family\n", "holds no analogy question"),
    ],
)
def test_bad_files_of_questions(content: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "questions"
    path.write_text(content)
    with pytest.raises(LexiconError, match=expected):
        read_analogies(path)


def test_files_of_questions(tmp_path: Path) -> None:
    path = tmp_path / "questions"
    path.write_text("// Copyright\nking queen man woman\n:  kin \n\nboy girl  son\tdaughter\r\n")
    assert read_analogies(path) == (
        ("all", "king", "queen", "man", "woman"),
        ("kin", "boy", "girl", "son", "daughter"),
    )


def test_the_google_set_ships_whole() -> None:
    """Counts of the paper that made it: 8,869 semantic and 10,675 syntactic questions in 14 categories."""
    found = google_analogies()
    assert len(found) == 19_544
    assert len({one.category for one in found}) == 14
    assert sum(one.category.startswith("gram") for one in found) == 10_675
    assert found[0] == ("capital-common-countries", "Athens", "Greece", "Baghdad", "Iraq")


@pytest.mark.shared
def test_the_google_set_is_that_of_the_source(shared_data: Path) -> None:
    assert google_analogies() == read_analogies(shared_data / "word_lists" / "word-test.v1.txt")


def test_arguments_that_cannot_be_used(glove: Embedding) -> None:
    with pytest.raises(ParameterError, match="'method'"):
        solve_analogies(glove, [0], [1], [2], method="cosine")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="as many rows of a as of b and of c"):
        solve_analogies(glove, [0], [1, 2], [2])
    with pytest.raises(ParameterError, match="as many rows of a as of b and of c"):
        solve_analogies(glove, [0.5], [1.5], [2.5])
    with pytest.raises(ParameterError, match=r"go from 0 to .*Got -1 to 2"):
        solve_analogies(glove, [-1], [1], [2])
    with pytest.raises(ParameterError, match="'epsilon'"):
        solve_analogies(glove, [0], [1], [2], epsilon=0)
    with pytest.raises(ParameterError, match="'top'"):
        solve_analogies(glove, [0], [1], [2], top=0)
    with pytest.raises(ParameterError, match="'limit'"):
        analogy_accuracy(glove, [["a", "b", "c", "d"]], limit=0)
    for bad in ([], 7, [["a", "b", "c"]], {"x": 7}, ["abcd"]):
        with pytest.raises(ParameterError, match="'questions' parameter of analogy_accuracy"):
            analogy_accuracy(glove, bad)  # type: ignore[arg-type]


def test_a_policy_states_the_share_that_must_be_found(glove: Embedding) -> None:
    strict = WordPolicy(min_coverage=0.9, case="exact")
    rows = [("man", "woman", 9.0), ("king", "queen", 8.0), ("cat", "river", 2.0), ("no-such-word", "man", 1.0)]
    assert similarity_benchmark(glove, rows).spearman.value is not None
    assert "fewer than 90 %" in (similarity_benchmark(glove, rows, policy=strict).spearman.reason or "")
    asked = {"family": [["man", "woman", "king", "queen"], ["man", "woman", "no-such-word", "aunt"]]}
    assert analogy_accuracy(glove, asked).total.n == 1
    assert "fewer than 90 %" in (analogy_accuracy(glove, asked, policy=strict).total.reason or "")
