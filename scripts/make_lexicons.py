"""Make the lexicons of the battery from their recipes.

    PYTHONPATH=src:studies python scripts/make_lexicons.py [NAME…] --sources FOLDER [--tables FOLDER]

Needs the shared data folder (BIASGAUGE_SHARED), the folder that scripts/make_lexicon_sources.py writes, and the
packages of the extra `vectors`: English words must be in GloVe 6B 50d and in spaCy's medium vectors, frequencies are
those of GloVe; other languages have their reference frequencies. The same recipes, data and vectors give the same
bytes. A test that repeats another is made after it.
With --tables, the tables of candidates are written to a folder: read them before anything is committed.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from biasgauge.io import write_text
from biasgauge.lexicons import DEFAULT_LANGUAGE, build, lexicon_toml
from biasgauge.lexicons.recipes import read_recipe
from biasgauge_studies.vectors import glove_50d, spacy_md

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "src" / "biasgauge" / "lexicons" / "recipes" / "shipped"
DATA = ROOT / "src" / "biasgauge" / "lexicons" / "data"
SHARED = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))


def main() -> None:
    """Build the lexicons that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--tables", type=Path)
    typed = parser.parse_args()
    models = [model for model in (glove_50d(), spacy_md()) if model is not None]
    if len(models) < 2:
        raise SystemExit("Both sets of vectors are needed: pip install 'biasgauge[vectors]'")
    for recipe in sorted(RECIPES.glob("*.toml"), key=lambda path: (path.stem.endswith("_2"), path.stem)):
        if typed.names and recipe.stem not in typed.names:
            continue
        english = read_recipe(recipe).language == DEFAULT_LANGUAGE
        built = build(recipe, vectors=models if english else (), data=[SHARED, typed.sources])
        print(built, *built.warnings, sep="\n  ")
        write_text(DATA / recipe.name, lexicon_toml(built.lexicon))
        if typed.tables:
            typed.tables.mkdir(parents=True, exist_ok=True)
            write_text(typed.tables / f"{recipe.stem}.csv", built.csv())


if __name__ == "__main__":
    main()
