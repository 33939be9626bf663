"""`Transform`: the matrix that turns the mean of context vectors into the vector of a word (à la carte embedding).

Khodak et al. 2018: a word's vector v_w is close to A u_w, with u_w the mean of the vectors of the words around its
occurrences. A is estimated over all words of a corpus by weighted least squares.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from biasgauge.analyses.regress.contexts import ContextReader
from biasgauge.core import Floats, JsonMapping, JsonObject, Record, check_choice, check_whole, row_cosines
from biasgauge.errors import EmbeddingFormatError, InputError, ParameterError
from biasgauge.io import (
    ByteSource,
    RProblem,
    array_sha256,
    manifest_text,
    map_array,
    read_header,
    read_npz,
    read_r,
    read_record,
    write_array,
    write_text,
)
from biasgauge.stats import on_one_thread
from biasgauge.text import TokenCorpus, corpus_of

if TYPE_CHECKING:
    from biasgauge.core import VectorsLike
    from biasgauge.io import Progress

Weighting = Literal["count", "log", "equal"]
FOLDS = 5
FEWEST_WORDS_PER_DIMENSION = 2
"""Words per dimension below which the matrix follows single words."""
_AGAIN = "estimate the transformation again"


@dataclass(frozen=True)
class TransformRecovery(Record):
    """Recovery of known vectors: cosine of a word's vector with A times the mean of its contexts.

    Attributes:
        cosine: mean over words that had no part in estimating the matrix (five folds); 1: recovered.
        low, high: middle 90 % of the words.
        identity: the same mean with the identity in the place of A: contexts as they are.
        words: words that it is a mean over.
    """

    cosine: float
    low: float
    high: float
    identity: float
    words: int


@dataclass(frozen=True, eq=False)
class Transform:
    """A transformation matrix: the embedding of an occurrence is `matrix` @ (mean of its context vectors).

    Attributes:
        matrix: dimensions × dimensions.
        recovery: how well it recovers known vectors; None for a matrix that was made elsewhere.
        settings: of its estimation: corpus, vectors, window, weighting, min_count, words, tokens; empty for a matrix
            that was made elsewhere.
    """

    matrix: Floats
    recovery: TransformRecovery | None = None
    settings: JsonMapping | None = None

    def __post_init__(self) -> None:
        shape = self.matrix.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ParameterError(f"A transformation must be a square matrix, dimensions × dimensions. Got {shape}.")
        if not np.isfinite(self.matrix).all():
            raise ParameterError("A transformation must hold finite numbers. Got NaN or infinity.")
        if not self.matrix.any():
            raise ParameterError("A transformation must not be zero everywhere: every occurrence would be the same.")

    @property
    def checksum(self) -> str:
        """SHA-256 of the matrix."""
        return array_sha256(self.matrix)

    def to_dict(self) -> JsonObject:
        """Dimensions, recovery and settings, without the matrix."""
        return {
            "dimensions": len(self.matrix),
            "matrix_sha256": self.checksum,
            "recovery": None if self.recovery is None else self.recovery.to_dict(),
            **(self.settings or {}),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the matrix as a NumPy file, and how it was made beside it (PATH.json).

        Raises:
            OutputError: it cannot be written.
        """
        target = Path(path)
        target = target if target.suffix == ".npy" else target.with_name(f"{target.name}.npy")
        write_array(target, self.matrix)
        write_text(_record_path(target), manifest_text(self.to_dict()))
        return target


def load_transform(transform: Transform | str | os.PathLike[str] | object, dim: int) -> Transform:
    """Return a transformation: as it is, of a matrix, or of a file; it must have as many dimensions as the vectors.

    A file is a `.npy` matrix, compared with the record beside it where there is one, an `.npz` archive with the array
    `transform`, or an `.rds` file of R with a matrix.

    Raises:
        InputError: the file is not what it should be.
        ParameterError: the dimensions differ.
    """
    if isinstance(transform, str | os.PathLike):
        result = _read_transform(Path(transform))
    elif isinstance(transform, Transform):
        result = transform
    else:
        try:
            matrix = np.ascontiguousarray(np.asarray(transform, np.float64))
        except (TypeError, ValueError) as problem:
            raise ParameterError(f"The 'transform' parameter must be a matrix or its file ({problem}).") from problem
        result = Transform(matrix)
    if len(result.matrix) != dim:
        raise ParameterError(
            f"The transformation has {len(result.matrix)} dimensions and the vectors have {dim}; it must have been "
            "estimated for the same vectors."
        )
    return result


def estimate_transform(
    corpus: object,
    vectors: VectorsLike,
    *,
    window: int = 6,
    weighting: Weighting = "count",
    min_count: int = 10,
    remove: tuple[str, ...] = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> Transform:
    """Estimate the transformation matrix of pre-trained vectors on a corpus.

    The matrix A minimizes the sum of weight_w |v_w − A u_w|² over words w of at least `min_count` occurrences, with u_w
    the mean of the vectors within `window` words of an occurrence of w.

    Args:
        corpus: a tokenized corpus, its folder, or what `read_corpus` reads: the more text the better.
        vectors: the pre-trained vectors.
        window: words on each side; the same as in the regression.
        weighting: weight of a word: "count", occurrences of the word; "log", their logarithm; "equal", 1.
        min_count: words rarer than this have no part.
        remove: words that are removed before distances are counted.
        random_state: seed of the folds of the cross-validation.
        progress: called with (tokens read, all tokens).

    Raises:
        ParameterError: a setting is impossible, or the corpus has too few words for so many dimensions.
    """
    text = corpus if isinstance(corpus, TokenCorpus) else corpus_of(corpus)  # type: ignore[arg-type]
    return transform_of(
        ContextReader(text, vectors, window=window, remove=remove),
        weighting=weighting, min_count=min_count, random_state=random_state, progress=progress,
    )  # fmt: skip


def transform_of(
    reader: ContextReader, *, weighting: Weighting = "count", min_count: int = 10, random_state: int = 0,
    progress: Progress | None = None,
) -> Transform:  # fmt: skip
    """Estimate the transformation matrix from the contexts that a reader reads; see `estimate_transform`."""
    check_choice(get_args(Weighting), weighting=weighting)
    check_whole(1, min_count=min_count)
    with on_one_thread():
        return _estimate(reader, weighting, min_count, random_state, progress)


def _estimate(
    reader: ContextReader, weighting: Weighting, min_count: int, random_state: int, progress: Progress | None
) -> Transform:
    sums, counts, occurrences = reader.word_contexts(progress)
    norms = np.linalg.norm(reader.matrix, axis=1)
    rows = np.flatnonzero((occurrences >= min_count) & (counts > 0) & (norms > 0))
    dim = reader.dim
    if len(rows) < FEWEST_WORDS_PER_DIMENSION * dim:
        raise ParameterError(
            f"A transformation of {dim} dimensions needs {FEWEST_WORDS_PER_DIMENSION * dim:,} words with at least "
            f"{min_count} occurrences and a vector; the text has {len(rows):,}. Estimate it from a larger corpus "
            "(regress.estimate_transform), or give a published matrix by 'transform'."
        )
    means, known = sums[rows] / counts[rows, None], np.asarray(reader.matrix[rows], np.float64)
    weights = {"count": occurrences[rows], "log": np.log(occurrences[rows]), "equal": np.ones(len(rows))}[weighting]
    matrix = _least_squares(means, known, weights)
    folds = np.random.default_rng(random_state).permutation(len(rows)) % FOLDS
    recovered = np.empty_like(known)
    for fold in range(FOLDS):
        held_out = folds == fold
        recovered[held_out] = means[held_out] @ _least_squares(*(x[~held_out] for x in (means, known, weights))).T
    cosines = row_cosines(recovered, known)
    low, high = np.quantile(cosines, [0.05, 0.95])
    identity = float(row_cosines(means, known).mean())
    recovery = TransformRecovery(float(cosines.mean()), float(low), float(high), identity, len(rows))
    settings: JsonObject = {
        "corpus": reader.corpus.checksum, "tokens": len(reader.corpus.tokens), "vectors": reader.embedding.name,
        "window": reader.window, "weighting": weighting, "min_count": min_count, "random_state": random_state,
    }  # fmt: skip
    return Transform(np.ascontiguousarray(matrix), recovery, settings)


def _least_squares(means: Floats, known: Floats, weights: Floats) -> Floats:
    """Solve the weighted normal equations: A' = (U'WU)⁻¹ U'WV; by pseudo-inverse, so that collinear columns pass."""
    weighted = means * weights[:, None]
    solution = np.linalg.lstsq(weighted.T @ means, weighted.T @ known, rcond=None)[0]
    return np.asarray(solution.T, np.float64)


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _read_r_matrix(path: Path) -> Floats:
    """Read the matrix of a file of R, which R stores column by column."""
    with ByteSource(path, error=EmbeddingFormatError) as source, source.seekable() as file:
        content = file.read()
    try:
        (value,) = read_r(content).values()
        rows, columns = (int(length) for length in value.attributes["dim"].values)
        return np.ascontiguousarray(np.reshape(value.values, (rows, columns), order="F"), np.float64)
    except RProblem as problem:
        raise InputError(f"{path}: {problem}") from problem
    except (KeyError, ValueError, TypeError, AttributeError) as problem:
        raise InputError(f"{path}: holds no matrix of numbers; write it with saveRDS(matrix, file)") from problem


def _read_transform(path: Path) -> Transform:
    if path.suffix == ".npz":
        arrays = read_npz(path, ["transform"])
        if "transform" not in arrays:
            raise InputError(f"{path}: has no array 'transform'; save the matrix under this name")
        return Transform(np.ascontiguousarray(arrays["transform"], np.float64))
    if path.suffix.lower() == ".rds":
        return Transform(_read_r_matrix(path))
    try:
        with path.open("rb") as file:
            header = read_header(file)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}); give a .npy or .npz file") from problem
    except ValueError as problem:
        raise InputError(f"{path}: {problem}; expected a matrix in a .npy file") from problem
    if header.dtype.kind not in "fiu" or len(header.shape) != 2:
        raise InputError(f"{path}: holds {header.dtype} of shape {header.shape}, expected a matrix of numbers")
    mapped = map_array(path, header.dtype, header.shape, again=_AGAIN, by_column=True)
    matrix = np.array(mapped, np.float64, order="C")
    record_path = _record_path(path)
    if not record_path.is_file():
        return Transform(matrix)
    record = read_record(record_path, again=_AGAIN)
    if record.get("matrix_sha256") != array_sha256(matrix):
        raise InputError(f"{path}: is not the matrix that {record_path.name} describes; {_AGAIN}")
    recovery = None if record.get("recovery") is None else TransformRecovery.from_dict(record["recovery"])
    left_out = {"matrix_sha256", "recovery", "dimensions"}
    return Transform(matrix, recovery, {key: value for key, value in record.items() if key not in left_out})
