"""Reading vectors: biasgauge against gensim, on the same files, in one run.

    python bench/reading.py [--rows 400000] [--words 5000] [--repeat 3]

Makes a word2vec binary and a GloVe text file of rows × 300 in a temporary folder (1.6 GB for 400,000 rows) and reads
each whole and by words, every time in a fresh process, so that peak memory is that of the whole process, interpreter
included (Linux only). Times are the best of the repeats, of the reading alone; files are in the page cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DIM = 300
BLOCK = 5_000

READERS = {
    "gensim, whole": """
from gensim.models import KeyedVectors
def read(): return KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary).vectors
""",
    "biasgauge, whole": """
from biasgauge.vectors import load
def read(): return load(path).vectors
""",
    "biasgauge, words": """
from biasgauge.vectors import load
wanted = [f"word{row}" for row in range(0, rows, rows // words)][:words]
def read():
    vectors = load(path, words=wanted).vectors
    assert len(vectors) == words
    return vectors
""",
}

PROGRAM = """
import json, time
path, binary, rows, words = {path!r}, {binary}, {rows}, {words}
{reader}
started = time.perf_counter()
vectors = read()
seconds = time.perf_counter() - started
# Not getrusage: its peak outlives exec, so a child would report that of its parent.
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([seconds, peak, float(vectors[7:5000:101, 3].astype("f8").sum())]))
"""


def write_files(folder: Path, rows: int) -> tuple[Path, Path]:
    """Write the same vectors as word2vec binary and as GloVe text."""
    random = np.random.default_rng(0)
    binary, text = folder / "vectors.bin", folder / "vectors.txt"
    pattern = " ".join(["%.5g"] * DIM)
    with binary.open("wb") as to_binary, text.open("w") as to_text:
        to_binary.write(f"{rows} {DIM}\n".encode())
        for start in range(0, rows, BLOCK):
            block = (random.standard_normal((min(BLOCK, rows - start), DIM)) * 0.4).astype("<f4")
            for row, vector in enumerate(block, start):
                to_binary.write(f"word{row} ".encode() + vector.tobytes())
                to_text.write(f"word{row} {pattern % tuple(vector.tolist())}\n")
    return binary, text


def measure(path: Path, reader: str, rows: int, words: int, repeat: int) -> tuple[float, float, float]:
    """Best seconds, peak bytes and a checksum of what was read, each time in a fresh process."""
    program = PROGRAM.format(
        path=str(path), binary=path.suffix == ".bin", rows=rows, words=words, reader=READERS[reader]
    )
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
        for _ in range(repeat)
    ]
    return min(run[0] for run in runs), max(run[1] for run in runs), runs[0][2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--words", type=int, default=5_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), arguments.rows)
        print(f"{arguments.rows:,} rows × {DIM}; by words: {arguments.words:,}; best of {arguments.repeat}")
        print(f"{'file':<12} {'reader':<18} {'seconds':>8} {'gensim ÷':>9} {'peak MB':>8} {'of file':>8}")
        for path in files:
            size = path.stat().st_size
            # gensim needs minutes for text, and its time is steady: once is enough.
            slow = 1 if path.suffix == ".txt" else arguments.repeat
            peer, peer_peak, peer_sum = measure(path, "gensim, whole", arguments.rows, arguments.words, slow)
            rows = [("gensim, whole", peer, peer_peak)]
            for reader in ("biasgauge, whole", "biasgauge, words"):
                seconds, peak, total = measure(path, reader, arguments.rows, arguments.words, arguments.repeat)
                rows.append((reader, seconds, peak))
                if reader.endswith("whole") and not np.isclose(total, peer_sum, rtol=1e-6):
                    sys.exit(f"{path.name}: {reader} read other numbers than gensim")
            for reader, seconds, peak in rows:
                print(
                    f"{path.name:<12} {reader:<18} {seconds:8.2f} {peer / seconds:8.1f}× "
                    f"{peak / 2**20:8.0f} {peak / size:8.1%}"
                )


if __name__ == "__main__":
    main()
