"""The page on lexicons: its examples parse, and its table says what ships."""

from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from biasgauge import registry
from biasgauge.lexicons import (
    KINDS,
    AssociationTest,
    Language,
    Pairs,
    SeedBank,
    Stereotypes,
    Translations,
    WordSets,
    build,
    check,
    lexicon,
    parse_lexicon,
)
from biasgauge.lexicons.recipes import read_recipe
from biasgauge.lexicons.recipes.recipe import Filters
from biasgauge.vectors import load_default


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "measures" / "lexicons.md").read_text(encoding="utf-8")


def test_every_kind_has_an_example_without_errors(page: str) -> None:
    blocks = re.findall(r"```toml\n(?!# )(.*?)```", page, re.DOTALL)  # a part of a recipe begins with its name
    examples = [parse_lexicon(tomllib.loads(block)) for block in blocks]
    assert [example.kind for example in examples] == ["words", "pairs", "sets", "sets", "test", *KINDS[4:], "words"]
    for example in examples:
        assert check(example).ok


def test_the_recipe_is_one(page: str, tmp_path: Path) -> None:
    (recipe,) = re.findall(r"```toml file: jobs.recipe.toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "jobs.recipe.toml").write_text(recipe)
    plan = read_recipe(tmp_path / "jobs.recipe.toml")
    assert (plan.name, plan.kind, [*plan.lists]) == ("jobs", "test", ["x", "y", "a", "b"])
    assert [match.lists for match in plan.matches] == [("x", "y"), ("a", "b")]


def test_every_source_and_filter_has_a_row(page: str) -> None:
    rows = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert {*registry.names("word_source"), *(field.name for field in fields(Filters))} <= rows


@pytest.mark.shared
def test_the_recipe_gives_what_the_page_says(page: str, shared_data: Path, tmp_path: Path) -> None:
    (recipe,) = re.findall(r"```toml file: jobs.recipe.toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "jobs.recipe.toml").write_text(recipe)
    built = build(tmp_path / "jobs.recipe.toml", vectors=load_default(), data=shared_data)
    assert min(map(len, built.lexicon.sets.values())) >= 20
    assert check(built.lexicon, load_default()).ok
    (exclusions,) = re.findall(r"of the list y\nexclude = (\{.*?\})", page)
    assert "model" in tomllib.loads(f"exclude = {exclusions}")["exclude"]


def test_the_page_names_every_lexicon_once(page: str) -> None:
    table = page.split("## What ships\n", 1)[1].split("\n\nWhere sources differ", 1)[0]
    battery, *others = re.findall(r"^\| [^|]+ \| (`.*`) \|$", table, re.MULTILINE)
    named = [name for row in (battery, *others) for name in re.findall(r"`(\w+)`", row)]
    second = [f"{name}_2" for name in re.findall(r"`(\w+)`", battery)]
    assert sorted([*named, *second]) == sorted(registry.names("lexicon"))


def test_every_lexicon_has_the_kind_and_the_count_that_it_had() -> None:
    with (Path(__file__).parent / "counts.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert [(name, kind) for name, kind, _ in rows] == [
        (name, lexicon(name).kind) for name in registry.names("lexicon")
    ]
    for name, _, count in rows:
        numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", count)]
        match lexicon(name):
            case Pairs() as pairs:
                assert numbers == [len(pairs.pairs)]
            case AssociationTest() as test:
                assert numbers == [len(words) for words in test.sets.values()]
            case WordSets() as sets:
                assert numbers == [len(sets.members), len(sets.words)]
            case Stereotypes() as stereotypes:
                protected = sum(len(group.protected) for group in stereotypes.groups)
                attributes = sum(len(group.attributes) for group in stereotypes.groups)
                assert numbers == [len(stereotypes.groups), protected, attributes]
            case Translations() as translations:
                assert numbers == [len(translations.entries)]
            case Language() as language:
                assert numbers == [len(language.roles)]
            case SeedBank() as bank:
                assert numbers == [len(bank.seeds), bank.total, len(bank.pairings)]
            case other:
                assert numbers == [len(other.words)]
