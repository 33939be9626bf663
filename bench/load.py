"""What large inputs cost: processor time and memory by size, and the power of the size that they grow with.

    python bench/load.py                                  everything, up to 3,000,000 × 300 vectors and 1 GB of text
    python bench/load.py --only vectors text --most 0.1   a tenth of the largest size
    python bench/load.py --folder /where/there/is/space   5 GB are written there, and removed

Every size runs in a process of its own. Times are those of the processor, so that other work on the machine counts
little; memory is the largest resident size (Linux). The exponent is the slope of log time over log size, with its 95 %
interval; start-up, measured at no size, is taken off. A cost is linear where the interval holds 1.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

DIM = 300
LIMIT = 6.0
"""GB that no command may take, however many vectors there are."""
START = """
import json, resource, sys, time
from pathlib import Path
folder, size = Path({folder!r}), {size}
import numpy as np
import biasgauge as bg
def command(*words):
    import os
    from biasgauge.cli.entry import run
    os.chdir(folder)
    if code := run(words):
        sys.exit(code)
"""
END = """
usage = resource.getrusage(resource.RUSAGE_SELF)
# Not its ru_maxrss: that outlives exec, so a child would report its parent's.
peak = next(int(line.split()[1]) / 1e6 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("\\n" + json.dumps([usage.ru_utime + usage.ru_stime, peak]))
"""


@dataclass(frozen=True)
class Case:
    """One thing that may be large.

    Attributes:
        what: is counted.
        sizes: smallest first.
        made: writes what the program reads.
        program: what is measured.
    """

    what: str
    sizes: tuple[int, ...]
    made: Callable[[Path, int], None]
    program: str


def vectors_of(folder: Path, rows: int) -> None:
    """A word2vec binary of the words of every shipped list, and others."""
    from biasgauge import registry

    listed = dict.fromkeys(
        word for lexicon in registry.everything("lexicon").values() for word in lexicon.words if " " not in word
    )
    words = [*listed, *(f"word{row}" for row in range(rows))][:rows]
    random = np.random.default_rng(0)
    topics = random.standard_normal((200, DIM), np.float32)
    with (folder / "vectors.bin").open("wb") as file:
        file.write(f"{rows} {DIM}\n".encode())
        for start in range(0, rows, 20_000):
            block = words[start : start + 20_000]
            rows_of = random.standard_normal((len(block), DIM), np.float32)
            rows_of += topics[random.integers(0, len(topics), len(block))]
            file.writelines(
                word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(block, rows_of, strict=True)
            )


def text_of(folder: Path, megabytes: int) -> None:
    """Lines of 20 words with the frequencies of Zipf, a document each."""
    random = np.random.default_rng(0)
    words = np.array(["he", "she", "nurse", "surgeon", *(f"w{number}" for number in range(50_000))])
    shares = 1 / np.arange(1, len(words) + 1)
    bounds = np.cumsum(shares / shares.sum())
    written, most = 0, megabytes * 1_000_000
    with (folder / "text.txt").open("wb") as file:
        while written < most:
            drawn = words[np.searchsorted(bounds, random.random(400_000)).clip(max=len(words) - 1)].reshape(-1, 20)
            written += file.write("".join(" ".join(line) + "\n" for line in drawn.tolist()).encode())


def nothing(_folder: Path, _size: int) -> None:
    """Everything is made by the program itself."""


RANDOM_WORDS = """
model, random = bg.vectors.load_default(), np.random.default_rng(0)
def drawn(count):
    return [model.words[row] for row in random.choice(len(model), count, replace=False)]
"""
VECTORS = (100_000, 300_000, 1_000_000, 3_000_000)
TEXT = (30, 100, 300, 1_000)
CASES = {
    "vectors: score": Case(
        "rows × 300, 16 words, 23 pairs, 3 measures", VECTORS, vectors_of,
        'command("score", "vectors.bin", "--pairs", "du2021", "--words", "occ16", "--out", f"store-{size}", "--json")',
    ),
    "vectors: audit": Case(
        "rows × 300, all shipped lists", VECTORS, vectors_of,
        'command("audit", "vectors.bin", "--out", f"page-{size}", "--json")',
    ),
    "tests: audit": Case(
        "tests of 16 words a list", (25, 50, 100, 200), nothing, RANDOM_WORDS + """
from biasgauge.lexicons import parse_lexicon
def sets():
    words = drawn(64)
    return {role: {"words": words[place * 16 : place * 16 + 16]} for place, role in enumerate("xyab")}
tests = [parse_lexicon({"name": f"test {number}", "kind": "test", **sets()}) for number in range(size)]
bg.audit(model, lexicons=tests)
""",
    ),
    "tests: weat": Case(
        "tests of 16 words a list", (25, 50, 100, 200), nothing, RANDOM_WORDS + """
for _ in range(size):
    words = drawn(64)
    bg.weat(model, x=words[:16], y=words[16:32], a=words[32:48], b=words[48:], samples=9_999)
""",
    ),
    "lists: weat": Case(
        "words a list", (1_250, 2_500, 5_000, 10_000), nothing, """
random = np.random.default_rng(0)
words = tuple(f"w{row}" for row in range(4 * size))
model = bg.Embedding(words, random.standard_normal((len(words), 50)).astype(np.float32), name="made")
sets = {role: words[place * size : (place + 1) * size] for place, role in enumerate("xyab")}
bg.weat(model, **sets, samples=999)
""",
    ),
    "lists: score": Case(
        "words", (1_250, 2_500, 5_000, 10_000), nothing,
        RANDOM_WORDS + 'bg.score(model, pairs="du2021", words=drawn(size))',
    ),
    "replicates: score": Case(
        "models of 5,000 × 50, 200 words, 23 pairs", (25, 50, 100, 200), nothing, """
from biasgauge.lexicons import lexicon
random = np.random.default_rng(0)
ends = dict.fromkeys(word for pair in lexicon("du2021").pairs for word in pair)
words = tuple([*ends, *(f"w{row}" for row in range(5_000 - len(ends)))])
center = random.standard_normal((5_000, 50))
def model(number):
    own = center + np.random.default_rng(number + 1).standard_normal(center.shape)
    return bg.Embedding(words, own.astype(np.float32), name=f"seed {number}", lineage="made")
scores = bg.score([model(number) for number in range(size)], pairs="du2021", words=words[-200:])
""",
    ),
    "replicates: reliability": Case(
        "models, 200 words, 23 pairs, 3 measures", (25, 50, 100, 200), nothing, """
from biasgauge.scores import ScoreTensor
random = np.random.default_rng(0)
values = random.standard_normal((3, 23, 200, 1)) + random.standard_normal((3, 23, 200, size))
names = {"measures": ("dbwa", "ripa", "nbm"), "pairs": tuple((f"a{n}", f"b{n}") for n in range(23)),
         "words": tuple(f"w{n}" for n in range(200)), "models": tuple(f"seed {n}" for n in range(size))}
bg.reliability(ScoreTensor(values.astype(np.float32), np.zeros(values.shape, np.uint8), provenance={}, **names))
""",
    ),
    "text: read": Case(
        "MB", TEXT, text_of,
        'bg.text.read_corpus(folder / "text.txt", out=folder / f"corpus-{size}")',
    ),
    "text: corpus-bias": Case(
        "MB, once read", TEXT, text_of, """
corpus = bg.text.open_corpus(folder / f"corpus-{size}")
bg.corpus_bias(corpus, words=["nurse", "surgeon"], a=["he"], b=["she"])
""",
    ),
    "text: train": Case(
        "MB, once read; one epoch, 50 dimensions, one thread", (3, 10, 30, 100), text_of, """
corpus = bg.text.read_corpus(folder / "text.txt", out=folder / f"corpus-{size}")
bg.train(corpus, out=folder / "models", seeds=1, dim=50, epochs=1, n_jobs=1)
""",
    ),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[""], help="cases whose names begin so")
    parser.add_argument("--most", type=float, default=1.0, help="share of the largest size")
    parser.add_argument("--folder", type=Path, help="where large files are made")
    asked = parser.parse_args()
    chosen = {name: case for name, case in CASES.items() if name.startswith(tuple(asked.only))}
    print(f"start-up: {start_up():.1f} s of processor are taken off\n", flush=True)
    largest = 0.0
    with tempfile.TemporaryDirectory(dir=asked.folder, prefix="biasgauge-load-") as name:
        folder = Path(name)
        made: tuple[Callable[[Path, int], None], int] = (nothing, 0)
        rows: dict[str, list[tuple[int, float, float]]] = {case: [] for case in chosen}
        for makes, size in dict.fromkeys((case.made, size) for case in chosen.values() for size in case.sizes):
            for case_name, case in chosen.items():
                if case.made is not makes or size not in case.sizes or size > asked.most * case.sizes[-1]:
                    continue
                if made != (makes, size):
                    makes(folder, size)
                    made = (makes, size)
                seconds, gigabytes = measured(case.program, folder, size)
                rows[case_name].append((size, seconds, gigabytes))
                largest = max(largest, gigabytes)
                print(f"{case_name:<26}{size:>10,}{seconds:>10.1f} s{gigabytes:>8.2f} GB", flush=True)
            shutil.rmtree(folder / f"corpus-{size}", ignore_errors=True)
    print(f"\n{'case':<26}{'largest':>10}{'seconds':>10}{'GB':>7}   exponent [95 %]   of what")
    for case_name, case in chosen.items():
        if rows[case_name]:
            size, seconds, gigabytes = rows[case_name][-1]
            grows = exponent(rows[case_name])
            print(f"{case_name:<26}{size:>10,}{seconds:>10.1f}{gigabytes:>7.2f}   {grows:<17} {case.what}")
    return int(largest > LIMIT)


def measured(program: str, folder: Path, size: int) -> tuple[float, float]:
    """Processor seconds, start-up taken off, and GB of a program in a process of its own."""
    seconds, peak = run_once(START.format(folder=str(folder), size=size) + program + END)
    return max(seconds - start_up(), 0.01), peak


def run_once(program: str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


_known: list[float] = []


def start_up() -> float:
    """Processor seconds of a process that imports the package and does nothing, the least of three."""
    if not _known:
        _known.append(min(run_once(START.format(folder=".", size=0) + END)[0] for _ in range(3)))
    return _known[0]


def exponent(rows: Sequence[tuple[int, float, float]]) -> str:
    """Slope of log time over log size, with its interval."""
    if len(rows) < 3:
        return "–"
    line = stats.linregress(np.log([row[0] for row in rows]), np.log([row[1] for row in rows]))
    margin = float(stats.t.ppf(0.975, len(rows) - 2)) * line.stderr
    return f"{line.slope:.2f} [{line.slope - margin:.2f}, {line.slope + margin:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
