"""What may be written where a lexicon, words or pairs are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import Pairs, WordSet, lexicon, pairs_of, seed_bank, words_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text('kind = "sets"\n[sets]\njobs = ["nurse", "pilot", "nurse"]\n"a:b" = ["c"]\n', encoding="utf-8")
    return path


def test_a_lexicon_is_returned_as_it_is() -> None:
    occ18 = lexicon("occ18")
    assert lexicon(occ18) is occ18
    assert lexicon("occ18") is occ18


def test_a_shipped_name_wins_over_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "occ18").write_text("not even TOML", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(lexicon("occ18").words) == 76
    with pytest.raises(LexiconError, match="is not valid TOML"):
        lexicon(Path("occ18"))


@pytest.mark.parametrize(
    ("name", "near"),
    [("wet7", "weat7"), ("WEAT7", "weat7"), ("occ_16", "occ16"), ("religions", "religion"), ("seedbank", "seed_bank")],
)
def test_an_unknown_name_gets_the_nearest_and_where_to_look(name: str, near: str) -> None:
    with pytest.raises(LexiconError) as caught:
        lexicon(name)
    assert near in str(caught.value)
    assert "`biasgauge lexicons list` shows all" in str(caught.value)


@pytest.mark.parametrize("wrong", [None, 3, b"occ16", ["occ16"]])
def test_what_cannot_be_a_lexicon_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="lexicon"):
        lexicon(wrong)  # type: ignore[arg-type]


def test_adding_a_lexicon_is_adding_a_file() -> None:
    folder = Path(str(lexicon("occ16").path)).parent
    assert {file.stem for file in folder.glob("*.toml")} == set(registry.names("lexicon"))


def test_words_of_a_whole_lexicon() -> None:
    words = words_of("weat7")
    assert words.name == "weat7"
    assert words.words == lexicon("weat7").words


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (
            "du2021_queries:math",
            ("math", "algebra", "geometry", "calculus", "equations", "computation", "numbers", "addition"),
        ),
        ("weat7:b", ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")),
        ("weat7:female terms", ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")),
        ("race:asian.protected", ("asian", "asia", "china")),
        ("seed_bank:sports-Kozlowski_et_al_2019", seed_bank().bank.sets["sports-Kozlowski_et_al_2019"]),
    ],
)
def test_words_of_one_set(reference: str, words: tuple[str, ...]) -> None:
    found = words_of(reference)
    assert found.words == words
    assert reference.endswith(found.name.rpartition(":")[2])


def test_one_set_keeps_its_duplicates() -> None:
    assert words_of("weat_es_gender:a").words.count("hermano") == 2
    assert words_of("weat_es_gender").words.count("hermano") == 1


@pytest.mark.parametrize(
    "identifier",
    [
        "definitional_male-Bolukbasi_et_al_2016",
        "race/ethnicity/nationality-Rudinger_et_al_2017",  # looks like a path
        "high_morality_and_low/neutral_warmth-Bhatia_et_al_2018",
        "career_words-Gonen_&_Goldberg_2019",
    ],
)
def test_words_of_a_seed_set(identifier: str) -> None:
    assert words_of(identifier) == WordSet(identifier, seed_bank("none").bank.sets[identifier])


def test_every_usable_seed_set_has_words_by_its_id() -> None:
    for identifier, words in seed_bank().bank.sets.items():
        assert words_of(identifier).words == words


def test_seed_sets_come_corrected() -> None:
    assert "fiancé" in words_of("gender_specific-Bolukbasi_et_al_2016").words


def test_an_empty_seed_set_says_why() -> None:
    with pytest.raises(LexiconError, match="professions-Zhao_et_al"):
        words_of("professions-Zhao_et_al_2018")


def test_words_of_a_users_file(mine: Path) -> None:
    assert words_of(mine).words == ("nurse", "pilot", "c")
    assert words_of(str(mine)).words == ("nurse", "pilot", "c")
    assert words_of(f"{mine}:jobs").words == ("nurse", "pilot", "nurse")
    assert words_of(f"{mine}:jobs").name == "mine:jobs"


def test_words_themselves() -> None:
    assert words_of(["b", "a", "b"]) == WordSet("given words", ("b", "a", "b"))
    assert words_of(word for word in ("x", "y")).words == ("x", "y")
    given = WordSet("mine", ("a",))
    assert words_of(given) is given


@pytest.mark.parametrize(
    ("reference", "error", "part"),
    [
        (
            "nurse",
            LexiconError,
            "there is no lexicon named 'nurse'; `biasgauge lexicons list` shows all; a single word is given as a list",
        ),
        ("weat7:z", LexiconError, "the lexicon 'weat7' has no set 'z'; its sets: x, y, a, b, math"),
        ("male-Bolukbasi_et_al_2016", LexiconError, "no seed set 'male-Bolukbasi_et_al_2016'; did you mean"),
        ("seed_bank:male", LexiconError, "there is no seed set 'male'"),
        ("none/such.toml", LexiconError, "there is no such file"),
        ("none/such", LexiconError, "there is no such file"),
        ("", LexiconError, "there is no lexicon named ''"),
        ([], ParameterError, "at least one word, found none"),
        (["a", 3], ParameterError, "word 2 must be a string, found the number 3"),
        (["a", ""], ParameterError, "word 2 must be a word without white space around it, found ''"),
        ([" a"], ParameterError, "word 1 must be a word without white space around it"),
        (3, ParameterError, "words must be a name, a path or an iterable of strings, found the number 3"),
        (None, ParameterError, "found nothing"),
    ],
)
def test_references_that_mean_no_words(reference: object, error: type[Exception], part: str) -> None:
    with pytest.raises(error) as caught:
        words_of(reference)  # type: ignore[arg-type]
    assert part in str(caught.value)


def test_pairs_by_name_and_file(tmp_path: Path) -> None:
    assert len(pairs_of("du2021").pairs) == 23
    path = tmp_path / "pairs.toml"
    path.write_text('kind = "pairs"\npairs = [["rich", "poor"]]\n', encoding="utf-8")
    assert pairs_of(path).pairs == pairs_of(str(path)).pairs == (("rich", "poor"),)


def test_pairs_themselves() -> None:
    pairs = pairs_of([("he", "she"), ["man", "woman"]])
    assert pairs == Pairs(name="given pairs", pairs=(("he", "she"), ("man", "woman")))
    assert pairs_of(pairs) is pairs


@pytest.mark.parametrize(
    ("make", "error", "part"),
    [
        (lambda: pairs_of("occ16"), LexiconError, "'occ16' holds words, but pairs are wanted here"),
        (lambda: pairs_of(lexicon("weat7")), LexiconError, "'weat7' holds test, but pairs are wanted"),
        (lambda: pairs_of("du2020"), LexiconError, "nearest: du2021"),
        (lambda: pairs_of(("he", "she")), ParameterError, "pair 1 must be two words, as in [('he', 'she')]"),
        (lambda: pairs_of([("he", "she", "it")]), ParameterError, "found 3"),
        (lambda: pairs_of([("he", " she")]), ParameterError, "white space"),
        (lambda: pairs_of([]), ParameterError, "at least one pair, found none"),
        (lambda: pairs_of(7), ParameterError, "found the number 7"),  # type: ignore[arg-type]
    ],
)
def test_references_that_mean_no_pairs(make: Callable[[], Pairs], error: type[Exception], part: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert part in str(caught.value)
