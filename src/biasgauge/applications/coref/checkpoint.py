"""Where training stands after an epoch, on disk, so that it goes on after a kill or a time limit.

Weights and Adam's moments lie in one safetensors file, everything else in a JSON file that names it and is written
last. Every epoch draws its random numbers from its own seed, so nothing else has to be kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge._io.atomic import atomic_file, write_text
from biasgauge.errors import InputError

if TYPE_CHECKING:
    import torch

    from biasgauge.applications.coref.network import SpanRanker

_JSON = "training.json"
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def write_state(
    folder: Path, network: SpanRanker, optimizer: torch.optim.Adam, about: dict[str, Any], key: dict[str, Any]
) -> None:
    """Write where training stands; `about` is JSON-ready, `key` says which training it belongs to."""
    from safetensors.torch import save_file

    tensors = {f"network.{name}": one.detach().cpu().contiguous() for name, one in network.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": state[name].detach().cpu().contiguous() for name in _MOMENTS}
    name = f"training-{about['epoch']:04d}.safetensors"
    with atomic_file(folder / name) as part:
        save_file(tensors, part)
    write_text(folder / _JSON, json.dumps({"tensors": name, "key": key, **about}, ensure_ascii=False) + "\n")
    for old in folder.glob("training-*.safetensors"):
        if old.name != name:
            old.unlink()


def read_state(
    folder: Path, network: SpanRanker, optimizer: torch.optim.Adam, key: dict[str, Any]
) -> dict[str, Any] | None:
    """Put network and optimizer where they stood; give what else was written, or None where nothing was.

    Raises:
        InputError: the folder belongs to a training with other data, vectors, settings or seed, or is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not (folder / _JSON).is_file():
        return None
    try:
        about: dict[str, Any] = json.loads((folder / _JSON).read_text("utf-8"))
        theirs = about.pop("key")
        tensors = load_file(folder / about.pop("tensors"))
    except (ValueError, KeyError, OSError, SafetensorError) as problem:
        raise InputError(f"{folder / _JSON}: is damaged ({problem}); empty the folder to train anew") from problem
    if theirs != json.loads(json.dumps(key)):
        other = ", ".join(sorted(name for name in key if theirs.get(name) != json.loads(json.dumps(key[name]))))
        raise InputError(f"{folder}: holds a training with other {other}; name another folder or empty this one")
    network.load_state_dict({name[8:]: one for name, one in tensors.items() if name.startswith("network.")})
    plain = optimizer.state_dict()
    plain["state"] = {
        number: {name: tensors[f"adam.{number}.{name}"] for name in _MOMENTS}
        for number in plain["param_groups"][0]["params"]
        if f"adam.{number}.step" in tensors
    }
    plain["param_groups"][0]["lr"] = about["learning_rate"]
    optimizer.load_state_dict(plain)
    return about
