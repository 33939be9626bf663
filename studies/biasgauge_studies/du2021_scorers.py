"""Scores models on the GPU, or in processes of their own beside a GPU that trains.

Kernels that score wait long for room on a GPU that others fill.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from biasgauge_studies.du2021_tally import MEASURES, K


def open_scorers(workers: int) -> ProcessPoolExecutor:
    """So many processes of one thread each."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=os.nice, initargs=(5,))


Rows = np.ndarray | None
"""Words that are scored; None for all."""


def task_of(vectors: np.ndarray, first: np.ndarray, second: np.ndarray, rows: Rows = None) -> Any:  # noqa: ANN401 - late
    """All words or some, all pairs, three measures."""
    from biasgauge import registry
    from biasgauge.scores import engine

    measures = [registry.get("measure", measure) for measure in MEASURES]
    return engine.ScoringTask(vectors, np.arange(len(vectors)) if rows is None else rows, first, second, measures, K)


def scores_on_cpu(vectors: np.ndarray, first: np.ndarray, second: np.ndarray, rows: Rows = None) -> np.ndarray:
    """Measures x pairs x words."""
    from biasgauge.scores import engine

    return engine.compute(task_of(vectors, first, second, rows), n_jobs=1)


def scores_on_gpu(vectors: np.ndarray, first: np.ndarray, second: np.ndarray, rows: Rows = None) -> np.ndarray:
    """Measures x pairs x words."""
    import torch

    from biasgauge.scores import gpu

    stream: Any = torch.cuda.Stream  # before what trains: a model is scored in a moment
    with torch.cuda.stream(stream(priority=-1)):
        return gpu.compute(task_of(vectors, first, second, rows), torch.device("cuda"))
