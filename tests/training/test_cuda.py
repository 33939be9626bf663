"""Training on a GPU: the files of the CPU, byte for byte. Kernels run on an emulated block unless a GPU is at hand."""

from __future__ import annotations

import builtins
import hashlib
import json
import sys
import types
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.training.emulated_gpu import EmulatedBuffer, EmulatedDevice, needs_compiler

import biasgauge as bg
from biasgauge.errors import InputError, ParameterError
from biasgauge.text import read_corpus
from biasgauge.text.training import glove as descent
from biasgauge.text.training import lanes, negative_sampling
from biasgauge.text.training.algorithms import ALGORITHMS
from biasgauge.text.training.cuda import device as devices
from biasgauge.text.training.cuda import kernels
from biasgauge.text.training.cuda.kernels import Kernel

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from biasgauge.text import TokenCorpus
    from biasgauge.text.training import TrainedModels

SMALL: dict[str, Any] = {"dim": 12, "window": 3, "epochs": 2, "min_count": 2, "random_state": 3}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    random = np.random.default_rng(5)
    words = [first + second for first in "abcdefgh" for second in ("rn", "st", "lk", "ng", "ana")]
    chances = 1 / np.arange(1, len(words) + 1)
    sizes = [int(random.integers(1, 30)) if line % 7 else 1 for line in range(30)]
    lines = [" ".join(random.choice(words, size, p=chances / chances.sum())) for size in sizes]
    return read_corpus(iter(lines), out=tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture(scope="module")
def kernels_at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def use(monkeypatch: pytest.MonkeyPatch, device: EmulatedDevice) -> None:
    monkeypatch.setattr(devices, "open_device", lambda: device)


def train(corpus: TokenCorpus, out: Path, **changes: Any) -> TrainedModels:  # noqa: ANN401 - settings of any kind
    return bg.train(corpus, out=out, **{**SMALL, **changes})


def bytes_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.safetensors"))}


def beside(folder: Path) -> dict[str, Any]:
    """What lies beside the models, less what says where and how fast they were trained."""
    found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return {
        name: {key: value for key, value in about.items() if key not in ("seconds", "device", "own_sha256")}
        for name, about in found.items()
    }


@needs_compiler
@pytest.mark.parametrize(("order", "late"), [(0, False), (1, True), (7, True)])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_files_are_those_of_the_cpu(
    name: str, order: int, late: bool, corpus: TokenCorpus, tmp_path: Path, kernels_at: Path,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    changes: dict[str, Any] = {"algorithm": name, "seeds": 2, "bootstrap": 2}
    if name != "glove":
        changes |= {"negative": 4, "alpha": 0.2, "subsample": 0.01}
    train(corpus, tmp_path / "cpu", **changes)
    use(monkeypatch, EmulatedDevice(kernels_at, order, late=late))
    said: list[str] = []
    result = train(corpus, tmp_path / "gpu", device="cuda", say=said.append, **changes)
    assert len(bytes_of(tmp_path / "cpu")) == 4
    assert bytes_of(tmp_path / "gpu") == bytes_of(tmp_path / "cpu")
    assert beside(tmp_path / "gpu") == beside(tmp_path / "cpu")
    assert len(said) == 1
    assert said[0].startswith("4 models side by side on emulated: ")
    assert not any(model.reused for model in result.models)


@needs_compiler
def test_texts_of_one_corpus_share_its_tokens(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = []

    class Noting(EmulatedDevice):
        def put(self, array: NDArray[Any]) -> EmulatedBuffer:
            put.append(array)
            return super().put(array)

    use(monkeypatch, Noting(kernels_at))
    train(corpus, tmp_path, device="cuda", bootstrap=3)
    assert sum(array is corpus.tokens for array in put) == 1
    assert sum(array.dtype == kernels.TEXT for array in put) == 3


@needs_compiler
def test_models_that_do_not_fit_together_are_trained_in_groups(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: dict[str, Any] = {"algorithm": ["sgns", "glove"], "seeds": 3}
    train(corpus, tmp_path / "cpu", **changes)
    use(monkeypatch, EmulatedDevice(kernels_at, memory=110_000))
    said: list[str] = []
    reports: list[tuple[int, int]] = []
    train(
        corpus, tmp_path / "gpu", device="cuda", say=said.append,
        progress=lambda done, total: reports.append((done, total)), **changes,
    )  # fmt: skip
    assert said[0].startswith("6 models in ")
    assert int(said[0].split(" in ")[1].split()[0]) > 2, "two groups would do if all fitted"
    assert bytes_of(tmp_path / "gpu") == bytes_of(tmp_path / "cpu")
    assert reports == sorted(reports)
    assert reports[-1][0] == reports[-1][1]


@needs_compiler
def test_what_was_interrupted_goes_on_with_the_models_that_are_missing(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(corpus, tmp_path / "cpu", seeds=4)
    use(monkeypatch, EmulatedDevice(kernels_at, memory=110_000))

    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(corpus, tmp_path / "gpu", device="cuda", seeds=4, progress=stop)
    whole = bytes_of(tmp_path / "gpu")
    assert 0 < len(whole) < 4
    result = train(corpus, tmp_path / "gpu", device="cuda", seeds=4)
    assert sum(model.reused for model in result.models) == len(whole)
    assert bytes_of(tmp_path / "gpu") == bytes_of(tmp_path / "cpu")


@needs_compiler
def test_a_missing_barrier_is_noticed(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulation would see a race: without the barrier between products and updates, the order of threads shows."""
    whole: Any = vars(Kernel)["parts"]
    monkeypatch.setattr(Kernel, "parts", property(lambda kernel: whole.fget(kernel).replace("meet(WORKERS);", "")))
    train(corpus, tmp_path / "cpu")
    use(monkeypatch, EmulatedDevice(kernels_at, 1))
    with suppress(InputError):  # vectors that leave the numbers show it too
        train(corpus, tmp_path / "gpu", device="cuda")
    assert bytes_of(tmp_path / "gpu") != bytes_of(tmp_path / "cpu")


@needs_compiler
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"window": 17}, "window of at most 16"),
        ({"negative": 32}, "at most 31 negatives"),
        ({"dim": 2000}, "shared memory"),
    ],
)
def test_what_a_kernel_has_no_room_for_is_refused(
    changes: dict[str, Any], reason: str, corpus: TokenCorpus, tmp_path: Path, kernels_at: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    use(monkeypatch, EmulatedDevice(kernels_at))
    with pytest.raises(InputError, match=reason):
        train(corpus, tmp_path, device="cuda", **changes)


def test_a_model_too_large_for_the_device_is_refused(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, EmulatedDevice(kernels_at, memory=1000))
    with pytest.raises(InputError, match="memory"):
        train(corpus, tmp_path, device="cuda")


def test_threads_within_a_model_and_unknown_devices_are_refused(
    corpus: TokenCorpus, tmp_path: Path, kernels_at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, EmulatedDevice(kernels_at))
    with pytest.raises(ParameterError, match="n_jobs_per_model"):
        train(corpus, tmp_path, device="cuda", n_jobs_per_model=2)
    with pytest.raises(ParameterError, match="device"):
        train(corpus, tmp_path, device="gpu")


def test_without_cupy_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:  # noqa: ANN401 - as the original
        if name == "cupy":
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r'needs CuPy. Install it with: pip install "biasgauge\[gpu\]"'):
        devices.open_device()


@pytest.mark.parametrize("count", [0, None])
def test_without_a_gpu_one_sentence_says_so(count: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    class CUDARuntimeError(RuntimeError):
        pass

    def devices_there() -> int:
        if count is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return count

    runtime = types.SimpleNamespace(getDeviceCount=devices_there, CUDARuntimeError=CUDARuntimeError)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime)))
    with pytest.raises(InputError, match="needs an NVIDIA GPU"):
        devices.open_device()


def test_constants_of_the_kernels_are_those_of_the_loops() -> None:
    assert (kernels.LANES, kernels.LINE, kernels.LONGEST) == (lanes.LANES, lanes.LINE, negative_sampling.LONGEST)
    assert kernels.CELL == descent.CELL
    assert [kernels.padded(dim) for dim in range(1, 99)] == [lanes.padded(dim) for dim in range(1, 99)]
    assert [descent.first_weights(1, dim, 0).shape[1] for dim in (1, 50, 300)] == [
        kernels.glove_row(dim) for dim in (1, 50, 300)
    ]


@pytest.mark.parametrize("replicates", [1, 264, 5000])
@pytest.mark.parametrize("dim", [1, 8, 50, 100, 300, 512])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_blocks_fit_into_a_multiprocessor(name: str, dim: int, replicates: int) -> None:
    class Large(EmulatedDevice):
        multiprocessors = 132
        shared_memory = 232_448

        def __init__(self) -> None:
            pass

    settings = {"dim": dim, "window": 5, "negative": 5}
    device: Any = Large()
    shape = kernels.shape_of(name, settings, replicates, device)
    assert shape.threads % 32 == 0
    assert 96 <= shape.threads <= 1024
    assert shape.threads * shape.blocks <= 2048
    assert shape.blocks <= max(1, -(-replicates // 132))
    width = kernels.padded(dim)
    rows = {
        "sgns": (2 * 5 + 1 + shape.ahead + (shape.ahead + 1) * 6) * width,
        "glove": (shape.ahead + 1) * 2 * shape.cells * kernels.glove_row(dim),
    }.get(name, width)
    assert 4 * rows * shape.blocks < 232_448


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_real_gpu_writes_the_files_of_the_cpu(name: str, corpus: TokenCorpus, tmp_path: Path) -> None:
    try:
        devices.open_device()
    except InputError as problem:
        pytest.skip(f"NO GPU on this machine: {problem}")
    changes: dict[str, Any] = {"algorithm": name, "seeds": 3, "bootstrap": 2, "dim": 100}
    train(corpus, tmp_path / "cpu", **changes)
    train(corpus, tmp_path / "gpu", device="cuda", **changes)
    assert bytes_of(tmp_path / "gpu") == bytes_of(tmp_path / "cpu")
    assert beside(tmp_path / "gpu") == beside(tmp_path / "cpu")
