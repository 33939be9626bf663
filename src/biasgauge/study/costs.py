"""What a cell will cost, roughly: seconds of one core and bytes of memory, from measured rates.

`python bench/study_costs.py` measures the rates and prints them beside those that stand here (1,000,000 tokens, one
core of the machine that this was written on). A study whose store holds finished cells corrects them: `corrected`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonMapping

if TYPE_CHECKING:
    from biasgauge.study.cell import Cell
    from biasgauge.study.store import CellStore

BYTES_A_TOKEN = 6.0
PACKED = 3.0
"""How much larger a compressed text is than its file."""

VOCABULARY = (3.2, 0.6)
"""Heaps' law: words that occur five times in so many tokens; fits text8 (17 million: 71,000)."""

CORPUS, BALANCE = 1.6e-7, 9.8e-8
"""Seconds a byte."""

TRAINING = {"sgns": (1.8e-7, 3.8e-9), "cbow": (1.1e-7, 2.3e-9), "fasttext": (2.6e-7, 1.1e-8), "glove": (0.0, 7.7e-9)}
"""Seconds a token and epoch: as many in any case, and as many for each dimension."""

COUNTING = 5.0e-7
"""Seconds a token that GloVe takes before its first epoch."""

COUNTS, MOST_COUNTS = 130.0, 2.0**31
"""Bytes a token of GloVe's co-occurrences (5 million tokens of Wikipedia: 0.6 GB), and how many at most."""

LOADING, DBWA, NBM = 4.0e-9, 7.6e-9, 4.8e-11
"""Seconds a word and dimension: loaded; scored against a pair; compared with a neighbor."""

ENCODING = 1.0e-3
"""Seconds a word and view; of MiniLM on one core less than half of it, of a larger model more."""

LIBRARY = 900_000_000
"""Bytes that torch and a small transformer take."""

ELEMENT = 2.0e-7
"""Seconds a score that an analysis of scores takes."""

PLANT, CHOOSE = 3.0e-7, 1.0e-7
"""Seconds a token: planted with two kinds of doses, counted, checked and written; and read for words to plant on."""

TASK = 3.0e-5
"""Seconds a token of a task's data: the CNN on HatEval (3 MB) with its default settings took 16 (and 551 MB)."""

START, BASE = 0.05, 250_000_000
"""Seconds and bytes that any cell takes."""

RATES = {
    "corpus, a byte": CORPUS,
    "balance, a byte": BALANCE,
    **{
        f"{name} of {dim}, a token and epoch": fixed + dim * each + (COUNTING if name == "glove" else 0.0)
        for name, (fixed, each) in TRAINING.items()
        for dim in (100, 300)
    },
    "load, a word and dimension": LOADING,
    "dbwa, a word, dimension and pair": DBWA,
    "nbm, a word, dimension and neighbor": NBM,
}
"""The same by the names that the benchmark prints."""

_SAMPLED = 8
_ROWS = {"sgns": 2, "cbow": 2, "fasttext": 14, "glove": 4}


@dataclass(frozen=True)
class Size:
    """How large an outcome is, roughly.

    Attributes:
        tokens: of a corpus, and of what a model is trained on.
        words: of a model; of scores, those that are scored.
        dim: of a model.
        pairs, measures, models: of scores.
    """

    tokens: float = 0.0
    words: float = 0.0
    dim: int = 0
    pairs: int = 0
    measures: int = 0
    models: int = 1

    @property
    def numbers(self) -> float:
        """Numbers that a model holds."""
        return self.words * self.dim

    @property
    def elements(self) -> float:
        """Scores of a tensor."""
        return self.measures * self.pairs * self.words * self.models


NOTHING = Size()


def text_size(plain: int, packed: int = 0) -> Size:
    """What texts of so many bytes hold, plain and compressed."""
    return Size(tokens=(plain + PACKED * packed) / BYTES_A_TOKEN)


def model_size(corpus: Size, recipe: JsonMapping) -> Size:
    """What a model of a corpus will be."""
    factor, power = VOCABULARY
    words = min(corpus.tokens / max(recipe["min_count"], 1), factor * corpus.tokens**power)
    return Size(tokens=corpus.tokens, words=words, dim=recipe["settings"]["dim"])


def vectors_size(size: int, limit: int | None = None) -> Size:
    """What vectors in a file of so many bytes will be: 300 numbers of four bytes a word."""
    words = size / 1200
    return Size(words=words if limit is None else min(words, limit), dim=300)


def estimate(step: str, settings: JsonMapping, inputs: Sequence[Size], size: Size) -> dict[str, Any]:
    """Seconds and bytes of a cell, as keywords of `Cell`."""
    models = [source for source in inputs if source.dim]
    seconds = START + sum(model.numbers for model in models) * LOADING
    memory = BASE + 4 * sum(model.numbers for model in models)
    seconds += _EACH_MODEL.get(step, 0.0) * len(models) + _FIXED.get(step, 0.0)
    if step in _SECONDS:
        seconds += _SECONDS[step](settings, inputs, size)
    if step == "train":
        memory += 4 * (size.numbers * _ROWS[settings["algorithm"]] + size.tokens)
        memory += min(size.tokens * COUNTS, MOST_COUNTS) if settings["algorithm"] == "glove" else 0.0
    elif step == "encode":
        memory += LIBRARY + 4 * 2 * size.numbers
    elif step in {"score", "vectors", "mitigate", "view"}:
        memory += 4 * (2 * size.numbers + size.elements)
    elif step in _OF_SCORES:
        memory += 16 * sum(source.elements / max(source.measures, 1) for source in inputs)
    elif step.startswith("task"):
        memory += 400_000_000
    return {"seconds": round(seconds, 3), "memory": int(memory)}


def _train(settings: JsonMapping, _: Sequence[Size], size: Size) -> float:
    fixed, each = TRAINING[settings["algorithm"]]
    own = settings["settings"]
    counting = COUNTING if settings["algorithm"] == "glove" else 0.0
    return size.tokens * (int(own["epochs"]) * (fixed + each * int(own["dim"])) + counting)


def _score(settings: JsonMapping, inputs: Sequence[Size], size: Size) -> float:
    asked = settings["settings"].get("measures", ())
    voting = any(str(name).startswith("nbm") for name in asked)
    model = next((source for source in inputs if source.dim), NOTHING)
    plain = size.words * model.dim * size.pairs * len(asked) * DBWA
    return plain + (size.words * model.dim * model.words * NBM if voting else 0.0)


def _analyzed(_: Mapping[str, Any], inputs: Sequence[Size], __: Size) -> float:
    return 0.3 + ELEMENT * sum(source.elements for source in inputs)


def _stability(_: Mapping[str, Any], inputs: Sequence[Size], __: Size) -> float:
    pairs = len(inputs) * (len(inputs) - 1) / 2
    return 0.2 + pairs * max((source.numbers * source.dim for source in inputs), default=0.0) * 2e-10


_OF_SCORES = ("reliability", "components", "decision", "factors", "tensor")

_EACH_MODEL = {
    "association": 0.15, "bayes": 0.5, "bayes-change": 0.5, "mitigation-effect": 4.0, "quality": 1.0, "robustness": 5.0,
    "seeds": 1.0, "audit": 12.0, "task-summary": 2.0, "points": 0.2, "compare": 0.05, "calibration-scores": 1.5,
    "calibration-verdicts": 3.0,
}  # fmt: skip
"""Seconds a model."""
_FIXED = {"correlate": 1.0, "report": 1.0, "calibrate": 15.0}

_SECONDS: dict[str, Callable[[Mapping[str, Any], Sequence[Size], Size], float]] = {
    "corpus": lambda _, __, size: size.tokens * BYTES_A_TOKEN * CORPUS,
    "balance": lambda _, __, size: size.tokens * BYTES_A_TOKEN * BALANCE,
    "calibration-plan": lambda _, __, size: 1.0 + size.tokens * CHOOSE,
    "plant": lambda _, __, size: 1.0 + size.tokens * PLANT,
    "train": _train,
    "vectors": lambda _, __, size: size.numbers * LOADING * 10,
    "contexts": lambda _, __, ___: 1.0,
    "encode": lambda _, __, size: 4.0 + size.words * ENCODING,
    "view": lambda _, __, size: size.numbers * LOADING,
    "mitigate": lambda _, inputs, __: 0.05 + sum(source.numbers for source in inputs) * 1e-8,
    "score": _score,
    **dict.fromkeys(_OF_SCORES, _analyzed),
    "stability": _stability,
    "task": lambda _, __, size: 2.0 + size.tokens * TASK,
}
"""What each step takes beside starting and opening models; those of analyses were measured on the shipped vectors."""


def core_seconds(cells: Iterable[Cell]) -> float:
    """Seconds that cells keep one core busy."""
    return sum(cell.seconds * cell.threads for cell in cells)


def longest_chain(cells: Sequence[Cell], finished: frozenset[str]) -> float:
    """Seconds of the longest chain of cells that wait for each other."""
    ends: dict[str, float] = {}
    for cell in cells:
        own = 0.0 if cell.key in finished else cell.seconds
        ends[cell.key] = own + max((ends[key] for key in cell.inputs.values()), default=0.0)
    return max(ends.values(), default=0.0)


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else "< 1 s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def corrected(cells: Sequence[Cell], finished: frozenset[str], store: CellStore | None) -> tuple[Cell, ...]:
    """The same cells, with the times that finished ones took, and those of their like scaled by how far these were off.

    Cells are alike when they have the same step and, in training, the same algorithm. A few of each are looked at.
    """
    if store is None or not finished:
        return tuple(cells)
    known: dict[str, float] = {}
    ratios: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        sampled = ratios.setdefault(_like(cell), [])
        if cell.key in finished and len(sampled) < _SAMPLED and (seconds := store.seconds(cell.key)) is not None:
            known[cell.key] = seconds
            sampled.append(seconds / max(cell.seconds, START))
    factors = {like: median(sampled) for like, sampled in ratios.items() if sampled}
    return tuple(
        replace(cell, seconds=round(known.get(cell.key, cell.seconds * factors.get(_like(cell), 1.0)), 3))
        for cell in cells
    )


def _like(cell: Cell) -> tuple[str, str]:
    return cell.step, str(cell.settings.get("algorithm", ""))
