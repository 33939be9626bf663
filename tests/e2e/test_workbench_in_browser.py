"""The workbench in a real browser: its numbers are Python's, its state survives a link, everybody can use it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import chdtri, nctdtr, stdtr, stdtrit

import biasgauge as bg
from biasgauge import audits
from biasgauge.audits.answers import answer
from biasgauge.cli.entry import run
from biasgauge.core import Query, WordPolicy, WordSet, resolve
from biasgauge.lexicons import AssociationTest
from biasgauge.stats import contrast_power, detectable_contrast

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.e2e

FEMALE = ["she", "her", "woman", "female", "girl", "sister", "daughter", "lady"]
MALE = ["he", "him", "man", "male", "boy", "brother", "son", "gentleman"]
CARE = ["nurse", "midwife", "maid", "nanny", "housekeeper", "receptionist", "librarian", "hairdresser"]
TECHNOLOGY = ["engineer", "mechanic", "technician", "programmer", "architect", "physicist", "plumber", "electrician"]
CASES: dict[str, dict[str, list[str]]] = {
    "gender": {"x": CARE, "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "turned": {"x": MALE, "y": FEMALE, "a": CARE, "b": TECHNOLOGY},
    "one word a list": {"x": ["nurse"], "y": ["engineer"], "a": FEMALE, "b": MALE},
    "one list of one": {"x": ["nurse", "midwife"], "y": ["engineer"], "a": FEMALE, "b": MALE},
    "families": {"x": ["nurse", "nurses", "nursing", "Midwife", "midwives"], "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "both sides": {"x": [*CARE, "girls", "she"], "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "shared attributes": {"x": CARE, "y": TECHNOLOGY, "a": [*FEMALE, "person"], "b": [*MALE, "person"]},
    "out of vocabulary": {"x": [*CARE, "zzyzzx"], "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "too few": {"x": ["nurse", "zzyzzx"], "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "empty": {"x": [], "y": TECHNOLOGY, "a": FEMALE, "b": MALE},
    "frequent against rare": {
        "x": ["the", "of", "and", "people", "time", "year", "city"], "y": ["gnat", "aster", "zinnia", "petunia"],
        "a": ["government", "president", "country", "percent"], "b": ["hornet", "peony", "weevil", "crocus"],
    },
}  # fmt: skip
KEYS = ("contrast", "low", "high", "adjusted", "adjusted_low", "adjusted_high", "p", "se", "df", "p_targets",
        "p_attributes", "p_contrast")  # fmt: skip


@pytest.fixture(scope="module")
def workbench() -> audits.Workbench:
    return bg.workbench()


@pytest.fixture(scope="module")
def path(workbench: audits.Workbench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workbench.save(tmp_path_factory.mktemp("workbench") / "words.html")


@pytest.fixture(scope="module")
def page(open_shared: Callable[..., Any], path: Path) -> Any:  # noqa: ANN401 - a page of the browser
    return open_shared(path)


def evaluated(page: Any, lists: dict[str, list[str]], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    names = [*KEYS, "decision", "reason", "power", "evidence", "effective", "certainty"]
    script = """([lists, options, names]) => {
      const all = workbench.evaluate(lists, options);
      return Object.fromEntries(names.map((name) => [name, all[name] ?? null]));
    }"""
    found: dict[str, Any] = page.evaluate(script, [lists, options, names])
    return found


def verdict_of(workbench: audits.Workbench, lists: dict[str, list[str]], **names: str) -> bg.audits.Verdict:
    """The verdict of Python on the vectors that the page has."""
    sets = {role: WordSet(names.get(role, role.upper()), tuple(words)) for role, words in lists.items()}
    test = AssociationTest(name="mine", **sets)  # type: ignore[arg-type]
    audit = audits.build_context(
        [workbench.embedding], lexicons=[test], rules=audits.Rules(smallest=workbench.smallest)
    )
    (verdict,) = answer(audit)
    return verdict


def same_as_python(page: Any, workbench: audits.Workbench, lists: dict[str, list[str]], **names: str) -> str:  # noqa: ANN401
    """Compare every number and the evidence; return the decision."""
    options = {"names": {role: names.get(role, role.upper()) for role in "xyab"}}
    shown, verdict = evaluated(page, lists, **options), verdict_of(workbench, lists, **names)
    assert shown["decision"] == verdict.decision, (lists, verdict.why)
    numbers = verdict.observed("association")
    if not numbers:
        assert shown["p"] is None
        return verdict.decision
    for key in KEYS:
        expected = numbers.get(key)
        assert (shown[key] is None) == (expected is None), (key, lists)
        if expected is not None:
            assert shown[key] == pytest.approx(expected, rel=1e-6, abs=1e-6), (key, lists)
    assert [[piece["rule"], piece["passes"]] for piece in shown["evidence"]] == [
        [piece.rule, piece.passes] for piece in verdict.evidence
    ]
    assert shown["certainty"] == (verdict.certainty and verdict.certainty.level), verdict.certainty
    counts = {piece["rule"]: piece.get("agree") for piece in shown["evidence"]}
    for piece in verdict.evidence:
        if piece.counts is not None:
            assert counts[piece.rule] == piece.counts[0]
    assert shown["power"]["words"] == (verdict.plan or {"both": None})["both"]
    return verdict.decision


@pytest.mark.parametrize("name", CASES)
def test_numbers_and_verdict_are_those_of_python(page: Any, workbench: audits.Workbench, name: str) -> None:  # noqa: ANN401
    same_as_python(page, workbench, CASES[name])


def test_so_are_those_of_random_lists_of_any_size(page: Any, workbench: audits.Workbench) -> None:  # noqa: ANN401
    random = np.random.default_rng(38)
    words = np.array([word for word in workbench.embedding.words if word.isalpha()])
    decisions = set()
    for number in range(20):
        sizes = random.integers(1, 16 if number < 17 else 60, 4)
        pool = words[: 800 if number % 3 == 0 else len(words)]  # frequent words have more in common
        parts = np.split(random.choice(pool, sizes.sum(), replace=False), np.cumsum(sizes)[:-1])
        decisions.add(
            same_as_python(page, workbench, {role: part.tolist() for role, part in zip("xyab", parts, strict=True)})
        )
    assert decisions


def test_so_are_those_of_odd_lists(page: Any, workbench: audits.Workbench) -> None:  # noqa: ANN401
    """Unequal sizes, words in two lists, forms of one word, words that are lost, other capitals, single words."""
    random = np.random.default_rng(2038)
    words = np.array([word for word in workbench.embedding.words if word.isalpha()])
    forms = [["nurse", "nurses", "nursing"], ["run", "runs", "running"], ["woman", "women"], ["king", "kings"]]
    decisions = set()
    for number in range(16):
        pool = words[:500] if number % 4 == 0 else words
        sizes = random.integers(1, 12 if number % 3 else 60, 4)
        lists = {
            role: random.choice(pool, size, replace=False).tolist() for role, size in zip("xyab", sizes, strict=True)
        }
        if number % 2:
            lists = {role: [*members, *forms[random.integers(len(forms))]] for role, members in lists.items()}
        if number % 3 == 0:
            lists["x"] += ["zzqx", "qqzz"]
            lists["a"].append(lists["x"][0])
        if number % 5 == 0:
            lists["b"] += [word.capitalize() for word in lists["b"][:2]]
        if number % 7 == 0:
            lists["y"] = lists["y"][:1]
        decisions.add(same_as_python(page, workbench, lists))
    assert {"not-measurable", "inconclusive"} <= decisions


def test_second_lists_of_a_concept_are_asked_as_in_python(open_page: Callable[..., Any], tmp_path: Path) -> None:
    """The battery has a second list for each concept; a page without some of its words knows their families."""
    tests = [bg.lexicon(name) for name in ("gender_career", "gender_career_2")]
    words = list(dict.fromkeys(word for test in tests for word in test.words))
    random = np.random.default_rng(3)
    kept = [word for word in words if random.random() < 0.9]
    vectors = random.standard_normal((len(kept), 30))
    for test in tests:  # so that there is something to hold against a second list
        vectors[np.isin(kept, [*test.sets["x"], *test.sets["a"]])] += 0.4
    workbench = bg.workbench(bg.Embedding(tuple(kept), vectors), smallest=0.05)
    page = open_page(workbench.save(tmp_path / "words.html"))
    for test in tests:
        assert isinstance(test, AssociationTest)
        audit = audits.build_context(
            [workbench.embedding], lexicons=[test], rules=audits.Rules(smallest=workbench.smallest)
        )
        (verdict,) = answer(audit)
        names = {role: group.name for role, group in test.roles.items()}
        shown = evaluated(page, {role: list(group.words) for role, group in test.roles.items()},
                          names=names, lexicon=test.name)  # fmt: skip
        assert shown["decision"] == verdict.decision
        evidence = [piece for piece in verdict.evidence if piece.rule.startswith("held-out")]
        assert {piece.rule for piece in evidence} == {"held-out attributes", "held-out targets"}
        again = [piece for piece in shown["evidence"] if piece["rule"].startswith("held-out")]
        assert [[piece[key] for key in ("rule", "passes", "reason")] for piece in again] == [
            [piece.rule, piece.passes, piece.reason] for piece in evidence
        ]


def test_hostile_words_are_text_and_huge_pastes_are_answered(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    page.locator("#words-x").fill(
        "<img/src=x/onerror=alert(1)> <b>nurse</b> nurse midwife \u202emaid \x00 __proto__ constructor"
    )
    page.locator("#name-x").fill("</script><script>document.title='pwned'</script>")
    page.locator("#name-x").blur()
    assert page.locator("main img, main script").count() == 0
    assert page.title().startswith("biasgauge")
    assert "__proto__" in page.locator("#coverage-x").text_content()
    toml = page.locator("#export").text_content()
    assert tomllib.loads(toml)["x"]["name"] == "</script><script>document.title='pwned'</script>"
    page.locator("#words-x").fill(" ".join(f"word{number}" for number in range(100_000)) + " nurse" * 100_000)
    page.locator("#words-x").blur()
    assert "1 of 100,001 words" in page.locator("#coverage-x").text_content()
    assert page.locator("#verdict .decision span").text_content() == "Not measurable"


def test_vectors_without_frequencies_with_capitals_and_in_eight_bits(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    words = [f"Wort{number}" if number % 2 else f"wort{number}" for number in range(400)]
    matrix = random.standard_normal((400, 20))
    matrix[10] = 0
    workbench = bg.workbench(bg.Embedding(tuple(words), matrix), language="de", bits=8, smallest=0.2)
    page = open_page(workbench.save(tmp_path / "words.html"))
    assert page.locator("#intervals .estimate").count() == 0  # no shipped test begins the page
    cases = [np.split(random.choice(words, 40, replace=False), 4) for _ in range(6)]
    cases += [
        [*cases[0][:3], np.array(["wort10", "wort1", *cases[0][3]])]
    ]  # a zero vector, and a capital that is missing
    for case in cases:
        same_as_python(page, workbench, {role: part.tolist() for role, part in zip("xyab", case, strict=True)})


def test_words_of_one_vector_count_once_as_in_python(open_page: Callable[..., Any], tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    words = np.array([f"wort{number}" for number in range(200)])
    matrix = random.standard_normal((200, 20))
    matrix[100:] = matrix[random.integers(0, 100, 100)]
    workbench = bg.workbench(bg.Embedding(tuple(words), matrix), language="de", smallest=0.2)
    page = open_page(workbench.save(tmp_path / "words.html"))
    for _ in range(4):
        lists = np.split(random.choice(words, 80, replace=False), 4)
        same_as_python(page, workbench, {role: part.tolist() for role, part in zip("xyab", lists, strict=True)})


def test_other_lists_for_the_same_attributes_are_asked_as_in_python(page: Any, workbench: audits.Workbench) -> None:  # noqa: ANN401
    flowers, short = bg.lexicon("weat1"), bg.lexicon("weat10")  # longer lists of pleasant and unpleasant words ship
    assert isinstance(flowers, AssociationTest)
    assert isinstance(short, AssociationTest)
    roles = {"x": flowers.x, "y": flowers.y, "a": short.a, "b": short.b}
    lists = {role: list(group.words) for role, group in roles.items()}
    names = {role: group.name for role, group in roles.items()}
    same_as_python(page, workbench, lists, **names)
    shown = evaluated(page, lists, names=names)
    assert "held-out attributes" in {piece["rule"] for piece in shown["evidence"]}


def test_power_is_that_of_python(page: Any, workbench: audits.Workbench) -> None:  # noqa: ANN401
    test = bg.weat(workbench.embedding, **CASES["gender"])  # type: ignore[arg-type]
    assert test.contrast is not None
    adjusted = test.contrast.adjusted
    assert adjusted is not None
    power = evaluated(page, CASES["gender"])["power"]
    assert power["detectable"] == pytest.approx(detectable_contrast(adjusted), rel=1e-6)
    assert power["now"] == pytest.approx(contrast_power(adjusted, workbench.smallest), rel=1e-6)


@pytest.mark.parametrize("count", [8, 40])
def test_contrasts_without_a_word_are_those_of_python(page: Any, workbench: audits.Workbench, count: int) -> None:  # noqa: ANN401
    """With many words each is left out in closed form, with few the lists are fitted anew."""
    random = np.random.default_rng([count, 7])
    words = np.array([word for word in workbench.embedding.words if word.isalpha()])
    lists = CASES["gender"]
    if count > 8:
        lists = {**lists, **dict(zip("xy", random.choice(words, (2, count), replace=False).tolist(), strict=True))}
    shown = page.evaluate(
        "(lists) => { const left = workbench.leaveOneOut(workbench.evaluate(lists)); "
        "return [...left.targets, ...left.attributes].map(({ words, value }) => [words, value]); }",
        lists,
    )
    assert len(shown) >= sum(map(len, lists.values())) - 4  # forms of one word are one row
    for left_out, value in shown[:: count // 8]:
        rest = {role: [word for word in words if word not in left_out] for role, words in lists.items()}
        contrast = bg.weat(workbench.embedding, **rest).contrast  # type: ignore[arg-type]
        assert contrast is not None
        assert contrast.adjusted is not None
        assert value == pytest.approx(contrast.adjusted.value, abs=1e-9)


def test_random_numbers_are_those_of_numpy(page: Any) -> None:  # noqa: ANN401
    for entropy in ([0, 8, 9], [1, 100, 100], [7, 3, 40_000]):
        shown = page.evaluate("(entropy) => [...new RandomStream(entropy).fill(new Float64Array(1000))]", entropy)
        assert shown == np.random.default_rng(entropy).random(1000).tolist()


def test_distributions_are_those_of_scipy(page: Any) -> None:  # noqa: ANN401
    for df in (1.0, 2.3, 7.77, 31.4, 200.5, 5_000.0):
        for t in (-40.0, -5.0, -2.1, -0.3, 0.01, 1.96, 12.0):
            assert page.evaluate(f"studentShare({df}, {t})") == pytest.approx(stdtr(df, t), rel=1e-8)
            for shift in (0.0, 0.5, 2.8, -1.5, 15.0):
                expected = nctdtr(df, shift, t)
                if np.isfinite(expected):  # SciPy has no answer far out in the tails
                    assert page.evaluate(f"noncentralShare({df}, {shift}, {t})") == pytest.approx(expected, abs=1e-9)
        for share in (0.6, 0.8, 0.975, 0.99999):
            assert page.evaluate(f"studentQuantile({df}, {share})") == pytest.approx(stdtrit(df, share), rel=1e-8)
            assert page.evaluate(f"chiSquaredUpper({df}, {share})") == pytest.approx(chdtri(df, share), rel=1e-8)


def test_coverage_is_that_of_python(page: Any, workbench: audits.Workbench) -> None:  # noqa: ANN401
    for lists in CASES.values():
        resolved = resolve(Query.from_sets(lists), workbench.embedding, WordPolicy())
        shown = page.evaluate("(lists) => workbench.evaluate(lists).coverage", lists)
        for role, words in resolved.sets.items():
            assert [entry["word"] for entry in shown[role]["found"]] == list(words.words)
            assert {entry["word"] for entry in shown[role]["lost"]} == set(words.lost)


def test_suggested_words_make_a_verdict_inconclusive(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    page.locator("#more-x summary").click()
    chip = page.locator("#suggestions-x button").first
    word = chip.text_content().removeprefix("+ ")
    chip.click()
    assert page.locator("#verdict .decision span").text_content() == "Inconclusive"
    assert f"suggested by these very vectors ({word})" in page.locator("#evidence").text_content()
    toml = page.locator("#export").text_content()
    assert 'method = "neighbors"' in toml
    page.locator("#undo").click()
    assert word not in page.locator("#words-x").input_value()


def test_an_exported_lexicon_is_read_and_says_how_it_came_about(
    open_page: Callable[..., Any], path: Path, tmp_path: Path, workbench: audits.Workbench
) -> None:
    page = open_page(path)
    page.locator("#words-x").fill('"nurse", midwife; maid\nnanny')
    page.locator("#words-x").blur()
    page.locator("#more-x summary").click()
    page.locator("#suggestions-x button").first.click()
    file = tmp_path / "my_test.toml"
    file.write_text(page.locator("#export").text_content(), encoding="utf-8")
    lexicon = bg.lexicon(file)
    assert lexicon.sets["x"][:4] == ("nurse", "midwife", "maid", "nanny")
    assert "after 2 tries" in lexicon.beware[0]
    (verdict,) = bg.audit(workbench.embedding, lexicons=[file]).verdicts
    assert verdict.decision == "inconclusive"
    assert "circularity" in {piece.rule for piece in verdict.failed}


def test_exported_programs_give_the_numbers_of_the_page(
    open_page: Callable[..., Any],
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    workbench: audits.Workbench,
) -> None:
    page = open_page(path)
    for role, words in {"x": "nurse", "y": "engineer, plumber, mechanic"}.items():
        page.locator(f"#words-{role}").fill(words if role == "y" else "nurse maid midwife")
        page.locator(f"#words-{role}").blur()
    p = page.evaluate("workbench.page.result.p")
    texts = {}
    for name in ("toml", "command", "python", "study"):
        page.locator("#format").select_option(name)
        texts[name] = page.locator("#export").text_content()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_test.toml").write_text(texts["toml"], encoding="utf-8")
    program = texts["command"].replace("\nbiasgauge ", "\necho ")  # what the shell makes of it
    path_variable = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.run(
        ["/bin/sh", "-c", program],
        env={**os.environ, "PATH": path_variable},
        capture_output=True,
        text=True,
        check=True,
    )
    commands = [shlex.split(line) for line in shell.stdout.splitlines()]
    assert commands[0][1] == workbench.settings["source"]
    assert [words[0] for words in commands] == ["weat", "audit"]
    assert run([*commands[0], "--json"]) == 0
    # Vectors as they were rounded have other last digits; p counts splits.
    assert json.loads(capsys.readouterr().out)["p_equal_frequency"] == pytest.approx(p, abs=1e-3)
    decision = page.evaluate("workbench.page.result.decision")
    assert run([*commands[1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["decision"] == decision
    exec(texts["python"], {})  # noqa: S102 - the text that readers run
    meaning = audits.DECISIONS[decision].meaning
    assert meaning in capsys.readouterr().out
    (tmp_path / "my_test_study.toml").write_text(texts["study"].replace('path = "VECTORS"', 'default = "glove"'))
    plan = bg.study.plan_study("my_test_study.toml")
    assert {cell.step for cell in plan.cells} >= {"vectors", "audit"}


def test_every_list_that_is_tried_counts_and_travels_with_the_link(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    assert "none yet" in page.locator("#tries").text_content()
    for count, words in enumerate(
        ("nurse midwife nanny maid", "nurse midwife nanny cook", "nurse midwife cook maid"), 1
    ):
        page.locator("#words-x").fill(words)
        page.locator("#words-x").blur()
        assert f"Lists tried: {count}" in page.locator("#tries").text_content()
    page.locator("#words-x").fill("maid cook midwife nurse")  # the same words in another order
    page.locator("#words-x").blur()
    assert "Lists tried: 3" in page.locator("#tries").text_content()
    assert "Bonferroni" in page.locator("#tries").text_content()
    page.locator("#name-x").fill("care <b>work</b>")
    page.locator("#name-x").blur()
    address = page.evaluate("location.hash")
    verdict = page.locator("#verdict").text_content()
    again = open_page(path)
    again.evaluate("(hash) => { location.hash = hash }", address)
    again.locator("#words-x").wait_for()
    again.wait_for_function("document.getElementById('words-x').value.startsWith('maid')")
    assert again.locator("#verdict").text_content() == verdict
    assert "Lists tried: 3" in again.locator("#tries").text_content()
    assert again.locator("#main b", has_text="work").count() == 0  # names are text


def test_lists_too_short_for_a_test_are_told_so(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    for role, words in {"x": "nurse", "y": "engineer"}.items():
        page.locator(f"#words-{role}").fill(words)
        page.locator(f"#words-{role}").blur()
    assert "X and Y are too short: their words can be split in only 2 ways" in page.locator("#verdict").text_content()


def test_undo_and_redo_bring_lists_back(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    before = page.locator("#words-a").input_value()
    page.locator("#start").select_option("weat7")
    page.locator("#clear").click()
    assert page.locator("#verdict .decision span").text_content() == "Not measurable"
    page.locator("#undo").click()
    assert "algebra" in page.locator("#words-x").input_value()
    page.locator("#undo").click()
    assert page.locator("#words-a").input_value() == before
    assert page.locator("#undo").is_disabled()
    page.locator("#redo").click()
    assert "algebra" in page.locator("#words-x").input_value()


@pytest.fixture(scope="module")
def audit() -> bg.audits.AuditResult:
    return bg.audit(bg.vectors.load_default(), lexicons=["weat7"], workbench=True)


@pytest.fixture(scope="module")
def report(audit: bg.audits.AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit, which has a workbench in it."""
    return audit.save(tmp_path_factory.mktemp("audit") / "report.html")


def open_tab(page: Any) -> Any:  # noqa: ANN401 - a page of the browser and a frame of it
    """Open the workbench of the page of an audit."""
    page.get_by_role("link", name="Your own words").click()
    page.frame_locator("#frame-workbench").locator("html[data-ready]").wait_for(state="attached")
    return page.frames[1]


def test_a_tab_of_the_page_of_an_audit_is_a_workbench(
    open_page: Callable[..., Any], audit: bg.audits.AuditResult, report: Path
) -> None:
    page = open_page(report)
    assert page.locator("iframe").count() == 0  # unpacked when it is asked for
    frame = open_tab(page)
    assert not page.locator("main").is_visible()
    frame.locator("#start").select_option("weat7")
    numbers = audit.verdicts[0].observed("association")
    assert frame.evaluate("workbench.page.result.adjusted") == pytest.approx(numbers["adjusted"], abs=5e-6)
    assert frame.evaluate("workbench.page.result.decision") == audit.verdicts[0].decision
    page.get_by_role("link", name="Summary of findings").click()
    page.locator("main").wait_for()
    assert not page.locator("iframe").is_visible()


def test_the_state_of_the_tab_is_in_the_link_of_the_page(open_page: Callable[..., Any], report: Path) -> None:
    page = open_page(report)
    frame = open_tab(page)
    frame.locator("#words-x").fill("nurse midwife maid")
    frame.locator("#words-x").blur()
    address = page.evaluate("location.hash")
    assert address.startswith("#workbench?x=nurse%2Cmidwife%2Cmaid&")
    frame.locator("#format").select_option("link")
    assert frame.locator("#export").text_content().endswith(address)
    again = open_page(report)
    again.evaluate("(hash) => { location.hash = hash }", address)
    other = again.frame_locator("#frame-workbench")
    other.locator("html[data-ready]").wait_for(state="attached")
    assert other.locator("#words-x").input_value() == "nurse, midwife, maid"


@pytest.mark.parametrize("address", ["#%", "#workbench?x=%zz&tries=1e99&y", "#workbench?a=" + "x" * 5_000, "#weat7?%"])
def test_a_broken_link_leaves_the_page_whole(open_page: Callable[..., Any], report: Path, address: str) -> None:
    page = open_page(report)
    page.evaluate("(hash) => { location.hash = hash }", address)
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert open_tab(page).locator("#verdict .decision span").text_content()


def test_the_tab_follows_the_page_into_the_dark_and_onto_paper(open_page: Callable[..., Any], report: Path) -> None:
    page = open_page(report)
    frame = open_tab(page)
    page.click("#theme")
    frame.locator("html[data-theme='dark']").wait_for(state="attached")
    assert not frame.locator("#theme").is_visible()
    heights = page.evaluate(
        """() => {
          dispatchEvent(new Event("beforeprint"));
          const frame = document.querySelector("iframe");
          const heights = [frame.clientHeight, frame.contentDocument.documentElement.scrollHeight];
          const hidden = frame.contentDocument.querySelector("#share-title").getClientRects().length;
          dispatchEvent(new Event("afterprint"));
          return [...heights, hidden, frame.clientHeight];
        }"""
    )
    assert heights[0] >= heights[1]  # nothing is cut off
    assert heights[2] == 0  # laid out as on paper
    assert heights[3] < 900


def test_the_tab_fits_a_phone_and_axe_finds_nothing_serious(
    open_page: Callable[..., Any], report: Path, serious_findings: Callable[..., list[str]]
) -> None:
    page = open_page(report, width=390)
    frame = open_tab(page)
    assert frame.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious_findings(frame) == []


def test_a_page_that_is_cut_off_says_so(browser: Any, path: Path, tmp_path: Path) -> None:  # noqa: ANN401
    text = path.read_text(encoding="utf-8")
    start = text.index('id="numbers">')
    damaged = tmp_path / "words.html"
    damaged.write_text(f"{text[: start + 1_000]}{text[text.index('</script>', start) :]}", encoding="utf-8")
    page = browser.new_page()
    page.goto(damaged.as_uri())
    page.locator("#loading", has_text="could not be unpacked").wait_for()
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (760, "dark"), (1280, "light"), (1280, "dark")])
def test_it_fits_and_axe_finds_nothing_serious(
    open_page: Callable[..., Any], path: Path, width: int, scheme: str, serious_findings: Callable[..., list[str]]
) -> None:
    page = open_page(path, width=width, color_scheme=scheme)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious_findings(page) == []


@pytest.mark.parametrize("width", [390, 760, 1280])
def test_marks_of_intervals_stand_where_the_ticks_say(open_page: Callable[..., Any], path: Path, width: int) -> None:
    page = open_page(path, width=width)
    ticks, points = page.evaluate(
        """() => {
          const middle = (box) => (box.left + box.right) / 2;
          const ticks = [...document.querySelectorAll("#intervals .axis span")].map((tick) =>
            [Number(tick.textContent.replace("−", "-")), middle(tick.getBoundingClientRect())]);
          const circles = [...document.querySelectorAll("#intervals circle")];
          const points = circles.map((point) => middle(point.getBoundingClientRect()));
          return [ticks, points];
        }"""
    )
    numbers, positions = np.array(ticks).T
    slope, start = np.polyfit(numbers, positions, 1)
    shown = re.findall(r"[+−]\d\.\d+(?= \[)", " ".join(page.locator("#intervals .estimate").all_text_contents()))
    values = [float(text.replace("−", "-")) for text in shown]
    assert np.allclose(slope * np.array(values) + start, points, atol=abs(slope) * 0.0006 + 1)


def test_the_keyboard_is_enough(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
    assert {"start", "words-x", "name-b", "words-b", "export", "copy"} <= seen


def test_paper_has_every_word_and_every_figure(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    page.emulate_media(media="print")
    assert page.evaluate(
        "[...document.querySelectorAll('textarea')].every((box) => box.scrollHeight <= box.clientHeight + 2)"
    )
    assert page.evaluate("document.querySelector('#contributions').getBoundingClientRect().height") > 100
    assert page.locator("#plane svg").is_visible()


def test_lists_of_a_link_count_as_tried(open_page: Callable[..., Any], path: Path) -> None:
    """Somebody chose them, also where the link says nothing of tries; a shipped test is nobody's choice."""
    page = open_page(path)
    assert "none yet" in page.locator("#tries").text_content()
    lists = {"x": "nurse,midwife,maid", "y": "engineer,mechanic,plumber", "a": "she,her,woman", "b": "he,him,man"}
    page.evaluate("(hash) => { location.hash = hash }", "&".join(f"{role}={words}" for role, words in lists.items()))
    page.wait_for_function("document.getElementById('words-x').value.startsWith('nurse')")
    assert "Lists tried: 1." in page.locator("#tries").text_content()
    page.locator("#words-x").fill("nurse midwife nanny")
    page.locator("#words-x").blur()
    assert "Lists tried: 2." in page.locator("#tries").text_content()


def test_a_phone_shows_the_contrast_without_each_word(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path, width=390)
    assert page.locator("#contributions").evaluate("table => table.getBoundingClientRect().right <= innerWidth")


def test_the_smallest_contrast_is_defined_as_on_the_page_of_an_audit(open_page: Callable[..., Any], path: Path) -> None:
    from biasgauge.audits.page.first_screen import MEASURED_SMALLEST

    page = open_page(path)
    assert MEASURED_SMALLEST in page.locator("#about").text_content()
    assert "held constant by the ranks that come with the vectors" in page.locator("#evidence").text_content()
