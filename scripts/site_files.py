"""Files that stand for a reader's own in the examples of the site: vectors, a text, a word list.

python scripts/site_files.py FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import biasgauge as bg
from biasgauge.text import planted_corpus

LEANS = {
    "nurse": -0.8, "secretary": -0.7, "librarian": -0.6, "hairdresser": -0.5, "teacher": -0.4, "dancer": -0.3,
    "writer": -0.1, "judge": 0.0, "chef": 0.1, "lawyer": 0.2, "surgeon": 0.4, "physicist": 0.5,
    "mechanic": 0.6, "carpenter": 0.7, "engineer": 0.8, "plumber": 0.9,
}  # fmt: skip
"""Occupations and how far the text leans with each: 1 says only *he*, *man*, *his*, −1 only *she*, *woman*, *her*."""
LISTS = ("weat6b", "weat7")
MY_WORDS = 'kind = "words"\nname = "my_words"\nwords = ["nurse", "surgeon", "teacher", "engineer", "judge"]\n'


def write_files(folder: Path) -> None:
    """Write `vectors.bin`, `corpus.txt`, `other.txt` and `my_words.toml`."""
    folder.mkdir(parents=True, exist_ok=True)
    bg.save(bg.vectors.load_default(), folder / "vectors.bin")
    (folder / "my_words.toml").write_text(MY_WORDS, encoding="utf-8")
    for name, seed in (("corpus.txt", 1), ("other.txt", 2)):
        (folder / name).write_text(_text(seed), encoding="utf-8")


def _text(seed: int) -> str:
    """A text with a known lean: occupations beside pronouns, and the words of two tests, some beside each other."""
    random = np.random.default_rng(seed)
    lines = list(planted_corpus(LEANS, lines=2_400, random_state=seed).documents())
    lines = [line for text in lines for line in text.split("\n")]
    pairs = bg.lexicons.pairs_of("du2021").pairs
    for _ in range(1_500):
        word = str(random.choice([*LEANS]))
        first, second = pairs[random.integers(len(pairs))]
        end = first if random.random() < (1 + LEANS[word]) / 2 else second
        lines.append(f"the {word} met the {end} in the {random.choice(['market', 'garden', 'office', 'library'])}")
    for name in LISTS:
        sets = {key: [word.lower() for word in words] for key, words in bg.lexicon(name).sets.items()}
        for _ in range(600):
            target, attribute = random.choice(
                [("x", "a"), ("y", "b"), ("x", "b"), ("y", "a")], p=[0.35, 0.35, 0.15, 0.15]
            )
            lines.append(" ".join([*random.choice(sets[target], 3), *random.choice(sets[attribute], 3)]))
    random.shuffle(lines)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files are written")
    write_files(parser.parse_args().folder)
