"""Reading every binary format against a plain copy of its bytes, in one run.

    python bench/formats.py [--rows 100000] [--dim 300] [--repeat 3]

Writes the same vectors in each format into a temporary folder and reads each whole, every time in a fresh process. What
is memory-mapped is read as well, since every vector is looked at. The copy reads the same files and writes them again.
The peer is the library that the format comes from, up to the same result: an array, the words and their rows. Files are
in the page cache; seconds are those of the processor, the best of the repeats.
"""

from __future__ import annotations

import argparse
import pickle
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

PROGRAM = """
import time
from biasgauge.vectors import load
import numpy as np, pyarrow.parquet
load((["a"], np.ones((1, 2))))
started = time.process_time()
vectors = load({path!r}).vectors
seconds = time.process_time() - started
print(seconds, sum(float(vectors[start : start + 8192].sum(dtype="f8")) for start in range(0, len(vectors), 8192)))
"""
COPY = """
import time
from pathlib import Path
started = time.process_time()
for path in {paths!r}:
    with open(path, "rb") as source, open({target!r}, "wb") as target:
        while block := source.read(2**24):
            target.write(block)
print(time.process_time() - started)
"""

PEER = """
import time
import pickle, numpy as np
{imports}
path = {path!r}
started = time.process_time()
{statements}
if not hasattr(words, "keys"):
    rows = dict(zip(words, range(len(words))))
seconds = time.process_time() - started
print(seconds, float(np.asarray(matrix).sum(dtype="f8")))
"""


def write_with_biasgauge(ending: str) -> Callable[[Path, list[str], np.ndarray], Path]:
    """Writer of a format that biasgauge itself writes."""

    def write(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
        from biasgauge.vectors import save

        return save((words, matrix), folder / f"vectors{ending}")

    return write


def write_histwords(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
    np.save(folder / "1990-w.npy", matrix)
    (folder / "1990-vocab.pkl").write_bytes(pickle.dumps(words, 2))
    return folder / "1990-w.npy"


def write_gensim(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(matrix.shape[1])
    keyed.add_vectors(words, matrix)
    keyed.save(str(folder / "vectors.kv"))
    return folder / "vectors.kv"


def write_pickle(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
    (folder / "vectors.pkl").write_bytes(pickle.dumps(dict(zip(words, matrix, strict=True)), 4))
    return folder / "vectors.pkl"


def write_fasttext(buckets: int) -> Callable[[Path, list[str], np.ndarray], Path]:
    """Writer of a model with so many buckets of n-grams, or without n-grams."""

    def write(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
        dim = matrix.shape[1]
        lengths = (3, 6) if buckets else (0, 0)
        with (folder / "model.bin").open("wb") as file:
            file.write(struct.pack("<2i12id", 793712314, 12, dim, 5, 5, 5, 5, 1, 2, 2, buckets, *lengths, 100, 1e-4))
            file.write(struct.pack("<iiiqq", len(words), len(words), 0, 10**9, -1))
            file.writelines(word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in words)
            file.write(struct.pack("<bqq", 0, len(words) + buckets, dim))
            file.write(matrix.tobytes())
            file.write(np.random.default_rng(1).standard_normal((buckets, dim), np.float32).tobytes())
        return folder / "model.bin"

    return write


def write_r(folder: Path, words: list[str], matrix: np.ndarray) -> Path:
    """`saveRDS(matrix, compress = FALSE)` with row names."""

    def text(word: str) -> bytes:
        return struct.pack(">ii", 9 | 8 << 12, len(word.encode())) + word.encode()

    def symbol(name: str) -> bytes:
        return struct.pack(">i", 1) + text(name)

    null, pair = struct.pack(">i", 254), struct.pack(">i", 2 | 0x400)
    with (folder / "vectors.rds").open("wb") as file:
        file.write(b"X\n" + struct.pack(">iii", 2, 0x040201, 0x020300) + struct.pack(">ii", 14 | 0x200, matrix.size))
        file.write(matrix.T.astype(">f8").tobytes())
        file.write(pair + symbol("dim") + struct.pack(">iiii", 13, 2, *matrix.shape))
        file.write(pair + symbol("dimnames") + struct.pack(">ii", 19, 2) + struct.pack(">ii", 16, len(words)))
        file.writelines(map(text, words))
        file.write(null + null)
    return folder / "vectors.rds"


WRITERS: dict[str, Callable[[Path, list[str], np.ndarray], Path]] = {
    **{
        ending: write_with_biasgauge(ending)
        for ending in (".safetensors", ".bin", ".npz", ".npy", ".arrow", ".parquet")
    },
    "HistWords": write_histwords,
    "gensim .kv": write_gensim,
    "pickle of a dict": write_pickle,
    "fastText, no n-grams": write_fasttext(0),
    "fastText, n-grams": write_fasttext(200_000),
    "R .rds": write_r,
}

_COLUMNS = """words = table["word"].to_pylist()
matrix = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(words), -1)"""
_GENSIM = "\nwords, matrix = keyed.key_to_index, keyed.vectors"
_FASTTEXT = (
    "from gensim.models.fasttext import load_facebook_vectors",
    f"keyed = load_facebook_vectors(path){_GENSIM}",
)
PEERS: dict[str, tuple[str, str, str]] = {
    ".safetensors": (
        "safetensors",
        "from safetensors.numpy import load_file",
        """tensors = load_file(path)
matrix, text, ends = tensors["vectors"], tensors["words"].tobytes(), tensors["word_ends"].tolist()
words = [text[start:end].decode() for start, end in zip([0, *ends], ends)]""",
    ),
    ".bin": (
        "gensim",
        "from gensim.models import KeyedVectors",
        f"keyed = KeyedVectors.load_word2vec_format(path, binary=True){_GENSIM}",
    ),
    ".npz": (
        "NumPy",
        "",
        """with np.load(path) as stored:
    words, matrix = stored["words"].tolist(), stored["vectors"]""",
    ),
    ".npy": (
        "NumPy",
        "from pathlib import Path",
        'words, matrix = Path(path).with_suffix(".vocab").read_text().split("\\n")[:-1], np.load(path)',
    ),
    ".arrow": ("pyarrow", "import pandas, pyarrow.feather", f"table = pyarrow.feather.read_table(path)\n{_COLUMNS}"),
    ".parquet": ("pyarrow", "import pandas, pyarrow.parquet", f"table = pyarrow.parquet.read_table(path)\n{_COLUMNS}"),
    "HistWords": (
        "pickle, NumPy",
        "",
        """matrix = np.load(path)
with open(path.replace("-w.npy", "-vocab.pkl"), "rb") as file:
    words = pickle.load(file)""",
    ),
    "gensim .kv": ("gensim", "from gensim.models import KeyedVectors", f"keyed = KeyedVectors.load(path){_GENSIM}"),
    "pickle of a dict": (
        "pickle, NumPy",
        "",
        """with open(path, "rb") as file:
    table = pickle.load(file)
words, matrix = list(table), np.stack(list(table.values()))""",
    ),
    "fastText, no n-grams": ("gensim", *_FASTTEXT),
    "fastText, n-grams": ("gensim", *_FASTTEXT),
}
"""For each format, the library that a user would otherwise read it with, its imports, and statements that give `words`
and `matrix`; none reads R's matrices."""


def run(program: str) -> list[float]:
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    return [float(number) for number in output.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the files are made")
    arguments = parser.parse_args()
    words = [f"{row * 7919 % 10**8:08d}"[: 4 + row % 5] + f"{row:x}" for row in range(arguments.rows)]
    matrix = np.random.default_rng(0).standard_normal((arguments.rows, arguments.dim), np.float32)
    total = float(matrix.sum(dtype="f8"))
    print(f"{arguments.rows:,} rows × {arguments.dim}; best of {arguments.repeat}")
    heads = f"{'format':<22} {'MB':>6} {'copy':>7} {'load':>7} {'peer':>7} {'copy ÷ load':>12} {'peer ÷ load':>12}"
    print(f"{heads}  peer")
    for name, write in WRITERS.items():
        with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
            folder = Path(made)
            path = write(folder, words, matrix)
            files = [str(file) for file in folder.iterdir()]
            size = sum(Path(file).stat().st_size for file in files)
            target = str(folder / "copy")
            copy = min(run(COPY.format(paths=files, target=target))[0] for _ in range(arguments.repeat))
            Path(target).unlink()
            runs = [run(PROGRAM.format(path=str(path))) for _ in range(arguments.repeat)]
            if "n-grams" not in name and not np.isclose(runs[0][1], total, rtol=1e-6):
                sys.exit(f"{name}: other numbers were read")
            load = min(seconds for seconds, _ in runs)
            line = f"{name:<22} {size / 1e6:>6.0f} {copy:>7.2f} {load:>7.2f}"
            if name not in PEERS:
                print(f"{line} {'–':>7} {copy / load:>12.2f} {'–':>12}  –", flush=True)
                continue
            library, imports, statements = PEERS[name]
            program = PEER.format(imports=imports, path=str(path), statements=statements)
            peers = [run(program) for _ in range(arguments.repeat)]
            if "n-grams" not in name and not np.isclose(peers[0][1], total, rtol=1e-6):
                sys.exit(f"{name}: {library} read other numbers")
            peer = min(seconds for seconds, _ in peers)
            print(f"{line} {peer:>7.2f} {copy / load:>12.2f} {peer / load:>12.2f}  {library}", flush=True)


if __name__ == "__main__":
    main()
