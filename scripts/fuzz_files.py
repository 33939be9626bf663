"""Readers of files that users bring, for `scripts/fuzz.py`."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz_target import CORPUS, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz_target import Read


_PLAIN = {
    "lexicon": "lexicons.parse:read_lexicon",
    "words": "lexicons.parse:read_words",
    "recipe": "lexicons.recipes:read_recipe",
    "similarity": "vectors.benchmarks:read_similarity",
    "analogies": "vectors.benchmarks:read_analogies",
    "study": "study.read:read_study",
    "templates": "vectors.encoders.sentences:templates_of",
    "distances": "analyses.posterior:read_distances",
    "points": "analyses.correlate:read_points",
    "conll": "applications.coref.conll:read_conll",
    "winogender": "applications.coref.winogender_sentences:read_winogender",
    "gap": "applications.coref.gap:read_gap",
    "counts": "analyses.reliability:read_counts",
    "task": "applications.task:read_task",
    "stereoset": "analyses.likelihood:read_clusters",
    "predictions": "analyses.likelihood:read_scores",
    "pairs": "analyses.likelihood:read_pairs",
    "pair-scores": "analyses.likelihood:read_pair_scores",
}
"""Functions that take the path of a file, by module."""


def _plain_files(name: str) -> Target:
    module, _, function = _PLAIN[name].partition(":")
    read = getattr(import_module(f"biasgauge.{module}"), function)
    if name == "templates":
        return Target(lambda path: read(str(path.rename(path.with_suffix(".toml")))))
    if name == "conll":
        return Target(lambda path: read(path, problems="mend"))
    return Target((lambda path: read(path, ["0", "1"])) if name == "pair-scores" else read)


_LAYOUTS = {
    "lines": None,
    "csv": "t",
    "tsv": 1,
    "jsonl": "t",
    "wikitext": None,
    "conllu": "form",
    "warc": None,
    "r": "t",
    "parquet": "t",
}
_TABLES = ("csv", "davidson", "founta", "edos", "mlma", "hatecheck")


def _texts(name: str) -> Target:
    from biasgauge import text as corpora

    layout = name.removeprefix("text-")
    return Target(partial(corpora.read_corpus, layout=layout, field=_LAYOUTS[layout]))


def _balance(_: str) -> Target:
    from biasgauge.mitigation import balance

    sets = {"x": ["doctor"], "y": ["nurse"], "a": ["man"], "b": ["woman"]}
    out = Path(tempfile.mkdtemp()) / "out.txt"
    return Target(lambda path: balance(path, sets, out=out, degree="max", max_removed=1.0), share=0.5)


def _task_data(name: str) -> Target:
    from biasgauge.applications import shipped_tasks
    from biasgauge.applications.classification import data_sets

    kind = name.removeprefix("labels-")
    readers: dict[str, Read] = {
        "csv": data_sets.load_csv,
        "davidson": data_sets.load_davidson,
        "founta": data_sets.load_founta,
        "edos": data_sets.load_edos,
        "mlma": data_sets.load_mlma,
        "hatecheck": lambda path: shipped_tasks.load_hatecheck(path, "en"),
    }
    return Target(readers[kind], share=0.5)


def _winobias(_: str) -> Target:
    from biasgauge.applications.coref.winobias_pairs import read_winobias

    def read(path: Path) -> object:
        for kind in "12":
            for version in ("pro", "anti"):
                file = path.parent / f"dev_type{kind}_{version}_stereotype.conll"
                file.write_bytes(path.read_bytes())
        return read_winobias(path.parent, ["dev"])

    return Target(read, tuple(path.read_bytes() for path in sorted((CORPUS / "conll").iterdir())), share=0.3)


_VECTORS = (
    *("vectors", "vectors-text", "vectors-binary", "vectors-npz", "vectors-npy", "vectors-vocabulary"),
    *("vectors-safetensors", "vectors-gz, signed", "vectors-npz, signed", "subwords", "npz"),
)


def _vectors(name: str) -> Target:
    import numpy as np

    from biasgauge.vectors import Embedding, Subwords, load, load_subwords, save

    words = ("a", "über", "1e5")
    numbers = np.array([[0.5, -1.25], [3, 1024], [0.0625, -2.5]], np.float32)
    model = Embedding(words, numbers, name="m")
    folder = Path(tempfile.mkdtemp())
    stored = io.BytesIO()
    np.save(stored, numbers)
    array, listed = stored.getvalue(), "\n".join(words).encode() + b"\n"
    text = b"3 2\n" + b"".join(f"{word} {x} {y}\n".encode() for word, (x, y) in zip(words, numbers, strict=True))

    def beside(path: Path, *, matrix: bool) -> object:
        """A matrix and its vocabulary, of which one is the input."""
        other = path.with_name("other")
        other.write_bytes(listed if matrix else array)
        return load(path, vocabulary=other) if matrix else load(other, vocabulary=path)

    def gzipped(path: Path) -> object:
        path.write_bytes(gzip.compress(path.read_bytes(), 1, mtime=0))
        return load(path)

    def zipped(path: Path) -> object:
        content = path.read_bytes()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("words.npy", packed_words if content[:1] != b"w" else content[1:])
            archive.writestr("vectors.npy", array if content[:1] == b"w" else content)
        return load(path)

    def saved(ending: str, **settings: Any) -> bytes:  # noqa: ANN401 - those of save
        return save(model, folder / f"m{ending}", **settings).read_bytes()

    packed, archive = io.BytesIO(), io.BytesIO()
    np.save(packed, np.array(words))
    packed_words = packed.getvalue()
    np.savez(archive, words=np.array(words), vectors=numbers)
    ngrams = Subwords(("<a", "ab", "b>"), numbers, 2, 2)
    from biasgauge.io.npy_file import read_npz

    made: dict[str, tuple[Read, tuple[bytes, ...]]] = {
        "vectors": (load, ()),
        "vectors-text": (load, (text, text.partition(b"\n")[2])),
        "vectors-binary": (load, (saved(".bin"),)),
        "vectors-npz": (load, (archive.getvalue(),)),
        "vectors-npy": (lambda path: beside(path, matrix=True), (array,)),
        "vectors-vocabulary": (lambda path: beside(path, matrix=False), (listed,)),
        "vectors-safetensors": (load, (saved(".safetensors"),)),
        "vectors-gz, signed": (gzipped, (text, array, saved(".safetensors"))),
        "vectors-npz, signed": (zipped, (array, b"w" + packed_words)),
        "subwords": (load_subwords, (saved(".safetensors", subwords=ngrams),)),
        "npz": (lambda path: read_npz(path, ["vectors"]), (archive.getvalue(),)),
    }
    return Target(*made[name])


_DOCUMENT_TABLES = (
    *("documents-csv", "documents-tsv", "documents-jsonl", "documents-parquet", "documents-rds"),
    "transform",
)


def _document_tables(name: str) -> Target:
    """Tables of documents with covariates, by their ending; and transformations of embeddings."""
    import numpy as np

    from biasgauge.analyses.regress import load_transform
    from biasgauge.text import read_documents

    ending = name.partition("-")[2]
    if name == "transform":
        stored = io.BytesIO()
        np.save(stored, np.eye(2))
        read: Read = lambda path: load_transform(path.rename(path.with_suffix(".npy")), 2)  # noqa: E731
        return Target(read, (stored.getvalue(),))
    seeds = {
        "csv": b't,x\n"one, two",1\nthree,a\n',
        "tsv": b"t\tx\none two\t1\nthree\ta\n",
        "jsonl": b'{"t": "one two", "x": 1}\n{"t": ["three", ""], "x": null}\n',
    }
    if ending == "parquet":
        import pandas as pd

        packed = io.BytesIO()
        pd.DataFrame({"t": ["one two", "three"], "x": [1.0, 2.0]}).to_parquet(packed)
        seeds["parquet"] = packed.getvalue()
    text = "text" if ending == "rds" else "t"
    return Target(
        lambda path: read_documents(path.rename(path.with_suffix(f".{ending}")), ["x"], text=text),
        (seeds[ending],) if ending in seeds else (),
    )


GROUPS: dict[tuple[str, ...], Callable[[str], Target]] = {
    tuple(_PLAIN): _plain_files,
    tuple(f"text-{layout}" for layout in _LAYOUTS): _texts,
    ("balance",): _balance,
    tuple(f"labels-{kind}" for kind in _TABLES): _task_data,
    ("winobias",): _winobias,
    _VECTORS: _vectors,
    _DOCUMENT_TABLES: _document_tables,
}
