"""What the study of Du et al. 2021 trains on a GPU, in the order of importance, and how kernels share the GPU."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge_studies.du2021_features import MODELS

SEEDS = 32


class TensorBuffer:
    """A tensor as memory of the device."""

    def __init__(self, tensor: Any) -> None:  # noqa: ANN401 - PyTorch is imported late
        self._tensor, self.address = tensor, int(tensor.data_ptr())

    def get(self) -> np.ndarray:
        """A copy in the main memory."""
        return self._tensor.cpu().numpy()  # type: ignore[no-any-return]


@dataclass(eq=False)
class Job:
    """Replicates that are trained by one kernel: an algorithm with its dimensions, on one or more texts.

    Attributes:
        rate: windows (or cells) a second of one replicate with few neighbors, to see what can still be done in time.
        whole: whether statistics of the whole vocabulary are kept, beside scores of the lists.
        epochs: readings of the text; those of the paper if 0.
        seeds: only so many replicates; all if 0.
        scored: whether scores are kept; else only properties of words (`features`), and checksums.
    """

    name: str
    algorithm: str
    dim: int
    texts: tuple[str, ...]
    rate: float
    subwords: str = ""
    whole: bool = True
    epochs: int = 0
    seeds: int = 0
    scored: bool = True
    group: Any = None
    places: dict[str, list[int]] = field(default_factory=dict)
    active: int = 0
    began: float = 0.0


JOBS = (
    Job("sgns", "sgns", 300, ("wiki", "imdb", "novels", "wiki_part"), 260e3),
    Job("sgns_features", "sgns", 300, ("imdb", "novels"), 260e3, seeds=MODELS, scored=False),
    Job("fasttext", "fasttext", 300, ("imdb", "novels"), 70e3, "ngrams"),
    Job("glove_features", "glove", 300, ("imdb", "novels"), 2.4e6, seeds=MODELS, scored=False),
    Job("glove", "glove", 300, ("imdb", "novels", "wiki_part", "wiki"), 2.4e6),
    Job("sgns100", "sgns", 100, ("imdb", "novels"), 300e3, whole=False),
    Job("sgns3", "sgns", 300, ("imdb", "novels"), 260e3, whole=False, epochs=3),
    Job("own_negatives", "fasttext", 300, ("imdb", "novels"), 110e3, "none", whole=False),
    Job("sgns100_wiki", "sgns", 100, ("wiki",), 300e3, whole=False),
)
"""`wiki_part` is the beginning of `wiki`, as long as the novels: one text at two sizes."""


def shape_from(given: str) -> tuple[str, Any]:
    """An algorithm and how its blocks are laid out."""
    from biasgauge.text.training.cuda.kernels import Shape

    algorithm, _, numbers = given.partition("=")
    return algorithm, Shape(*map(int, numbers.split(",")))


def chosen_jobs(names: list[str], texts: list[str]) -> list[Job]:
    """Jobs by name in the order given, each on the texts at hand; NAME:TEXT,TEXT names the texts of one."""
    known = {job.name: job for job in JOBS}
    jobs = []
    for given in names:
        name, _, own = given.partition(":")
        wanted = own.split(",") if own else known[name].texts
        own_texts = tuple(text for text in wanted if text in texts)
        if own_texts:
            jobs.append(replace(known[name], texts=own_texts, places={}))
    return jobs


def arguments(description: str) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="make: the folder of shared data")
    parser.add_argument("--out", type=Path, default=Path("du_scores"))
    parser.add_argument("--seconds", type=float, default=540, help="after which nothing more is trained")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--slots", type=int, default=132, help="replicates at work at a time, if a job allows it")
    parser.add_argument("--jobs", nargs="+", default=[job.name for job in JOBS], help="NAME or NAME:TEXT,TEXT")
    parser.add_argument("--scorers", type=int, default=0, help="score in so many processes, and not on the GPU")
    parser.add_argument("--texts", nargs="+", default=["novels", "imdb", "wiki", "wiki_part"])
    parser.add_argument("--words", type=int, help="read so many words of each text only, for a trial")
    parser.add_argument("--epochs", type=int, help="in place of the paper's, for a trial")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--expect", type=Path, help="a log.json of the same run elsewhere: are the checksums the same?")
    parser.add_argument("--shape", nargs="*", type=shape_from, default=[], help="of blocks: glove=256,2,3,1,4")
    parser.add_argument("--emulate", action="store_true", help="run the kernels on the CPU, block by block")
    return parser


def open_streams() -> Any:  # noqa: ANN401 - of CuPy
    """The GPU, with kernels that wait for their own stream alone and leave shared memory to one another."""
    import cupy

    from biasgauge.text.training.cuda.device import CudaDevice, CudaProgram

    class StreamProgram(CudaProgram):
        def launch(self, name: str, grid: tuple[int, int], threads: int, arguments: tuple[int, int, int]) -> None:
            function = self._module.get_function(name)
            shared = self.shared_bytes if name == self._main else 0
            if shared:
                function.max_dynamic_shared_size_bytes = shared
            function.preferred_shared_memory_carveout = 100
            function(grid, (threads,), tuple(np.uint64(address) for address in arguments), shared_mem=shared)
            self._cupy.cuda.get_current_stream().synchronize()

    class StreamDevice(CudaDevice):
        def program(self, kernel: Any) -> StreamProgram:  # noqa: ANN401 - a kernel
            return StreamProgram(self._cupy, kernel)

    return StreamDevice(cupy)


def study_device(folder: Path, *, emulated: bool) -> Any:  # noqa: ANN401 - of CuPy, or its emulation
    """The GPU; or its kernels run on the CPU, compiled into `folder`."""
    if not emulated:
        return open_streams()
    sys.path.insert(0, str(Path(__file__).parents[2]))  # tests hold the emulation
    from tests.training.emulated_gpu import EmulatedDevice

    return EmulatedDevice(folder)
