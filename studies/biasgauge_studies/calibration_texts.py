"""Planted texts of the calibration study as numbers: made where Numba is, read where only NumPy and PyTorch are.

A text travels once. Smaller texts are its beginnings; planted texts are what differs from it: which words of it are
others. Numbers of words are those of the whole text's vocabulary; the vocabulary of a smaller text is found anew, as
`corpora.vocabulary` would.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge_studies.du2021_texts import MIN_COUNT, Text, packed, unpacked

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import PlantingPlan
    from biasgauge.text import TokenCorpus, Vocabulary

LISTS = ("occ16", "occ18")
BACKGROUND, KEPT_BACKGROUND = 1000, 100
"""Words without a dose that are scored, and of how many of them vectors are kept."""


@dataclass(frozen=True, eq=False)
class Source:
    """A text that is planted in, with what is planted in its beginnings.

    Attributes:
        name: of the text.
        corpora: by size (such as "5M") its beginnings; the largest is all of it.
        plans: by way of planting, what is planted.
        background: words in which nothing is planted.
    """

    name: str
    corpora: dict[str, TokenCorpus]
    plans: dict[str, PlantingPlan]
    background: tuple[str, ...]

    def words(self) -> list[str]:
        """All words that are scored: carriers, those of something else, background, occupations; and ends."""
        from biasgauge.lexicons import words_of

        plan = next(iter(self.plans.values()))
        listed = [word for name in LISTS for word in words_of(name).words]
        ends = [word for pair in plan.pairs for word in pair]
        return list(dict.fromkeys([*plan.carriers, *plan.others, *self.background, *listed, *ends]))

    def kept(self) -> list[str]:
        """Words of which vectors are kept: what tests and verdicts look at."""
        plan = next(iter(self.plans.values()))
        ends = [word for pair in plan.pairs for word in pair]
        return list(dict.fromkeys([*plan.carriers, *ends, *self.background[:KEPT_BACKGROUND]]))


def pack(source: Source, work: Path, out: Path, *, subwords: Sequence[str] = (), sizes: Sequence[str] = ()) -> None:
    """Write OUT/NAME.base.npz (the text), and for each size what is planted in it, OUT/NAME.SIZE.npz.

    Counted doses stay in `work`. `sizes` names some of the files ("base", or a size); all by default.
    """
    from biasgauge.text import vocabulary
    from biasgauge.text.training.word2vec import word_parts

    largest = source.corpora[list(source.corpora)[-1]]
    words = vocabulary(largest, min_count=MIN_COUNT)
    numbers = {word: number for number, word in enumerate(words.words)}
    known = words.places >= 0
    kept_before = np.concatenate([[0], np.cumsum(known[largest.tokens])])
    if not sizes or "base" in sizes:
        _pack_base(source, words, numbers, kept_before, out / f"{source.name}.base.npz")
    for size, corpus in source.corpora.items():
        if sizes and size not in sizes:
            continue
        arrays: dict[str, Any] = {"lines": np.array(len(corpus.lines) - 1)}
        places = _renumbered(corpus, numbers)
        for kind, plan in source.plans.items():
            for draw, planted in enumerate(plan.plant(corpus, work)):
                name = f"{size}.{kind}.{draw}"
                where, new = _edits(corpus, planted.corpus, places, kept_before)
                arrays[f"{name}|where"] = packed(np.diff(where, prepend=0).astype(np.uint32))
                arrays[f"{name}|new"] = packed(new.astype(np.uint32))
                _write_doses(planted, work / f"{source.name}.{name}.json")
                print(name, f"{len(where):,} words differ", flush=True)
        if size in subwords:
            _, starts, parts = word_parts(vocabulary(corpus, min_count=MIN_COUNT).words, 3, 6)
            arrays[f"{size}|starts"] = packed(np.diff(starts).astype(np.uint32))
            arrays[f"{size}|parts"] = packed(parts.astype(np.uint32))
        _write(out / f"{source.name}.{size}.npz", arrays)


def _pack_base(source: Source, words: Vocabulary, numbers: dict[str, int], kept_before: np.ndarray, path: Path) -> None:
    largest = source.corpora[list(source.corpora)[-1]]
    tokens = words.places[largest.tokens]
    tokens = tokens[tokens >= 0]
    rare = tokens >= 65_535
    pairs = [pair for pair in next(iter(source.plans.values())).pairs if pair[0] in numbers and pair[1] in numbers]
    arrays: dict[str, Any] = {
        "rare": packed(tokens[rare].astype(np.uint32)),
        "lengths": packed(np.diff(kept_before[largest.lines]).astype(np.uint32)),
        "alphabetical": packed(np.argsort(np.argsort(np.array(words.words))).astype(np.uint32)),
        "words": np.array([numbers[word] for word in source.words() if word in numbers], np.int32),
        "kept": np.array([numbers[word] for word in source.kept() if word in numbers], np.int32),
        "first": np.array([numbers[first] for first, _ in pairs], np.int32),
        "second": np.array([numbers[second] for _, second in pairs], np.int32),
    }  # fmt: skip
    frequent = np.where(rare, 65_535, tokens).astype(np.uint16)
    middle = len(tokens) // 2  # two files, since so much may travel at a time
    _write(path.with_suffix(".0.npz"), {"tokens0": frequent[:middle], **arrays})
    _write(path.with_suffix(".1.npz"), {"tokens1": frequent[middle:]})


def _write(path: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(path, **arrays)
    print(path.name, f"{path.stat().st_size:,} bytes", flush=True)


def _renumbered(corpus: TokenCorpus, numbers: dict[str, int]) -> np.ndarray:
    """For each word of a corpus its number in the whole text's vocabulary; −1 where it has none."""
    return np.array([numbers.get(word, -1) for word in corpus.words], np.int64)


def _edits(
    corpus: TokenCorpus, planted: TokenCorpus, places: np.ndarray, kept_before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where a planted text differs from its source, among words of the vocabulary, and the words that stand there."""
    if planted.words != corpus.words:
        raise ValueError("frequencies were to be kept")
    where = np.flatnonzero(np.asarray(planted.tokens) != np.asarray(corpus.tokens))
    new = places[planted.tokens[where]]
    if (new < 0).any() or (places[corpus.tokens[where]] < 0).any():
        raise ValueError("a word that is too rare was planted")
    return kept_before[where], new


def _write_doses(planted: Any, path: Path) -> None:  # noqa: ANN401 - `Planted`
    """What was asked for and counted, for the analysis."""
    about = {
        "doses": [dose.to_dict() for dose in planted.doses], "edits": len(planted.edits),
        "remarks": list(planted.remarks), "tokens": len(planted.corpus.tokens),
    }  # fmt: skip
    path.write_text(json.dumps(about))


class PackedTexts:
    """What `pack` wrote, ready to give any of its texts."""

    def __init__(self, name: str, files: Sequence[Path]) -> None:
        self.name = name
        self._arrays = {key: array for path in files for key, array in np.load(path).items()}
        self.sizes = {
            path.name.split(".")[1]: int(np.load(path)["lines"]) for path in files if ".base." not in path.name
        }
        self.planted = [key.split("|")[0] for key in self._arrays if key.endswith("|where")]
        parts = [self._arrays[key] for key in sorted(self._arrays) if key.startswith("tokens")]
        tokens = np.concatenate([part if part.dtype == np.uint16 else unpacked(part, np.uint16) for part in parts])
        self._tokens = tokens.astype(np.uint32)
        self._tokens[tokens == 65_535] = unpacked(self._arrays["rare"], np.uint32)
        lengths = unpacked(self._arrays["lengths"], np.uint32)
        self._lines = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._alphabetical = unpacked(self._arrays["alphabetical"], np.uint32)
        self._vocabularies: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def vocabulary(self, size: str) -> tuple[np.ndarray, np.ndarray]:
        """Places of words in the vocabulary of a size (−1: too rare), and its counts; as `corpora.vocabulary`."""
        if size not in self._vocabularies:
            end = self._lines[self.sizes[size]]
            counts = np.bincount(self._tokens[:end], minlength=len(self._alphabetical))
            chosen = np.flatnonzero(counts >= MIN_COUNT)
            chosen = chosen[np.lexsort((self._alphabetical[chosen], -counts[chosen]))]
            places = np.full(len(counts), -1, np.int64)
            places[chosen] = np.arange(len(chosen))
            self._vocabularies[size] = (places, counts[chosen])
        return self._vocabularies[size]

    def text(self, name: str) -> Text:
        """A planted text (SIZE.PLANTING.NUMBER), or a shuffled one (SIZE.shuffled.NUMBER)."""
        size, kind, draw = name.split(".")
        places, counts = self.vocabulary(size)
        lines = self._lines[: self.sizes[size] + 1]
        tokens = self._tokens[: lines[-1]].copy()
        if kind == "shuffled":
            tokens = np.random.default_rng([21, int(draw)]).permutation(tokens)
        elif kind != "plain":
            where = np.cumsum(unpacked(self._arrays[f"{name}|where"], np.uint32).astype(np.int64))
            new = unpacked(self._arrays[f"{name}|new"], np.uint32)
            tokens[where] = new
        numbered = places[tokens]
        kept_before = np.concatenate([[0], np.cumsum(numbered >= 0)])
        rows = {part: places[self._arrays[part]] for part in ("words", "kept", "first", "second")}
        both = (rows["first"] >= 0) & (rows["second"] >= 0)
        more = {"words": rows["words"], "kept": rows["kept"]}
        more |= {end: rows[end][both] for end in ("first", "second")}
        if f"{size}|starts" in self._arrays:
            parts = unpacked(self._arrays[f"{size}|starts"], np.uint32)
            more["starts"] = np.concatenate([[0], np.cumsum(parts, dtype=np.int64)])
            more["parts"] = unpacked(self._arrays[f"{size}|parts"], np.uint32).astype(np.int32)
        return Text(
            f"{self.name}.{name}", numbered[numbered >= 0].astype(np.uint32), kept_before[lines], counts, more
        )  # fmt: skip
