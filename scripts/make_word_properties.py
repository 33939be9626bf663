"""Make the table of senses and parts of speech that ships with the package, from WordNet 3.0 and the Brown corpus.

    python scripts/make_word_properties.py [SHARED]

SHARED is the shared data folder, with `wordnet3.0/wordnet3.0_nltk_layout.tar.xz`, `brown_pos/brown.zip` and
`brown_pos/universal_tagset.zip`. One row for each lower-cased type of Brown that has a letter or a digit: how many
different WordNet synsets it has, over all parts of speech and by the base forms that NLTK's morphy finds, and its most
frequent universal tag in Brown, the first seen among equals. The same sources give the same table. Needs nltk.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

import nltk

from biasgauge.analyses.reliability.senses import HEADER, LICENSE_PATH, TABLE_PATH

ROOT = Path(__file__).resolve().parents[1]

LICENSE = """\
word_properties.tsv.gz holds, for each word of the Brown corpus, how many synsets WordNet 3.0 has for it and its most
frequent part of speech in Brown. scripts/make_word_properties.py makes it.

Brown corpus: W. N. Francis and H. Kucera, A Standard Corpus of Present-Day Edited American English, for use with
Digital Computers (Brown), 1964, 1971, 1979, Brown University, Providence, Rhode Island. Distributed with the permission
of the copyright holder, redistribution permitted. Universal tags: Slav Petrov, Dipanjan Das and Ryan McDonald, A
Universal Part-of-Speech Tagset, LREC 2012.

WordNet 3.0, whose licence follows:

"""


def default_shared() -> Path:
    """The shared data folder beside the repository."""
    return Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))


def unpack(shared: Path, folder: Path) -> None:
    """Lay the sources out as NLTK looks for them."""
    with tarfile.open(shared / "wordnet3.0" / "wordnet3.0_nltk_layout.tar.xz") as archive:
        archive.extractall(folder / "corpora", filter="data")
    for name, kind in (("brown", "corpora"), ("universal_tagset", "taggers")):
        with zipfile.ZipFile(shared / "brown_pos" / f"{name}.zip") as archive:
            archive.extractall(folder / kind)  # noqa: S202 - zipfile keeps names inside the folder


def word_properties(folder: Path) -> list[tuple[str, int, str]]:
    """Rows of the table, in the order of the words."""
    nltk.data.path.insert(0, str(folder))  # NLTK reads nothing outside its data path
    try:
        from nltk.corpus import brown, wordnet

        tags: dict[str, Counter[str]] = defaultdict(Counter)
        for word, tag in brown.tagged_words(tagset="universal"):
            tags[word.lower()][tag] += 1
        return [
            (word, len(set(wordnet.synsets(word))), counts.most_common(1)[0][0])
            for word, counts in sorted(tags.items())
            if any(character.isalnum() for character in word)
        ]
    finally:
        nltk.data.path.remove(str(folder))


def wordnet_license(shared: Path) -> str:
    """The license of WordNet's own files, from the copyright file of the package they came in."""
    text = (shared / "wordnet3.0" / "copyright").read_text(encoding="utf-8")
    own = text.split("License: WordNet3.0\n", 1)[1].split("\nFiles: debian/*", 1)[0]
    return "\n".join("" if line.strip() == "." else line.removeprefix(" ") for line in own.splitlines()).strip() + "\n"


def make(shared: Path, table: Path, license_text: Path) -> int:
    """Write the table and the license; return how many words it has."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(shared, Path(folder))
        rows = word_properties(Path(folder))
    lines = ["\t".join(HEADER), *("\t".join(map(str, row)) for row in rows)]
    table.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    license_text.write_text(LICENSE + wordnet_license(shared), encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    TABLE_PATH.parent.mkdir(exist_ok=True)
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else default_shared(), TABLE_PATH, LICENSE_PATH)
    print(f"{TABLE_PATH}: {made:,} words, {TABLE_PATH.stat().st_size:,} bytes")
