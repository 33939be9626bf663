"""An audit of a transformer: views are asked together, and a direction that turns with the layer is not reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits import audit_encoder, audit_words
from biasgauge.cli.entry import run
from biasgauge.vectors import Embedding
from biasgauge.vectors.encoders import Views

if TYPE_CHECKING:
    from pathlib import Path

TEST = bg.lexicon("weat7")
ROLES: dict[str, Any] = {role: members.words for role, members in TEST.roles.items()}  # type: ignore[attr-defined]


def made_up(leans: list[float], dim: int = 20) -> Views:
    """Views in which mathematics leans to male words by so much; other words stand about."""
    random = np.random.default_rng(0)
    words = tuple(dict.fromkeys([*(word for role in "xyab" for word in ROLES[role]), *(f"w{n}" for n in range(300))]))
    side = {word: sign for role, sign in (("x", 1.0), ("y", -1.0)) for word in ROLES[role]}
    ends = {word: sign for role, sign in (("a", 1.0), ("b", -1.0)) for word in ROLES[role]}
    base, axis = 0.3 * random.normal(size=(len(words), dim)), np.eye(dim)[0]
    views = []
    for layer, lean in enumerate(leans):
        along = np.array([lean * side.get(word, 0.0) + ends.get(word, 0.0) for word in words])
        vectors = base + 0.02 * random.normal(size=base.shape) + along[:, None] * axis
        facets: dict[str, str | int] = {
            "checkpoint": "made up", "layer": layer, "pooling": "mean", "template": "{}", "context": 0,
        }  # fmt: skip
        views.append(Embedding(words, vectors, name=f"made up, layer {layer}", facets=facets))
    return Views(views)


def test_a_direction_that_holds_over_all_views_may_be_reported_with_care() -> None:
    result = bg.audit(made_up([0.5] * 6), lexicons=["weat7"])
    (verdict,) = result.verdicts
    assert verdict.model == "made up × 6 views"
    rules = {piece.rule: piece for piece in verdict.evidence}
    assert rules["views"].passes
    assert rules["views"].counts == (6, 6)
    assert rules["replicates"].passes is None
    assert "all views are of one checkpoint" in rules["replicates"].reason
    (curve,) = result.specifications
    assert (curve.decision, curve.positive, curve.defined) == ("report", 6, 6)
    assert [row.model for row in result.bias] == ["made up, layer 5"]


def test_a_direction_that_turns_with_the_layer_is_not_reported() -> None:
    result = bg.audit(made_up([0.9, 0.9, 0.9, 0.9, 0.9, -0.2]), lexicons=["weat7"])
    (verdict,) = result.verdicts
    rules = {piece.rule: piece for piece in verdict.evidence}
    assert rules["views"].passes is False
    assert "layer 5 mean" in rules["views"].reason
    assert verdict.decision in {"do-not-report", "inconclusive"}
    (curve,) = result.specifications
    assert curve.decision == "do-not-report"
    again = bg.audits.AuditResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.specifications[0].decision == "do-not-report"
    assert result.subjects[0].views


def test_words_of_an_audit_are_those_that_it_looks_at() -> None:
    words = audit_words([TEST])
    assert {*ROLES["x"], *ROLES["b"], "he", "she"} <= set(words)
    assert len(audit_words()) > len(words)
    assert audit_words([], "de") == bg.lexicon("de_pairs").words
    assert audit_words([], "tlh") == ()  # no such language: nothing English in its place


def test_the_command_audits_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.encoders.conftest import small_bert, wordpieces

    small_bert().save_pretrained(tmp_path / "tiny")
    wordpieces().save_pretrained(tmp_path / "tiny")
    typed = ["audit", "--encoder", str(tmp_path / "tiny"), "--lexicon", "weat7", "--out", str(tmp_path / "page")]
    assert run([*typed, "--layers", "0,2", "--templates", "bare", "--pooling", "mean,cls", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["subjects"][0]["name"] == "tiny × 3 views"  # before the first layer [CLS] has one vector
    assert len(found["specifications"][0]["specifications"]) == 3
    page = (tmp_path / "page" / "report.html").read_text()
    assert "Specification curve of weat7" in page
    assert run([*typed, "--force", str(tmp_path / "tiny" / "config.json")]) == 2
    assert "--encoder goes without vectors" in capsys.readouterr().err
    assert run(["audit", "--layers", "1", "--out", str(tmp_path / "none")]) == 2
    assert "Got no --encoder" in capsys.readouterr().err


def test_several_checkpoints_are_asked_side_by_side() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.encoders.conftest import small_bert, wordpieces

    models = [bg.vectors.encoders.load_model((small_bert(seed), wordpieces()), name=f"m{seed}") for seed in (0, 1)]
    result = audit_encoder(list(models), lexicons="weat7", layers=2, templates="bare", pooling=["mean", "sentence"])
    assert [subject.name for subject in result.subjects] == ["m0 × 2 views", "m1 × 2 views"]
