"""Compare what a GPU trains with the checksums that the CPU loops left, on a machine that has CuPy and little else.

python scripts/gpu_check.py make gpu_check_data        # where Numba is: small texts, trained by the CPU loops
python scripts/gpu_check.py check gpu_check_data       # where a GPU is: the same bits?
python scripts/gpu_check.py profile                    # one slice of skip-gram, for a profiler
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.npyio import NpzFile

if TYPE_CHECKING:
    from biasgauge.text.training.cuda.device import Device

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

CASES: dict[str, dict[str, Any]] = {
    "sgns 300": {"algorithm": "sgns", "dim": 300, "window": 5, "negative": 5},
    "sgns 100": {"algorithm": "sgns", "dim": 100, "window": 5, "negative": 5},
    "sgns 20, window 2, 15 negatives": {"algorithm": "sgns", "dim": 20, "window": 2, "negative": 15, "alpha": 0.1},
    "cbow 100": {"algorithm": "cbow", "dim": 100, "window": 5, "negative": 5},
    "fasttext 100": {"algorithm": "fasttext", "dim": 100, "window": 5, "negative": 5},
    "glove 300": {"algorithm": "glove", "dim": 300, "window": 10},
    "glove 50": {"algorithm": "glove", "dim": 50, "window": 10},
}
SEEDS = (1, 2, 3)
SHAPES = {
    "sgns": ((384, 2, 2, 1), (224, 2, 2, 2), (128, 4, 3, 4), (224, 2, 1, 2)),
    "glove": ((256, 2, 3, 1, 4), (384, 1, 2, 1, 8), (672, 1, 3, 1, 8)),
}
PLAIN = ((384, 2), (128, 4))


def checksum(array: np.ndarray) -> str:
    """SHA-256 of the numbers."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def made_text() -> list[str]:
    """Lines by Zipf's law, short and long, and one that is longer than windows may span."""
    random = np.random.default_rng(3)
    words = [
        first + second for first in ("an", "ba", "co", "du", "el", "fi") * 8 for second in ("na", "nana", "r", "st")
    ]
    words = [f"{word}{place // 24 or ''}" for place, word in enumerate(words)]
    chances = 1 / (np.arange(len(words)) + 2.7)
    sizes = [*random.integers(1, 40, 600), 13_000, *random.integers(1, 3, 50)]
    return [" ".join(random.choice(words, size, p=chances / chances.sum())) for size in sizes]


def make(folder: Path) -> None:
    """Train the cases by the CPU loops; keep what they read and the checksums of what they wrote."""
    from biasgauge.text import read_corpus
    from biasgauge.text.training.algorithms import algorithm
    from biasgauge.text.training.glove import descend, first_weights, shuffled
    from biasgauge.text.training.negative_sampling import TABLES, run_epochs
    from biasgauge.text.training.random_stream import stream
    from biasgauge.text.training.sweep import training_text
    from biasgauge.text.training.word2vec import first_vectors

    folder.mkdir(exist_ok=True)
    corpus = read_corpus(iter(made_text()))
    arrays: dict[str, np.ndarray] = {"tables": TABLES}
    about: dict[str, Any] = {}
    for case, chosen in CASES.items():
        given = {name: value for name, value in chosen.items() if name != "algorithm"}
        entry = algorithm(chosen["algorithm"])
        settings: Any = entry.settings_from({**given, "epochs": 2})
        text = training_text(corpus, min_count=3, sample=None if "300" in case else 1, sample_seed=4)
        shared: Any = entry.trainer.prepare(text, settings, folder / f"counts {case}")
        about[case] = {"settings": {**chosen, "epochs": 2}, "replicates": []}
        if chosen["algorithm"] == "glove":
            about[case] |= {"rows": 2 * shared.size, "eta": settings.eta}
            for seed in SEEDS:
                visits = shuffled(shared, x_max=settings.x_max, alpha=settings.alpha, seed=seed, memory=2**31)
                weights = first_weights(2 * shared.size, settings.dim, seed)
                losses = descend(weights, settings.dim, visits, iterations=2, eta=settings.eta)
                arrays[f"{case}|cells {seed}"] = visits
                about[case]["replicates"].append({
                    "first_state": int(stream("first weights", seed)[0]),
                    "losses": losses, "sha256": checksum(weights), "cells": len(visits),
                })  # fmt: skip
            continue
        read, grams = shared.read, len(shared.grams)
        if chosen["algorithm"] == "fasttext":
            arrays[f"{case}|starts"], arrays[f"{case}|parts"] = shared.starts, shared.parts.astype(np.int32)
        for name in read._fields:
            arrays[f"{case}|{name}"] = np.asarray(getattr(read, name))
        words = len(text.vocabulary.words)
        about[case] |= {
            "input_rows": words + grams, "total": 2 * text.tokens, "alpha": settings.alpha,
            "min_alpha": settings.min_alpha, "edges": [0, *(last for _, last in text.blocks(0, len(text.order), 4000))],
        }  # fmt: skip
        for seed in SEEDS:
            inputs, outputs = first_vectors(words, grams, settings.dim, seed)
            trained = inputs, outputs, shared.starts, shared.parts
            _, losses = run_epochs(
                entry.trainer.loop, trained, text, settings, read=read, seed=seed, threads=1, progress=None
            )
            about[case]["replicates"].append({
                "first_state": int(stream("initial vectors", seed)[0]),
                "state": int(stream("epochs of thread 0", seed)[0]),
                "losses": losses, "sha256": checksum(inputs),
            })  # fmt: skip
    files: dict[str, Any] = {name: plain(array) for name, array in arrays.items()}
    np.savez_compressed(folder / "inputs.npz", **files)
    (folder / "expected.json").write_text(json.dumps(about, indent=1))
    print({name: len(entry["replicates"]) for name, entry in about.items()})


def plain(array: np.ndarray) -> np.ndarray:
    """Records as whole numbers, which a file can hold without pickle."""
    return array.view(np.int32) if array.dtype.names else array


def trained(
    device: Device, case: str, entry: dict[str, Any], inputs: NpzFile, numbers: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Checksums and losses of the replicates of a case with one shape of blocks."""
    from biasgauge.text.training.cuda.kernels import CELL, Shape, kernel_of
    from biasgauge.text.training.cuda.together import (
        DeviceText,
        GloveGroup,
        NegativeSamplingGroup,
        Reader,
        Slices,
        Visitor,
        run_group,
    )  # fmt: skip

    settings, replicates = entry["settings"], entry["replicates"]
    kernel = kernel_of(settings["algorithm"], settings, Shape(*numbers))
    if settings["algorithm"] == "glove":
        visitors = (
            Visitor(
                inputs[f"{case}|cells {seed}"].view(CELL).reshape(-1), one["cells"], entry["rows"], one["first_state"]
            )
            for seed, one in zip(SEEDS, replicates, strict=True)
        )
        glove = GloveGroup(
            device, kernel, visitors, dim=settings["dim"], eta=entry["eta"], epochs=settings["epochs"], piece=1 << 21
        )
        run_group(glove, lambda: None)
        return [
            {"sha256": checksum(glove.rows(place)), "losses": course.losses}
            for place, course in enumerate(glove.courses)
        ]
    tables = {name.split("|")[1]: inputs[name] for name in inputs.files if name.startswith(f"{case}|")}
    text = DeviceText.of(device, tables, {})
    readers = [
        Reader(
            text, Slices(np.array(entry["edges"]), settings["epochs"]), one["first_state"], one["state"],
            entry["input_rows"], entry["total"],
        )
        for one in replicates
    ]  # fmt: skip
    group = NegativeSamplingGroup(
        device, kernel, readers, dim=settings["dim"], alpha=entry["alpha"], min_alpha=entry["min_alpha"],
        tables=inputs["tables"],
    )  # fmt: skip
    run_group(group, lambda: None)
    return [
        {"sha256": checksum(group.rows(place)), "losses": course.losses} for place, course in enumerate(group.courses)
    ]


def check(folder: Path, device: Device) -> dict[str, Any]:
    """Train every case with several shapes of blocks and say which bits differ."""
    expected = json.loads((folder / "expected.json").read_text())
    inputs = np.load(folder / "inputs.npz")
    outcome: dict[str, Any] = {}
    for case, entry in expected.items():
        for numbers in SHAPES.get(entry["settings"]["algorithm"], PLAIN):
            name, started = f"{case} {numbers}", time.perf_counter()
            try:
                got = trained(device, case, entry, inputs, numbers)
                same = [
                    one["sha256"] == other["sha256"] and list(one["losses"]) == list(other["losses"])
                    for one, other in zip(got, entry["replicates"], strict=True)
                ]
                outcome[name] = {"same": same, "got": None if all(same) else got}
            except Exception as problem:  # noqa: BLE001 - the other cases shall still be checked
                traceback.print_exc()
                outcome[name] = {"failed": str(problem)[:3000]}
            print(f"{time.perf_counter() - started:7.2f} s  {name}: {outcome[name]}", flush=True)
    return outcome


def scoring() -> str:
    """NBM of one model of 200,000 × 300, by bench/gpu.py."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    try:
        run = subprocess.run(  # noqa: S603 - our own file
            [sys.executable, str(ROOT / "bench" / "gpu.py")],
            env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        return str(problem)
    print(run.stdout, run.stderr[-2000:], flush=True)
    return run.stdout + run.stderr[-2000:]


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "check", "speed", "all", "profile"])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "gpu_check_data")
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--emulate", action="store_true", help="run the kernels on the CPU, block by block")
    chosen = parser.parse_args()
    if chosen.what == "make":
        make(chosen.folder)
        return
    import gpu_training

    from biasgauge.text.training.cuda.device import open_device

    if chosen.emulate:
        sys.path.insert(0, str(ROOT))
        from tests.training.emulated_gpu import EmulatedDevice

        device: Any = EmulatedDevice(chosen.folder)
    else:
        device = open_device()
    print(device.name, device.multiprocessors, device.shared_memory, f"{device.free_memory():,}", flush=True)
    if chosen.what == "profile":
        gpu_training.VOCABULARY = 5_000  # a profiler saves and restores all memory for each of its passes
        text = gpu_training.with_sampling(gpu_training.zipf_text(200_000, np.random.default_rng(1)), 0.001)
        case = gpu_training.SGNS[0]
        print(gpu_training.words_per_second(device, "sgns", text, *case, 3_000))
        print(gpu_training.cells_per_second(device, *gpu_training.GLOVE[0], 2_000))
        return
    results: dict[str, Any] = {}
    if chosen.what in ("check", "all"):
        results["check"] = check(chosen.folder, device)
    if chosen.what in ("speed", "all"):
        show = lambda row: print(gpu_training.printed(row), flush=True)  # noqa: E731 - one line
        results["speed"] = gpu_training.measure(device, chosen.seconds, show)
    (chosen.out / "gpu_check.json").write_text(json.dumps(results, indent=1, default=str))
    if chosen.what in ("speed", "all"):
        device.free_memory()
        results["scoring"] = scoring()
    (chosen.out / "gpu_check.json").write_text(json.dumps(results, indent=1, default=str))


if __name__ == "__main__":
    main()
