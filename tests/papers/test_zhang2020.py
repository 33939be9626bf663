"""The recipe of Zhang, Sneyd & Stevenson 2020: without data, on a made-up file in its layout, on a part of a real one.

What the recipe calls is held to oracles in its own room; here it is the recipe that is checked: that each published
number is set beside the right one, and is held to it only where the data are the paper's.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.lexicons import lexicon, pairs_of, words_of
from biasgauge.papers import Reproduction, reproduce
from biasgauge.papers.zhang2020 import MEAN, PAIRS, PRINTED
from biasgauge.vectors import load, save
from biasgauge.vectors.benchmarks import google_analogies

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors import Embedding

FILE = "GoogleNews-vectors-negative300.bin"
TABLES = ("table2", "table3", "table4", "table5", "table6", "text")
SAME_WORDS = (
    "he~she", "his~her", "man~woman", "son~daughter", "father~mother", "boy~girl", "male~female",
)  # fmt: skip
"""Pairs that the part of GoogleNews has in lower case and capitalized."""


@pytest.fixture(scope="module")
def without() -> Reproduction:
    return reproduce("zhang2020")


def test_every_number_has_one_row_and_every_part_fills_only_its_own() -> None:
    paper = registry.get("paper", "zhang2020")
    rows = [row for part in paper.parts for row in part.published]
    assert len({row.id for row in rows}) == len(rows)
    # Tables 1 to 6: 6 + 3 counts, 9, 33, 99 + 1, 66 and 33 numbers.
    sizes = {part.name: len(part.published) for part in paper.parts}
    assert [sizes[f"table{number}"] for number in range(1, 7)] == [9, 9, 33, 100, 66, 33]
    assert all(row.published is not None for row in rows)


def test_without_data_counts_and_sums_are_checked_and_the_rest_says_what_it_needs(without: Reproduction) -> None:
    states = {part: {row.state for row in without.rows if row.part == part} for part in without.parts}
    assert states.pop("lists") == {"agrees"}
    assert [row.id for row in without.rows if row.state == "differs"] == ["sums.truth_least"]
    assert without.count("agrees") == 36  # 12 lists, 21 means of printed cells, 3 ends of ranges
    states.pop("sums")
    assert set().union(*states.values()) == {"not checked"}
    needed = [row for row in without.rows if row.part in states]
    assert all(row.note.startswith("needs googlenews") and row.as_published is None for row in needed)
    (missing,) = without.missing
    assert FILE in missing.fetch
    assert missing.parts == tuple(states)


def test_the_least_mean_of_table_5_is_not_what_the_text_says(without: Reproduction) -> None:
    row = without.row("sums.truth_least")
    assert (row.published, row.as_published) == (0.17, 0.15)


@pytest.mark.parametrize(("measure", "share"), [("dbwa", 0.31), ("ripa", 0.34), ("nbm", 0.29)])
def test_table_2_prints_one_minus_the_share(measure: str, share: float, without: Reproduction) -> None:
    row = without.row(f"sums.table2.{measure}")
    assert row.corrected == pytest.approx(share)
    assert row.as_published is None
    assert "one minus" in row.note


def test_a_mistake_in_a_table_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRINTED, "table3.dbwa.capitalized.he~she", 0.95)
    assert reproduce("zhang2020", parts=["sums"]).row("sums.table3.dbwa.capitalized.mean").state == "differs"


def made_up_words() -> list[str]:
    """Whatever the paper asks for, in all its forms, and as many other words as neighbors take."""
    asked = [*words_of("occ16").words, *words_of("bsri").words, *words_of("animals").words]
    pairs = [end for pair in pairs_of("zhang2020").pairs for end in pair]
    forms = [form for word in asked[:320] for form in (f"{word}s", word.capitalize(), word.upper())]
    other = [a + b + c for a in "bcd" for b in "aeiou" for c in "fghjklmnpqr"]
    analogies = [word for one in google_analogies()[::400] for word in (one.a, one.b)]
    more = ["king", "queen", "apple", "apples", "homemaker", "computer_programmer"]
    return list(dict.fromkeys([*pairs, *map(str.capitalize, pairs), *asked, *forms, *other, *analogies, *more]))


@pytest.fixture(scope="module")
def made_up() -> Embedding:
    words = made_up_words()
    return load((words, np.random.default_rng(5).normal(size=(len(words), 12)).astype(np.float32)))


@pytest.fixture(scope="module")
def on_made_up(made_up: Embedding, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    folder = tmp_path_factory.mktemp("whole")
    save(made_up, folder / FILE)
    return reproduce("zhang2020", folder)


def test_a_file_in_the_published_layout_fills_every_row(on_made_up: Reproduction) -> None:
    assert on_made_up.settings["files"] == {"googlenews": FILE}
    assert not on_made_up.missing
    lost = [row.id for row in on_made_up.rows if row.as_published is None and not row.id.startswith("sums.table2")]
    # The made-up words hold few analogies, and none of these categories.
    assert all(name.startswith("analogies.solved.") for name in lost), lost


def directions(model: Embedding, pair: str, words: tuple[str, ...], *, unit: bool) -> list[bool]:
    """Which words lean to the female end, in the plainest way."""
    male, female = (model[end].astype(float) for end in pair.split("~"))
    if unit:
        male, female = male / np.linalg.norm(male), female / np.linalg.norm(female)
    return [float(model[word].astype(float) @ (female - male)) > 0 for word in words]


def test_tables_3_4_and_6_against_plain_counting(made_up: Embedding, on_made_up: Reproduction) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    words = words_of("occ16").words
    for pair in PAIRS:
        by_dbwa, by_ripa = (directions(made_up, pair, words, unit=unit) for unit in (True, False))
        expected = sklearn.cohen_kappa_score(by_dbwa, by_ripa)
        assert on_made_up.row(f"table6.dbwa.ripa.{pair}").as_published == pytest.approx(expected)
        capitalized = directions(made_up, "~".join(end.capitalize() for end in pair.split("~")), words, unit=True)
        expected = sklearn.cohen_kappa_score(by_dbwa, capitalized)
        assert on_made_up.row(f"table3.dbwa.capitalized.{pair}").as_published == pytest.approx(expected)
        plurals = directions(made_up, pair, tuple(f"{word}s" for word in words), unit=True)
        expected = sklearn.cohen_kappa_score(by_dbwa, plurals)
        assert on_made_up.row(f"table4.dbwa.plural.{pair}").as_published == pytest.approx(expected)
    mean = np.mean([float(on_made_up.row(f"table6.dbwa.ripa.{pair}").as_published or 0) for pair in PAIRS])
    assert on_made_up.row("table6.dbwa.ripa.mean").as_published == pytest.approx(mean)


def test_table_5_against_plain_counting(made_up: Embedding, on_made_up: Reproduction) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    animals: Any = lexicon("animals")
    male, female = zip(*animals.pairs, strict=True)
    known = [False] * len(male) + [True] * len(female)
    found = directions(made_up, "boy~girl", (*male, *female), unit=False)
    row = on_made_up.row("table5.ripa.animals.boy~girl")
    assert row.as_published == pytest.approx(sklearn.cohen_kappa_score(known, found))


def test_table_2_is_one_minus_the_share_of_changes_by_one_sd(made_up: Embedding, on_made_up: Reproduction) -> None:
    words = [word for word in made_up.words if word.replace("_", "").isalpha() and word.isascii() and len(word) < 20]
    unit = {word: made_up[word].astype(float) / np.linalg.norm(made_up[word].astype(float)) for word in made_up.words}
    scores = {
        pair: {word: float(unit[word] @ (unit[pair.split("~")[0]] - unit[pair.split("~")[1]])) for word in words}
        for pair in PAIRS
    }
    sd = np.std([value for one in scores.values() for value in one.values()])
    asked = words_of("occ16").words
    shares = [
        np.mean([abs(scores[a][word] - scores[b][word]) >= sd for a, b in combinations(PAIRS, 2)]) for word in asked
    ]
    row = on_made_up.row("table2.dbwa.magnitude")
    assert row.as_published == pytest.approx(1 - np.mean(shares), abs=1e-6)
    assert on_made_up.row("table1.dbwa.sd").as_published == pytest.approx(sd, rel=1e-5)
    mean = -np.mean([value for one in scores.values() for value in one.values()])
    assert on_made_up.row("table1.dbwa.mean").as_published == pytest.approx(mean, abs=1e-6), "+ is female there"


def test_share_of_professions_on_which_all_pairs_agree(made_up: Embedding, on_made_up: Reproduction) -> None:
    words = words_of("occ16").words
    signs = np.array([directions(made_up, pair, words, unit=True) for pair in PAIRS])
    agreed = 100 * np.mean(signs.all(axis=0) | ~signs.any(axis=0))
    assert on_made_up.row("table2.dbwa.unanimous").as_published == pytest.approx(agreed)


def test_figure_2_with_and_without_the_pair_itself(made_up: Embedding, on_made_up: Reproduction) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    words = words_of("occ16").words
    signs = [directions(made_up, pair, words, unit=True) for pair in PAIRS]
    ends = [[made_up[end] / np.linalg.norm(made_up[end]) for end in pair.split("~")] for pair in PAIRS]
    gaps = np.array([male - female for male, female in ends], float)
    gaps /= np.linalg.norm(gaps, axis=1, keepdims=True)
    cosines = gaps @ gaps[0]
    kappas = np.array([sklearn.cohen_kappa_score(signs[0], one) for one in signs])
    row = on_made_up.row(f"figure2.{PAIRS[0]}")
    assert row.as_published == pytest.approx(np.corrcoef(cosines, kappas)[0, 1], abs=1e-5)
    assert row.corrected == pytest.approx(np.corrcoef(cosines[1:], kappas[1:])[0, 1], abs=1e-5)


def test_cosines_and_answers_of_section_7(made_up: Embedding, on_made_up: Reproduction) -> None:
    unit = made_up.vectors / np.linalg.norm(made_up.vectors, axis=1, keepdims=True)
    place = {word: row for row, word in enumerate(made_up.words)}
    cosine = float(unit[place["homemaker"]] @ unit[place["computer_programmer"]])
    assert on_made_up.row("analogies.cosine.homemaker").as_published == pytest.approx(cosine, abs=1e-6)
    near = unit @ unit[place["man"]]
    near[[place[word] for word in ("man", "apple", "apples")]] = -1
    assert on_made_up.row("analogies.nearest.man").as_published == made_up.words[int(near.argmax())]
    for name, (first, second) in {"as_published": ("woman", "man"), "corrected": ("man", "woman")}.items():
        aim = unit @ (unit[place["apple"]] - unit[place[first]] + unit[place[second]])
        aim[[place[word] for word in ("man", "woman", "apple")]] = -9
        assert getattr(on_made_up.row("analogies.apple"), name) == made_up.words[int(aim.argmax())]


def test_other_words_are_not_held_to_the_paper(on_made_up: Reproduction) -> None:
    for part in ("table1", "table4"):
        assert {row.state for row in on_made_up.rows if row.part == part} == {"not checked"}
    assert on_made_up.row("table2.dbwa.magnitude").state == "not checked", "its standard deviation is of other words"
    assert "words for 230" in on_made_up.row("table4.dbwa.plural.he~she").note
    # All professions and pairs are there: the same words as the paper's, so these numbers are held to it.
    assert on_made_up.row("table2.dbwa.kappa").state == "differs"
    assert on_made_up.row("table6.dbwa.ripa.he~she").state == "differs"
    assert on_made_up.row("text.surgeon.dbwa").state == "differs"


def test_vectors_that_lack_what_the_paper_asks_for_say_so(tmp_path: Path) -> None:
    words = ["he", "she", "nurse", "judge", *(a + b for a in "bcdfghjklm" for b in "aeiouy")]
    save(load((words, np.random.default_rng(1).normal(size=(len(words), 6)).astype(np.float32))), tmp_path / FILE)
    found = reproduce("zhang2020", tmp_path, parts=[*TABLES, "figure2", "analogies"])
    assert found.row("table3.dbwa.capitalized.he~she").note
    assert found.row("table6.dbwa.ripa.man~woman").as_published is None
    assert found.row("text.flipped").as_published is None
    assert "man" in found.row("analogies.solved").note


@pytest.fixture(scope="module")
def on_part(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """A part of the part of GoogleNews, so that NBM has few neighbors to look through."""
    source = shared_data / "googlenews_subset_union" / "googlenews_union_31927x300.npz"
    asked = {*made_up_words(), "surgeons"}
    with np.load(source, allow_pickle=False) as archive:
        words = archive["words"]
        kept = np.isin(words, sorted(asked)) | (np.arange(len(words)) % 20 == 0)
        chosen = {name: archive[name][kept] for name in ("words", "vectors", "raw_norm")}
    folder = tmp_path_factory.mktemp("part")
    np.savez(folder / "googlenews_some.npz", **chosen)
    return reproduce("zhang2020", folder, parts=TABLES)


@pytest.mark.shared
def test_what_rests_on_the_same_words_is_reached_on_real_vectors(on_part: Reproduction) -> None:
    reached = {
        *(f"table3.{measure}.capitalized.{pair}" for measure in ("dbwa", "ripa") for pair in SAME_WORDS),
        *(f"table6.dbwa.ripa.{pair}" for pair in PAIRS if pair != "john~mary"),
        "text.surgeon.ripa.she_he",
        "text.surgeon.ripa.woman_man",
        "text.surgeon.dbwa",
        "text.surgeons.dbwa",
        "text.flipped",
        "text.flipped_percent",
    }
    assert {row.id for row in on_part.rows if row.state == "agrees"} == reached
    assert not [row.id for row in on_part.rows if row.state == "differs"]
    assert on_part.row("text.flipped").as_published == 91


@pytest.mark.shared
@pytest.mark.parametrize("measure", ["dbwa", "ripa"])
def test_the_printed_magnitude_is_impossible_on_real_vectors(measure: str, on_part: Reproduction) -> None:
    row = on_part.row(f"table2.{measure}.magnitude")
    assert "cannot be that share" in row.note
    assert isinstance(row.corrected, float)
    assert row.corrected < 0.5 < PRINTED[f"table2.{measure}.magnitude"]


@pytest.mark.shared
def test_what_a_part_lacks_is_named(on_part: Reproduction) -> None:
    assert "an end of the pair is not in" in on_part.row("table3.dbwa.capitalized.john~mary").note
    assert "9 of the ten pairs" in on_part.row("table2.dbwa.kappa").note
    assert "neutral words" in on_part.row("table6.dbwa.nbm.he~she").note
    assert "too few" in on_part.row("table4.dbwa.upper.he~she").note
    assert on_part.row(f"table6.dbwa.ripa.{MEAN}").state == "not checked"


@pytest.mark.shared
@pytest.mark.slow
def test_the_shared_data_agree_wherever_they_are_the_papers(shared_data: Path) -> None:
    found = reproduce("zhang2020", shared_data)
    assert [row.id for row in found.rows if row.state == "differs"] == ["sums.truth_least"]
    assert found.row("analogies.cosine.digits").state == "agrees"
    assert found.row("analogies.cosine.she_he").state == "agrees"
    assert found.row("analogies.nearest.man").as_published == "woman"
