"""The engine in PyTorch: on the CPU everywhere, on a GPU where there is one, always equal to the plain engine."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.core.optional import device_named
from biasgauge.errors import ParameterError
from biasgauge.scores import engine, score
from biasgauge.scores.engine import ScoringTask

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import torch
    from tests.scores.conftest import Worlds

    from biasgauge.vectors import Embedding

    Same = Callable[..., None]


@pytest.fixture(scope="module")
def gpu() -> ModuleType:
    """The module under test."""
    try:
        import torch  # noqa: F401 - optional
    except ImportError:
        pytest.skip("NO PYTORCH: install biasgauge[extrinsic] to test the engine that runs on GPUs")
    from biasgauge.scores import gpu

    return gpu


@pytest.fixture(scope="module", params=["torch", "cuda"])
def device(request: pytest.FixtureRequest) -> torch.device:
    """PyTorch on the CPU, then on the GPU."""
    import torch

    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("NO GPU on this machine: the engine was tested in PyTorch on the CPU only")
    found: torch.device = device_named(request.param)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_the_engine(
    kind: str, seed: int, worlds: Worlds, gpu: ModuleType, device: torch.device, same_scores: Same
) -> None:
    task = worlds(kind, seed)
    same_scores(gpu.compute(task, device), engine.compute(task), task)


def larger(seed: int, names: tuple[str, ...] = registry.names("measure")) -> ScoringTask:
    """Enough vectors for proposals and samples to count; clustered, with copies and zero vectors."""
    random = np.random.default_rng(seed)
    size, dimensions = 1_500, 24
    centers = random.normal(size=(20, dimensions))[random.integers(0, 20, size)]
    vectors = (centers + 0.5 * random.normal(size=(size, dimensions))).astype(np.float32)
    vectors[100:140] = vectors[100]
    vectors[200:240] = vectors[200] + 1e-7 * random.normal(size=(40, dimensions))
    vectors[300:310] = 0
    ends = np.arange(12)
    rows = random.permutation(size)
    return ScoringTask(vectors, rows, ends[::2], ends[1::2], [registry.get("measure", name) for name in names], 25)


@pytest.mark.parametrize("seed", range(2))
def test_equal_on_a_larger_model(seed: int, gpu: ModuleType, device: torch.device, same_scores: Same) -> None:
    task = larger(seed)
    same_scores(gpu.compute(task, device), engine.compute(task), task)
    outside = replace(task, pool=np.arange(0, 1_500, 3))
    same_scores(gpu.compute(outside, device), engine.compute(outside), outside)


@pytest.mark.parametrize("sample", [64, 300])
def test_small_samples(sample: int, gpu: ModuleType, device: torch.device, same_scores: Same) -> None:
    task = larger(7)
    sizes = gpu.Sizes(sample=sample, least_rank=2)
    same_scores(gpu.compute(task, device, sizes=sizes), engine.compute(task), task)


def test_doubtful_rows_are_done_again(
    gpu: ModuleType, device: torch.device, same_scores: Same, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = larger(3)
    done_again: list[int] = []
    original = gpu.nearest

    def counted(queries: np.ndarray, *others: object) -> object:
        done_again.append(len(queries))
        return original(queries, *others)

    monkeypatch.setattr(gpu, "nearest", counted)
    same_scores(gpu.compute(task, device), engine.compute(task), task)
    some = sum(done_again)
    assert 0 < some < len(task.rows), "copies leave some rows in doubt, and only some"
    done_again.clear()
    same_scores(gpu.compute(task, device, sizes=gpu.Sizes(error=10)), engine.compute(task), task)
    assert sum(done_again) == 2 * len(task.rows), "all rows, once for each way to leave out the word itself"


def test_without_the_doubt_the_result_would_be_wrong(
    gpu: ModuleType, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound on the error that is far too small is noticed: the doubtful rows are what makes the result exact."""
    monkeypatch.setattr(gpu, "_proposals", lambda k: k)
    task = larger(3, ("nbm",))
    sizes = gpu.Sizes(error=-10, sample=64, least_rank=1)
    assert np.any(gpu.compute(task, device, sizes=sizes) != engine.compute(task))


@pytest.mark.parametrize(("rows", "block"), [(1, 1), (100, 600_000)])
def test_size_of_blocks_does_not_matter(rows: int, block: int, gpu: ModuleType, device: torch.device) -> None:
    task = replace(larger(5), rows=np.arange(250))
    before = gpu.compute(task, device)
    after = gpu.compute(task, device, sizes=gpu.Sizes(rows=rows, block_bytes=block))
    for place, one in enumerate(task.measures):
        if one.name.startswith("nbm"):
            np.testing.assert_array_equal(after[place], before[place], err_msg=one.name)
        else:
            np.testing.assert_allclose(after[place], before[place], rtol=0, atol=1e-5, err_msg=one.name)


def test_progress(gpu: ModuleType, device: torch.device) -> None:
    told: list[tuple[int, int]] = []
    task = replace(larger(5, ("nbm",)), rows=np.arange(250))
    gpu.compute(task, device, lambda done, total: told.append((done, total)), gpu.Sizes(block_bytes=1))
    assert told == [(64, 250), (128, 250), (192, 250), (250, 250)]


def test_precision_of_products_is_left_as_it_was(gpu: ModuleType, device: torch.device) -> None:
    import torch

    before = torch.get_float32_matmul_precision()
    gpu.compute(larger(5, ("nbm",)), device)
    assert torch.get_float32_matmul_precision() == before


def test_score_on_a_device(people: Embedding, gpu: ModuleType, device: torch.device) -> None:  # noqa: ARG001 - skips
    name = "torch" if device.type == "cpu" else "cuda"
    asked = {"pairs": [("he", "she"), ("king", "queen")], "words": "full", "k": 3}
    there = score(people, device=name, **asked)  # type: ignore[arg-type]  # as the next line
    here = score(people, **asked)  # type: ignore[arg-type]  # settings of three types
    np.testing.assert_allclose(there.values, here.values, rtol=0, atol=2e-6)
    np.testing.assert_array_equal(there.undefined, here.undefined)


@pytest.mark.parametrize("name", ["abacus", "meta", "cuda:99", ""])
def test_devices_that_cannot_be_used(name: str, people: Embedding, gpu: ModuleType) -> None:  # noqa: ARG001 - skips
    with pytest.raises(ParameterError, match=rf"^The device '{name}' cannot be used: .+\.$") as refusal:
        score(people, pairs=[("he", "she")], words=["king"], device=name)
    assert "\n" not in str(refusal.value)
    with pytest.raises(ParameterError, match=f"The device '{name}' cannot be used"):
        score(people, pairs=[("he", "she")], words=["unheard"], device=name)


def test_cuda_without_a_gpu(people: Embedding, gpu: ModuleType) -> None:  # noqa: ARG001 - skips
    import torch

    if torch.cuda.is_available():
        pytest.skip("a GPU is here, so that asking for one is no mistake")
    with pytest.raises(ParameterError, match="'cuda'"):
        score(people, pairs=[("he", "she")], words=["king"], device="cuda")


def test_without_pytorch(people: Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match="biasgauge"):
        score(people, pairs=[("he", "she")], words=["king"], device="cuda")
    assert score(people, pairs=[("he", "she")], words=["king"], k=3).undefined.sum() == 0, "the CPU needs none"
