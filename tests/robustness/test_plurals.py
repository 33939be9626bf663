"""Plurals: irregular ones, compounds, and the same dictionary as lemminflect's own functions give."""

from __future__ import annotations

import subprocess
import sys

import pytest

from biasgauge.analyses.robustness.forms import ALREADY, NO_NOUN, Spellings, plural, plural_zhang2020
from biasgauge.core import families
from biasgauge.errors import InputError
from biasgauge.lexicons import lexicon


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("man", "men"), ("woman", "women"), ("child", "children"), ("mouse", "mice"), ("sheep", "sheep"),
        ("housewife", "housewives"), ("alumnus", "alumni"), ("deputy", "deputies"), ("boss", "bosses"),
        ("attorney_general", "attorneys_general"), ("major_general", "major_generals"),
        ("professor_emeritus", "professors_emeritus"), ("sister-in-law", "sisters-in-law"), ("runner-up", "runners-up"),
        ("cab_driver", "cab_drivers"), ("sheriff_deputy", "sheriff_deputies"), ("hitman", "hitmen"),
        ("stepchild", "stepchildren"), ("wug", "wugs"), ("wonkish_fox", "wonkish_foxes"),
        ("Surgeon", "Surgeons"), ("MAN", "MEN"), ("Attorney_General", "Attorneys_General"),
    ],
)  # fmt: skip
def test_plurals(word: str, expected: str) -> None:
    assert plural(word).spellings[0] == expected


def test_what_may_be_inflected_in_two_places_has_both_spellings() -> None:
    assert "stay_at_home_moms" in plural("stay_at_home_mom").spellings
    assert plural("attorney_general").spellings == ("attorneys_general", "attorney_generals")


@pytest.mark.parametrize(("word", "reason"), [("women", ALREADY), ("compassionate", NO_NOUN), ("men", ALREADY)])
def test_what_has_no_plural_says_why(word: str, reason: str) -> None:
    assert plural(word) == Spellings((), reason)


def test_the_rule_of_the_paper() -> None:
    assert plural_zhang2020("boss").spellings == ("bosss", "bosses")
    assert plural_zhang2020("man").spellings == ("mans", "manes")


def test_the_dictionary_is_that_of_lemminflect() -> None:
    """Its functions are the oracle, on every word of five lexicons that it lists as a noun and has no override for."""
    names = ("occ16", "occ18", "google10k", "animals", "weat7")
    words = sorted({word for name in names for word in lexicon(name).words if word.isalpha() and word.islower()})
    program = (
        "import sys\n"
        "class WithoutSpacy:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'spacy': raise ImportError\n"
        "sys.meta_path.insert(0, WithoutSpacy())\n"
        "import lemminflect\n"
        "from lemminflect.core.Inflections import Inflections\n"
        "own = Inflections()._getOverridesDict()\n"
        "for word in sys.stdin.read().split():\n"
        "    if 'NNS' not in own.get(word, {}):\n"
        "        print(word, *lemminflect.getAllInflections(word, 'NOUN').get('NNS', ()), sep='\\t')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=" ".join(words), capture_output=True, text=True, check=True
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    expected = {word: tuple(forms) for word, *forms in lines if forms}
    assert len(expected) > 3_000
    assert {word: plural(word).spellings for word in expected} == expected


def test_neither_spacy_nor_a_pickle_is_read() -> None:
    program = (
        "import sys, pickle\n"
        "def refuse(*_): raise AssertionError('a pickle was read')\n"
        "pickle.load = pickle.loads = refuse\n"
        "from biasgauge.analyses.robustness.forms import plural\n"
        "assert plural('wug_handler').spellings == ('wug_handlers',)\n"
        "print(*sorted({'spacy', 'lemminflect', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_without_the_dictionary_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match="pip install lemminflect"):
        families.lemminflect_table("infl_lu.csv.gz")  # what is cached above would hide it in plural()
