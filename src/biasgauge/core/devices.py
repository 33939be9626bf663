"""Devices of PyTorch, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import torch


def device_named(name: str) -> torch.device:
    """The device of that name: "cpu" (also "torch"), "cuda", "cuda:1".

    Raises:
        ParameterError: PyTorch is not installed, or cannot use it.
    """
    try:
        import torch
    except ImportError as problem:
        raise ParameterError(f"The device {name!r} needs PyTorch: pip install 'biasgauge[extrinsic]'.") from problem
    try:
        device = torch.device("cpu" if name == "torch" else name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError) as problem:
        raise ParameterError(f"The device {name!r} cannot be used: {str(problem).splitlines()[0]}.") from problem
    return device
