"""Planted texts: what was asked is what is counted, and no word occurs more or less often than before."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.calibrate import (
    EditableText,
    Mentions,
    Mixture,
    Shuffle,
    Swap,
    assign_doses,
    choose_carriers,
    plant,
)
from biasgauge.errors import ParameterError
from biasgauge.text import TokenCorpus, read_corpus

PAIRS = (("he", "she"), ("him", "her"), ("his", "her"), ("man", "woman"))
CARRIERS = tuple(f"c{letter}" for letter in "abcdefgh")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    """30,000 lines of words and ends at random; ends of the two kinds are not equally frequent."""
    random = np.random.default_rng(3)
    words = [*CARRIERS, *(f"w{number}" for number in range(292))]
    ends = ["he", "he", "he", "she", "him", "her", "his", "man", "man", "woman"]
    lines = []
    for _ in range(30_000):
        length = random.integers(3, 15)
        drawn = [
            ends[random.integers(10)] if random.random() < 0.15 else words[random.integers(300)] for _ in range(length)
        ]
        lines.append(" ".join(drawn))
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_corpus(folder / "text.txt", out=folder / "corpus", tokenizer="whitespace")


def counted_slowly(corpus: TokenCorpus, window: int) -> tuple[list[Counter[str]], list[int]]:
    """Words in windows of first and of second ends, and how many places these have: straight from the definition."""
    kinds = {end: side for pair in PAIRS for side, end in enumerate(pair)}
    beside: list[Counter[str]] = [Counter(), Counter()]
    places = [0, 0]
    for document in range(len(corpus.documents) - 1):
        for line in corpus.document(document):
            for place, end in enumerate(line):
                if end in kinds:
                    near = line[max(0, place - window) : place] + line[place + 1 : place + 1 + window]
                    places[kinds[end]] += len(near)
                    beside[kinds[end]].update(near)
    return beside, places


DOSES = dict(zip(CARRIERS, [0.0, 0.7, -0.7, 1.4, -1.4, 2.3, -2.3, 0.0], strict=True))


@pytest.mark.parametrize("window", [2, 5])
def test_the_dose_that_is_told_is_the_one_that_is_there(corpus: TokenCorpus, tmp_path: Path, window: int) -> None:
    from statsmodels.stats.contingency_tables import Table2x2

    planted = plant(corpus, Mentions(DOSES, PAIRS, window), out=tmp_path, window=window)
    planted.corpus.check()
    assert planted.remarks == ()
    for text, told in ((planted.corpus, "log_odds"), (corpus, "before")):
        beside, places = counted_slowly(text, window)
        for row in planted.doses:
            near = [beside[end][row.word] for end in (0, 1)]
            oracle = Table2x2(np.array([[near[end], places[end] - near[end]] for end in (0, 1)], float))
            assert getattr(row, told) == pytest.approx(oracle.log_oddsratio, abs=1e-10)
            if text is planted.corpus:
                assert (row.n_wa, row.n_wb, row.n_a, row.n_b) == (*near, *places)
                assert row.se == pytest.approx(oracle.log_oddsratio_se, abs=1e-10)


def test_a_carrier_by_itself_gets_its_dose_but_for_one_end(tmp_path: Path) -> None:
    """One carrier and one end a line: nothing but whole numbers stands between what is asked and what is there."""
    ends = [["he", "she", "she"][number % 3] for number in range(9_000)]
    lines = [f"{[*CARRIERS, 'w1', 'w2', 'w3', 'w4'][number % 12]} {end}" for number, end in enumerate(ends)]
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    text = read_corpus(tmp_path / "t.txt", out=tmp_path / "c", tokenizer="whitespace")
    for seed in range(5):
        for row in plant(text, Mentions(DOSES, PAIRS[:1]), out=tmp_path, random_state=seed).doses:
            with_one = [
                log((row.n_wa + one) * (row.n_b - row.n_wb + one) / ((row.n_a - row.n_wa - one) * (row.n_wb - one)))
                for one in (-1, 1)
            ]
            assert with_one[0] <= row.dose <= with_one[1], row


def test_among_other_carriers_doses_err_by_an_end_or_two_to_neither_side(corpus: TokenCorpus) -> None:
    """An end beside two carriers cannot serve both; what is left over has no direction."""
    errors = []
    for seed in range(12):
        text, edit = EditableText(corpus, corpus.tokens.copy()), Mentions(DOSES, PAIRS)
        edit.apply(text, seed)
        near, places = text.count_near_ends(DOSES, PAIRS, 5)
        rest = places - near
        odds = np.log(near[:, 0] / rest[:, 0]) - np.log(near[:, 1] / rest[:, 1])
        errors.append((odds - list(DOSES.values())) / (1 / near).sum(axis=1))  # in ends
    spread = np.std(errors, ddof=1)
    assert abs(np.mean(errors)) < 4 * spread / len(np.ravel(errors)) ** 0.5
    assert np.sqrt(np.mean(np.square(errors))) < 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_word_becomes_more_or_less_frequent(corpus: TokenCorpus, tmp_path: Path, seed: int) -> None:
    strong = Mentions(dict.fromkeys(CARRIERS, 3.0), PAIRS)
    mixed = Mixture({word: (-1) ** place * 0.3 for place, word in enumerate(CARRIERS)}, PAIRS)
    for edits in (strong, mixed, (strong, mixed), Shuffle()):
        planted = plant(corpus, edits, out=tmp_path / str(seed), random_state=seed)
        planted.corpus.check()
        assert planted.corpus.words == corpus.words
        assert np.array_equal(planted.corpus.counts, corpus.counts)
        assert not np.array_equal(planted.corpus.tokens, corpus.tokens)


def test_a_dose_that_cannot_be_made_up_for_elsewhere_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a he b she\n" * 50, encoding="utf-8")  # every end is beside the carriers
    corpus = read_corpus(tmp_path / "t.txt", out=tmp_path / "c", tokenizer="whitespace")
    planted = plant(corpus, Mentions({"a": 2.0}, (("he", "she"),)), out=tmp_path)
    assert np.array_equal(planted.corpus.counts, corpus.counts)
    assert len(planted.remarks) == 1
    assert "1 carriers (a)" in planted.remarks[0]
    assert planted.doses[0].log_odds == pytest.approx(0.0, abs=1e-9)


def test_carriers_that_crowd_each_other_are_said(tmp_path: Path) -> None:
    """Every end stands beside two carriers of opposite doses, and belongs to the first: the second has none."""
    (tmp_path / "t.txt").write_text("a he b\na she b\n" * 50 + "he w\nshe w\n" * 60, encoding="utf-8")
    corpus = read_corpus(tmp_path / "t.txt", out=tmp_path / "c", tokenizer="whitespace")
    planted = plant(corpus, Mentions({"a": 2.0, "b": -2.0}, (("he", "she"),)), out=tmp_path)
    dose = {row.word: row.log_odds for row in planted.doses}
    assert dose["a"] == pytest.approx(dose["b"], abs=1e-9)  # they have the same neighbors
    (remark,) = planted.remarks
    assert "1 carriers (b): what is there is less than what was asked" in remark


def test_only_ends_change_and_only_to_ends(corpus: TokenCorpus, tmp_path: Path) -> None:
    planted = plant(corpus, Mentions({"ca": 2.0, "cb": -2.0}, PAIRS), out=tmp_path)
    family, _ = EditableText(corpus, corpus.tokens).families(PAIRS)
    changed = planted.corpus.tokens != corpus.tokens
    assert changed.any()
    assert (family[corpus.tokens[changed]] == family[planted.corpus.tokens[changed]]).all()
    assert (family[corpus.tokens[changed]] >= 0).all()


def test_a_mixture_exchanges_places_with_the_chosen_end(corpus: TokenCorpus, tmp_path: Path) -> None:
    planted = plant(corpus, Mixture({"ca": 0.25, "cb": 0.0, "cc": -0.5}, PAIRS), out=tmp_path)
    places = {word: place for place, word in enumerate(corpus.words)}
    _, side = EditableText(corpus, corpus.tokens).families(PAIRS)
    for word, share, end in (("ca", 0.25, 0), ("cb", 0.0, 0), ("cc", 0.5, 1)):
        now = planted.corpus.tokens == places[word]
        new = now & (corpus.tokens != places[word])
        assert new.sum() == pytest.approx(share * now.sum(), abs=1)
        assert (side[corpus.tokens[new]] == end).all()


def test_swapping_every_document_mirrors_the_text(corpus: TokenCorpus, tmp_path: Path) -> None:
    pairs = (("he", "she"), ("man", "woman"))
    swapped = plant(corpus, Swap(pairs, share=1.0), out=tmp_path).corpus
    swapped.check()
    counts = dict(zip(corpus.words, corpus.counts, strict=True))
    for word, count in zip(swapped.words, swapped.counts, strict=True):
        partner = {"he": "she", "she": "he", "man": "woman", "woman": "man"}.get(word, word)
        assert count == counts[partner]
    again = plant(swapped, Swap(pairs, share=1.0), out=tmp_path).corpus
    assert again.checksum == corpus.checksum
    half = plant(corpus, Swap(pairs, documents=(0, 5)), out=tmp_path).corpus
    text = [
        " ".join(half.words[token] for token in half.tokens),
        " ".join(corpus.words[token] for token in corpus.tokens),
    ]
    ends = [int(corpus.lines[corpus.documents[number]]) for number in (6,)]
    assert text[0].split()[ends[0] :] == text[1].split()[ends[0] :]


def test_half_of_the_documents_swapped_leaves_no_association(corpus: TokenCorpus, tmp_path: Path) -> None:
    doses = {"ca": 1.5, "cb": -1.5}
    planted = plant(corpus, Mentions(doses, PAIRS[:1]), out=tmp_path).corpus
    swapped = plant(planted, (Swap(PAIRS[:1]), Mentions({"cc": 0.0}, PAIRS[:1])), out=tmp_path).corpus
    counted = plant(swapped, (Mixture({"ca": 0.0, "cb": 0.0}, PAIRS[:1]),), out=tmp_path)
    for row in counted.doses:
        assert abs(row.log_odds) < 4 * row.se


def test_the_same_edit_gives_the_same_text_and_another_seed_another(corpus: TokenCorpus, tmp_path: Path) -> None:
    edit = Mentions({"ca": 1.0, "cb": -1.0}, PAIRS)
    first = plant(corpus, edit, out=tmp_path / "a", random_state=4)
    assert plant(corpus, edit, out=tmp_path / "b", random_state=4).corpus.checksum == first.corpus.checksum
    assert plant(corpus, edit, out=tmp_path / "b", random_state=5).corpus.checksum != first.corpus.checksum
    again = plant(corpus, edit, out=tmp_path / "a", random_state=4)
    assert again.corpus.path == first.corpus.path
    assert again.doses == first.doses


def test_families_join_pairs_that_share_a_word(corpus: TokenCorpus) -> None:
    family, side = EditableText(corpus, corpus.tokens).families([*PAIRS, ("her", "she"), ("nowhere", "she")])
    at = {word: (family[place], side[place]) for place, word in enumerate(corpus.words) if family[place] >= 0}
    assert at["him"] == at["his"]
    assert at["him"][0] == at["her"][0] != at["he"][0]
    assert at["her"][1] == 1  # a pair that would make it a first end is left out
    assert set(at) == {"he", "she", "him", "his", "her", "man", "woman"}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda: Mentions({"he": 1.0}, PAIRS), "A carrier must not be a word of a pair. Got 'he'."),
        (lambda: Mentions({}, PAIRS), "Mentions needs at least one carrier and one pair."),
        (
            lambda: Mentions({"ca": float("nan")}, PAIRS),
            "The 'doses' parameter must be a number from -20 to 20. Got nan.",
        ),
        (lambda: Mixture({"ca": 1.5}, PAIRS), "The 'shares' parameter must be a number from -1 to 1. Got 1.5."),
        (lambda: Swap(PAIRS, share=2.0), "The 'share' parameter must be a number from 0 to 1. Got 2.0."),
    ],
)
def test_impossible_edits_are_refused(edit: object, said: str) -> None:
    with pytest.raises(ParameterError) as problem:
        edit()  # type: ignore[operator]
    assert str(problem.value) == said


def test_what_the_text_lacks_is_said(corpus: TokenCorpus, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'nowhere' does not occur"):
        plant(corpus, Mentions({"nowhere": 1.0}, PAIRS), out=tmp_path)
    with pytest.raises(ParameterError, match="none of the pairs"):
        plant(corpus, Mentions({"ca": 1.0}, (("king", "queen"),)), out=tmp_path)
    with pytest.raises(ParameterError, match=r"would take .* first ends"):
        plant(corpus, Mixture(dict.fromkeys([*CARRIERS, *(f"w{n}" for n in range(292))], 1.0), PAIRS), out=tmp_path)
    assert not list(tmp_path.glob("*"))


def test_carriers_are_drawn_over_all_frequencies(tmp_path: Path, corpus: TokenCorpus) -> None:
    random = np.random.default_rng(0)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(100)]
    chances = 1.0 / np.arange(3, 103)
    drawn = random.choice(words, 60_000, p=chances / chances.sum())
    lines = [f"{' '.join(part)} he she brother" for part in drawn.reshape(-1, 6)]
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    text = read_corpus(tmp_path / "t.txt", out=tmp_path / "c")
    carriers = choose_carriers(text, PAIRS[:1], 20, leave_out=["wcb"], random_state=1)
    counts = dict(zip(text.words, text.counts.tolist(), strict=True))
    assert len(set(carriers)) == 20
    assert not {"he", "she", "brother", "wcb"} & set(carriers)  # a brother is male whatever is planted on it
    fit = sorted(count for word, count in counts.items() if 200 <= count <= 2000 and word in words)
    ranks = np.searchsorted(fit, sorted(counts[word] for word in carriers)) / len(fit)
    assert np.abs(ranks - np.linspace(0, 1, 20)).max() < 0.15
    with pytest.raises(ParameterError, match="needs 500 carriers"):
        choose_carriers(corpus, PAIRS, 500)


def test_doses_are_dealt_anew_in_every_draw() -> None:
    levels = np.repeat([0.0, log(2)], [5, 5])
    words = [f"w{number}" for number in range(10)]
    first, again, other = (assign_doses(words, levels, 0, draw) for draw in (0, 0, 1))
    assert first == again != other
    assert sorted(first.values()) == sorted(other.values()) == sorted(levels.tolist())


def test_a_planted_result_tells_what_was_counted(corpus: TokenCorpus, tmp_path: Path) -> None:
    planted = plant(corpus, Mentions({"ca": 1.0, "cb": -1.0}, PAIRS), out=tmp_path)
    frame = planted.to_frame()
    assert frame["word"].tolist() == ["ca", "cb"]
    assert frame["log_odds"].to_numpy() == pytest.approx([1.0, -1.0], abs=0.1)
    assert planted.to_dict()["edits"][0]["edit"] == "mentions"
    assert "2 carriers" in repr(planted)
    assert isinstance(bg.analyses.calibrate.Planted, type)
