"""The six decisions mean the same in every analysis: one function gives them, and the same evidence gives the same."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.robustness import specification_curve
from biasgauge.audits.verdicts import DECISIONS, Rules
from biasgauge.core import Decision, decide
from biasgauge.lexicons import AssociationTest, Provenance, WordSet
from biasgauge.vectors import Embedding, Frequencies

pytestmark = pytest.mark.usefixtures("quick_audits")

SOURCE = Path(bg.__file__).parent
UNMISTAKABLE = set(get_args(Decision)) - {"report"}
"""Decisions that are no other word; "report" is also a table of studies."""
GIVERS = {
    "core/decisions.py",
    "audits/verdicts.py",
    "audits/change.py",
    "audits/page/reporting_sentences.py",
}
"""The function that decides, the looks of decisions, the verdict on a change, which is no association, and the methods
paragraph."""


def stated(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Decisions that code states, but for those that something is compared with, and keys of tables."""
    compared = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Dict)
        for held in ([node.left, *node.comparators] if isinstance(node, ast.Compare) else node.keys)
        if held is not None
        for part in ast.walk(held)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in UNMISTAKABLE and id(node) not in compared:
            yield node.lineno, str(node.value)


def test_decisions_come_from_one_function() -> None:
    """Whoever needs a decision calls `core.decide`, and none writes one down."""
    by_file: dict[str, list[tuple[int, str]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        found = [] if name in GIVERS else list(stated(ast.parse(path.read_text(encoding="utf-8"))))
        by_file |= {name: found} if found else {}
    assert by_file == {}
    assert list(DECISIONS) == list(get_args(Decision))


WORDS = {role: tuple(f"{role}{number}" for number in range(8)) for role in "xyab"}


def lists(*, circular: bool = False, **sets: tuple[str, ...]) -> AssociationTest:
    named: dict[str, Any] = {role: WordSet(role, words) for role, words in {**WORDS, **sets}.items()}
    made = (Provenance("neighbors", text="the text"),) if circular else ()
    return AssociationTest(name="own", title="Own", made=made, **named)


def models(pull: float, *, turn: bool = False, known: bool = True) -> list[Embedding]:
    """Four models; X and A point one way by `pull`, Y and B the other; where they `turn`, otherwise in half of them."""
    made = []
    words = [*(word for listed in WORDS.values() for word in listed), *(f"filler{number}" for number in range(400))]
    counts = np.random.default_rng(9).integers(50, 5_000, len(words))
    shared = np.random.default_rng(0).standard_normal((len(words), 100)) / 10
    for number in range(4):
        vectors = shared + np.random.default_rng([1, number]).standard_normal(shared.shape) / 50
        sign = -1.0 if turn and number % 2 else 1.0
        vectors[:, 0] += pull * np.array([{"x": sign, "y": -sign, "a": 1, "b": -1}.get(word[0], 0) for word in words])
        frequencies = Frequencies(counts) if known else None
        made.append(Embedding(tuple(words), vectors, name=f"m{number}", text="the text", frequencies=frequencies))
    return made


def by_audit(test: AssociationTest, given: list[Embedding], smallest: float) -> str:
    return bg.audit(given, lexicons=[test], replicates=True, rules=Rules(smallest=smallest)).verdicts[0].decision


def by_curve(test: AssociationTest, given: list[Embedding], smallest: float) -> str:
    return specification_curve(given, test, smallest=smallest).decision


def by_comparison(test: AssociationTest, given: list[Embedding], smallest: float) -> str:
    """The same contrast as a difference: from models in which X and Y do not lean."""
    null = [Embedding(m.words, m.vectors, name=f"null {m.name}", frequencies=m.frequencies) for m in models(0.0)]
    moved = [
        Embedding(m.words, m.vectors + 0.01 * n.vectors[::-1], name=n.name, frequencies=m.frequencies)
        for n, m in zip(null, models(0.0), strict=True)
    ]
    found = bg.compare({"null": moved, "given": given}, test, smallest=smallest, replicates="texts")
    return found.decision


ANALYSES: dict[str, Callable[..., str]] = {"audit": by_audit, "curve": by_curve, "comparison": by_comparison}


@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize(
    ("pull", "smallest", "more", "decisions"),
    [
        (0.0, 1e-6, {}, {"inconclusive"}),  # nothing is seen, and nothing ruled out
        (0.0, 5.0, {}, {"no-association-shown"}),  # the interval lies within the smallest that matters
        (0.5, 5.0, {}, {"no-association-shown"}),  # clearly not 0, and too small to matter
        (0.5, 0.01, {}, {"report", "report-with-care"}),
        (0.5, 0.01, {"known": False}, {"report-with-care"}),  # frequencies are not known
        (0.5, 0.01, {"circular": True}, {"inconclusive"}),
        (0.0, 5.0, {"circular": True}, {"inconclusive"}),
        (0.5, 0.01, {"x": ("absent", "words")}, {"not-measurable"}),
    ],
)
def test_the_same_evidence_gives_the_same_decision(
    analysis: str, pull: float, smallest: float, more: dict[str, Any], decisions: set[str]
) -> None:
    settings = dict(more)
    given = models(pull, known=settings.pop("known", True))
    test = lists(**settings)
    if analysis == "comparison" and "not-measurable" in decisions:
        with pytest.raises(bg.errors.ParameterError, match="Nothing can be compared"):
            by_comparison(test, given, smallest)
        return
    assert ANALYSES[analysis](test, given, smallest) in decisions


@pytest.mark.parametrize("analysis", ["audit", "curve"])
def test_a_direction_that_depends_on_the_model_is_not_reported(analysis: str) -> None:
    assert ANALYSES[analysis](lists(), models(0.5, turn=True), 0.01) in {"do-not-report", "inconclusive"}


def test_the_order_of_reasons() -> None:
    assert decide(found=None, small=True, stable=(True,), barred=True) == "not-measurable"
    assert decide(found=True, small=True, stable=(False,), barred=True) == "inconclusive"
    assert decide(found=True, small=True, stable=(False,)) == "no-association-shown"
    assert decide(found=True, small=False, stable=(False, None)) == "do-not-report"
    assert decide(found=True, stable=(True, None)) == "report-with-care"
    assert decide(found=True, stable=(True,)) == "report"
    assert decide(found=False, small=None, stable=(True,)) == "inconclusive"
    assert json.loads(json.dumps(list(DECISIONS)))[0] == "report"
