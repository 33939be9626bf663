"""How often words occur: from a file, or from the models that hold counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from biasgauge.embeddings import load
from biasgauge.errors import InputError
from biasgauge.scores import ScoreStore


def read_counts(path: Path) -> dict[str, float]:
    """Read a word and its count from each line, as GloVe's `vocab.txt` has them.

    Raises:
        InputError: the file cannot be read, or a line holds something else.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: is not UTF-8 text ({problem.reason})") from problem
    counts: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, _, count = line.rstrip().rpartition("\t" if "\t" in line else " ")
        word = word.strip()
        if not word or not count.isdecimal() or int(count) < 1:
            raise InputError(f"{path}, line {number}: expected a word and a count of at least 1, found {line[:60]!r}")
        if word in counts:
            raise InputError(f"{path}, line {number}: the word {word!r} has a count already")
        counts[word] = float(count)
    if not counts:
        raise InputError(f"{path}: holds no counts; write a word and its count on each line")
    return counts


def stored_counts(store: ScoreStore, models_in: Path | None = None) -> dict[str, float] | None:
    """Mean counts of words over the scored models that hold counts; None when none does."""
    sums: dict[str, float] = {}
    times: dict[str, int] = {}
    for about in store.provenance["models"].values():
        path = Path(about.get("source", ""))
        for word, count in _counts_of_model(path if models_in is None else models_in / path.name):
            sums[word] = sums.get(word, 0.0) + count
            times[word] = times.get(word, 0) + 1
    return {word: total / times[word] for word, total in sums.items()} or None


def _counts_of_model(path: Path) -> Iterator[tuple[str, int]]:
    """Words and counts of a model that `biasgauge train` wrote; nothing from other files."""
    if path.suffix != ".safetensors" or not path.is_file():
        return
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            counts = file.get_tensor("counts").tolist() if "counts" in file.keys() else []  # noqa: SIM118 - no mapping
    except SafetensorError as problem:
        raise InputError(f"{path}: cannot be read ({problem})") from problem
    words = load(path).words
    if len(words) == len(counts):
        yield from ((word, count) for word, count in zip(words, counts, strict=True) if count > 0)
