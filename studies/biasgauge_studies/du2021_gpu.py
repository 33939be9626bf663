"""Du et al. 2021 with 32 seeds on a GPU: train, score, and leave scores and checksums, no models.

python -m biasgauge_studies.du2021_gpu make du_data --data DATA    # where Numba is: texts as numbers, about 45 MB
python -m biasgauge_studies.du2021_gpu run du_data --out OUT       # on a GPU: needs NumPy, CuPy and PyTorch only

Three texts (English Wikipedia 30 million words, film reviews 5.8, novels 3.5); the paper's settings: 300 dimensions,
words that occur five times; skip-gram with window 5 and five epochs, GloVe with window 15 and 15 iterations; beside
them fastText, skip-gram in which no negatives are shared, and 100 dimensions. All seeds of a text are trained side by
side, several algorithms at once where the GPU has room, the most important first. A block (an algorithm on a text) is
scored and written as soon as its seeds are done, so that a run that is cut off leaves whole blocks. One replicate is
trained in order: skip-gram on Wikipedia takes six to eight minutes, however few replicates there are.

A block (OUT/scores_N.zip, one .npz each) holds, for pairs x words x seeds:
    linear, nbm    scores of the words of the paper's small lists and of some of Google's 10,000 (`rows` in the
                   vocabulary): DB/WA and RIPA as whole numbers of `scale`, NBM as neighbors that vote, of 100
    means          over seeds, of all of Google's list (`google`), as whole numbers of `mean_scale`
    words_f, _c    of every word: mean square of pairs, and of seeds, over that of what is left (two-way analysis)
    raters_f, _c   of every word: the same with the three measures in place of seeds, from means over seeds
    pairs          of every pair: mean squares of words, of seeds, of what is left; for Google's list and for all words
    pair_raters    the same with the three measures in place of seeds
    norm, nn_similarity, stability    of every word, as the paper's regression has them, over the first four seeds
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np

from biasgauge.text.training.cuda.kernels import kernel_of
from biasgauge_studies.du2021_features import MODELS, features
from biasgauge_studies.du2021_jobs import Job, TensorBuffer, arguments, chosen_jobs, study_device
from biasgauge_studies.du2021_scorers import open_scorers, scores_on_cpu, scores_on_gpu
from biasgauge_studies.du2021_tally import Tally, write_block
from biasgauge_studies.du2021_texts import (
    BENCH,
    GLOVE,
    WORD2VEC,
    Text,
    count_cells,
    first_state,
    make,
    means_of_parts,
    orders_on,
)  # fmt: skip

SLICE, PIECE = 400_000, 1 << 21
"""Words, and cells, between two looks at the clock."""


class Study:
    """All jobs at once, as far as there is room; scoring beside them."""

    glove_settings: ClassVar[dict[str, Any]] = GLOVE
    blocks = 2
    """Blocks of a multiprocessor for which kernels leave room."""

    def __init__(self, texts: dict[str, Text], chosen: argparse.Namespace, device: Any) -> None:  # noqa: ANN401
        self.texts, self.device, self.emulated = texts, device, chosen.emulate
        self.seeds = list(range(1, chosen.seeds + 1))
        self.slots, self.out = chosen.slots, chosen.out
        self.epochs, self.dim = chosen.epochs, chosen.dim
        self.deadline: float = time.monotonic() + chosen.seconds
        self.started = time.monotonic()
        self.room = threading.Condition()
        self.jobs = chosen_jobs(chosen.jobs, list(texts))
        for job in self.jobs:
            job.dim = min(job.dim, self.dim)
        self.scorers = open_scorers(chosen.scorers) if chosen.scorers else None
        self.done: queue.Queue[tuple[Job, str] | None] = queue.Queue()
        self.cells: dict[str, tuple[Any, Any]] = {}
        self.shapes: dict[str, Any] = dict(getattr(chosen, "shape", ()))
        self.log: dict[str, Any] = {"device": device.name, "blocks": {}, "seeds": self.seeds, "problems": []}

    def say(self, words: str) -> None:
        """Print, with the time."""
        print(f"{time.monotonic() - self.started:7.1f} s  {words}", flush=True)

    def epochs_of(self, job: Job) -> int:
        """Readings of the text, or of the cells."""
        return self.epochs or job.epochs or int(self.settings_of(job)["epochs"])

    def settings_of(self, job: Job) -> dict[str, Any]:
        """Of the trainer, but for dimensions."""
        return self.glove_settings if job.algorithm == "glove" else WORD2VEC

    def seeds_of(self, job: Job, name: str) -> list[int]:  # noqa: ARG002 - other studies train some texts more often
        """Random seeds of the replicates of a text: all, or the first few."""
        return self.seeds[: job.seeds] if job.seeds else self.seeds

    def run(self) -> None:
        """Train in threads, score here."""
        threads = [
            threading.Thread(target=self.follow, args=(number,), daemon=True) for number in range(len(self.jobs))
        ]
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:  # what is trained is scored, even after the deadline: threads end a slice after it
            finished = self.done.get()
            if finished is None:
                left -= 1
                continue
            try:
                self.score(*finished)
            except Exception:  # noqa: BLE001 - the other blocks shall still be scored
                self.problem(f"scoring {finished[0].name} on {finished[1]}")
        if self.scorers:
            self.scorers.shutdown(cancel_futures=True)
        self.write_log()
        self.say("end")

    def problem(self, what: str) -> None:
        """Note an exception and go on."""
        self.log["problems"].append(f"{what}: {traceback.format_exc()}")
        self.say(f"FAILED: {what}\n{traceback.format_exc()}")
        self.write_log()

    def write_log(self) -> None:
        """What was done, and what went wrong."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "log.json").write_text(json.dumps(self.log, indent=1))

    def follow(self, number: int) -> None:
        """One job from beginning to end, in a thread and a stream of its own."""
        job = self.jobs[number]
        try:
            with self.stream():
                # Counting for GloVe needs room on the GPU as well: what is named later begins after it.
                self.wait(lambda: all(other.began for other in self.jobs[:number]))
                prepared = self.prepare(job) if self.left() > self.least(job) else {}
                size = sum(len(self.seeds_of(job, name)) for name in job.texts)
                self.wait(lambda: not self.active() or size + self.active() <= self.slots)
                if prepared and self.left() > self.needed(job, prepared):
                    self.begin(job, size)
                    self.train(job, prepared)
                else:
                    self.say(f"{job.name}: not enough time is left")
        except Exception:  # noqa: BLE001 - the other jobs shall go on
            self.problem(job.name)
        finally:
            self.begin(job, 0)
            self.done.put(None)

    def begin(self, job: Job, active: int) -> None:
        """Say that a job is at work with so many replicates, or no more."""
        with self.room:
            job.active, job.began = active, job.began or time.monotonic()
            self.room.notify_all()

    def active(self) -> int:
        """Replicates at work."""
        return sum(job.active for job in self.jobs)

    def stream(self) -> Any:  # noqa: ANN401 - of CuPy
        """What a thread launches in."""
        if self.emulated:
            return nullcontext()
        import cupy

        return cupy.cuda.Stream(non_blocking=True)

    def left(self) -> float:
        """Seconds until the end."""
        return self.deadline - time.monotonic()

    def wait(self, ready: Callable[[], bool]) -> None:
        """Until a condition of the jobs holds, or the time is over."""
        with self.room:
            self.room.wait_for(ready, timeout=max(0.0, self.left()))

    def least(self, job: Job) -> float:
        """Seconds that GloVe takes at least: a text has more than two cells a word."""
        words = max(len(self.texts[name].tokens) for name in job.texts)
        return 2 * words * self.epochs_of(job) / job.rate if job.algorithm == "glove" else 0.0

    def needed(self, job: Job, prepared: dict[str, Any]) -> float:
        """Seconds that a job takes at the measured rate."""
        if job.algorithm == "glove":
            return max(len(base) for base, _ in prepared.values()) * self.epochs_of(job) / job.rate
        trained = [table["keep"].astype(float) @ self.texts[name].counts / 2**32 for name, table in prepared.items()]
        return float(max(trained)) * self.epochs_of(job) / job.rate

    def count_all(self) -> None:
        """Cells of GloVe and the orders of its replicates, before anything else needs the device."""
        jobs = [job for job in self.jobs if job.algorithm == "glove"]
        for name in dict.fromkeys(name for job in jobs for name in job.texts):
            longest = max((self.seeds_of(job, name) for job in jobs if name in job.texts), key=len)
            self.cells[name] = self.in_order(name, longest)
        self.let_go()

    def in_order(self, name: str, seeds: list[int]) -> tuple[Any, list[Any]]:
        """Cells of a text for GloVe, and the order of each random seed."""
        device = "cpu" if self.emulated else "cuda"
        base = count_cells(self.texts[name], device, self.glove_settings)
        orders = orders_on(device, len(base), seeds)
        self.say(f"GloVe on {name}: {len(base):,} cells in order")
        return base, orders

    def let_go(self) -> None:
        """Give back memory of the device that PyTorch keeps: kernels that train take theirs elsewhere."""
        if not self.emulated:
            import torch

            torch.cuda.empty_cache()

    def prepare(self, job: Job) -> dict[str, Any]:
        """What needs no room on the multiprocessors: tables, or cells and their orders."""
        if job.algorithm == "glove":
            others = [name for other in self.jobs if other is not job and not other.began for name in other.texts]
            return {name: self.cells[name] if name in others else self.cells.pop(name) for name in job.texts}
        return {name: self.texts[name].tables(job.subwords) for name in job.texts}

    def train(self, job: Job, prepared: dict[str, Any]) -> None:
        """Slice by slice; a text whose replicates are done goes to be scored."""
        from biasgauge.text.training.cuda.kernels import shape_of

        settings = {**self.settings_of(job), "dim": job.dim}
        most = self.blocks * self.device.multiprocessors  # as many as other jobs leave room for
        shape = self.shapes.get(job.algorithm) or shape_of(job.algorithm, settings, most, self.device)
        kernel = kernel_of(job.algorithm, settings, shape)
        for name in job.texts:
            before = sum(map(len, job.places.values()))
            job.places[name] = [before + place for place in range(len(self.seeds_of(job, name)))]
        job.group = (self.glove if job.algorithm == "glove" else self.word2vec)(job, kernel, prepared)
        lengths = self.lengths(job, prepared)
        prepared.clear()  # orders of cells take as much room as a few replicates
        self.let_go()
        self.say(f"{job.name}: {len(job.group.courses)} replicates begin, {max(lengths.values())} slices")
        for number in range(max(lengths.values())):
            if self.left() < 0:
                self.say(f"{job.name}: cut off at slice {number}")
                return
            job.group.turn(number)
            if number == 3 or (number + 1) % max(1, max(lengths.values()) // 5) == 0:
                spent = time.monotonic() - job.began
                self.say(f"{job.name}: slice {number + 1}, {spent / (number + 1):.2f} s each; {self.active()} at work")
            for name in [name for name, length in lengths.items() if length == number + 1]:
                self.say(f"{job.name} on {name}: trained")
                self.done.put((job, name))
            left = [name for name, length in lengths.items() if length > number + 1]
            self.begin(job, sum(len(self.seeds_of(job, name)) for name in left))

    def lengths(self, job: Job, prepared: dict[str, Any]) -> dict[str, int]:
        """Slices of each text, over all epochs."""
        if job.algorithm == "glove":
            return {name: -(-len(base) // PIECE) * self.epochs_of(job) for name, (base, _) in prepared.items()}
        return {name: (len(self.edges(name)) - 1) * self.epochs_of(job) for name in job.texts}

    def edges(self, name: str) -> np.ndarray:
        """Lines at which slices of a text begin and end."""
        lines = self.texts[name].lines
        marks = np.searchsorted(lines, np.arange(SLICE, lines[-1], SLICE))
        return np.unique([0, *marks.tolist(), len(lines) - 1])

    def word2vec(self, job: Job, kernel: Any, prepared: dict[str, Any]) -> Any:  # noqa: ANN401 - imported late
        """Replicates of skip-gram or fastText on the device."""
        sys.path.append(str(BENCH))
        from gpu_training import sigmoid_tables

        from biasgauge.text.training.cuda.together import DeviceText, NegativeSamplingGroup, Reader, Slices

        readers = []
        for name in job.texts:
            text, there = self.texts[name], DeviceText.of(self.device, prepared[name], {})
            rows = text.size if job.subwords != "ngrams" else int(prepared[name]["parts"].max()) + 1
            slices = Slices(self.edges(name), self.epochs_of(job))
            readers += [
                Reader(
                    there, slices, first_state("initial vectors", seed), first_state("epochs of thread 0", seed), rows,
                    self.epochs_of(job) * int(text.counts.sum()),
                )
                for seed in self.seeds_of(job, name)
            ]  # fmt: skip
        return NegativeSamplingGroup(
            self.device, kernel, readers, dim=job.dim, alpha=WORD2VEC["alpha"], min_alpha=WORD2VEC["min_alpha"],
            tables=sigmoid_tables(),
        )  # fmt: skip

    def glove(self, job: Job, kernel: Any, prepared: dict[str, Any]) -> Any:  # noqa: ANN401 - imported late
        """Replicates of GloVe on the device."""
        import torch

        from biasgauge.text.training.cuda.kernels import CELL
        from biasgauge.text.training.cuda.together import GloveGroup, Visitor

        def visitors() -> Any:  # noqa: ANN401 - an iterator
            for name in job.texts:
                base, orders = prepared[name]
                for order, seed in zip(orders, self.seeds_of(job, name), strict=False):
                    cells = base[order.long()]
                    given: Any = cells.numpy().view(CELL).reshape(-1) if self.emulated else TensorBuffer(cells)
                    yield Visitor(given, len(base), 2 * self.texts[name].size, first_state("first weights", seed))
                if not self.emulated:
                    torch.cuda.current_stream().synchronize()

        return GloveGroup(
            self.device,
            kernel,
            visitors(),
            dim=job.dim,
            eta=self.glove_settings["eta"],
            epochs=self.epochs_of(job),
            piece=PIECE,
        )

    # ---------------------------------------------------------------------------------------------- scoring

    def vectors(self, job: Job, name: str, place: int) -> tuple[np.ndarray, str]:
        """Vectors of words as the CPU has them, and their checksum."""
        size = self.texts[name].size
        if job.algorithm == "glove":
            weights = job.group.rows(place)
            found = weights[:size, : job.dim] + weights[size:, : job.dim]
        else:
            found = job.group.rows(place)
            if job.subwords == "ngrams":
                found = means_of_parts(found, self.texts[name].more["starts"], self.texts[name].more["parts"])
            found = np.ascontiguousarray(found[:, : job.dim])
        return found, hashlib.sha256(found.tobytes()).hexdigest()

    def score(self, job: Job, name: str) -> None:
        """Score the replicates of one text, and write what is kept of the scores."""
        text, places = self.texts[name], job.places[name]
        checksums: list[str] = []
        first: list[np.ndarray] = []
        waiting: list[Future[np.ndarray]] = []
        with ThreadPoolExecutor(3) as pool:
            for found, digest in pool.map(lambda place: self.vectors(job, name, place), places):
                checksums.append(digest)
                first += [found] if job.whole and len(first) < MODELS else []
                waiting += [self.scores(found, text.more)] if job.scored else []
        arrays = features(first, "cpu" if self.emulated else "cuda") if len(first) > 1 else {}
        if job.scored:
            tally = Tally(text, len(places))
            for number, scores in enumerate(waiting):
                tally.add(number, scores.result())
            arrays |= tally.arrays(whole=job.whole)
        courses = [job.group.courses[place] for place in places]
        block = f"{job.name}_{name}"
        write_block(self.out, block, arrays)
        self.log["blocks"][block] = {
            "algorithm": job.algorithm, "dim": job.dim, "subwords": job.subwords, "text": name,
            "settings": {**self.settings_of(job), "epochs": self.epochs_of(job)},
            "sha256": checksums, "losses": [course.losses for course in courses],
            "words": text.size, "tokens": int(text.counts.sum()), "pairs": text.more["pair_numbers"].tolist(),
            "finished": time.monotonic() - self.started,
        }  # fmt: skip
        self.write_log()
        self.say(f"{block}: scored and written")

    def scores(self, vectors: np.ndarray, more: dict[str, np.ndarray]) -> Future[np.ndarray]:
        """Scores of one model, measures x pairs x words: by a process of its own, or at once."""
        if self.scorers:
            return self.scorers.submit(scores_on_cpu, vectors, more["first"], more["second"])
        done: Future[np.ndarray] = Future()
        score = scores_on_cpu if self.emulated else scores_on_gpu
        done.set_result(score(vectors, more["first"], more["second"]))
        return done


def main() -> None:
    """What the command line asks for."""
    chosen = arguments(__doc__ or "").parse_args()
    if chosen.what == "make":
        make(chosen.data, chosen.folder, chosen.texts)
        return
    with ThreadPoolExecutor() as pool:
        names = [name for name in ("wiki", "imdb", "novels", "wiki_part") if name in chosen.texts]
        texts = dict(
            zip(names, pool.map(Text.read, (chosen.folder / "carry" / f"{name}.npz" for name in names)), strict=True)
        )
    for text in texts.values():
        if chosen.words:
            text.cut(chosen.words)
    device = study_device(chosen.folder, emulated=chosen.emulate)
    study = Study(texts, chosen, device)
    study.say(f"{device.name}: " + ", ".join(f"{text.name} {len(text.tokens):,} words" for text in texts.values()))
    study.count_all()
    study.run()
    known = json.loads(chosen.expect.read_text())["blocks"] if chosen.expect else {}
    for block, about in study.log["blocks"].items():
        if expected := known.get(block) or known.get(block.replace("_features", "")):
            same = expected["sha256"][: len(about["sha256"])] == about["sha256"]
            study.say(f"{block}: {'the same bits' if same else 'OTHER BITS'}")
    sys.stdout.flush()
    os._exit(0)  # threads that train may still wait for the GPU


if __name__ == "__main__":
    main()
