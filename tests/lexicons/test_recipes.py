"""Lexicons from recipes: sources, filters, matching, the record, the same bytes."""

from __future__ import annotations

import csv
import io
import itertools
import shutil
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexicons.tiny_wordnet import write_wordnet

from biasgauge import registry
from biasgauge.errors import LexiconError
from biasgauge.io import read_members
from biasgauge.lexicons import build, check, lexicon, lexicon_toml, parse_lexicon
from biasgauge.lexicons.recipes import BuiltLexicon, read_recipe
from biasgauge.lexicons.recipes.matching import match_rows
from biasgauge.lexicons.recipes.wordnet import FILES, HYPONYM, WordNet
from biasgauge.lexicons.toml_text import lexicon_toml as toml_of
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from pathlib import Path

NAMES = """\
name,births,male_share,year_p10,year_p25,year_median,year_p75,year_p90
James,5000,0.9955,1921,1936,1953,1970,1989
Rose,4000,0.001,1900,1910,1920,1930,1940
Ada,300,0.002,1885,1890,1900,1910,1920
Mia,900,0.003,1990,2000,2010,2012,2014
Liam,800,0.999,1990,2001,2011,2013,2015
Jordan,700,0.6,1980,1990,1995,2000,2005
Paris,600,0.1,1980,1990,1995,2000,2005
"""
GROUPS = "name,white,black\nAARON,0.9,0.03\nLATOYA,0.05,0.95\nMcKAY,0.97,0.0\n"
RATED = """\
:)\t2.0\t1.18\t[2]
lovely\t3.0\t0.5\t[3]
loved\t2.9\t0.4\t[3]
love\t2.8\t0.4\t[3]
good\t1.9\t0.9\t[2]
sick\t2.2\t2.5\t[2]
bad\t-2.5\t0.6\t[-2]
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data, each source's in a folder of its own."""
    folder = tmp_path / "data"
    write_wordnet(folder / "wordnet3.0")
    for name, text in {
        "names/ssa_births_1880_2016.csv": NAMES,
        "names/tzioumis2018_race_given_first_name.csv": GROUPS,
        "valence/vader_lexicon.txt": RATED,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def words_recipe(source: dict[str, Any] | list[dict[str, Any]], **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - TOML
    return {"kind": "words", "lists": {"words": {"source": source, **keys}}}


def built_words(data: Path, source: dict[str, Any] | list[dict[str, Any]], **keys: Any) -> list[str]:  # noqa: ANN401 - TOML
    return list(build(words_recipe(source, **keys), data=data).lexicon.words)


def reasons(result: BuiltLexicon) -> dict[str, str]:
    return {row.word: row.reason for row in result.rejected}


def listed(*words: str) -> dict[str, Any]:
    return {"name": "words", "words": list(words)}


def model_of(*words: str, name: str = "own") -> Embedding:
    return load((list(words), np.eye(len(words)) + 1), name=name)


# Sources


def test_births_are_selected_by_share_years_and_number(data: Path) -> None:
    births = {"name": "us_births"}
    assert built_words(data, {**births, "male_share": [0.99, 1]}) == ["James", "Liam"]
    assert built_words(data, {**births, "year_median": [2000, 2016]}) == ["Mia", "Liam"]
    assert built_words(data, {**births, "middle_half": [1900, 1970]}) == ["James", "Rose"]
    assert built_words(data, {**births, "births": 900}) == ["James", "Rose", "Mia"]
    (row,) = build(words_recipe({**births, "births": 4500}), data=data).candidates
    assert row.evidence == "5,000 births, share of boys 0.996, median year 1953"


def test_names_of_a_group(data: Path) -> None:
    assert built_words(data, {"name": "names_by_group", "group": "white", "share": [0.5, 1]}) == ["McKAY", "Aaron"]
    assert built_words(data, {"name": "names_by_group", "group": "black", "share": [0.5, 1]}) == ["Latoya"]


def test_rated_words_stand_in_order_of_strength(data: Path) -> None:
    rated = {"name": "valence", "mean": [2, 4]}
    filters = {"one_per_family": False, "min_letters": 1}
    assert built_words(data, rated, filters=filters) == ["lovely", "loved", "love", "sick"]
    assert built_words(data, rated, filters={**filters, "max_sd": 1}) == ["lovely", "loved", "love"]
    assert built_words(data, {"name": "valence", "mean": [-4, -2]}) == ["bad"]


def test_occupations_have_their_share_of_women(data: Path) -> None:
    values = lexicon("bls2015").values  # type: ignore[attr-defined]
    words = built_words(data, {"name": "occupations", "value": [80, 100]}, filters={"one_per_family": False})
    assert words == [word for word, value in values.items() if value >= 80 and word.isalpha()]
    other = {"name": "occupations", "lexicon": "occupations_percent_female", "value": [90, 100]}
    assert set(built_words(data, other)) <= set(lexicon("occupations_percent_female").words)


def test_words_under_headwords(data: Path, tmp_path: Path) -> None:
    (data / "mobythes.aur").write_text("strong,mighty,robust\nsturdy,robust,stout,ship shape\n")
    moby: dict[str, Any] = {"name": "thesaurus", "headwords": ["strong", "sturdy"]}
    assert built_words(data, moby) == ["robust", "strong", "mighty", "sturdy", "stout"]
    assert built_words(data, {**moby, "fewest": 2}) == ["robust"]
    (tmp_path / "categories.tsv").write_text("office\tdesk\tclerk\n")
    file = str(tmp_path / "categories.tsv")
    result = build(words_recipe({"name": "thesaurus", "headwords": "office", "file": file, "license": "MIT"}))
    assert result.lexicon.words == ("office", "desk", "clerk")
    assert result.lexicon.license == "MIT"
    with pytest.raises(
        LexiconError, match=r"has 'strnog', which is no headword of mobythes.aur; did you mean 'strong'"
    ):
        build(words_recipe({**moby, "headwords": ["strnog"]}), data=data)
    with pytest.raises(LexiconError, match=r"fewest' must be from 1 to 2, the headwords, found 3"):
        build(words_recipe({**moby, "fewest": 3}), data=data)


def test_lists_of_ones_own_of_lexicons_and_of_the_seed_bank(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("nurse\nsurgeon\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('kind = "words"\n[lists.words]\nsource = { name = "file", file = "mine.txt", license = "CC0" }\n')
    result = build(recipe)
    assert result.lexicon.words == ("nurse", "surgeon")
    (record,) = result.lexicon.made[0].recipe.sources  # type: ignore[union-attr]
    assert (record.file, record.license, len(record.checksum)) == ("mine", "CC0", 64)
    assert build(words_recipe({"name": "lexicon", "lexicon": "weat7", "set": "a"})).lexicon.words == (
        tuple(lexicon("weat7").sets["a"])
    )
    seeds = {"name": "seed_bank", "sets": "definitional_male-Bolukbasi_et_al_2016"}
    assert "man" in build(words_recipe(seeds)).lexicon.words


def test_several_sources_make_one_list(data: Path) -> None:
    sources = [listed("Zoe", "James"), {"name": "us_births", "births": 4000}]
    result = build(words_recipe(sources), data=data)
    assert result.lexicon.words == ("Zoe", "James", "Rose")
    assert [row.source for row in result.candidates] == ["words", "words", "us_births"]


def test_every_source_has_a_summary() -> None:
    assert {*registry.names("word_source")} == {
        "file", "lexicon", "names_by_group", "occupations", "seed_bank", "thesaurus", "us_births", "valence", "wordnet",
        "words",
    }  # fmt: skip
    for source in registry.everything("word_source").values():
        assert source.summary.endswith(".")


# WordNet


def test_kinds_and_topics(data: Path) -> None:
    flowers = {"name": "wordnet", "hyponyms_of": "flower.n.01"}
    all_words = {"filters": {"one_per_family": False}}
    assert built_words(data, flowers, **all_words) == ["flower", "bloom", "rose", "tulip", "noisette"]
    assert built_words(data, {**flowers, "without": "rose.n.01"}, **all_words) == ["flower", "bloom", "tulip"]
    assert built_words(data, {"name": "wordnet", "topic": "science.n.01"}) == ["sum"]
    verbs = {"name": "wordnet", "topic": "science.n.01", "parts_of_speech": ["v"]}
    assert built_words(data, verbs) == ["add", "sum"]


def test_later_meanings_are_left_out_unless_asked_for(data: Path) -> None:
    plants = {"name": "wordnet", "hyponyms_of": "plant.n.02"}
    all_words = {"filters": {"one_per_family": False}}
    assert "plant" not in built_words(data, plants, **all_words)
    assert "plant" in built_words(data, {**plants, "first_sense_only": False}, **all_words)


def test_the_share_of_a_meaning(data: Path) -> None:
    wordnet = WordNet.parse(read_members(data / "wordnet3.0", FILES, error=LexiconError), data)
    # Counts 9 and 2, one added to each: 10/13 and 3/13.
    assert list(wordnet.shares("plant").values()) == pytest.approx([10 / 13, 3 / 13])
    assert list(wordnet.shares("tulip").values()) == [1.0]
    assert wordnet.shares("unknown") == {}
    plants = {"name": "wordnet", "hyponyms_of": "plant.n.02", "first_sense_only": False}
    result = build(words_recipe(plants, filters={"min_sense_share": 0.5}), data=data)
    assert "0.23 of its use" in reasons(result)["plant"]
    assert "rose" in result.lexicon.words  # 2/3


def test_archives_are_read_as_a_folder_is(data: Path, tmp_path: Path) -> None:
    folder = data / "wordnet3.0"
    with tarfile.open(tmp_path / "w.tar.xz", "w:xz") as archive:
        archive.add(folder, "wordnet")
    with zipfile.ZipFile(tmp_path / "w.zip", "w") as packed:
        for file in folder.iterdir():
            packed.write(file, f"wordnet/{file.name}")
    whole = read_members(folder, FILES, error=LexiconError)
    assert read_members(tmp_path / "w.tar.xz", FILES, error=LexiconError) == whole
    assert read_members(tmp_path / "w.zip", FILES, error=LexiconError) == whole
    for name in ("w.tar.xz", "w.zip"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(LexiconError, match=name):
            read_members(tmp_path / name, FILES, error=LexiconError)
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(LexiconError, match="neither a folder nor a tar or zip archive"):
        read_members(tmp_path / "text", FILES, error=LexiconError)


@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_the_database_says_what_nltk_says(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk
    from nltk.corpus.reader import WordNetCorpusReader

    archive = shared_data / "wordnet3.0" / "wordnet3.0_nltk_layout.tar.xz"
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "corpora", filter="data")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    reference = WordNetCorpusReader(str(tmp_path / "corpora" / "wordnet"), None)
    ours = WordNet.parse(read_members(archive, FILES, error=LexiconError), archive)
    for name in ("flower.n.01", "musical_instrument.n.01", "disease.n.01"):
        root = reference.synset(name)
        theirs = {root, *root.closure(lambda synset: synset.hyponyms())}
        found = list(ours.below(ours.synset(name), HYPONYM))
        assert len(found) == len(theirs)
        assert {int(synset[1:]) for synset in found} == {synset.offset() for synset in theirs}
        words = {lemma.name().replace("_", " ") for synset in theirs for lemma in synset.lemmas()}
        assert {word for synset in found for word in ours.lemmas(synset)} == words
    members = {synset.offset() for synset in reference.synset("mathematics.n.01").in_topic_domains()}
    assert {int(one[1:]) for one in ours.related(ours.synset("mathematics.n.01"), "-c")} == members
    for word in ("bank", "run", "fast", "well", "paris"):
        senses = [
            (synset.offset(), synset.pos().replace("s", "a"))
            for synset in reference.synsets(word)
            if word in {lemma.name().lower() for lemma in synset.lemmas()}  # not of its base form alone
        ]
        assert sorted((int(one[1:]), one[0]) for one in ours.senses(word)) == sorted(senses)
        counts = {
            lemma.synset().offset(): lemma.count() + 1
            for lemma in reference.lemmas(word)
            if lemma.name().lower() == word
        }
        shares = {int(one[1:]): share for one, share in ours.shares(word).items()}
        assert shares == pytest.approx({offset: count / sum(counts.values()) for offset, count in counts.items()})


# Filters


def test_every_rejected_word_has_its_reason(data: Path) -> None:
    model = model_of("tall", "small", "james", "cat")
    recipe = words_recipe(
        listed("tall", "small", "tiny", "ice cream", "x", "taller", "James", "dog", "cat"),
        size=3,
        exclude={"James": "a name"},
    )
    result = build(recipe, vectors=model, data=data)
    assert result.lexicon.words == ("tall", "small", "cat")
    assert reasons(result) == {
        "James": "excluded by hand: a name",
        "ice cream": "not a single word of letters",
        "x": "fewer than 2 letters",
        "tiny": "not in own",
        "taller": "not in own",
        "dog": "not in own",
    }
    (counts,) = result.lexicon.made[0].recipe.lists  # type: ignore[union-attr]
    assert (counts.candidates, counts.words) == (9, 3)
    assert dict(counts.rejected) == {"by hand": 1, "form": 2, "out of vocabulary": 3}


def test_one_word_of_each_family() -> None:
    result = build(words_recipe(listed("colour", "run", "color", "running", "runs", "book")))
    assert result.lexicon.words == ("colour", "run", "book")
    assert reasons(result)["running"] == "of one family with run"
    several = build(words_recipe(listed("run", "runs"), filters={"one_per_family": False}))
    assert several.lexicon.words == ("run", "runs")


def test_names_that_are_words_places_or_people(data: Path) -> None:
    names = {"name": "us_births"}
    result = build(words_recipe(names, filters={"not_a": ["word"]}), data=data)
    assert reasons(result) == {"Rose": "an ordinary word in WordNet"}
    result = build(words_recipe(names, filters={"not_a": ["word", "place", "person"]}), data=data)
    assert reasons(result)["Paris"] == "a place in WordNet"
    assert reasons(result)["Ada"] == "a famous person in WordNet"


def test_frequency_bands(data: Path) -> None:
    result = build(words_recipe(listed("the", "nurse", "zyzzyva"), filters={"per_million": [1, 1000]}), data=data)
    assert result.lexicon.words == ("nurse",)
    assert reasons(result)["zyzzyva"] == "0.00 occurrences per million (from 1 to 1000)"
    words = ["the", "nurse", "cat"]
    model = load((words, np.eye(3)), name="own")
    object.__setattr__(model, "_log_frequencies", {"en": None})
    with pytest.raises(LexiconError, match="'ranks' needs vectors whose words have frequencies"):
        build(words_recipe(listed("the"), filters={"ranks": [1, 2]}), vectors=model)


def test_ranks_are_those_of_the_first_vectors() -> None:
    from biasgauge.vectors import load_default

    model = load_default()
    words = [model.words[at] for at in (0, 499, 2_499)]
    result = build(
        words_recipe(listed(*words), filters={"ranks": [400, 2_000], "one_per_family": False}), vectors=model
    )
    assert result.lexicon.words == (words[1],)
    assert reasons(result)[words[0]].startswith("rank 1 in ")


def test_coverage_is_a_share_of_the_vectors() -> None:
    models = [model_of("cat", "dog", name="one"), model_of("cat", "bird", name="two")]
    recipe = words_recipe(listed("cat", "dog", "bird", "fox"))
    assert build(recipe, vectors=models).lexicon.words == ("cat",)
    half = words_recipe(listed("cat", "dog", "bird", "fox"), filters={"min_coverage": 0.5})
    result = build(half, vectors=models)
    assert result.lexicon.words == ("cat", "dog", "bird")
    assert reasons(result) == {"fox": "not in one, two"}
    record = result.lexicon.made[0].recipe
    assert record is not None
    assert record.vectors == (("one", models[0].checksum), ("two", models[1].checksum))
    assert not result.lexicon.made[0].traceable  # presence in vectors makes no list circular


def test_no_word_stands_in_two_lists() -> None:
    lists = {
        "x": {"source": listed("cat", "dog", "bird")},
        "y": {"source": listed("cats", "fox", "wolf")},
        "a": {"source": listed("good", "dog", "nice", "kind", "fine")},
        "b": {"source": listed("bad", "evil")},
    }
    result = build({"kind": "test", "lists": lists})
    assert result.lexicon.sets == {
        "x": ("dog", "bird"), "y": ("fox", "wolf"), "a": ("good", "nice", "kind", "fine"), "b": ("bad", "evil"),
    }  # fmt: skip
    assert reasons(result) == {
        "cat": "in several lists: cats in y",
        "cats": "in several lists: cat in x",
        "dog": "in several lists: dog in x",
    }
    assert check(result.lexicon).ok


def test_the_order_of_preference() -> None:
    words = ("nurse", "the", "time")
    assert build(words_recipe(listed(*words), size=2)).lexicon.words == ("nurse", "the")
    assert build(words_recipe(listed(*words), size=2, choose="frequent")).lexicon.words == ("the", "time")
    many = [f"{first}{last}ing" for first in "bcdfgh" for last in "aeiou"]
    drawn = {
        seed: build({**words_recipe(listed(*many), size=5, choose="random"), "random_state": seed}).lexicon.words
        for seed in (0, 1)
    }
    assert drawn[0] != drawn[1]
    shuffled = words_recipe(listed(*reversed(many)), size=5, choose="random")
    assert build(shuffled).lexicon.words == drawn[0]  # whatever the order of the source


def test_a_second_source_must_have_the_word(data: Path) -> None:
    recipe = words_recipe(
        {"name": "us_births"}, also_in={"name": "names_by_group", "group": "white", "share": [0, 1], "file": "more.csv"}
    )
    (data / "more.csv").write_text("name,white\nJAMES,0.9\nMIA,0.8\n")
    result = build(recipe, data=data)
    assert result.lexicon.words == ("James", "Mia")
    assert reasons(result)["Rose"] == "not among the 2 words of names_by_group"
    (counts,) = result.lexicon.made[0].recipe.lists  # type: ignore[union-attr]
    assert dict(counts.rejected) == {"second source": 5}


def test_no_word_of_a_list_that_is_repeated_is_taken() -> None:
    result = build(words_recipe(listed("rose", "Lily", "tulip"), not_in=[listed("lily"), listed("tulip", "iris")]))
    assert result.lexicon.words == ("rose",)
    assert reasons(result) == {"Lily": "among the 1 words of words", "tulip": "among the 2 words of words"}


def test_a_list_can_be_like_one_of_another_recipe(tmp_path: Path) -> None:
    flowers = 'kind = "words"\n[lists.words]\nsize = 2\n'
    source = 'source = { name = "words", words = ["rose", "lily", "tulip"] }\n'
    (tmp_path / "flowers.toml").write_text(flowers + source)
    (tmp_path / "more.toml").write_text('kind = "words"\n[lists.words]\nlike = "flowers:words"\nsize = 1\n')
    result = build(tmp_path / "more.toml")
    assert result.lexicon.words == ("rose",)
    # The record is that of the recipe with the list written out: it changes where the other recipe does.
    (tmp_path / "whole.toml").write_text(flowers.replace("2", "1") + source)
    assert read_recipe(tmp_path / "more.toml").checksum == read_recipe(tmp_path / "whole.toml").checksum
    shipped = read_recipe({"kind": "sets", "lists": {"good": {"like": "gender_valence:a", "size": 3}}})
    assert shipped.lists["good"].label == "pleasant words of VADER"


@pytest.mark.parametrize("reference", ["flowers:petals", "nothing:words", "words", "../flowers:words", 3, "more:words"])
def test_a_list_that_is_like_none_is_refused(tmp_path: Path, reference: object) -> None:
    (tmp_path / "flowers.toml").write_text(
        'kind = "words"\n[lists.words]\nsource = { name = "words", words = ["a"] }\n'
    )
    (tmp_path / "more.toml").write_text(f'kind = "words"\n[lists.words]\nlike = {reference!r}\n'.replace("'", '"'))
    with pytest.raises(LexiconError, match=r"'lists.words.like' must name a list that another recipe writes out"):
        read_recipe(tmp_path / "more.toml")


def test_parts_of_a_list_are_matched_apart_and_joined() -> None:
    lists = {
        "old_men": {"part_of": "first", "label": "old", "source": listed("Fred", "Pat")},
        "old_women": {"part_of": "first", "source": listed("Ida", "Pat")},
        "young": {"part_of": "second", "label": "young", "source": listed("Zoe")},
    }
    result = build({"kind": "sets", "lists": lists})
    assert result.lexicon.sets == {"first": ("Fred", "Ida"), "second": ("Zoe",)}
    assert reasons(result)["Pat"] == "in several lists: Pat in old_men"


def test_a_word_that_is_excluded_takes_its_forms_along() -> None:
    result = build(words_recipe(listed("murder", "murdered", "Murders", "killer"), exclude={"murder": "a crime"}))
    assert result.lexicon.words == ("killer",)
    assert reasons(result) == {
        "murder": "excluded by hand: a crime",
        "murdered": "excluded by hand, as murder: a crime",
        "Murders": "excluded by hand, as murder: a crime",
    }


# Matching


@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=5),
    st.lists(st.floats(-5, 5), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_optimal_matching_has_the_least_sum_of_all(first: list[float], second: list[float], size: int) -> None:
    rows = match_rows(np.array(first), np.array(second), size)
    size = min(size, len(first), len(second))
    assert len(rows.first) == len(set(rows.first)) == len(set(rows.second)) == size
    total = sum(abs(first[i] - second[j]) for i, j in zip(*rows, strict=True))
    best = min(
        sum(abs(first[i] - second[j]) for i, j in zip(chosen, partners, strict=True))
        for chosen in itertools.combinations(range(len(first)), size)
        for partners in itertools.permutations(range(len(second)), size)
    )
    assert total == pytest.approx(best, abs=1e-9)


def test_greedy_matching_takes_words_in_order() -> None:
    rows = match_rows(np.array([1.0, 2.0, 9.0]), np.array([2.1, 0.8, 5.0]), 3, method="greedy", max_difference=0.5)
    assert rows == ([0, 1], [1, 0])
    # The first takes what the second needs: greedy loses a pair that the optimal assignment has.
    values = np.array([1.0, 0.6]), np.array([1.3, 0.8])
    assert match_rows(*values, 2, method="greedy", max_difference=0.31).first == [0]
    assert match_rows(*values, 2, method="optimal", max_difference=0.31).first == [0, 1]


def test_matched_lists_have_one_frequency(data: Path) -> None:
    reference = sorted(read_reference().items(), key=lambda item: (-item[1], item[0]))
    frequent = [word for word, _ in reference[200:260]]
    rare = [word for word, _ in reference[230:600:3]]
    recipe = {
        "kind": "pairs",
        "lists": {"first": {"size": 8, "source": listed(*frequent)}, "second": {"size": 8, "source": listed(*rare)}},
        "match": {"lists": ["first", "second"], "pool": 1000, "max_difference": 0.05},
    }
    result = build(recipe, data=data)
    pairs = result.lexicon.pairs  # type: ignore[attr-defined]
    assert len(pairs) == 8
    frequencies = {row.word: float(row.log10_frequency or 0) for row in result.candidates if row.chosen}
    differences = [frequencies[one] - frequencies[other] for one, other in pairs]
    (match,) = result.lexicon.made[0].recipe.matches  # type: ignore[union-attr]
    assert match.mean_difference == pytest.approx(np.mean(differences), abs=1e-3)
    assert match.largest_difference == pytest.approx(np.abs(differences).max(), abs=1e-3)
    assert match.largest_difference <= 0.05
    assert match.frequencies == "reference frequencies of en"
    assert any("matched on frequency" in line for line in result.lexicon.beware)


def read_reference() -> dict[str, int]:
    from biasgauge.vectors import reference_frequencies

    return {word: count for word, count in reference_frequencies("en").items() if word.isalpha() and len(word) > 3}


def test_lists_that_cannot_be_matched_are_refused() -> None:
    recipe = {
        "kind": "pairs",
        "lists": {"first": {"source": listed("the")}, "second": {"source": listed("zyzzyva")}},
        "match": {"lists": ["first", "second"]},
    }
    with pytest.raises(
        LexiconError, match=r"no word of 'first' is within 0\.3 in log10 frequency of a word of 'second'"
    ):
        build(recipe)


# Files


RECIPE = """\
title = "Names and flowers: a test"
kind = "test"
family = "gender"
beware = ["Few births."]

[lists.x]
label = "boys"
size = 2
source = { name = "us_births", male_share = [0.99, 1] }

[lists.y]
label = "girls"
size = 2
choose = "random"
source = { name = "us_births", male_share = [0, 0.01] }

[lists.a]
label = "flowers"
source = { name = "wordnet", hyponyms_of = "flower.n.01" }

[lists.b]
label = "pleasant"
source = { name = "valence", mean = [2, 4] }
filters = { max_sd = 1 }
"""


def test_the_same_recipe_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "names.recipe.toml"
    recipe.write_text(RECIPE)
    model = load(
        (["James", "Liam", "Rose", "Ada", "Mia", "flower", "tulip", "lovely", "love"], np.eye(9) + 1), name="own"
    )
    files = []
    for name in ("one", "two"):
        moved = tmp_path / name
        shutil.copytree(data, moved / "data")
        (moved / "recipe").mkdir()
        shutil.copy(recipe, moved / "recipe" / "names.recipe.toml")
        result = build(moved / "recipe" / "names.recipe.toml", vectors=model, data=moved / "data")
        path = result.save(moved / "out.toml")
        files.append((path.read_bytes(), path.with_suffix(".csv").read_bytes()))
    assert files[0] == files[1]
    read = lexicon(path)
    assert read == result.lexicon
    assert read.checksum == result.lexicon.checksum
    assert read.sets == {"x": ("James", "Liam"), "y": read.sets["y"], "a": ("flower", "tulip"), "b": ("lovely", "love")}
    assert lexicon_toml(read).encode() == files[0][0]
    rows = list(csv.DictReader(io.StringIO(files[0][1].decode())))
    assert {row["word"] for row in rows if row["chosen"] == "True"} == set(read.words)
    assert {row["word"]: row["step"] for row in rows if row["list"] == "a" and row["step"]} == {
        "day lily": "form", "tea rose": "form", "bloom": "out of vocabulary",
        "rose": "out of vocabulary", "noisette": "out of vocabulary",
    }  # fmt: skip
    record = read.made[0].recipe
    assert record is not None
    assert [(one.source, one.license) for one in record.sources] == [
        ("us_births", "CC0 1.0"), ("valence", "MIT"), ("wordnet", "WordNet 3.0 license"),
    ]  # fmt: skip
    assert record.checksum == read_recipe(recipe).checksum
    assert read.license == "CC0 1.0; MIT; WordNet 3.0 license"
    assert "read them" in read.beware[-1]


def test_layout_and_comments_of_a_recipe_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(RECIPE)
    (tmp_path / "b.toml").write_text("# a comment\n" + RECIPE.replace(" = ", "="))
    (tmp_path / "c.toml").write_text(RECIPE.replace("size = 2", "size = 3"))
    checksums = [read_recipe(tmp_path / f"{name}.toml").checksum for name in "abc"]
    assert checksums[0] == checksums[1] != checksums[2]


def test_short_lists_are_said(data: Path) -> None:
    result = build(words_recipe({"name": "us_births"}, size=100, filters={"not_a": ["word"]}), data=data)
    (warning,) = result.warnings
    assert warning == ("The list words has 6 of 100 words: of 7 candidates were rejected 1 (other meaning).")
    assert "6 words; 1 candidate rejected" in repr(result)
    assert result.summary().tables[0].rows


def test_the_result_as_json(data: Path, tmp_path: Path) -> None:
    result = build(words_recipe({"name": "us_births"}), data=data)
    shape = result.to_dict()
    assert shape["lexicon"]["checksum"] == result.lexicon.checksum
    assert shape["lexicon"]["made"]["recipe"]["sources"][0]["file"] == "ssa_births_1880_2016.csv"
    result.save(tmp_path / "result.json")
    assert parse_lexicon({key: value for key, value in shape["lexicon"].items() if key != "checksum"}) == result.lexicon


def test_stereotypes_can_be_written_as_toml(tmp_path: Path) -> None:
    for name in ("race", "seed_bank", "xweat_es", "bls2015", "es", "weat_es_gender"):
        (tmp_path / f"{name}.toml").write_text(toml_of(lexicon(name)), encoding="utf-8")
        assert lexicon(tmp_path / f"{name}.toml") == lexicon(name)


# Mistakes


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "test"', 'kind = "tset"', "'kind' must be one of words, pairs, sets, test, found 'tset'.*'test'"),
        ("[lists.b]", "[lists.c]", "'lists' has 'c'; a recipe of kind test has x, y, a, b"),
        ("size = 2", "sise = 2", "the key 'sise' is not known in the table 'lists.x'; did you mean 'size'"),
        ("male_share", "male_shares", "'male_shares' is not known in the table 'lists.x.source'; did you mean 'male_s"),
        ("[0.99, 1]", "[0.99, 2]", "'lists.x.source.male_share' must be two numbers, from and to, within 0 and 1"),
        ("us_births", "us_birth", "'lists.x.source.name' must be one of file.*found 'us_birth'.*mean 'us_births"),
        ("flower.n.01", "flower", "a meaning of WordNet is named as in 'flower.n.01', found 'flower'"),
        ("flower.n.01", "flower.n.09", "no meaning 'flower.n.09' in WordNet: it has 1 meanings"),
        ("max_sd = 1", "max_sd = -1", "'lists.b.filters.max_sd' must be a number of at least 0, found -1"),
        ("max_sd = 1", "max_sdd = 1", "'max_sdd' is not known in the table 'lists.b.filters'; did you mean 'max_sd'"),
        ("max_sd = 1", 'not_a = ["wrod"]', "'lists.b.filters.not_a' may hold word, place, person, found 'wrod'"),
        ('choose = "random"', 'choose = "best"', "'lists.y.choose' must be one of first, frequent, random, found"),
        ("mean = [2, 4]", "mean = [3.9, 4]", "'lists.b.source.name': the source valence has no word with these"),
        ("[lists.a]", '[[match]]\nlists = ["x", "z"]\n[lists.a]', "names 'z', which is no list of the recipe"),
        ("[lists.a]", '[[match]]\nlists = ["x", "a"]\n[lists.a]', "matched lists must have one size, found 2 for x"),
        ("size = 2", "size = 0", "'lists.x.size' must be a whole number of at least 1, found 0"),
        ("source = {", 'exclude = ["James", "Liam"]\nsource = {', "the list 'x' is left without words: of 2"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_that_names_the_table(
    old: str, new: str, sentence: str, data: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.replace(old, new, 1))
    with pytest.raises(LexiconError, match=sentence) as raised:
        build(recipe, data=data)
    assert str(recipe) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_data_that_are_missing_or_damaged(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LexiconError, match=r"ssa_births_1880_2016\.csv, were not found: name the folder .* --data"):
        build(words_recipe({"name": "us_births"}))
    monkeypatch.setattr("biasgauge.lexicons.recipes.word_source._wordnet_places", list)
    with pytest.raises(LexiconError, match=r"WordNet was not found: name the folder .*nltk\.downloader wordnet"):
        build(words_recipe({"name": "wordnet", "topic": "science.n.01"}))
    with pytest.raises(LexiconError, match="there is no such folder of data"):
        build(words_recipe(listed("a")), data=tmp_path / "none")
    file = data / "names" / "ssa_births_1880_2016.csv"
    file.write_text(NAMES.replace("4000", "many"))
    with pytest.raises(LexiconError, match=r"2016\.csv, line 3: column 'births' must hold numbers, found 'many'"):
        build(words_recipe({"name": "us_births"}), data=data)
    file.write_text("name,births\nJames,3\n")
    with pytest.raises(LexiconError, match="has no column 'male_share'"):
        build(words_recipe({"name": "us_births"}), data=data)
    (data / "valence" / "vader_lexicon.txt").write_text("good\t1\nbad\n")
    with pytest.raises(LexiconError, match=r"vader_lexicon\.txt, line 2: a line must be a word, its mean rating"):
        build(words_recipe({"name": "valence"}), data=data)
    (data / "wordnet3.0" / "index.verb").unlink()
    with pytest.raises(LexiconError, match=r"is not a WordNet database: it has no file index\.verb"):
        build(words_recipe({"name": "wordnet", "topic": "science.n.01"}), data=data)
    with pytest.raises(LexiconError, match=r"must be a column of tzioumis.*found 'whit'; did you mean 'white'"):
        build(words_recipe({"name": "names_by_group", "group": "whit"}), data=data)
