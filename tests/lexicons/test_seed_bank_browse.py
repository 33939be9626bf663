"""Browsing the seed bank by paper, category, sourcing, justification and word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from biasgauge.errors import ParameterError
from biasgauge.lexicons import seed_bank
from biasgauge.lexicons.seed_sets import SOURCING

if TYPE_CHECKING:
    from pathlib import Path

BANK = seed_bank("none").bank


def test_sourcing_counts_of_the_source() -> None:
    # Counted in the source's field "Source Categories"; a set with two strategies counts for both.
    expected = {
        "borrowed": 48 + 18,
        "corpus-derived": 21 + 6 + 1,
        "re-used": 20 + 18,
        "curated": 18 + 10 + 7 + 1,
        "crowd-sourced": 10 + 7,
        "lexical": 10 + 5,
        "population-derived": 6 + 3,
        "other": 2,
        "unknown": 7 + 12,  # 12 sets say nothing
    }
    assert {name: len(BANK.browse(sourcing=name)) for name in SOURCING.values()} == expected


@pytest.mark.shared
def test_sourcing_of_every_set_is_that_of_the_source(shared_data: Path) -> None:
    source = json.loads((shared_data / "seeds_bad_seeds" / "gathered_seeds.json").read_text(encoding="utf-8"))
    recorded = {one["Seeds ID"]: one["Source Categories"] or "unknown" for one in source}
    for one in BANK.seeds:
        assert one.sourcing == tuple(SOURCING[kind] for kind in recorded[one.id].split(", "))


def test_male_does_not_find_female() -> None:
    found = {one.id for one in BANK.browse(category="male")}
    assert "male_1-Caliskan_et_al_2017" in found
    assert "male_names_1-Caliskan_et_al_2017" in found
    assert not any("female" in one for one in found)
    assert {one.id for one in BANK.browse(category="MALE")} == found


def test_conditions_add_up() -> None:
    found = BANK.browse(paper="caliskan", category="female", word="SHE")
    assert [one.id for one in found] == ["female_1-Caliskan_et_al_2017", "female_2-Caliskan_et_al_2017"]
    assert BANK.browse(paper="nobody") == ()
    assert len(BANK.browse()) == 178
    assert all("EEOC" in one.justification for one in BANK.browse(justification="eeoc"))
    assert len(BANK.browse(justification="eeoc")) == 13  # counted in the source


def test_partners_are_those_of_the_pairings() -> None:
    assert BANK.partners("career-Caliskan_et_al_2017") == ("family-Caliskan_et_al_2017",)
    assert len(BANK.partners("names_asian-Garg_et_al_2018")) == 5  # METHODS 3.1: six name sets, fifteen pairs
    assert sum(len(BANK.partners(one.id)) for one in BANK.seeds) == 2 * 90


def test_overview_has_a_row_a_set() -> None:
    frame = BANK.overview()
    assert len(frame) == 178
    row = frame.set_index("set").loc["career-Caliskan_et_al_2017"]
    assert (row["paper"], row["sourcing"], row["seeds"]) == ("Caliskan et al., 2017", "borrowed", 8)
    assert len(BANK.overview(BANK.browse(paper="Hoyle"))) == 6
    assert len(set(frame["paper"])) == 18


def test_a_set_without_a_paper_in_parentheses_keeps_its_entry() -> None:
    from dataclasses import replace

    assert replace(BANK.seeds[0], paper="An unpublished list").short_paper == "An unpublished list"


def test_unknown_strategy() -> None:
    with pytest.raises(ParameterError, match="did you mean 'curated'"):
        BANK.browse(sourcing="curatd")
