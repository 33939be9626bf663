"""Lists made from the audited vectors support nothing in them, and notes of lists stand beside their verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.robustness import specification_curve
from biasgauge.audits.page.terminal_summary import brief
from biasgauge.core import decide
from biasgauge.lexicons import AssociationTest, Provenance, WordSet, lexicon
from biasgauge.mitigation import expand_lexicon
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("quick_audits")

DIM = 60
SEEDS = AssociationTest(
    name="seeds", beware=("Chosen for a test.",),
    x=WordSet("one", ("f0", "f1", "f2")), y=WordSet("other", ("f3", "f4", "f5")),
    a=WordSet("good", ("f6", "f7", "f8")), b=WordSet("bad", ("f9", "f10", "f11")),
)  # fmt: skip


def model(*, text: str = "", name: str = "tilted", seed: int = 0) -> bg.Embedding:
    """X and A lean to one side by a little, Y and B to the other; all else is noise."""
    random = np.random.default_rng(seed)
    words = [f"f{number}" for number in range(900)]
    rows = random.standard_normal((len(words), DIM)) / DIM**0.5
    rows[[0, 1, 2, 6, 7, 8], 0] += 0.6
    rows[[3, 4, 5, 9, 10, 11], 0] -= 0.6
    return bg.Embedding(tuple(words), rows, name=name, text=text)


@pytest.fixture
def large(tmp_path: Path) -> AssociationTest:
    expand_lexicon(SEEDS, model(text="a" * 64), n=40).save(tmp_path / "large.toml")
    read = lexicon(tmp_path / "large.toml")
    assert isinstance(read, AssociationTest)
    return read


@pytest.mark.parametrize(
    ("text", "decision"), [("", "inconclusive"), ("a" * 64, "inconclusive"), ("b" * 64, "report-with-care")]
)
def test_neighbors_in_the_audited_vectors_support_nothing(large: AssociationTest, text: str, decision: str) -> None:
    audited = model(text=text)
    if decision != "inconclusive":  # the same lists, had they come from elsewhere
        step = replace(large.made[0], checksum="", cosines=())
        large = replace(large, made=(step,))
    verdict = bg.audit(audited, lexicons=[large]).verdicts[0]
    evidence = {piece.rule: piece for piece in verdict.evidence}
    assert evidence["association"].passes
    assert verdict.decision == decision
    assert evidence["circularity"].passes is (decision != "inconclusive")
    if decision == "inconclusive":
        assert "inconclusive: circular: the list was made from these vectors" in verdict.sentence
        assert "measure its seed words alone, or make the list from vectors of another text" in verdict.sentence
        assert verdict.plan is None  # more such words would settle nothing


def test_vectors_of_the_same_text_support_nothing_either(large: AssociationTest) -> None:
    retrained = replace(model(text="a" * 64), vectors=model(seed=1).vectors + model().vectors)
    verdict = bg.audit(retrained, lexicons=[large]).verdicts[0]
    assert verdict.decision == "inconclusive"
    assert "circular: the list was made from vectors of the same text" in verdict.sentence


def test_unknown_texts_make_it_with_care_and_seed_words_alone_are_free(large: AssociationTest) -> None:
    step = Provenance("neighbors", vectors="some vectors")
    verdict = bg.audit(model(), lexicons=[replace(large, made=(step,))]).verdicts[0]
    assert verdict.decision == "report-with-care"
    assert "unknown whether the list was made from the text of these vectors" in verdict.sentence
    alone = bg.audit(model(), lexicons=[SEEDS]).verdicts[0]
    assert "circularity" not in [piece.rule for piece in alone.evidence]


def test_a_circular_list_warns_in_weat_too(large: AssociationTest) -> None:
    result = bg.weat(model(), large)
    assert result.warnings[0].startswith("circular: the list was made from these vectors")
    assert result.warnings[0] in result.summary().warnings
    assert bg.weat(model(), SEEDS).warnings == ()


def test_notes_of_lists_stand_beside_their_verdicts(large: AssociationTest, tmp_path: Path) -> None:
    result = bg.audit(model(), lexicons=[SEEDS, large])
    first, second = result.verdicts
    assert first.beware == ("Chosen for a test.",)
    assert second.beware == large.beware
    assert result.to_dict()["verdicts"][0]["beware"] == ["Chosen for a test."]
    page = result.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Limitations of these lists: Chosen for a test." in page
    assert "Limitations of the lists of seeds, seeds_expanded: see --verbose." in brief(result).sentences


def test_notes_stand_beside_comparisons_and_curves_too() -> None:
    first, second = (
        [replace(model(seed=number), name=f"{start}{number}") for number in range(start, start + 2)] for start in (0, 5)
    )
    found = bg.compare({"first": first, "second": second}, SEEDS)
    assert "Beware of seeds: Chosen for a test." in found.summary().sentences
    assert found.to_dict()["verdicts"][0]["beware"] == ["Chosen for a test."]
    curve = specification_curve(first, SEEDS)
    assert curve.beware == SEEDS.beware
    assert "Beware of these lists: Chosen for a test." in curve.summary().sentences


def test_pairs_bring_their_notes_along() -> None:
    verdict = bg.audit(load_default(), lexicons=["occ16", "du2021"]).verdicts[0]
    assert set(verdict.beware) == {*lexicon("occ16").beware, *lexicon("du2021").beware}


def test_what_is_barred_is_inconclusive_whatever_the_numbers() -> None:
    for found in (True, False):
        for small in (True, False, None):
            assert decide(found=found, small=small, stable=(True,), barred=True) == "inconclusive"
    assert decide(found=None, barred=True) == "not-measurable"
