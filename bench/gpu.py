"""NBM on a GPU: 200,000 × 300, 23 pairs, against the product alone and the plain way (product, topk, vote).

    python bench/gpu.py [--rows 200000] [--device cuda]

Needs PyTorch and a GPU. Times are the best of three, after the vectors are on the device, synchronised.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
import torch

from biasgauge import registry
from biasgauge.core.optional import device_named
from biasgauge.scores import engine, gpu
from biasgauge.scores.engine import Pool, ScoringTask

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS, K, DIM, BLOCK = 23, 100, 300, 4096


def vectors(rows: int) -> np.ndarray:
    """Clustered vectors: neighborhoods are uneven, as in language."""
    random = np.random.default_rng(0)
    centers = random.standard_normal((500, DIM)).astype(np.float32)
    return centers[random.integers(0, 500, rows)] * 0.6 + random.standard_normal((rows, DIM)).astype(np.float32)


def best(work: Callable[[], object], device: torch.device, repeat: int = 3) -> float:
    times = []
    for _ in range(repeat):
        if device.type == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return min(times)


def product(pool: torch.Tensor) -> None:
    for start in range(0, len(pool), BLOCK):
        _ = pool[start : start + BLOCK] @ pool.T


def plain(pool: torch.Tensor, votes: torch.Tensor) -> None:
    for start in range(0, len(pool), BLOCK):
        found = torch.topk(pool[start : start + BLOCK] @ pool.T, K + 1, dim=1).indices[:, 1:]
        _ = votes[found].sum(dim=1, dtype=torch.int32).cpu()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    device = device_named(arguments.device)
    matrix = vectors(arguments.rows)
    ends = np.arange(2 * PAIRS)
    task = ScoringTask(matrix, np.arange(arguments.rows), ends[::2], ends[1::2], [registry.get("measure", "nbm")], K)
    pool = Pool.from_task(task)
    on_device = torch.from_numpy(pool.unit).to(device)
    wide = gpu.widen(on_device)
    votes = torch.from_numpy(pool.votes(task, registry.get("measure", "nbm"))).to(device)  # type: ignore[arg-type]
    torch.set_float32_matmul_precision("high")
    times = {
        "product alone (TF32)": best(lambda: product(on_device), device),
        "product, topk, vote (TF32)": best(lambda: plain(on_device, votes), device),
    }
    torch.set_float32_matmul_precision("highest")
    times["product alone (32-bit)"] = best(lambda: product(on_device), device)
    times["biasgauge: neighbors and votes, exact"] = best(
        lambda: gpu.vote(task, pool, wide, {0: votes}, np.empty((1, PAIRS, arguments.rows), np.float32)), device
    )
    times["biasgauge: all, from the CPU's memory"] = best(lambda: gpu.compute(task, device), device)
    print(f"{arguments.rows:,} × {DIM}, {PAIRS} pairs, k = {K}, {device}")
    for name, seconds in times.items():
        print(f"{name:<42} {seconds:8.3f} s")
    some = np.arange(0, arguments.rows, max(arguments.rows // 2000, 1))
    part = ScoringTask(matrix, some, task.first, task.second, task.measures, K)
    same = np.array_equal(engine.compute(part), gpu.compute(part, device), equal_nan=True)
    print(f"equal to the CPU on {len(some):,} words: {same}")


if __name__ == "__main__":
    main()
