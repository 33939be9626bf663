"""The recipe of replicates: stacked models are those of transformers, and training lowers the loss of every seed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import biasgauge as bg
from biasgauge_studies import train_language_models as script
from biasgauge_studies.stacked_transformers import Stack, config_of

SIZE = {"width": 16, "layers": 2, "heads": 2, "window": 16}


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_stacked_models_are_those_of_transformers(tmp_path: Path, kind: Any) -> None:  # noqa: ANN401
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    stack = Stack(kind, config_of(kind, 40, SIZE), [0, 1, 2], "cpu")
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in stack.parameters():
            weight.add_(torch.randn(weight.shape, generator=random) * 0.2)
        ids = torch.randint(0, 40, (3, 4, 11), generator=random)
        found = stack.logits(stack.hidden(ids).flatten(1, 2)).view(3, 4, 11, 40)
        places = stack.save(tmp_path, SimpleNamespace(save_pretrained=lambda _: None))
        loader: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
        for at, place in enumerate(places):
            expected = loader.from_pretrained(place).eval()(ids[at]).logits
            assert found[at].numpy() == pytest.approx(expected.numpy(), abs=1e-5)


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_training_learns_and_writes_folders_that_commands_take(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(["the cat sat on the mat and the dog sat on the cat ."] * 60) + "\n")
    common = ["--out", str(tmp_path / "prepared"), "--vocabulary", "60"]
    monkeypatch.setattr(sys, "argv", ["x", "prepare", str(text), *common])
    script.main()
    assert np.load(tmp_path / "prepared" / "ids.npy").max() < 60
    asked = ["train", str(tmp_path / "prepared"), "--out", str(tmp_path / "models"), "--kind", kind, "--seeds", "2"]
    small = ["--width", "16", "--layers", "1", "--heads", "2", "--window", "16", "--batch", "8", "--rate", "0.02"]
    monkeypatch.setattr(sys, "argv", ["x", *asked, *small, "--steps", "60", "--device", "cpu"])
    script.main()
    about = json.loads((tmp_path / "models" / f"{kind}_trained.json").read_text())
    assert max(about["loss"]) < 0.75 * np.log(60)
    assert len(set(about["loss"])) == 2  # seeds differ
    result = bg.analyses.likelihood.score_pairs(
        [tmp_path / "models" / name for name in about["models"]], [("the cat sat .", "the sat cat ."), ("cat", "dog")]
    )
    assert result.models == tuple(about["models"])
    assert result.measures[0].compared == 4
