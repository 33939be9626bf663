"""Treatments of a lexicon of sets: the lists that Goldfarb-Tarrant et al. debias and overbias with, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import LexiconError
from biasgauge.lexicons import AssociationTest, WordSets, treatment, words_of
from biasgauge.mitigation import lexicon_pairs

if TYPE_CHECKING:
    from pathlib import Path

NAME = "goldfarb2021_expansion"


def test_the_treatment_of_all_tests_makes_the_pairs_of_the_released_files() -> None:
    """5,330 pairs to attract and 5,174 to repel, as the released constraint files have."""
    sets = bg.lexicon(NAME).sets
    careers, families = (
        sum(len(sets[name]) for part in parts for name in (part, f"{part}_expansion"))
        for parts in (("career", "math_sci"), ("family", "art"))
    )
    male, female = (len(sets[name]) + len(sets[f"{name}_expansion"]) for name in ("male", "female"))
    attract, repel = lexicon_pairs(NAME, "debias")
    assert (len(attract), len(repel)) == (careers * female + families * male, careers * male + families * female)
    assert sorted((len(attract), len(repel))) == [5174, 5330]
    assert ("executive", "she") in attract
    assert ("executive", "he") in repel
    assert lexicon_pairs(NAME, "overbias") == (repel, attract)


def test_a_treatment_is_a_test_and_others_stay_what_they_are() -> None:
    first, second = treatment(NAME), treatment(f"{NAME}:math_sci")
    assert isinstance(first, AssociationTest)
    assert isinstance(second, AssociationTest)
    assert set(second.x.words) < set(first.x.words)
    assert treatment("weat7") is bg.lexicon("weat7")
    assert isinstance(bg.lexicon(NAME), WordSets)
    with pytest.raises(LexiconError, match="has no treatment 'weat9'; it has all, weat6b, math_sci"):
        treatment(f"{NAME}:weat9")


def test_a_treatment_of_sets_that_are_not_there_is_refused(tmp_path: Path) -> None:
    roles = '{ x = ["one"], y = ["two"], a = ["one"], b = ["three"] }'
    file = tmp_path / "mine.toml"
    file.write_text(f'kind = "sets"\n[sets]\none = ["a"]\ntwo = ["b"]\n[treatments]\nfirst = {roles}\n')
    with pytest.raises(LexiconError, match=r"treatments\.first\.b.*'three', which is none of the sets"):
        bg.lexicon(file)


def test_sets_are_joined_where_words_are_wanted() -> None:
    sets = bg.lexicon(NAME).sets
    assert words_of(f"{NAME}:male,male_expansion").words == (*sets["male"], *sets["male_expansion"])
    with pytest.raises(LexiconError, match="no set 'men'"):
        words_of(f"{NAME}:male,men")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    words = list(dict.fromkeys(bg.lexicon(NAME).words))
    model = bg.Embedding(tuple(words), np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32))
    return bg.save(model, tmp_path / "vectors.npz") or tmp_path / "vectors.npz"


def test_mitigate_and_balance_take_it_by_name(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "debiased.npz"
    options = ["--method", "attract_repel", "--lexicon", NAME, "--out", str(out), "--quiet"]
    assert run(["mitigate", str(vectors), *options]) == 0, capsys.readouterr().err
    before, after = (bg.weat(path, treatment(NAME), interval=None) for path in (vectors, out))
    assert before.value is not None
    assert after.value is not None
    assert after.value < before.value - 0.5
    text = tmp_path / "text.txt"
    text.write_text("he has an office\nshe has an office\nhe took the job\nhe runs a company\nnothing here\n" * 40)
    for words in (
        ["--lexicon", NAME],
        [
            *("--x", f"{NAME}:career,career_expansion", "--y", f"{NAME}:family,family_expansion"),
            *("--a", f"{NAME}:male", "--b", f"{NAME}:female"),
        ],
    ):
        balanced = tmp_path / f"{len(words)}.txt"
        assert run(["balance", str(text), *words, "--max-removed", "0.9", "--out", str(balanced), "--quiet"]) == 0
        lines = balanced.read_text().splitlines()
        assert sum("he " in f" {line}" and "she" not in line for line in lines) <= 41
        assert lines.count("she has an office") == 40


def test_a_table_of_mac_takes_three_groups(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    religion = bg.lexicon("religion")
    model = bg.Embedding(religion.words, np.random.default_rng(1).normal(size=(len(religion.words), 9)))
    assert bg.scores.association_test(model, "religion", kind="mac").value == bg.scores.mac(model, "religion").value
    assert run(["weat", str(vectors), "--test", "religion"]) == 2
    assert "or the kind mac" in capsys.readouterr().err
