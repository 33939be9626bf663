"""Benchmarks of vectors: pairs of words with human scores of similarity, and files of analogy questions.

`similarity_benchmark` measures the quality of vectors, and the damage of a change to them, such as debiasing.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from biasgauge.core import (
    INTERVAL,
    Estimate,
    Floats,
    JsonObject,
    VectorsLike,
    WordPolicy,
    check_level,
    did_you_mean,
    row_cosines,
)
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.io import ByteSource
from biasgauge.results import Column, Result, Summary, Table, share_text
from biasgauge.stats import METHODS, Kind, fisher_interval, slack, weighted_ranks
from biasgauge.vectors.coverage import ZERO
from biasgauge.vectors.formats.vector_format import brief
from biasgauge.vectors.loading import load

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 64 * 2**20
"""Bytes; the largest known benchmark takes less than one million."""
_FOLDER = Path(__file__).with_name("data") / "similarity"
_GOOGLE = Path(__file__).with_name("data") / "analogies" / "google.txt.gz"
_SHOWN = 80


BENCHMARK_POLICY = WordPolicy(min_coverage=0.0, case="exact")
"""Words as written; a benchmark counts those that can be asked about, however few."""


class RatedPair(NamedTuple):
    """Two words and how similar or related people find them."""

    first: str
    second: str
    score: float


class Question(NamedTuple):
    """`a` is to `b` as `c` is to `d`; `d` is the answer, "" where none is known."""

    category: str
    a: str
    b: str
    c: str
    d: str


def similarity_names() -> tuple[str, ...]:
    """Names of the similarity benchmarks that ship with the package; each file names its source and citation."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.tsv")))


def find_similarity(benchmark: str | os.PathLike[str]) -> tuple[str, tuple[RatedPair, ...]]:
    """Return name and pairs of a shipped benchmark, or of a file; `LexiconError` where there is neither."""
    names = similarity_names()
    if benchmark in names:
        return str(benchmark), read_similarity(_FOLDER / f"{benchmark}.tsv")
    path = Path(benchmark)
    if isinstance(benchmark, str) and not os.path.exists(benchmark):  # noqa: PTH110 - Path's raises for absurd names
        problem = f"{benchmark!r} is neither a similarity benchmark ({', '.join(names)}) nor a file"
        raise LexiconError(problem + did_you_mean(benchmark, names))
    return path.name, read_similarity(path)


def read_similarity(path: Path) -> tuple[RatedPair, ...]:
    """Read one pair per line: two words and a number, between tabs, commas or blanks; further fields are ignored.

    Lines that start with `#` are remarks. The first line may be a heading: its third field then starts with a letter.

    Raises:
        LexiconError: a line is something else; names the file and the line.
    """
    pairs: list[RatedPair] = []
    heading = True
    for number, line in _lines(path):
        if line.startswith("#"):
            continue
        separator = "\t" if "\t" in line else "," if "," in line else None
        fields = [field.strip() for field in line.split(separator) if field.strip()]
        problem = f"expected two words and a finite number; found {brief(line, _SHOWN)!r}"
        try:
            pair = RatedPair(fields[0], fields[1], float(fields[2]))
        except IndexError:
            raise LexiconError(problem, path=path, line=number) from None
        except ValueError:
            if not heading or not fields[2][0].isalpha():
                raise LexiconError(problem, path=path, line=number) from None
        else:
            if not math.isfinite(pair.score):
                raise LexiconError(problem, path=path, line=number)
            pairs.append(pair)
        heading = False
    if not pairs:
        raise LexiconError("holds no pair of words with a score", path=path)
    return tuple(pairs)


def read_analogies(path: Path) -> tuple[Question, ...]:
    """Read one question per line, four words between blanks; a line `: name` starts a category.

    Lines that start with `//` or `#` are remarks. Questions before the first category are in the category "all".

    Raises:
        LexiconError: a line is something else; names the file and the line.
    """
    category, questions = "all", []
    for number, line in _lines(path):
        if line.startswith(("//", "#")):
            continue
        if line.startswith(":"):
            category = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise LexiconError(
                f"expected four words, or ': ' and a category; found {brief(line, _SHOWN)!r}", path=path, line=number
            )
        questions.append(Question(category, *words))
    if not questions:
        raise LexiconError("holds no analogy question", path=path)
    return tuple(questions)


def google_analogies() -> tuple[Question, ...]:
    """The Google analogy test set, which ships with the package: 19,544 questions in 14 categories.

    Source: Mikolov, Chen, Corrado & Dean, *Efficient Estimation of Word Representations in Vector Space*, 2013.
    """
    return read_analogies(_GOOGLE)


def questions_of(source: object, function: str, *, answers: bool = True) -> tuple[Question, ...]:
    """Return questions from a file, a list, or a dict of category to questions; None is the Google set.

    Without `answers` three words are a question too. `function` is named in errors.
    """
    if source is None:
        return google_analogies()
    if isinstance(source, (str, os.PathLike)):
        return read_analogies(Path(source))
    grouped: Mapping[Any, Any] = source if isinstance(source, Mapping) else {"all": source}
    least = 4 if answers else 3
    try:
        rows = [(str(name), words) for name, members in grouped.items() for words in members]
        valid = bool(rows) and all(not isinstance(words, str) and least <= len(words) <= 4 for _, words in rows)
    except TypeError:
        valid = False
    if not valid:
        words = "four words each" if answers else "three or four words each"
        raise ParameterError(
            f"The 'questions' parameter of {function} must be a file, questions of {words}, or a dict of category to "
            "such questions."
        )
    return tuple(Question(name, *map(str, words), *[""] * (4 - len(words))) for name, words in rows)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers, without blanks at their ends."""
    with ByteSource(path, error=LexiconError) as source:
        content = source.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise LexiconError(f"holds more than {LARGEST // 2**20} MiB, so it is not a list of words", path=path)
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise LexiconError("is not UTF-8 text; save it as UTF-8", path=path, line=number) from None
        if line:
            yield number, line


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Result):
    """Correlation of cosines with human scores of similarity.

    1: the same order (Spearman) or a straight line (Pearson); 0: unrelated; range [−1, 1]. Pairs with a word that the
    model lacks are left out and listed, so results on different vocabularies do not compare.

    Attributes:
        benchmark: its name.
        model: the model's name.
        spearman: rank correlation, equal values with their mean rank; interval over pairs of words by Fisher's z with
            the variance of Bonett & Wright (*Psychometrika* 65, 2000).
        pearson: correlation; interval over pairs of words by Fisher's z.
        pairs: the pairs that were compared.
        cosines: cosine of each of them.
        lost: the pairs that were not, each with the reason.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "spearman": float | None,
        "pearson": float | None,
        "spearman_interval": INTERVAL,
        "pearson_interval": INTERVAL,
        "asked": int,
        "pairs": int,
        "lost": tuple[JsonObject, ...],
    }

    benchmark: str
    model: str
    spearman: Estimate
    pearson: Estimate
    pairs: tuple[RatedPair, ...]
    cosines: Floats
    lost: tuple[tuple[RatedPair, str], ...]

    @property
    def asked(self) -> int:
        """Number of pairs of the benchmark."""
        return len(self.pairs) + len(self.lost)

    @property
    def reason(self) -> str | None:
        """Reason why the correlations are undefined; None when they are defined."""
        return None if self.spearman.defined else self.spearman.reason

    def to_frame(self) -> pd.DataFrame:
        """One row per pair: first, second, human score, cosine, and why it was lost."""
        import pandas as pd

        rows = [(*pair, float(cosine), "") for pair, cosine in zip(self.pairs, self.cosines, strict=True)]
        rows += [(*pair, np.nan, why) for pair, why in self.lost]
        return pd.DataFrame(rows, columns=["first", "second", "human", "cosine", "lost"])

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        numbers = {name: getattr(self, name) for name in ("spearman", "pearson")}
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            **{name: estimate.value for name, estimate in numbers.items()},
            **{f"{name}_interval": estimate.interval() for name, estimate in numbers.items()},
            "asked": self.asked,
            "pairs": len(self.pairs),
            "lost": [{"first": pair.first, "second": pair.second, "reason": why} for pair, why in self.lost],
            "reason": self.reason,
        }

    def summary(self) -> Summary:
        """Both correlations, and how many pairs they rest on."""
        rows = [("Spearman", self.spearman), ("Pearson", self.pearson)]
        pairs = f"{len(self.pairs)} of {self.asked} pairs"
        return Summary(
            title=f"Similarity benchmark {self.benchmark} on {self.model}",
            headline=f"{self.benchmark} on {self.model!r}: Spearman {self.spearman}, {pairs}",
            tables=(Table.of("correlations", "", ["correlation", Column("value", "estimate", 3)], rows),),
        )


def similarity_benchmark(
    vectors: VectorsLike,
    benchmark: str | os.PathLike[str] | Iterable[tuple[str, str, float]],
    *,
    policy: WordPolicy = BENCHMARK_POLICY,
    level: float = 0.95,
) -> Similarity:
    """Correlate the cosines of pairs of words with how similar people find them.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        benchmark: a name (`similarity_names()` lists them), a file with two words and a number per line, or such rows.
        policy: how words are looked up, and the share of pairs that must be found.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the benchmark is unknown, or its file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    model = load(vectors)
    name, pairs = _pairs(benchmark)
    lookup = model.lookup((word for pair in pairs for word in pair[:2]), case_fallback=policy.uses_fallback([model]))
    lookup = lookup.only(model.directed(lookup.rows), ZERO)
    rows = lookup.row_of
    used = [pair for pair in pairs if pair.first in rows and pair.second in rows]
    lost = [
        (pair, "; ".join(f"{word}: {lookup.lost[word]}" for word in dict.fromkeys(pair[:2]) if word in lookup.lost))
        for pair in pairs
        if pair.first not in rows or pair.second not in rows
    ]
    first, second = [rows[pair.first] for pair in used], [rows[pair.second] for pair in used]
    cosines = row_cosines(model.vectors[first], model.vectors[second])
    human = np.array([pair.score for pair in used])
    reason = _undefined(human, cosines)
    if reason is None and len(used) < policy.min_coverage * len(pairs):
        reason = f"fewer than {share_text(policy.min_coverage)} of the pairs were found"
    pearson, spearman = (_correlation(human, cosines, kind, level, reason) for kind in METHODS)
    return Similarity(name, model.name, spearman, pearson, tuple(used), cosines, tuple(lost))


def _pairs(benchmark: object) -> tuple[str, tuple[RatedPair, ...]]:
    if isinstance(benchmark, (str, os.PathLike)):
        return find_similarity(benchmark)
    try:
        pairs = tuple(
            RatedPair(str(first), str(second), float(score))
            for first, second, score in benchmark  # type: ignore[attr-defined]  # what is wrong is told below
        )
    except (TypeError, ValueError):
        pairs = ()
    if not pairs or not all(np.isfinite(pair.score) for pair in pairs):
        raise ParameterError(
            "The 'benchmark' parameter of similarity_benchmark must be a name, a file, or rows of two words and a "
            "finite number."
        )
    return "given pairs", pairs


def _undefined(human: Floats, cosines: Floats) -> str | None:
    if len(human) < 2:
        return f"only {len(human)} of the pairs can be compared"
    for variable, values in (("human scores", human), ("cosines", cosines)):
        if np.ptp(values) <= slack(float(np.abs(values).max())):
            return f"all {variable} are the same"
    return None


def _correlation(human: Floats, cosines: Floats, kind: Kind, level: float, reason: str | None) -> Estimate:
    if reason:
        return Estimate(value=None, level=level, method=METHODS[kind], over="word pairs", reason=reason)
    x, y = human, cosines
    if kind == "spearman":  # values that rounding alone tells apart share their mean rank
        x, y = (weighted_ranks(np.round(values, 12), np.ones((1, len(values))))[0] for values in (x, y))
    x, y = x - x.mean(), y - y.mean()
    value = float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))
    return fisher_interval(value, len(human), level=level, kind=kind, over="word pairs")
