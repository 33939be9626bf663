"""Training on a GPU: words (GloVe: cells) a second of all replicates together, and what share of the bandwidth that is.

    python bench/gpu_training.py [--seconds 150] [--out FOLDER]

Needs CuPy and a GPU, nothing else. The text is made up: 50,000 words by Zipf's law, lines of 1 to 40 words, words more
frequent than 1 in 1,000 skipped at random ("sampled") or not ("all"). A word counts when it is read, as in
bench/training.py, whether or not it is skipped. Each replicate trains two slices, the second of which is timed. Bytes
are those of rows that go to and from the device's memory if no row is found in a cache: the bandwidth beside them is
what a copy of 4 GB reaches on the same device.

On one H200 (4.26 TB/s by a copy; the best shape of each), replicates x dimensions:

    skip-gram   264 x 300    71.0 M words/s read, 60.7 M of them trained (not skipped)    24 % of the bandwidth
                528 x 300    84.0 M, 71.8 M                                               29 %
                264 x 100    86.0 M, 73.5 M                                               10 %
              1,056 x 100   144.1 M, 123.3 M                                              17 %
    CBOW        264 x 300    82.3 M, 70.2 M                                               48 %
    fastText    264 x 300    16.7 M, 14.2 M (about 20 parts a word)                       45 %
    GloVe       264 x 300   328 M cells/s                                                 77 %
                528 x 100   892 M cells/s                                                 75 %
                 32 x 300    94 M cells/s (a multiprocessor for each replicate)           22 %

Where nothing is skipped ("all"), skip-gram reads and trains 60.0 M words/s: what bounds it is the windows trained. Of
these the profile (Nsight Compute, 264 x 300) says: not memory (19 % of its peak), but latency. A multiprocessor holds
two blocks of seven warps (124 registers a thread), issues in 40 % of its cycles, and its warps wait for the end of the
previous instruction of a running sum (22 % of the samples), for shared memory (23 %) and at barriers (25 %), most of it
while rows are updated (51 %). The warp that reads ahead is no longer what others wait for. In GloVe it was: it sought
slots and fetched rows without a pause while the others waited at barriers (69 %). Since another warp fetches, and slots
are found all at once, 264 replicates are near what memory gives, and one alone is 2.3 times as fast (2.9 M cells/s;
1.3 before). Skip-gram shares the search for slots; its numbers are from before and were not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from biasgauge.text.training.cuda.device import Buffer, Device, open_device
from biasgauge.text.training.cuda.kernels import CELL, Shape, glove_row, kernel_of, padded
from biasgauge.text.training.cuda.together import DeviceText, GloveGroup, NegativeSamplingGroup, Reader, Slices, Visitor

VOCABULARY = 50_000
SETTINGS = {"window": 5, "negative": 5}
SGNS = (
    *((264, 300, Shape(*rest)) for rest in ((224, 2, 2, 2), (384, 2, 2, 1), (224, 2, 3, 2), (160, 2, 2, 4))),
    *((264, 300, Shape(*rest)) for rest in ((224, 2, 1, 2), (224, 2, 4, 2))),
    *((528, 300, Shape(*rest)) for rest in ((224, 4, 2, 2), (224, 3, 2, 2), (224, 4, 3, 2), (160, 4, 2, 4))),
    *((264, 100, Shape(*rest)) for rest in ((192, 2, 2, 1), (128, 2, 2, 2), (128, 2, 3, 2))),
    *((1056, 100, Shape(*rest)) for rest in ((128, 8, 2, 2), (128, 8, 3, 2), (192, 8, 2, 1))),
)
GLOVE = (
    *(
        (264, 300, Shape(*rest))
        for rest in ((256, 2, 3, 1, 4), (384, 2, 3, 1, 4), (384, 2, 2, 1, 4), (384, 2, 2, 1, 6))
    ),
    *((32, 300, Shape(*rest)) for rest in ((256, 1, 3, 1, 4), (384, 1, 3, 1, 8), (672, 1, 3, 1, 8), (672, 1, 2, 1, 8))),
    *((528, 100, Shape(*rest)) for rest in ((192, 4, 2, 1, 8), (288, 4, 2, 1, 8))),
)
OTHERS = (("cbow", 264, 300, Shape(384, 2)), ("fasttext", 264, 300, Shape(384, 2)))


def zipf_text(tokens: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Tokens by Zipf's law and lines, as `DeviceText.of` takes them; the tables follow with `with_sampling`."""
    chances = 1 / (np.arange(VOCABULARY) + 2.7)
    lines = np.concatenate([[0], np.cumsum(random.integers(1, 41, tokens // 20))])
    lines = np.append(lines[lines < tokens], tokens).astype(np.int64)
    return {
        "tokens": random.choice(VOCABULARY, tokens, p=chances / chances.sum()).astype(np.uint32),
        "lines": lines,
        "order": np.arange(len(lines) - 1, dtype=np.int64),
        "places": np.arange(VOCABULARY, dtype=np.int32),
    }


def with_sampling(text: dict[str, np.ndarray], subsample: float) -> dict[str, np.ndarray]:
    """Add the tables of skipped words and of negatives."""
    counts = np.bincount(text["tokens"], minlength=VOCABULARY).astype(float) + 1
    threshold = subsample * counts.sum()
    shares = (
        np.minimum(1.0, (np.sqrt(counts / threshold) + 1) * threshold / counts) if subsample else np.ones(VOCABULARY)
    )
    keep, other = alias_table(counts**0.75)
    return {**text, "keep": np.floor(shares * 2**32).astype(np.uint64), "negative_keep": keep, "negative_other": other}


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `stream.alias_table`, without Numba."""
    shares = (weights * (len(weights) / weights.sum())).tolist()
    keep = np.full(len(shares), 2**32, np.uint64)
    other = np.arange(len(shares), dtype=np.uint32)
    small = [place for place, share in enumerate(shares) if share < 1]
    large = [place for place, share in enumerate(shares) if share >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        keep[low], other[low] = int(shares[low] * 2**32), high
        shares[high] -= 1 - shares[low]
        if shares[high] < 1:
            small.append(large.pop())
    return keep, other


def sigmoid_tables() -> np.ndarray:
    """As `negative_sampling` has them."""
    centers = (np.arange(2048) + 0.5) / 128 - 8
    return np.concatenate([1 / (1 + np.exp(-centers)), np.log1p(np.exp(-centers))]).astype(np.float32)


def copy_bandwidth() -> float:
    """Bytes a second, read and written, of a copy within the device."""
    import cupy

    source = cupy.zeros(2**31, cupy.uint8)
    target = cupy.empty_like(source)
    for _ in range(2):
        cupy.cuda.Device().synchronize()
        started = time.perf_counter()
        for _ in range(5):
            cupy.copyto(target, source)
        cupy.cuda.Device().synchronize()
        seconds = time.perf_counter() - started
    return 5 * 2 * 2**31 / seconds


def timed_turns(group: NegativeSamplingGroup | GloveGroup) -> float:
    group.turn(0)
    started = time.perf_counter()
    group.turn(1)
    return time.perf_counter() - started


def words_per_second(
    device: Device, name: str, tables: dict[str, np.ndarray], replicates: int, dim: int, shape: Shape, words: int
) -> dict[str, Any]:
    """Train two slices of about so many words of every replicate."""
    device.free_memory()
    text = DeviceText.of(device, tables, {})
    starts = np.searchsorted(tables["lines"], [0, words, 2 * words])
    rows = VOCABULARY
    if "starts" in tables:
        rows = int(tables["parts"].max()) + 1
    readers = [
        Reader(text, Slices(starts.astype(np.int64), 1), 7 * seed + 1, 1_000_003 * seed + 5, rows, 100 * words)
        for seed in range(replicates)
    ]
    kernel = kernel_of(name, {"dim": dim, **SETTINGS}, shape)
    group = NegativeSamplingGroup(
        device, kernel, readers, dim=dim, alpha=0.025, min_alpha=0.0001, tables=sigmoid_tables()
    )
    seconds = timed_turns(group)
    read = int(tables["lines"][starts[2]] - tables["lines"][starts[1]])
    kept = tables["keep"][tables["tokens"][tables["lines"][starts[1]] : tables["lines"][starts[2]]]].sum() / 2**32
    moved = {"sgns": 2 + 2 * 6, "cbow": 2 * 6 + 2 * 6, "fasttext": 2 * 36 + 2 * 20}[name]
    return {
        "words a second": replicates * read / seconds,
        "trained words a second": replicates * kept / seconds,
        "bytes a second": replicates * kept * moved * padded(dim) * 4 / seconds,
        "seconds": seconds,
        "shared bytes": device.program(kernel).shared_bytes,
        "losses": group.courses[0].losses,
    }


class Part:
    """A stretch of a buffer."""

    def __init__(self, whole: Buffer, offset: int) -> None:
        self._whole, self.address = whole, whole.address + offset

    def get(self) -> np.ndarray:
        """Not needed here."""
        raise NotImplementedError


def cells_per_second(device: Device, replicates: int, dim: int, shape: Shape, cells: int) -> dict[str, Any]:
    """Visit two slices of so many cells of every replicate."""
    device.free_memory()
    random = np.random.default_rng(0)
    chances = (np.arange(VOCABULARY) + 10.0) ** -0.7
    made = np.zeros(2 * cells * replicates, CELL)
    made["row"], made["column"] = random.choice(VOCABULARY, (2, len(made)), p=chances / chances.sum())
    made["column"] += VOCABULARY
    made["log"] = random.exponential(1, len(made))
    made["weight"] = random.uniform(0.02, 1, len(made))
    whole = device.put(made)
    visitors = (
        Visitor(Part(whole, 2 * cells * CELL.itemsize * seed), 2 * cells, 2 * VOCABULARY, seed)
        for seed in range(replicates)
    )
    kernel = kernel_of("glove", {"dim": dim}, shape)
    group = GloveGroup(device, kernel, visitors, dim=dim, eta=0.05, epochs=1, piece=cells)
    seconds = timed_turns(group)
    return {
        "cells a second": replicates * cells / seconds,
        "bytes a second": replicates * cells * 4 * glove_row(dim) * 4 / seconds,
        "seconds": seconds,
        "shared bytes": device.program(kernel).shared_bytes,
        "losses": group.courses[0].losses,
    }


def subword_parts(random: np.random.Generator) -> dict[str, np.ndarray]:
    """About 20 parts a word out of 300,000 n-grams."""
    counts = random.integers(8, 32, VOCABULARY)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    parts = random.integers(VOCABULARY, 350_000, starts[-1]).astype(np.int32)
    parts[starts[:-1]] = np.arange(VOCABULARY)
    return {"starts": starts, "parts": parts}


def measure(device: Device, limit: float, report: Callable[[dict[str, Any]], None]) -> list[dict[str, Any]]:
    """Every case within the time; one that fails says so and the rest go on."""
    began = time.perf_counter()
    random = np.random.default_rng(1)
    text = zipf_text(400_000, random)
    sampled, everything = with_sampling(text, 0.001), with_sampling(text, 0)
    bandwidth = copy_bandwidth()
    rows: list[dict[str, Any]] = [{"copy": bandwidth}]
    report({"device": device.name, "multiprocessors": device.multiprocessors, "copy TB/s": round(bandwidth / 1e12, 2)})
    cases: list[tuple[Any, ...]] = [("sgns", *case, sampled) for case in SGNS[:3]]
    cases += [("glove", *case, None) for case in GLOVE[:3]]
    cases += [("sgns", *SGNS[0], everything)]
    cases += [("sgns", *case, sampled) for case in SGNS[3:]]
    cases += [("glove", *case, None) for case in GLOVE[3:]]
    cases += [(*case, sampled | (subword_parts(random) if case[0] == "fasttext" else {})) for case in OTHERS]
    for name, replicates, dim, shape, tables in cases:
        row: dict[str, Any] = {"algorithm": name, "replicates": replicates, "dim": dim, "shape": shape.__dict__}
        if time.perf_counter() - began > limit:
            row["skipped"] = "no time left"
        else:
            try:
                if name == "glove":
                    row |= cells_per_second(device, replicates, dim, shape, 60_000)
                else:
                    row["text"] = "all" if tables is everything else "sampled"
                    slow = 4 if name == "sgns" else 30
                    row |= words_per_second(device, name, tables, replicates, dim, shape, 160_000 // slow)
                row["share of bandwidth"] = row["bytes a second"] / bandwidth
            except Exception as problem:  # noqa: BLE001 - the other cases shall still be measured
                row["failed"] = f"{problem}"[:2000]
                traceback.print_exc()
        rows.append(row)
        report(row)
    return rows


def printed(row: dict[str, Any]) -> str:
    short = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
    return json.dumps(short, default=str)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    rows = measure(open_device(), chosen.seconds, lambda row: print(printed(row), flush=True))
    if chosen.out is not None:
        (chosen.out / "gpu_training.json").write_text(json.dumps(rows, indent=1, default=str))


if __name__ == "__main__":
    main()
