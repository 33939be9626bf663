"""The default audit: the questions of the battery, the published tests beside them, plans for open questions."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.answers import answer
from biasgauge.audits.context import AuditContext, build_context
from biasgauge.audits.page.panels import _sentences
from biasgauge.audits.page.terminal_summary import brief
from biasgauge.audits.parts.lexicons import judge_lexicon
from biasgauge.audits.parts.published import PublishedTest, PublishedTests, measure
from biasgauge.audits.rules import _other_words
from biasgauge.cli.entry import run
from biasgauge.core import DEFAULT_POLICY, ENOUGH, to_plain
from biasgauge.lexicons import QUERY_KINDS, AssociationTest, parse_lexicon

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.audits.result import AuditResult


def shipped(language: str) -> list[bg.lexicons.Lexicon]:
    return [
        lexicon
        for lexicon in bg.registry.everything("lexicon").values()
        if lexicon.language == language and lexicon.kind in QUERY_KINDS
    ]


@pytest.fixture(scope="module")
def context() -> AuditContext:
    return build_context([bg.vectors.load_default()])


def test_without_names_the_battery_is_asked_and_published_tests_stand_beside(context: AuditContext) -> None:
    battery = {lexicon.name for lexicon in shipped("en") if lexicon.battery}
    assert len(battery) == 26
    assert {query.name for query in context.queries} == battery
    published = {query.name for query in context.published}
    assert {f"weat{number}" for number in range(1, 11)} | {"weat6b", "gender", "race", "religion"} == published
    assert context.settings()["published"] == [query.name for query in context.published]
    assert not published & {lexicon.name for lexicon in shipped("en") if lexicon.repeats}


def test_named_lexicons_are_judged_and_nothing_stands_beside() -> None:
    context = build_context([bg.vectors.load_default()], lexicons=["weat6"])
    assert [query.name for query in context.queries] == ["weat6"]
    assert context.published == ()
    assert measure(context) is None


def test_another_language_has_a_battery_of_its_own() -> None:
    words = sorted({word for lexicon in shipped("es") for word in lexicon.words})
    vectors = bg.Embedding(tuple(words), np.random.default_rng(0).standard_normal((len(words), 8)))
    context = build_context([vectors], language="es")
    assert {query.name for query in context.queries} == {"es_gender_career", "es_gender_science", "es_gender_valence"}
    assert {query.name for query in context.published} == {
        lexicon.name for lexicon in shipped("es") if not lexicon.battery and not lexicon.on_request
    }


@pytest.mark.parametrize("name", [lexicon.name for lexicon in (*shipped("en"), *shipped("es")) if lexicon.powered])
def test_a_published_test_names_a_question_of_the_battery_that_asks_the_same(name: str) -> None:
    test = bg.lexicon(name)
    powered = bg.lexicon(test.powered)
    assert powered.battery
    assert powered.language == test.language
    assert powered.family == test.family
    assert bg.lexicons.parse_lexicon(test.to_dict()).powered == test.powered


def test_published_tests_have_the_contrast_that_they_have_where_they_are_asked(context: AuditContext) -> None:
    result = measure(context)
    assert isinstance(result, PublishedTests)
    rows = {row.test: row for row in result.rows}
    assert rows["weat6"].question == rows["weat6b"].question == "gender_career"
    assert rows["gender"].question == ""
    alone = answer(build_context([bg.vectors.load_default()], lexicons=["weat7"]))[0].observed("association")
    assert rows["weat7"].contrast.value == pytest.approx(alone["adjusted"])
    assert rows["weat7"].p == alone["p"]
    assert rows["weat7"].words == 8
    again = PublishedTests.reader(PublishedTest.from_dict)(to_plain(result.to_list()))
    assert again.to_list() == result.to_list()


def test_a_published_test_without_its_words_says_so() -> None:
    weat = bg.lexicon("weat7")
    battery = bg.lexicon("gender_math")
    words = [word for word in battery.words if word not in weat.words]
    vectors = bg.Embedding(tuple(words), np.random.default_rng(0).standard_normal((len(words), 8)))
    rows = {row.test: row for row in measure(build_context([vectors])).rows}  # type: ignore[union-attr]
    assert rows["weat7"].contrast.value is None
    assert "x 0 of 8" in str(rows["weat7"].contrast.reason)
    assert rows["weat7"].p is None


LISTED = [f"{role}{number}" for role in "xyab" for number in range(2 * ENOUGH)]


@pytest.mark.parametrize(("found", "battery", "measured"), [(ENOUGH, True, True), (ENOUGH - 1, True, False),
                                                            (ENOUGH, False, False)])  # fmt: skip
def test_enough_words_of_a_battery_are_measured_whatever_their_share(
    found: int,
    battery: bool,  # noqa: FBT001
    measured: bool,  # noqa: FBT001
) -> None:
    sets = {role: {"words": [word for word in LISTED if word[0] == role]} for role in "xyab"}
    test = parse_lexicon({"name": "t", "kind": "test", "battery": battery, **sets})
    words = tuple(word for word in LISTED if int(word[1:]) < found)
    vectors = bg.Embedding(words, np.random.default_rng(0).standard_normal((len(words), 16)))
    (verdict,) = answer(build_context([vectors], lexicons=[test]))
    assert (verdict.decision != "not-measurable") == measured
    row = judge_lexicon(vectors, test, DEFAULT_POLICY)
    assert (row.verdict == "measurable") == measured


def open_verdicts(context: AuditContext) -> list[Any]:
    return [verdict for verdict in answer(context) if verdict.decision == "inconclusive"]


def test_the_command_of_an_open_question_plans_with_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    path = bg.vectors.DEFAULT_PATH
    verdicts = open_verdicts(build_context([bg.load(path)], lexicons=["weat7", "weat8"]))
    assert verdicts
    for verdict in verdicts:
        command = shlex.split(verdict.plan_command)
        assert command[:3] == ["biasgauge", "plan", str(path)]
        assert run([*command[1:], "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert plan["words_needed"]["both"] == pytest.approx(verdict.words_needed, rel=0.02)  # four digits are given
        assert plan["size"] == pytest.approx(verdict.observed("association")["smallest"], rel=1e-3)


def test_settled_questions_have_no_plan_command(context: AuditContext) -> None:
    for verdict in answer(context):
        assert bool(verdict.plan_command) == (verdict.words_needed is not None)
        assert verdict.decision == "inconclusive" or not verdict.plan_command


def test_a_question_without_its_words_names_covered_lists_that_ask_the_same() -> None:
    words = bg.lexicon("age_valence_2").words  # the first list of the question has names, the second has terms
    vectors = bg.Embedding(words, np.random.default_rng(0).standard_normal((len(words), 16)))
    (verdict,) = answer(build_context([vectors], lexicons=["age_valence"]))
    assert verdict.decision == "not-measurable"
    assert verdict.audit_command == "biasgauge audit VECTORS --lexicon age_valence_2"
    assert any(verdict.audit_command in sentence for sentence in _sentences(verdict))
    (other,) = answer(build_context([vectors], lexicons=["age_valence_2"]))
    assert other.decision != "not-measurable"
    assert not other.audit_command
    bare = bg.Embedding(("one", "two", "three"), np.eye(3))
    (neither,) = answer(build_context([bare], lexicons=["age_valence"]))
    assert not neither.audit_command


def test_vectors_in_memory_are_named_by_a_placeholder() -> None:
    vectors = bg.vectors.load_default()
    copied = bg.Embedding(vectors.words, vectors.vectors)
    (verdict,) = open_verdicts(build_context([copied], lexicons=["weat7"]))
    assert verdict.plan_command.startswith("biasgauge plan VECTORS --test weat7 --size ")


def test_every_question_of_the_default_audit_is_measured_most_are_decided_and_some_may_be_reported(
    shipped_audit: Callable[..., AuditResult],
) -> None:
    result = shipped_audit()
    decisions = [verdict.decision for verdict in result.verdicts]
    undecided = [decision for decision in decisions if decision in ("inconclusive", "not-measurable")]
    assert len(undecided) <= len(decisions) / 5
    assert "report" in decisions
    assert "not-measurable" not in decisions
    text = "\n".join(brief(result).sentences)
    assert "14 published tests beside them, not judged" in text
    assert [row.test for row in result.published][:1] == ["gender"]


def test_a_test_of_the_battery_is_checked_by_the_one_that_repeats_it() -> None:
    test = bg.lexicon("gender_career")
    assert isinstance(test, AssociationTest)
    for roles in ("ab", "xy"):
        assert min(len(words) for words in _other_words(test, roles).values()) >= 25
