"""The seed bank and its filters, against the published counts."""

from __future__ import annotations

import ast
import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.lexicons import FilteredSeedBank, check, lexicon, seed_bank
from biasgauge.lexicons.seed_sets import published_label

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def published() -> FilteredSeedBank:
    return seed_bank("published")


def test_raw_bank_has_the_published_counts() -> None:
    raw = seed_bank("none")
    assert len(raw.bank.seeds) == 178  # METHODS 3.1
    assert raw.bank.total == 7_213
    assert len({seed_set.paper for seed_set in raw.bank.seeds}) == 18
    assert len(raw.bank.categories) == 156
    assert len(raw.bank.pairings) == 90
    assert raw.bank == lexicon("seed_bank")
    assert raw.removed == ()


def test_published_filter_reaches_the_published_counts(published: FilteredSeedBank) -> None:
    assert len(published.bank.seeds) == 159  # METHODS 3.1: 178 -> 159 sets, 19 removed
    # METHODS 3.1: 7 213 -> 6 620 seeds. That number counts the seeds left before small sets are dropped; six of them
    # belong to six sets of one seed each, so that the 159 sets hold 6 614.
    assert published.seeds_left == 6_620
    assert published.bank.total == 6_614


def test_published_filter_accounts_for_everything_removed(published: FilteredSeedBank) -> None:
    words = [removal for removal in published.removed if removal.word is not None]
    sets = [removal for removal in published.removed if removal.word is None]
    assert len(words) == 7_213 - 6_620
    assert len(sets) == 178 - 159
    empty = [removal.set_id for removal in sets if removal.reason == "its source lists no words"]
    assert len(empty) == 13  # counted: sets with [] in the source
    small = {removal.set_id for removal in sets} - set(empty)
    groups = ("black", "white", "hispanic", "asian", "old", "young")
    assert small == {f"{group}-Rudinger_et_al_2017" for group in groups}  # 3 or 4 words each, compounds but one
    assert {removal.reason for removal in sets if removal.set_id in small} == {
        "1 of its 4 words left, fewer than 2",
        "1 of its 3 words left, fewer than 2",
    }


def test_published_filter_rewrites_15_sets(published: FilteredSeedBank) -> None:
    # PEERS: cleaning rewrites 15 of 178 sets
    assert published.rewritten_sets == (
        "equalize_1-Bolukbasi_et_al_2016",
        "equalize_2-Bolukbasi_et_al_2016",
        "gender_specific-Bolukbasi_et_al_2016",
        "gender_specific_seed-Bolukbasi_et_al_2016",
        "religion_specific_terms-Manzini_et_al_2019",
        "female_definition_words_1-Zhao_et_al_2018",
        "male_definition_words_1-Zhao_et_al_2018",
        "black-Rudinger_et_al_2017",
        "white-Rudinger_et_al_2017",
        "hispanic-Rudinger_et_al_2017",
        "asian-Rudinger_et_al_2017",
        "old-Rudinger_et_al_2017",
        "young-Rudinger_et_al_2017",
        "race/ethnicity/nationality-Rudinger_et_al_2017",
        "negative_emotion-Fast_et_al_2016",
    )


def test_published_filter_leaves_eight_words_that_match_nothing(published: FilteredSeedBank) -> None:
    padded = [word for words in published.bank.sets.values() for word in words if word != word.strip()]
    assert padded == ["he ", " honneur", "orange ", " see", " ginto", " dur", " nee", " lee"]


def test_published_categories_are_cleaned_too(published: FilteredSeedBank) -> None:
    by_id = {seed_set.id: seed_set.category for seed_set in published.bank.seeds}
    assert by_id["gender_specific_seed-Bolukbasi_et_al_2016"] == "gender specific"  # "seed" is dropped
    assert by_id["male_names_1-Caliskan_et_al_2017"] == "male names"  # digits go
    assert by_id["arts_words-Gonen_&_Goldberg_2019"] == "arts"  # "words" goes
    assert by_id["male_words_CNN_DailyMail-Bordia_and_Bowman_2019"] == "male (cnn daily mail)"  # "/" is a space
    assert len({published_label(category) for category in seed_bank("none").bank.categories}) == 130  # counted


@pytest.mark.shared
def test_published_filter_equals_cleaning_the_printed_lists(shared_data: Path, published: FilteredSeedBank) -> None:
    """METHODS 3.1 on the source's own strings: clean the string form, parse it, drop bigrams, drop small sets."""
    source = json.loads((shared_data / "seeds_bad_seeds" / "gathered_seeds.json").read_text(encoding="utf-8"))
    expected = {}
    for entry in source:
        words = [word for word in ast.literal_eval(published_label(entry["Seeds"])) if len(word.split()) == 1]
        if len(words) > 1:
            expected[entry["Seeds ID"]] = tuple(words)
    assert dict(published.bank.sets) == expected


def test_pairings_after_the_published_filter(published: FilteredSeedBank) -> None:
    result = check(published.bank)
    assert len(published.bank.pairings) == 90  # METHODS 3.1
    assert len(result.unequal) == 34
    assert len(result.overlaps) == 10
    assert sum(bool(one.duplicates) for one in result.sets) == 22
    assert published.bank.sets["female-Kozlowski_et_al_2019"].count("her") == 2  # METHODS 3.1: "her" twice


def test_pairings_of_the_raw_bank_as_its_file_says() -> None:
    result = check("seed_bank")
    # counted; lower-casing and the removal of compounds make 34, 10 and 22 of them
    assert (len(result.unequal), len(result.overlaps)) == (33, 9)
    assert sum(bool(one.duplicates) for one in result.sets) == 18


def test_rows_that_the_published_figure_mislabels(published: FilteredSeedBank) -> None:
    ordered = sorted(published.bank.pairings)
    # METHODS 3.7, 3.8: 76 -> pleasant/unpleasant (Knoche), 20 -> definitional (Bolukbasi)
    assert ordered[76] == ("pleasant-Knoche_et_al_2019", "unpleasant-Knoche_et_al_2019")
    assert ordered[20] == ("definitional_female-Bolukbasi_et_al_2016", "definitional_male-Bolukbasi_et_al_2016")


def test_corrected_filter_keeps_every_word_and_drops_only_empty_sets() -> None:
    corrected = seed_bank()
    assert corrected.filter == "corrected"
    assert len(corrected.bank.seeds) == 165
    assert corrected.bank.total == corrected.seeds_left == 7_213
    assert {removal.reason for removal in corrected.removed} == {"its source lists no words"}
    assert "twin_brother" in corrected.bank.sets["equalize_1-Bolukbasi_et_al_2016"]
    assert "Mary" in corrected.bank.sets["definitional_female-Bolukbasi_et_al_2016"]
    assert len(corrected.bank.pairings) == 90


def test_corrected_filter_puts_back_characters_that_were_spelt_out() -> None:
    changes = {(change.before, change.after) for change in seed_bank().rewritten}
    assert len(changes) == 9  # counted: words with a spelled-out escape, all in one set
    assert ("fianc\\u00e9", "fiancé") in changes
    assert seed_bank().rewritten_sets == ("gender_specific-Bolukbasi_et_al_2016",)
    intact = set(lexicon("gender_specific").words)
    assert {after for _, after in changes} <= intact


def test_apostrophes_were_cut_in_the_bank_but_not_in_the_lexicon() -> None:
    bank = seed_bank().bank.sets["gender_specific-Bolukbasi_et_al_2016"]
    assert len(bank) == 1_459
    assert {"HE_", "S"} <= set(bank)
    assert "HE_'S" in lexicon("gender_specific").words


def test_report_of_a_filter_counts_what_it_did(published: FilteredSeedBank) -> None:
    report = published.to_dict()
    assert (report["sets"], report["seeds"], report["seeds_left"]) == (159, 6_614, 6_620)
    frame = published.to_frame()
    assert list(frame.columns) == ["set", "word", "reason"]
    assert len(frame) == len(published.removed)
    assert json.loads(json.dumps(report)) == report


def test_filtered_bank_survives_pickling(published: FilteredSeedBank) -> None:
    assert pickle.loads(pickle.dumps(published)) == published  # noqa: S301  # our own bytes


@pytest.mark.parametrize("wrong", ["publish", "", None, ["published"]])
def test_unknown_filter_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="'filter'"):
        seed_bank(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("male names 1", "male names"),
        ("words seed terms attributes", ""),
        ("Words", "words"),  # only the lower-case label words go
        ("race/ethnicity", "race ethnicity"),
        ("white_collar_job", "white collar job"),
        ("  two   spaces ", "two spaces"),
        ("passwords", "passwords"),
    ],
)
def test_published_label(raw: str, clean: str) -> None:
    assert published_label(raw) == clean


@pytest.mark.shared
def test_coverage_of_the_bank_in_real_vectors(shared_data: Path) -> None:
    with np.load(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz", allow_pickle=False) as arrays:
        vocabulary = set(arrays["words"].tolist())
    bank = seed_bank("none").bank
    lowered = tuple(replace(it, words=tuple(word.lower() for word in it.words)) for it in bank.seeds)
    result = check(replace(bank, seeds=lowered), vocabulary)
    complete = [one for one in result.sets if not one.lost]
    assert len(complete) == 153  # README of the shared data: 153 of 178 sets complete
    assert sum(one.asked > 0 for one in complete) == 140  # the other 13 are the empty ones
