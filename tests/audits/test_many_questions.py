"""Primary questions are judged apart, every report says how p was adjusted, and no interval contradicts its verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasgauge as bg
from biasgauge.audits.context import primary_questions
from biasgauge.audits.measurement import Measured
from biasgauge.audits.page.first_screen import correction_text
from biasgauge.audits.page.terminal_summary import brief
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import corrected_claims
from biasgauge.audits.verdicts import CORRECTIONS, Rules
from biasgauge.cli.entry import run
from biasgauge.lexicons import parse_lexicon, queries_from_lexicons
from biasgauge.metrics import ContrastTest
from biasgauge.stats import Contrast

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.audits.verdicts import Correction
    from biasgauge.lexicons import Lexicon

pytestmark = pytest.mark.usefixtures("quick_audits")

DIM, LISTED = 30, 12
NAMES = ("career", "science", "strength", "weather")
STRENGTHS = (0.7, 0.7, 0.25, 0.0)


def battery() -> tuple[bg.Embedding, list[Lexicon]]:
    """Four tests with words of their own; X and A, Y and B share a direction, the more the stronger."""
    random, words, rows, tests = np.random.default_rng(5), [], [], []
    for name, strength in zip(NAMES, STRENGTHS, strict=True):
        along, sets = random.standard_normal(DIM), {}
        for role, side in zip("xyab", (1, -1, 1, -1), strict=True):
            listed = [f"{name}{role}{number}" for number in range(LISTED)]
            rows.append(random.standard_normal((LISTED, DIM)) + side * strength * along)
            words += listed
            sets[role] = {"name": f"{name} {role}", "words": listed}
        tests.append(parse_lexicon({"name": name, "kind": "test", "language": "en", **sets}, path=f"{name}.toml"))
    rows.append(random.standard_normal((400, DIM)))
    words += [f"filler{number}" for number in range(400)]
    return bg.Embedding(tuple(words), np.vstack(rows), name="made"), tests


def numbers(result: bg.audits.AuditResult, name: str) -> dict[str, Any]:
    return dict(next(one for one in result.verdicts if one.question == name).observed("association"))


def test_a_primary_question_pays_nothing_for_the_others() -> None:
    vectors, tests = battery()
    result = bg.audit(vectors, lexicons=tests, primary="strength")
    alone = bg.audit(vectors, lexicons=[tests[2]])
    same = {"k", "questions", "p_adjusted", "level", "low", "high", "p"}
    assert {key: numbers(result, "strength")[key] for key in same} == {
        key: numbers(alone, "strength")[key] for key in same
    }
    assert numbers(result, "strength")["k"] == 1
    others = bg.audit(vectors, lexicons=[*tests[:2], tests[3]])
    for name in ("career", "science", "weather"):
        assert numbers(result, name)["questions"] == 3
        assert numbers(result, name)["p_adjusted"] == numbers(others, name)["p_adjusted"]
    assert [one.question for one in result.verdicts if one.primary] == ["strength"]
    assert result.settings["rules"]["primary"] == ("strength",)
    assert (
        "p of the primary question (strength) is not adjusted, and that of 3 others is adjusted for" in result.methods
    )
    assert result.to_frame().set_index("question")["primary"].to_dict() == {name: name == "strength" for name in NAMES}
    assert [row["primary"] for row in result.to_dict()["verdicts"]] == [False, False, True, False]
    verdicts = {one.question: one for one in result.verdicts}
    assert "the primary question, judged by itself" in verdicts["strength"].sentence
    assert "Benjamini–Hochberg-adjusted p" in verdicts["career"].sentence
    assert "among 3 other questions" in verdicts["career"].sentence
    assert bg.audits.AuditResult.from_dict(json.loads(json.dumps(result.to_dict()))).verdicts == result.verdicts


def test_several_primary_questions_are_corrected_among_themselves() -> None:
    vectors, tests = battery()
    rules = Rules(primary=("career", "weather"), correction="familywise")
    result = bg.audit(vectors, lexicons=tests, rules=rules)
    assert [numbers(result, name)["questions"] for name in NAMES] == [2, 2, 2, 2]
    assert [numbers(result, name)["k"] for name in ("career", "weather")] == [2, 1]
    assert correction_text(result) == (
        "p is adjusted for the familywise error rate (Holm) over the 2 primary questions (career and weather), "
        "and over the 2 others apart"
    )
    assert "Holm-adjusted p" in next(one.sentence for one in result.verdicts if one.question == "career")
    assert "among 2 primary questions" in next(one.sentence for one in result.verdicts if one.question == "career")
    assert correction_text(result) in result.methods
    assert any(correction_text(result) in sentence for sentence in brief(result).sentences)
    forest = result.summary().parts[0].forest
    assert forest is not None
    assert any(correction_text(result) in note for note in forest.notes)
    assert [row.claim for row in forest.rows if "primary question" in row.detail] == [
        forest.rows[0].claim,
        forest.rows[3].claim,
    ]


def test_a_single_lexicon_is_primary() -> None:
    vectors, tests = battery()
    result = bg.audit(vectors, lexicons=[tests[0]])
    assert result.settings["rules"]["primary"] == ("career",)
    assert result.verdicts[0].primary
    assert correction_text(result) == "p of one question is not adjusted"
    assert bg.audit(vectors, lexicons=tests[:2]).settings["rules"]["primary"] == ()


def test_the_name_of_a_lexicon_stands_for_all_its_questions() -> None:
    content = {"kind": "words", "language": "en", "words": ["a", "b", "c"]}
    pairs = {"kind": "pairs", "language": "en", "pairs": [["he", "she"], ["man", "woman"]]}
    lexicons = [parse_lexicon({"name": name, **one}, path=f"{name}.toml")
                for name, one in (("list", content), ("first", pairs), ("second", pairs))]  # fmt: skip
    queries = list(queries_from_lexicons(lexicons))
    assert len(queries) == 2
    assert primary_questions(["list"], queries) == tuple(query.name for query in queries)
    assert primary_questions([queries[1].name], queries) == (queries[1].name,)


def test_an_unknown_primary_question_is_refused_with_the_nearest_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # where no earlier audit lies
    vectors, tests = battery()
    with pytest.raises(bg.ParameterError, match=r"Got 'carer'; nearest: career\.$"):
        bg.audit(vectors, lexicons=tests, primary=["carer"])
    with pytest.raises(bg.ParameterError, match=r"Got 'zzz'; there are: career, science, strength, weather\.$"):
        bg.audit(vectors, lexicons=tests, rules=Rules(primary=("career", "zzz")))
    with pytest.raises(bg.ParameterError, match="correction"):
        Rules(correction="bonferroni")  # type: ignore[arg-type]
    assert run(["audit", "--primary", "gender_carer,gender_math"]) == 2
    assert "Got 'gender_carer'; nearest: gender_career" in " ".join(capsys.readouterr().err.split())
    assert run(["audit", "--primary", "zzz,qqq"]) == 2  # near none of the battery
    refused = " ".join(capsys.readouterr().err.split()).removeprefix("biasgauge: ")
    assert "Got 'zzz', 'qqq'; there are: age_valence, " in refused
    assert refused.endswith(", ….")
    assert len(refused) <= 300


@pytest.mark.slow
def test_the_command_takes_primary_questions_and_the_correction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["audit", "--primary", "gender_career", "--correction", "familywise", "--json"]
    assert run([*command, "--out", str(tmp_path / "out")]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [one["question"] for one in content["verdicts"] if one["primary"]] == ["gender_career"]
    assert content["settings"]["rules"]["correction"] == "familywise"


QUERIES = list(queries_from_lexicons(battery()[1]))
CONTRASTS = st.lists(st.tuples(st.floats(-0.1, 0.1), st.sampled_from([0.002, 0.01, 0.03])), min_size=4, max_size=4)


def outcome(number: int, value: float, se: float, subject: Subject) -> Measured:
    """A question whose contrast alone is tested, with 30 degrees of freedom."""
    contrast = Contrast(value=value, se=se, df=30.0).at(0.95)
    p = float(2 * _upper_tail(abs(value) / se))
    test = ContrastTest(Contrast(**{**vars(contrast), "p": p}))
    return Mock(spec=Measured, query=QUERIES[number], subject=subject, test=test, p=p)


def _upper_tail(t: float) -> float:
    from scipy import stats

    return float(stats.t.sf(t, 30))


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(CONTRASTS, st.sampled_from([0.01, 0.05, 0.2]))
def test_no_interval_contradicts_what_is_claimed(
    correction: Correction, drawn: list[tuple[float, float]], alpha: float
) -> None:
    """Found: 0 lies outside. Too small: all lies within the margin. Neither: 0 lies inside, and not all within."""
    margin, subject = 0.03, Subject("made", ())
    outcomes = [outcome(number, *one, subject) for number, one in enumerate(drawn)]
    rules = Rules(alpha=alpha, correction=correction)
    for index, both in corrected_claims(outcomes, rules, {subject: margin}).items():
        test = outcomes[index].test
        low, high = test.interval(1 - alpha / both.association.k)
        assert low is not None
        assert high is not None
        found, small = both.association.p <= alpha, both.equivalence.p <= alpha
        interval = test.contrast.at(1 - 2 * alpha / both.equivalence.k)
        assert interval.low is not None
        assert interval.high is not None
        if min(abs(low), abs(high), abs(both.association.p - alpha), abs(both.equivalence.p - alpha)) < 1e-9:
            continue
        assert found == (low > 0 or high < 0)
        assert small == (-margin <= interval.low and interval.high <= margin)
        if not small:
            assert low < -margin or high > margin


def test_an_association_that_holms_steps_alone_find_within_the_margin_is_held_to_bonferroni() -> None:
    """Three clear ones leave the fourth .05, with an interval of [.001, .029]; its p of equivalence is not .05 / 4."""
    subject = Subject("made", ())
    drawn = [(0.2, 0.01)] * 3 + [(0.015, 0.0069)]
    claims = corrected_claims(
        [outcome(number, *one, subject) for number, one in enumerate(drawn)],
        Rules(correction="familywise"),
        {subject: 0.03},
    )
    assert [both.association.k for both in claims.values()] == [4, 3, 2, 4]
    assert claims[3].association.p == pytest.approx(4 * 2 * _upper_tail(0.015 / 0.0069))
    assert claims[3].equivalence.p > 0.05


def test_equivalence_p_is_that_of_two_one_sided_tests() -> None:
    from scipy import stats

    contrast = Contrast(value=-0.01, se=0.008, df=12.0)
    ends = stats.t.cdf((-0.01 - 0.03) / 0.008, 12), stats.t.sf((-0.01 + 0.03) / 0.008, 12)
    assert contrast.equivalence_p(0.03) == pytest.approx(max(ends))
    assert Contrast(value=None).equivalence_p(0.03) is None
    p = contrast.equivalence_p(0.03)
    assert p is not None
    at = contrast.at(1 - 2 * p)
    assert at.low == pytest.approx(-0.03)


def test_a_contrast_that_is_too_small_is_shown_with_the_interval_that_says_so() -> None:
    vectors, tests = battery()
    result = bg.audit(vectors, lexicons=tests, rules=Rules(smallest=2.0))
    for verdict in result.verdicts:
        assert verdict.decision == "no-association-shown"
        low, high = verdict.contrast.low, verdict.contrast.high
        assert (low, high) == tuple(verdict.observed("equivalence")[name] for name in ("low", "high"))
        assert -2.0 <= low <= high <= 2.0  # type: ignore[operator]
