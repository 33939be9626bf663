"""Before and after in the audit: the same numbers as the room that compares, on the page and on the screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.change import answer_change, contrast_changes
from biasgauge.audits.measurement import measure
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Rules
from biasgauge.cli.entry import run
from biasgauge.core import WordPolicy
from biasgauge.core.estimate import Estimate
from biasgauge.lexicons import parse_lexicon, queries_from_lexicons
from biasgauge.mitigation.effect_result import CLASSIFIER, EffectRow

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.audits.measurement import QueryOutcome
    from biasgauge.audits.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("quick_audits")


@pytest.fixture(scope="module")
def pair() -> tuple[bg.Embedding, bg.Embedding]:
    before = bg.vectors.load_default(6_000)
    return before, bg.mitigate(before, "hard")


def test_the_section_is_what_the_comparison_says(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    before, after = pair
    result = bg.audit(after, before=before, lexicons=["weat7"])
    alone = bg.mitigation.mitigation_effect(before, after, ["weat7"])
    assert result.change is not None
    assert result.change.effect.sentences == alone.sentences
    assert result.settings["before"] == before.name
    section = next(part for part in result.summary().parts if part.name == "change")
    assert sum(len(table.rows) for table in section.all_tables()) == len(alone.rows)
    assert [row[2:4] for table in section.all_tables() for row in table.rows] == [
        tuple(None if side is None else side.value for side in (row.before, row.after))
        for part in dict.fromkeys(row.part for row in alone.rows)
        for row in alone.part(part)
    ]
    assert result.to_dict()["change"]["changed"] == alone.changed


class Effect:
    """What `answer_change` reads of a comparison: what a classifier recovers, and the benchmarks."""

    def __init__(self, *, recovered: Estimate | None = None, benchmark: Estimate | None = None) -> None:
        self.before, self.after = "before", "after"
        self.rows = [
            *(
                [EffectRow(part="recovery", name=CLASSIFIER, subject="words", after=recovered, chance=0.5)]
                if recovered
                else []
            ),
            *(
                [EffectRow(part="benchmark", name="correlation", subject="ws353", change=benchmark)]
                if benchmark
                else []
            ),
        ]

    def part(self, name: str) -> tuple[EffectRow, ...]:
        return tuple(row for row in self.rows if row.part == name)


CLEAN, HIDDEN = Estimate(value=0.52, low=0.45, high=0.6), Estimate(value=0.92, low=0.88, high=0.95)
KEPT, WORSE = Estimate(value=0.001, low=-0.01, high=0.01), Estimate(value=-0.1, low=-0.15, high=-0.05)
ROLES = {role: [f"{role}{number}" for number in range(8)] for role in "xyab"}


def leaning(pull: float, test: str = "own") -> QueryOutcome:
    """The same words, X and A on one side of a direction; a negative pull turns X to B."""
    random = np.random.default_rng(1)
    words = [word for role in "xyab" for word in ROLES[role]]
    rows = random.standard_normal((len(words), 60)) / 60**0.5
    for place, word in enumerate(words):
        side = {"x": np.sign(pull), "y": -np.sign(pull), "a": 1.0, "b": -1.0}[word[0]]
        rows[place, 0] += side * abs(pull) ** 0.5
    content = {role: {"name": role, "words": ROLES[role]} for role in "xyab"}
    asked = parse_lexicon({"name": test, "kind": "test", "language": "en", **content}, path="own.toml")
    subject = Subject("made", (bg.Embedding(tuple(words), rows, name="made"),))
    (question,) = queries_from_lexicons([asked])
    return measure(question, subject, WordPolicy(0.8, "exact"), 0)


def changed(before: float, after: float, **effect: Estimate | None) -> Verdict:
    """The verdict on one question; a comparison that finds nothing wrong, unless said otherwise."""
    made: Any = Effect(**{"recovered": CLEAN, "benchmark": KEPT, **effect})
    return answer_change(made, contrast_changes([leaning(before)], [leaning(after)], Rules()))


@pytest.mark.parametrize(
    ("before", "after", "effect", "decision", "failed", "sentence"),
    [
        (0.6, 0.0, {}, "report", [], "reduced: 1 of 1 association is clearly nearer to 0"),
        (0.6, 0.6, {}, "do-not-report", ["reduced"], "not reduced: 0 of 1"),
        (0.6, -0.6, {}, "do-not-report", ["not overcorrected"], "overcorrected: own +"),
        (0.6, 0.0, {"recovered": HIDDEN}, "do-not-report", ["not recoverable"], "hidden but recoverable: a classif"),
        (0.6, 0.0, {"benchmark": WORSE}, "do-not-report", ["no damage"], "damage done: worse on ws353"),
        (0.6, 0.0, {"recovered": None}, "report-with-care", [], "unknown whether the bias can be recovered"),
        (0.6, 0.0, {"benchmark": None}, "report-with-care", [], "unknown whether the vectors became worse"),
        (0.0, 0.6, {}, "inconclusive", [], "none of 1 questions shows an association before the change"),
    ],
)
def test_the_verdict_on_a_change(
    before: float, after: float, effect: dict[str, Estimate | None], decision: str, failed: list[str], sentence: str
) -> None:
    verdict = changed(before, after, **effect)
    assert verdict.decision == decision, verdict.sentence
    assert [piece.rule for piece in verdict.evidence if piece.passes is False] == failed
    assert sentence in verdict.sentence
    assert (verdict.test, verdict.model) == ("change", "before → after")
    assert verdict.claim == ("" if decision in {"do-not-report", "inconclusive"} else CLAIM)


CLAIM = "the change removed the bias that was measured"


def test_a_change_in_part_names_both_questions() -> None:
    made: Any = Effect(recovered=CLEAN, benchmark=KEPT)
    before, after = [leaning(0.6, "one"), leaning(0.6, "two")], [leaning(0.0, "one"), leaning(0.6, "two")]
    found = answer_change(made, contrast_changes(before, after, Rules()))
    assert found.decision == "do-not-report"
    assert "reduced in part: 1 of 2 associations is clearly nearer to 0 (one +" in found.sentence
    assert found.observed("reduced")["share"] == 0.5


def test_debiasing_leads_the_verdicts(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    before, after = pair
    result = bg.audit(after, before=before, lexicons=["weat7", "weat6"], policy=bg.core.WordPolicy(case="fallback"))
    first, *rest = result.verdicts
    assert (first.question, first.test) == ("change", "change")
    assert [verdict.test for verdict in rest] == ["contrast", "contrast"]
    by_rule = {piece.rule: piece for piece in first.evidence}
    if by_rule:
        assert list(by_rule)[-2:] == ["not recoverable", "no damage"]
        assert list(by_rule)[:-2] in ([], ["reduced", "not overcorrected"])  # nothing to reduce where none was shown
        row = next(row for row in result.change.effect.part("recovery") if row.name == CLASSIFIER)
        assert row.after is not None
        assert by_rule["not recoverable"].observed["accuracy"] == row.after.value  # type: ignore[index]
    written = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert written["verdicts"][0]["id"] == first.id


def test_without_vectors_before_there_is_no_section() -> None:
    result = bg.audit(bg.vectors.load_default(2_000), lexicons=["weat7"])
    assert result.change is None
    assert "change" not in [part.name for part in result.summary().parts]
    assert "change" not in result.to_dict()


def test_before_and_after_are_one_model_each(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    with pytest.raises(bg.ParameterError, match="Before"):
        bg.audit(list(pair), before=pair[0], lexicons=["weat7"])


def test_the_command_takes_both_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "vectors.npz"
    np.savez(file, words=np.array(["he", "she"]), vectors=np.eye(2))
    out = ["--out", str(tmp_path / "out")]
    assert run(["audit", "--before", str(file), *out]) == 2
    assert "--before and --after must be given together" in capsys.readouterr().err
    assert run(["audit", str(file), "--before", str(file), "--after", str(file), *out]) == 2
