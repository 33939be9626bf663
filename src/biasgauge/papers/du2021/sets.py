"""Sets of replicates, each of one algorithm on one text: those that the user holds, and the one that ships."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.lexicons import lexicon
from biasgauge.scores import MANIFEST, ScoreStore, score
from biasgauge.vectors import REPLICATES, load, replicate_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.papers.paper import Data, Progress
    from biasgauge.scores import ScoreTensor

CORPORA = ("wikitext103", "askscience", "askhistorians")
COMBINATIONS = tuple(f"{algorithm}-{corpus}" for algorithm in ("sgns", "glove") for corpus in CORPORA)
"""Folders of replicates, by algorithm and corpus."""
ALGORITHMS = ("sgns", "glove", "fasttext", "cbow")
SHIPPED = "sgns-enwiki"
"""The replicates that ship: 64 dimensions, a sample of English Wikipedia."""
_SHORT = ("occ16", "occ18", "adj", "du2021_queries")
_LISTS = (*_SHORT, "google10k")


@dataclass(frozen=True, eq=False)
class ReplicateSet:
    """Scores of the replicates of one algorithm on one text.

    Attributes:
        name: of its folder.
        published, corrected: scores as the paper's code has them, and in their corrected form; None where not known.
        same: whether it is named as one of the paper's six.
        ships: whether it ships with biasgauge; then only the short lists are scored.
    """

    name: str
    published: ScoreTensor | ScoreStore | None
    corrected: ScoreTensor | ScoreStore | None
    same: bool = False
    ships: bool = False

    @property
    def algorithm(self) -> str:
        """Algorithm that its name begins with, if any."""
        first = self.name.partition("-")[0]
        return first if first in ALGORITHMS else "other"

    @property
    def corpus(self) -> str:
        """The rest of its name."""
        return self.name if self.algorithm == "other" else self.name.partition("-")[2] or self.name

    @property
    def note(self) -> str:
        """Description of the set."""
        scores = self.published if self.corrected is None else self.corrected
        count = 0 if scores is None else len(scores.models)
        return f"{count} replicates of {self.name}" + (", which ship with biasgauge" if self.ships else "")


def holds_replicates(folder: Path) -> bool:
    """Return whether models or scores are in it, or in a folder of it."""
    return folder.is_dir() and bool(_folders(folder))


def given_sets(data: Data, progress: Progress | None = None) -> tuple[ReplicateSet, ...]:
    """Every set that the user holds, scored where it is not."""
    if data.find("replicates") is None:
        return ()

    def make() -> tuple[ReplicateSet, ...]:
        folders = _folders(data.path("replicates"))
        sets = []
        for number, folder in enumerate(folders, 1):
            sets.append(_opened(folder))
            if progress is not None:
                progress(number, len(folders))
        return tuple(sets)

    return data.once("given sets", make)


def shipped_set(data: Data) -> ReplicateSet:
    """The set that ships, scored on the short lists alone, which takes seconds."""
    paths = [replicate_path(seed) for seed in range(REPLICATES)]
    return data.once("shipped set", lambda: _scored(SHIPPED, paths, _SHORT, ships=True))


def _folders(folder: Path) -> list[Path]:
    """Folders that hold a set; the folder itself if it does."""
    if _holds_any(folder):
        return [folder]
    return sorted(path for path in folder.iterdir() if path.is_dir() and _holds_any(path))


def _holds_any(folder: Path) -> bool:
    """Return whether a folder is a store of scores or has files of vectors in it."""
    return (folder / MANIFEST).is_file() or bool(_models(folder))


def _models(folder: Path) -> list[Path]:
    """Files of vectors; recipes beside them, hidden files and notes are none."""
    files = (path for path in folder.iterdir() if path.is_file() and path.suffix != ".json")
    return sorted(path for path in files if not path.name.startswith((".", "SOURCE", "README")))


def _opened(folder: Path) -> ReplicateSet:
    same = folder.name in COMBINATIONS
    if not (folder / MANIFEST).is_file():
        return _scored(folder.name, _models(folder), _LISTS, same=same)
    store = ScoreStore.open(folder)
    published = store.provenance.get("as_published") == "du2021"
    return ReplicateSet(folder.name, store if published else None, None if published else store, same=same)


def _scored(
    name: str, models: Sequence[Path], lists: Sequence[str], *, same: bool = False, ships: bool = False
) -> ReplicateSet:
    vocabulary = set(load(models[0]).words)  # words that are not there are left out without a word, as the paper does
    words = list(dict.fromkeys(word for list_ in lists for word in lexicon(list_).words if word in vocabulary))
    theirs, ours = (score(list(models), pairs="du2021", words=words, as_published=rule) for rule in ("du2021", None))
    return ReplicateSet(name, theirs, ours, same=same, ships=ships)
