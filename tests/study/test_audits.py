"""An audit within a study: the models of a group are replicates of each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import biasgauge as bg

STUDY = """
[study]
name = "replicates"
[vectors.both]
path = ["one.safetensors", "other.safetensors"]
[analyses.together]
kind = "audit"
of = ["both"]
settings = { lexicons = ["weat7"] }
"""


@pytest.mark.usefixtures("quick_audits")
def test_models_of_a_group_are_replicates(tmp_path: Path) -> None:
    words = {word for name in ("weat7", "du2021") for word in bg.lexicon(name).words}
    for model, name in zip(bg.vectors.load_default_replicates(), ("one", "other"), strict=False):
        kept = [row for row, word in enumerate(model.words) if word in words or row < 500]
        bg.save(
            bg.Embedding(tuple(model.words[row] for row in kept), model.vectors[kept]), tmp_path / f"{name}.safetensors"
        )
    (tmp_path / "study.toml").write_text(STUDY)
    run = bg.run_study(tmp_path / "study.toml", out=tmp_path / "out", workers=0)
    assert run.failed == 0
    told = (Path(run.results["together/both"]) / "what_to_write.md").read_text(encoding="utf-8")
    assert told.startswith("# Text for a report\n")
    assert "We audited 2 replicates of " in told
    (together,) = json.loads((Path(run.results["together/both"]) / "result.json").read_text())["verdicts"]
    counted = [piece for piece in together["evidence"] if piece["rule"] == "replicates"]
    assert together["model"].endswith("× 2")
    assert not [piece for piece in counted if piece["passes"] is None]
