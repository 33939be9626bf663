"""Vectors from a file of any format we read, from memory, or those that ship: as one `Embedding` or several.

Recipes beside vectors that we trained give their names and checksums, and tell replicates of one another.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from biasgauge import registry
from biasgauge.core import ModelsLike, VectorsLike, as_pandas, check_whole, distinct_words
from biasgauge.errors import EmbeddingFormatError, InputError, ParameterError
from biasgauge.io import CHECKSUM_KEY, check_digest, read_record
from biasgauge.vectors.coverage import spellings
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.formats.vector_format import Request, detect
from biasgauge.vectors.hub import download, is_hub_name
from biasgauge.vectors.rows import check_matrix, is_utf8, select_rows

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.io import Progress


def load(
    vectors: VectorsLike,
    words: Iterable[str] | None = None,
    limit: int | None = None,
    *,
    vocabulary: str | os.PathLike[str] | None = None,
    case_fallback: bool = False,
    name: str | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Read word vectors. The format is detected from the content, gzipped or not; see `docs/reference/formats.md`.

    Args:
        vectors: a path (of a file, or of a folder of model2vec or a `StaticEmbedding`), or vectors in memory: an
            `Embedding`, gensim `KeyedVectors`, a pipeline or `Vectors` of spaCy, a dict of word to vector, a data
            frame, or a pair (words, matrix), whose matrix may be an `Embedding` of PyTorch; or "NAME:SOURCE" with the
            name of a registered encoder.
        words: read only these, in one pass that never holds the other vectors; words that are not there are simply
            absent (`Embedding.coverage` lists them).
        limit: read only the first `limit` rows of the file (before `words` picks from them).
        vocabulary: for a bare `.npy` or safetensors matrix: the file with one word per line.
        case_fallback: with `words`, also read their lower-case and capitalized spellings, so that
            `lookup(…, case_fallback=True)` can find them.
        name: of this model in tables; the file's name by default.
        progress: called with (done, total) as the reading goes on.

    Raises:
        EmbeddingFormatError: the file is not what it should be; names the file, and the line or the byte.
        ParameterError: an argument cannot be used.
    """
    wanted = _wanted(words, case_fallback=case_fallback)
    check_whole(1, limit=1 if limit is None else limit)
    if isinstance(vectors, Embedding):
        if wanted is None and limit is None:
            return vectors
        subset = load((vectors.words, vectors.vectors), words, limit, case_fallback=case_fallback, name=name)
        frequencies = vectors.frequencies
        if frequencies is not None:
            frequencies = frequencies.select(vectors.lookup(subset.words).rows)
        return replace(
            subset, lineage=vectors.lineage, text=vectors.text, facets=vectors.facets, frequencies=frequencies
        )
    if not isinstance(vectors, (str, os.PathLike)):
        request = Request(Path("memory"), wanted, limit, progress=progress)
        return _from_memory(vectors, request, name or "memory")
    encoded = encode(vectors)
    if encoded is not None:
        if len(encoded) != 1:
            raise ParameterError(f"One model is needed here, and {os.fspath(vectors)!r} gives {len(encoded)}.")
        model = encoded[0] if name is None else replace(encoded[0], name=name)
        return load(model, words, limit, case_fallback=case_fallback, name=model.name, progress=progress)
    if is_hub_name(vectors):
        download(os.fspath(vectors))  # says how to fetch it: this function opens no connection
    path = Path(vectors)
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        from biasgauge.vectors.static_models import static_weights

        weights = static_weights(path)
        if weights is not None:
            path, name = weights, name or model_label(path.resolve())
    check_trained(path)
    request = Request(path, wanted, limit, None if vocabulary is None else Path(vocabulary), progress=progress)
    vector_format = detect(request)
    table = vector_format.read(request)
    return Embedding(
        words=table.words,
        vectors=table.vectors,
        name=name or model_label(path),
        source=str(path),
        format=vector_format.name,
        notices=request.book.notices(),
        dropped=table.dropped,
        lineage=lineage_of(path),
        text=_text_of(path),
        frequencies=table.frequencies,
    )


def _from_memory(vectors: VectorsLike, request: Request, name: str) -> Embedding:
    """Make an Embedding of vectors in memory; the matrix is not copied unless rows are dropped."""
    try:
        words, matrix = _words_and_matrix(vectors)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise ParameterError(f"The vectors cannot be used: they do not form a matrix ({problem}).") from problem
    for position, word in enumerate(words):
        if not isinstance(word, str) or not is_utf8(word):
            raise ParameterError(f"Every word must be valid text. Got {word!r} at position {position}.")
    try:
        check_matrix(request, "the matrix", matrix.shape, matrix.dtype)
        table = select_rows(request, words, matrix)
    except EmbeddingFormatError as problem:
        raise ParameterError(f"The vectors cannot be used: {problem.problem}.") from problem
    return Embedding(
        words=table.words, vectors=table.vectors, name=name, notices=request.book.notices(), dropped=table.dropped
    )


def _words_and_matrix(vectors: object) -> tuple[Sequence[str], NDArray[Any]]:
    split = _split_model(vectors)
    if split is not None:
        return split
    if isinstance(vectors, Mapping):
        if not vectors:
            raise ParameterError("The dict of word to vector must not be empty.")
        lengths = {word: np.shape(vector) for word, vector in vectors.items()}
        first = next(iter(lengths.values()))
        for word, length in lengths.items():
            if length != first:
                raise ParameterError(
                    f"All vectors must have one length. Got shape {length} for {word!r}, {first} before."
                )
        common = np.result_type(*{np.asarray(vector).dtype for vector in vectors.values()})
        return list(vectors), np.array(list(vectors.values()), dtype=np.float32 if common.kind in "iub" else common)
    frame = as_pandas(vectors)
    if frame is not None:
        return _split_frame(frame)
    if isinstance(vectors, tuple) and len(vectors) == 2 and isinstance(vectors[0], Iterable):
        return list(vectors[0]), _as_matrix(vectors[1])
    if isinstance(vectors, list) and vectors and all(isinstance(model, Embedding) for model in vectors):
        raise ParameterError(f"One model is needed here. Got a list of {len(vectors):,}; choose one of them.")
    accepted = (
        "a path, an Embedding, gensim KeyedVectors, a dict of word to vector, a data frame, a pipeline of spaCy, or a "
        "pair (words, matrix)"
    )
    raise ParameterError(f"Vectors must be {accepted}. Got {type(vectors).__name__}.")


def _split_model(vectors: Any) -> tuple[Sequence[str], NDArray[Any]] | None:  # noqa: ANN401 - of any library
    """Words and matrix of an object of gensim, spaCy or model2vec; None for anything else."""
    vectors = getattr(vectors, "wv", vectors)  # a whole gensim model carries its KeyedVectors there
    if hasattr(vectors, "index_to_key") and hasattr(vectors, "vectors"):
        return list(vectors.index_to_key), np.asarray(vectors.vectors)
    vectors = getattr(getattr(vectors, "vocab", None), "vectors", vectors)  # and a pipeline of spaCy its Vectors
    if hasattr(vectors, "key2row") and hasattr(vectors, "strings"):
        return _split_spacy(vectors)
    if hasattr(vectors, "tokens") and hasattr(vectors, "embedding"):  # a StaticModel of model2vec
        return list(vectors.tokens), np.asarray(vectors.embedding)
    return None


def _split_spacy(vectors: Any) -> tuple[Sequence[str], NDArray[Any]]:  # noqa: ANN401 - spaCy need not be installed
    """Words and rows of spaCy's `Vectors`, where several words may share one row."""
    if getattr(vectors, "mode", "default") == "floret":
        raise ParameterError(
            "The vectors are spaCy's floret vectors, which have rows of n-grams and none of words. Give a dict of your "
            "words: {word: nlp.vocab[word].vector for word in words}."
        )
    rows = {vectors.strings[key]: row for key, row in vectors.key2row.items() if row >= 0}
    if not rows:
        raise ParameterError("The pipeline of spaCy has no vectors of words. Use one that has, such as en_core_web_md.")
    return list(rows), _as_matrix(vectors.data)[np.fromiter(rows.values(), np.intp, len(rows))]


def _as_matrix(matrix: Any) -> NDArray[Any]:  # noqa: ANN401 - whatever NumPy, PyTorch or CuPy hold numbers in
    """Numbers of an array, a tensor, or an `Embedding` module of PyTorch."""
    matrix = getattr(matrix, "weight", matrix)
    if hasattr(matrix, "detach"):
        matrix = matrix.detach().cpu()
        matrix = matrix.float() if str(matrix.dtype) == "torch.bfloat16" else matrix
        return np.asarray(matrix.numpy())
    return np.asarray(matrix.get() if hasattr(matrix, "__cuda_array_interface__") else matrix)


def _split_frame(frame: pd.DataFrame) -> tuple[Sequence[str], NDArray[Any]]:
    """Words are the one column of text, or the labels of the rows; all other columns are numbers."""
    from pandas.api.types import is_numeric_dtype

    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    if len(texts) > 1:
        raise ParameterError(
            f"A data frame of vectors has one column of words and numbers besides. Got text in {', '.join(texts)}."
        )
    words = list(frame[texts[0]]) if texts else list(frame.index)
    return words, frame.drop(columns=texts).to_numpy(dtype=np.float32)


def encode(source: object) -> list[Embedding] | None:
    """Encode "NAME:SOURCE" where NAME is a registered encoder; None for anything else."""
    text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else b""
    name, colon, location = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon or not registry.has("encoder", name) or os.path.exists(text):  # noqa: PTH110 - never raises
        return None
    encoded = registry.get("encoder", name).encode(location)
    models = encoded if isinstance(encoded, list) else [encoded]
    if not models or not all(isinstance(model, Embedding) for model in models):
        kinds = ", ".join(sorted({type(model).__name__ for model in models})) or "an empty list"
        raise ParameterError(f"The encoder {name!r} must give an Embedding or a list of them. Got {kinds}.")
    return models


def _wanted(words: Iterable[str] | None, *, case_fallback: bool) -> frozenset[str] | None:
    if words is None:
        return None
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(
            f"The 'words' parameter of load must be a collection of words. Got {words!r}; for the words of a lexicon "
            "use biasgauge.lexicon(name).words."
        )
    distinct = distinct_words(words, "words", "load")
    return frozenset(spelling for word in distinct for spelling in spellings(word, case_fallback=case_fallback))


def named_models(vectors: ModelsLike) -> dict[str, VectorsLike]:
    """Give every model of a list, or the one that is given, a name of its own, without loading it.

    A file is called by the recipe beside it, or by its name without folder and ending; where two would be called alike,
    with the folder's name behind it. What an encoder makes is made here, since only then it is known how many models
    that are.

    Raises:
        ParameterError: the list is empty, or two models have one name.
    """
    sources = vectors if isinstance(vectors, list) else [cast("VectorsLike", vectors)]
    if not sources:
        raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
    sources = [model for source in sources for model in (encode(source) or cast("list[VectorsLike]", [source]))]
    labels = iter(model_labels([Path(model) for model in sources if isinstance(model, (str, PathLike))]))
    named: dict[str, VectorsLike] = {}
    for model in sources:
        if isinstance(model, (str, PathLike)):
            name = next(labels)
        else:
            name = model.name if isinstance(model, Embedding) else "memory"
        if name in named:
            raise ParameterError(
                f"Every model needs a name of its own, or their results could not be told apart. Got {name!r} twice; "
                "use load(…, name=…)."
            )
        named[name] = model
    return named


def load_models(vectors: ModelsLike, limit: int | None = None, *, progress: Progress | None = None) -> list[Embedding]:
    """Load one model, or every model of a list; each gets a name of its own, as `named_models` says."""
    return [load(model, limit=limit, name=name, progress=progress) for name, model in named_models(vectors).items()]


DEFAULT_PATH = Path(__file__).with_name("data") / "glove-6b-100d-subset.safetensors"
"""Part of Stanford's GloVe 6B, 100 dimensions (public domain); `scripts/make_default_vectors.py` makes it."""

DEFAULT_NAME = "GloVe 6B 100d (subset)"
DEFAULT_TEXT = "Wikipedia 2014 + Gigaword 5"
"""Name of the text that GloVe 6B was trained on."""

REPLICATES = 4
"""Number of shipped replicates."""
REPLICATES_TEXT = "30 million words of English Wikipedia"
"""Name of the text that they were trained on."""


def load_default(limit: int | None = None) -> Embedding:
    """Load the vectors that ship with biasgauge: GloVe 6B, 100 dimensions, half precision, lower case.

    They hold every word of the shipped English lexicons that their source has, a subset of GloVe 6B with 44,753 words,
    and the most frequent words. The subset lacks most of the rare names of `race_valence` and `race_status`; the
    replicates have three in four. Neighborhood measures see only these words: for research, load the whole file.
    `limit` keeps only the first.
    """
    return replace(load(DEFAULT_PATH, limit=limit, name=DEFAULT_NAME), text=DEFAULT_TEXT)


def replicate_path(seed: int) -> Path:
    """Path of the shipped replicate of a seed."""
    return Path(__file__).parent / "data" / "replicates" / f"sgns-64d-enwiki-seed{seed}.safetensors"


def load_default_replicates() -> list[Embedding]:
    """Load the replicates that ship with biasgauge: skip-gram, 64 dimensions, half precision, lower case, seeds 0 to 3.

    They differ by nothing but their seed. They were trained by `scripts/make_default_replicates.py` on 30 million
    words of English Wikipedia, and hold the words of the shipped English lexicons and the most frequent words: 25,000
    in all.
    """
    models = [load(replicate_path(seed), name=f"SGNS enwiki, seed {seed}") for seed in range(REPLICATES)]
    return [replace(model, lineage="shipped replicates", text=REPLICATES_TEXT) for model in models]


OWN = ("seed", "sample", "sample_seed", "threads")
"""Keys of a recipe by which replicates may differ."""
_MOST_BYTES = 50_000_000


def lineage_of(path: Path) -> str:
    """Digest of the recipe that a model shares with its replicates; empty without a recipe."""
    recipe = recipe_beside(path)
    if recipe is None:
        return ""
    shared = {name: value for name, value in recipe.items() if name not in OWN}
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def _text_of(path: Path) -> str:
    """Checksum of the text that a model was trained on, by the recipe beside it; empty without one."""
    return str((recipe_beside(path) or {}).get("corpus", ""))


def recipe_beside(path: Path) -> dict[str, Any] | None:
    """Read the recipe that training left beside a file of vectors; None without one.

    A file of that name which is not a recipe of ours is ignored.

    Raises:
        InputError: it is one of ours, and was altered.
    """
    record = record_beside(path)
    return None if record is None else dict(record["recipe"])


def check_trained(path: Path) -> None:
    """Compare vectors that we trained with the checksum in the recipe beside them, once in a process.

    Without a recipe, or beside vectors that were converted to another format, there is nothing to compare.

    Raises:
        InputError: the vectors are not those of the recipe.
    """
    file = (record_beside(path) or {}).get("file")
    if isinstance(file, dict) and Path(str(file.get("name"))).suffix == path.suffix and path.is_file():
        recipe_name = path.with_suffix(".json").name
        again = f"train it again or, if you changed it yourself, remove {recipe_name}"
        check_digest(path, file.get("sha256"), again=again)


def record_beside(path: Path) -> dict[str, Any] | None:
    """Read all that training recorded beside a file of vectors: recipe, tokens, corpus; None without a recipe.

    Raises:
        InputError: it is one of ours, and was altered.
    """
    if not path.name:  # the folder that we are in, or the root
        return None
    recipe_path = path.with_suffix(".json")
    try:
        if not recipe_path.is_file() or recipe_path.stat().st_size > _MOST_BYTES:
            return None
        content = recipe_path.read_bytes()
    except (OSError, ValueError):
        return None
    try:
        record = read_record(recipe_path, again=f"train it again, or remove {recipe_path.name}")
        return record if {"algorithm", "corpus", "settings", "seed"} <= record["recipe"].keys() else None
    except (InputError, KeyError, TypeError, AttributeError) as problem:
        if isinstance(problem, InputError) and f'"{CHECKSUM_KEY}"'.encode() in content:
            raise
        return None


ALGORITHMS = {"sgns": "SGNS", "cbow": "CBOW", "fasttext": "fastText", "glove": "GloVe"}
_ENDINGS = re.compile(
    r"(-w(?=\.npy))?(\.(txt|vec|bin|npz|npy|safetensors|w2v|model|kv|pkl|pickle|parquet|arrow|feather|rds|rda|rdata|pt|pth|magnitude|gz|zst|xz|bz2|zip))+$",
    re.IGNORECASE,
)


def model_label(path: Path) -> str:
    """Name of a model: "SGNS 100d, seed 3" where a recipe lies beside its file, else "GoogleNews-vectors"."""
    recipe = recipe_beside(path) or {}
    settings = recipe.get("settings")
    dimensions = settings.get("dim") if isinstance(settings, dict) else None
    if not recipe or dimensions is None:
        return _ENDINGS.sub("", text_of_name(path.name)) or text_of_name(path.name)
    sample = recipe.get("sample")
    drawn = "" if sample is None else f", sample {sample}"
    return f"{ALGORITHMS.get(recipe['algorithm'], recipe['algorithm'])} {dimensions}d, seed {recipe['seed']}{drawn}"


def text_of_name(name: str) -> str:
    r"""Name of a file as text that can be written: a byte that is not UTF-8 is shown by its number, as `\xf6`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def model_labels(paths: Sequence[Path]) -> list[str]:
    """Distinct names of files: equal ones get the file's or folder's name behind them, or a number."""
    labels = [model_label(path) for path in paths]
    further: tuple[Callable[[Path], str], ...] = (
        lambda path: _ENDINGS.sub("", text_of_name(path.name)),
        lambda path: text_of_name(path.resolve().parent.name),
        lambda path: text_of_name(path.name),
    )
    for more in further:
        counts = Counter(labels)
        labels = [
            label if counts[label] == 1 or more(path) in {"", label} else f"{label} ({more(path)})"
            for label, path in zip(labels, paths, strict=True)
        ]
    files: dict[str, list[Path]] = {}
    for label, path in zip(labels, paths, strict=True):
        same = files.setdefault(label, [])
        same += [] if path in same else [path]
    numbers = [files[label].index(path) + 1 for label, path in zip(labels, paths, strict=True)]
    return [f"{label} ({number})" if number > 1 else label for label, number in zip(labels, numbers, strict=True)]
