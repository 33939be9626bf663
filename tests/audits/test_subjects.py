"""Whom an audit asks: replicates by recipe or by word of the user, second opinions that never count."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.subjects import subjects_of
from biasgauge.io.json_file import manifest_text
from biasgauge.lexicons import parse_lexicon
from biasgauge.text import read_corpus
from biasgauge.vectors.loading import lineage_of

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.lexicons import Lexicon

pytestmark = pytest.mark.usefixtures("quick_audits")

SMALL: dict[str, Any] = {"dim": 8, "window": 2, "epochs": 1, "min_count": 1}
ROLES = {role: [role + letter for letter in "klmnop"] for role in "xyab"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of one recipe, one bootstrap sample of it, and one model with another window."""
    random = np.random.default_rng(2)
    words = [word for role in ROLES.values() for word in role]
    lines = [" ".join(random.choice(words, size=9)) for _ in range(120)]
    folder = tmp_path_factory.mktemp("models")
    corpus = read_corpus(iter(lines), out=folder / "corpus")
    seeds = bg.train(corpus, out=folder / "models", algorithm="sgns", seeds=2, **SMALL)
    sample = bg.train(corpus, out=folder / "models", algorithm="sgns", bootstrap=1, **SMALL)
    other = bg.train(corpus, out=folder / "models", algorithm="sgns", **{**SMALL, "window": 3})
    return [model.path for run in (seeds, sample, other) for model in run.models]


def own_test() -> Lexicon:
    content = {role: {"name": f"set {role}", "words": words} for role, words in ROLES.items()}
    return parse_lexicon({"name": "own", "kind": "test", "language": "en", **content}, path="own.toml")


def made(seed: int, name: str, pull: float = 0.8, lineage: str = "") -> bg.Embedding:
    """X and A share a direction, Y and B another; 800 more words."""
    random = np.random.default_rng(seed)
    words = [*(word for role in "xyab" for word in ROLES[role]), *(f"filler{number}" for number in range(800))]
    rows = random.standard_normal((len(words), 40)) / 40**0.5
    for place, word in enumerate(words[:24]):
        rows[place, 0] += pull if word[0] in "xa" else -pull
    return bg.Embedding(tuple(words), rows, name=name, lineage=lineage)


def test_recipes_say_which_models_are_replicates(trained: list[Path]) -> None:
    models = [bg.load(path) for path in trained]
    found = subjects_of(models)
    assert [[model.name for model in subject.models] for subject in found] == [
        ["SGNS 8d, seed 0", "SGNS 8d, seed 1", "SGNS 8d, seed 0, sample 0"],
        ["SGNS 8d, seed 0"],
    ]
    assert [subject.replicated for subject in found] == [True, False]
    assert [subject.name for subject in found] == ["SGNS 8d × 3", "SGNS 8d, seed 0"]


def test_only_a_recipe_of_ours_says_so(tmp_path: Path, trained: list[Path]) -> None:
    path = tmp_path / "v.safetensors"
    path.write_bytes(trained[0].read_bytes())
    assert lineage_of(path) == ""
    recipe = json.loads(trained[0].with_suffix(".json").read_text())
    for text in ("[]", "not json", '{"recipe": 3}', '{"recipe": {"seed": 1}}', "[" * 100_000):
        path.with_suffix(".json").write_text(text)
        assert lineage_of(path) == ""
    path.with_suffix(".json").write_text(manifest_text(recipe))
    assert lineage_of(path) == lineage_of(trained[0]) == lineage_of(trained[1]) != lineage_of(trained[3])
    recipe["recipe"]["corpus"] = "another"
    path.with_suffix(".json").write_text(manifest_text(recipe))
    assert lineage_of(path) != lineage_of(trained[0])


def test_without_a_recipe_every_model_is_a_subject_of_its_own() -> None:
    models = [made(1, "one"), made(2, "two")]
    assert [subject.name for subject in subjects_of(models)] == ["one", "two"]
    (together,) = subjects_of(models, replicates=True)
    assert together.models == tuple(models)
    assert together.name == "replicates × 2"
    (named,) = subjects_of([made(1, "sgns, seed 1"), made(2, "sgns, seed 2")], replicates=True)
    assert named.name == "sgns × 2"


def test_the_audit_asks_replicates_together(trained: list[Path]) -> None:
    result = bg.audit(trained, lexicons=[own_test()])
    assert [(len(one.models), one.role) for one in result.subjects] == [(3, "audited"), (1, "audited")]
    assert [verdict.model for verdict in result.verdicts] == [one.name for one in result.subjects]
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    names = [f"SGNS 8d, seed 0 ({trained[0].stem})", "SGNS 8d, seed 1", "SGNS 8d, seed 0, sample 0"]
    assert content["subjects"][0]["models"] == content["replicates"]["models"] == names
    assert all(float(verdict.observed("association")["k"] or 0) in {1.0, 2.0} for verdict in result.verdicts)


def test_declared_replicates_are_believed() -> None:
    models = [made(seed, f"run {seed}") for seed in range(4)]
    apart = bg.audit(models, lexicons=[own_test()])
    together = bg.audit(models, lexicons=[own_test()], replicates=True)
    assert len(apart.verdicts) == 4
    (verdict,) = together.verdicts
    assert verdict.model == "run × 4"
    rules = {piece.rule: piece for piece in verdict.evidence}
    assert rules["replicates"].counts == (4, 4)
    assert rules["replicates"].passes
    assert "unknown whether another training run gives the same result" in next(
        piece.reason for piece in apart.verdicts[0].evidence if piece.rule == "replicates"
    )


def test_a_second_opinion_never_changes_a_decision() -> None:
    """The same verdict beside a model that agrees, one that disagrees and none; the correction alone counts them."""
    own, same, against = made(0, "own"), made(1, "same"), made(2, "against", pull=0.0)
    turned = against.vectors.copy()
    turned[:6, 0] -= 0.8
    turned[6:12, 0] += 0.8
    turned[12:18, 0] += 0.8
    turned[18:24, 0] -= 0.8
    against = replace(against, vectors=turned)
    alone = bg.audit(own, lexicons=[own_test()]).verdicts[0]
    for other, agrees in ((same, True), (against, False)):
        beside = bg.audit([own, other], lexicons=[own_test()]).verdicts[0]
        assert beside.model == "own"
        assert beside.decision == alone.decision
        assert beside.observed("association")["contrast"] == alone.observed("association")["contrast"]
        assert [(piece.rule, piece.passes) for piece in beside.evidence] == [
            (piece.rule, piece.passes) for piece in alone.evidence
        ]
        (opinion,) = beside.opinions
        assert (opinion.model, opinion.same) == (other.name, agrees)
        assert opinion.p is not None
    assert alone.opinions == ()


def test_the_shipped_replicates_are_audited_with_glove_beside_them() -> None:
    result = bg.audit(lexicons=["weat7"])
    assert [(len(one.models), one.role) for one in result.subjects] == [(4, "audited"), (1, "second opinion")]
    (verdict,) = result.verdicts
    assert verdict.model == result.subjects[0].name
    assert [opinion.model for opinion in verdict.opinions] == [result.subjects[1].name]
    assert result.settings["shipped"]
    assert next(piece for piece in verdict.evidence if piece.rule == "association").observed is not None
    glove = bg.audit(
        bg.vectors.load_default(), lexicons=["weat7"], policy=bg.core.WordPolicy(case="fallback")
    ).verdicts[0]
    assert verdict.opinions[0].contrast == pytest.approx(glove.observed("association")["adjusted"])


def test_vectors_that_were_changed_are_no_replicate_of_what_they_were() -> None:
    vectors = bg.vectors.load_default_replicates()[0]
    assert len(subjects_of([vectors, bg.mitigate(vectors, "hard")])) == 2


def test_the_first_rows_of_replicates_are_replicates() -> None:
    models = bg.vectors.load_default_replicates()[:2]
    result = bg.audit(models, lexicons=["weat1"], limit=9_000)
    assert [len(one.models) for one in result.subjects] == [2]


def test_names_of_subjects_are_their_own() -> None:
    models = [made(at, f"run seed {at}", lineage="one" if at < 2 else "two") for at in range(4)]
    names = [subject.name for subject in subjects_of(models)]
    assert len(set(names)) == 2
