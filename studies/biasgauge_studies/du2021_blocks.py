"""Blocks of scores that du2021_gpu.py left, and the reliabilities of words and pairs in them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import biasgauge as bg
from biasgauge.analyses.reliability import pair_name
from biasgauge.lexicons import pairs_of
from biasgauge.scores import ScoreTensor
from biasgauge.stats import icc_stack

MEASURES = ("dbwa", "ripa", "nbm")
LISTS = ("occ16", "occ18", "adj", "google10k")
VOTES = 100
"""Neighbors whose votes an NBM score counts."""


@dataclass(eq=False)
class Block:
    """An algorithm on a text: scores over seeds, as the docstring of du2021_gpu.py tells.

    Attributes:
        name: of the job and the text.
        kind: of the job: "sgns", "glove", "fasttext", "sgns100", "sgns3", "own_negatives", "sgns_features", …
        text: the text.
        about: settings and checksums.
        arrays: what was kept.
        words: the vocabulary, by row.
        counts: how often each word occurs in the text.
    """

    name: str
    kind: str
    text: str
    about: dict[str, Any]
    arrays: dict[str, np.ndarray]
    words: list[str]
    counts: np.ndarray

    @property
    def whole(self) -> bool:
        """Whether there are statistics of the whole vocabulary."""
        return "words_f" in self.arrays

    @property
    def seeds(self) -> int:
        """Replicates."""
        return len(self.about["sha256"])

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of which both words are in the text."""
        every = pairs_of("du2021").pairs
        return [every[number] for number in self.about["pairs"]]

    @property
    def pair_names(self) -> list[str]:
        """As they are written."""
        return [pair_name(pair) for pair in self.pairs]

    @cached_property
    def row(self) -> dict[str, int]:
        """Row of a word in the vocabulary."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def scores(self) -> np.ndarray:
        """Measures x pairs x words (`rows`) x seeds."""
        linear = self.arrays["linear"] * self.arrays["scale"][:, None, None, None]
        nbm = np.where(self.arrays["nbm"] == -128, np.nan, self.arrays["nbm"] / VOTES)
        return np.concatenate([linear, nbm[None]]).astype(np.float64)

    @cached_property
    def means(self) -> np.ndarray:
        """Measures x pairs x words of Google's list, means over seeds."""
        return np.asarray(self.arrays["means"] * self.arrays["mean_scale"][:, None, None])

    def places(self, name: str, among: str = "rows") -> np.ndarray:
        """Where the words of a list are: among the `rows` whose scores were kept, those of `google`, or in all."""
        if name == "full":
            return np.arange(len(self.words))
        wanted = [self.row[word] for word in bg.lexicon(name).words if word in self.row]
        if among == "all":
            return np.array(sorted(set(wanted)), int)
        return np.flatnonzero(np.isin(self.arrays[among], wanted))

    def icc_of_words(self, name: str) -> np.ndarray:
        """Test-retest reliability ICC(2,1), measures x words of a list; of a sample of google10k if not `whole`."""
        if not self.whole:
            stack = self.scores[:, :, self.places(name)].transpose(0, 2, 1, 3)
            return np.asarray(icc_stack(stack, "2,1", n_jobs=1).value)
        chosen = self.places(name, "all")
        return icc21(self.arrays["words_f"][:, chosen], self.arrays["words_c"][:, chosen], len(self.pairs), self.seeds)

    def icc_of_rows(self) -> np.ndarray:
        """The same of all words whose scores were kept, from these."""
        return np.asarray(icc_stack(self.scores.transpose(0, 2, 1, 3), "2,1", n_jobs=1).value)

    def icc_of_pairs(self, name: str) -> np.ndarray:
        """Test-retest reliability ICC(2,1), measures x pairs, over the words of a list."""
        if name in ("google10k", "full"):
            rows, columns, error = self.arrays["pairs"][int(name == "full")]  # of words, of seeds, of what is left
            words = len(self.words) if name == "full" else len(self.arrays["google"])
            return icc21(rows / error, columns / error, words, self.seeds)
        stack = self.scores[:, :, self.places(name)]
        return np.asarray(icc_stack(stack, "2,1", n_jobs=1).value)

    def raters_of_words(self, name: str) -> np.ndarray:
        """Inter-rater consistency ICC(3,1) of words, over the three measures, scores as they are."""
        f = self.arrays["raters_f"][self.places(name, "all")].astype(float)
        return np.asarray((f - 1) / (f + len(MEASURES) - 1))

    def averages(self, name: str) -> np.ndarray:
        """Means over seeds, measures x pairs x words of a list."""
        if name == "google10k":
            return self.means
        return np.asarray(self.scores[:, :, self.places(name)].mean(axis=3))

    def tensor(self, name: str) -> ScoreTensor:
        """Kept scores of the words of a list, as `bg.score` gives them."""
        places = self.places(name)
        values = self.scores[:, :, places].astype(np.float32)
        words = tuple(self.words[row] for row in self.arrays["rows"][places])
        return ScoreTensor(
            values=values, undefined=np.isnan(values).astype(np.uint8), measures=MEASURES, pairs=tuple(self.pairs),
            words=words, models=tuple(f"seed{seed}" for seed in range(1, self.seeds + 1)), provenance={},
        )  # fmt: skip


def icc21(f: np.ndarray, c: np.ndarray, subjects: int, raters: int) -> np.ndarray:
    """ICC(2,1) from the mean squares of subjects (`f`) and raters (`c`), both over that of what is left."""
    f, c = f.astype(float), c.astype(float)
    return np.asarray((f - 1) / (f + raters - 1 + raters / subjects * (c - 1)))


def read_blocks(folders: list[Path], data: Path) -> dict[str, Block]:
    """All blocks of some runs, by name; a later run's replaces an earlier one's of the same name."""
    blocks: dict[str, Block] = {}
    texts: dict[str, tuple[list[str], np.ndarray]] = {}
    for folder in folders:
        log = json.loads((folder / "log.json").read_text())
        for name, arrays in _arrays(folder):
            about = log["blocks"][name]
            text = about["text"]
            if text not in texts:
                words = (data / f"{text}.words.txt").read_text(encoding="utf-8").split("\n")
                texts[text] = (words, np.load(data / "carry" / f"{text}.npz")["counts"])
            blocks[name] = Block(name, name.removesuffix(f"_{text}"), text, about, arrays, *texts[text])
    return blocks


def _arrays(folder: Path) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    for path in sorted(folder.glob("scores_*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name.removesuffix(".npz"), dict(np.load(io.BytesIO(archive.read(name))))
