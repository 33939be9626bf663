"""The first screen: the headline says what the verdicts allow and no more; each question has its row and sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.audits.page.first_screen import CAVEAT, _comment, headline, in_order, slugs, tiles
from biasgauge.audits.page.panels import _sentences
from biasgauge.audits.page.reporting_sentences import (
    METHODS,
    _bibliography,
    citation_key,
    methods,
    references,
    text_for_report,
    what_to_write,
)
from biasgauge.audits.verdicts import Evidence, Verdict
from biasgauge.core import REPORTED
from biasgauge.results import Quote, Summary
from biasgauge.results.markup import markdown

if TYPE_CHECKING:
    from collections.abc import Callable

    import biasgauge as bg


PUBLISHED = ("gender", "race", "religion", *(f"weat{number}" for number in range(1, 11)), "weat6b")


@pytest.fixture
def audited(shipped_audit: Callable[..., bg.audits.AuditResult]) -> bg.audits.AuditResult:
    return shipped_audit()


@pytest.fixture
def published(shipped_audit: Callable[..., bg.audits.AuditResult]) -> bg.audits.AuditResult:
    """The published tests, judged as they are where they are named."""
    return shipped_audit(*PUBLISHED)


def decided(result: bg.audits.AuditResult, **decisions: str) -> bg.audits.AuditResult:
    """The same audit in which these questions ended so, and all others are inconclusive."""
    verdicts = tuple(
        replace(one, decision=decisions.get(one.question, "inconclusive"))  # type: ignore[arg-type]
        for one in result.verdicts
    )
    return replace(result, verdicts=verdicts)


def test_a_headline_says_that_most_questions_cannot_be_measured(audited: bg.audits.AuditResult) -> None:
    lacking = {one.question: "not-measurable" for one in audited.verdicts if one.family != "class"}
    text = headline(decided(audited, class_status="report-with-care", **lacking))
    questions = [one for one in audited.verdicts if one.family != "sanity"]
    unmeasured = sum(one.family != "class" for one in questions)
    assert text.endswith(
        f"Most questions about people ({unmeasured} of {len(questions)}) cannot be measured in these vectors."
    )
    few = headline(decided(audited, class_status="report-with-care", age_valence="not-measurable"))
    assert "cannot be measured" not in few


def test_a_headline_repeats_what_may_be_reported(published: bg.audits.AuditResult) -> None:
    audited = published
    claim = "male names are more associated with career words than female names are"
    assert headline(decided(audited, weat6="report")) == (
        f"In these vectors, {claim}. Nothing else about people may be reported."
    )
    both = headline(decided(audited, weat6="report", weat7="report-with-care"))
    assert both == f"In these vectors, {claim}. Nothing else about people may be reported without care."
    careful = headline(decided(audited, weat6="report-with-care"))
    assert careful.startswith(
        f"With care, it may be reported that {claim}. Nothing can be said either way about race, "
    )
    assert "gender" not in careful


def test_sanity_checks_and_what_fails_are_no_findings(published: bg.audits.AuditResult) -> None:
    audited = published
    said = headline(decided(audited, weat1="report", weat7="do-not-report"))
    assert said.startswith("Nothing about people may be reported from these vectors: of 12 questions, 1 should not")
    assert "flowers" not in said


def test_one_check_of_the_instrument_is_answered(published: bg.audits.AuditResult) -> None:
    flowers = [verdict for verdict in decided(published, weat1="report").verdicts if verdict.question == "weat1"]
    said = headline(replace(published, verdicts=tuple(flowers)))
    assert said.startswith("In these vectors, flowers are more associated with pleasant")
    assert said.endswith(". This is a check of the instrument.")


def test_absence_that_is_shown_may_be_reported_and_is_not_open(published: bg.audits.AuditResult) -> None:
    audited = published
    ruled_out = {"weat4": "no-association-shown"}
    assert headline(decided(audited, **ruled_out)).startswith("No association about people may be reported from these")
    assert headline(decided(audited, weat6="report", **ruled_out)).endswith(
        "No other association about people may be reported."
    )
    careful = headline(decided(audited, weat6="report-with-care", **ruled_out))
    assert "Nothing can be said either way about religion" in careful
    assert "race" not in careful


def test_many_answers_are_counted_by_family(published: bg.audits.AuditResult) -> None:
    audited = published
    careful = dict.fromkeys(("weat6", "weat7", "weat8", "race"), "report-with-care")
    assert headline(decided(audited, **careful)) == (
        "With care, 4 of 12 answers about people may be reported: 3 on gender and 1 on race."
    )
    ruled_out = dict.fromkeys(("weat4", "weat5"), "no-association-shown")
    mixed = headline(decided(audited, **{**careful, "weat6": "report", "religion": "report"}, **ruled_out))
    assert mixed.startswith("In these vectors, ")
    sure = dict.fromkeys(careful, "report")
    assert headline(decided(audited, **sure, religion="report-with-care", **ruled_out)) == (
        "5 of 12 answers about people may be reported, 1 of them with care: 3 on gender, 1 on race and 1 on religion. "
        "In 2 others, an association that matters is ruled out."
    )


def test_one_question_is_answered_in_a_sentence(published: bg.audits.AuditResult) -> None:
    audited = published
    claim = "male names are more associated with career words than female names are"
    (weat6,) = (verdict for verdict in audited.verdicts if verdict.question == "weat6")
    expected = {
        "report": f"In these vectors, {claim}.",
        "report-with-care": f"With care, it may be reported that, in these vectors, {claim}.",
        "no-association-shown": f"No association shown: these vectors rule out that {claim} by as much as matters.",
        "inconclusive": f"Inconclusive: these vectors do not settle whether {claim}.",
        "not-measurable": f"Not measurable: {weat6.why}.",
    }
    for decision, text in expected.items():
        verdict = replace(weat6, decision=decision)  # type: ignore[arg-type]
        assert headline(replace(audited, verdicts=(verdict,))) == text
    failed = replace(weat6, decision="do-not-report", evidence=(replace(weat6.evidence[1], passes=False),))
    said = headline(replace(audited, verdicts=(failed,)))
    assert said == f"Do not report that {claim}: {weat6.evidence[1].reason}."


def test_tiles_count_decisions_and_give_the_error_rate(audited: bg.audits.AuditResult) -> None:
    shown = tiles(audited)
    about_people = [one for one in audited.verdicts if one.family != "sanity"]
    assert 0 < len(about_people) < len(audited.verdicts)
    assert sum(int(tile.value) for tile in shown[:-1]) == len(about_people)
    rate = max(audited.error_rates, key=lambda one: one.rate)
    # The rate is an estimate and no bound: its interval may reach beyond what is promised, and shows it.
    assert shown[-1].value == f"{100 * rate.rate:.1f}\u00a0%"
    assert f"[{100 * rate.low:.1f},\u00a0{100 * rate.high:.1f}]" in shown[-1].label
    assert shown[-1].label.startswith("highest of 4 false-alarm rates of meaningless lists [")
    assert audited.summary().caveat == CAVEAT


def test_the_forest_has_every_question_by_family_with_checks_last(audited: bg.audits.AuditResult) -> None:
    part = audited.summary().parts[0]
    assert part.forest is not None
    assert next(iter(part.forest.groups)) == "Gender"
    assert list(part.forest.groups)[-1] == "Positive controls"
    assert len(part.forest.rows) == len(audited.verdicts)
    assert {row.part for row in part.forest.rows} == set(part.rows_of_parts)
    smallest = {one.observed("association").get("smallest") for one in audited.verdicts} - {None}
    assert smallest == {part.forest.band}
    for verdict in audited.verdicts:
        row = next(row for row in part.forest.rows if row.part == slugs(audited.verdicts)[verdict.id])
        assert row.mark == verdict.decision
        if row.estimate is not None:
            if verdict.decision == "no-association-shown":  # the interval of the test of equivalence
                assert part.forest.band is not None
                assert max(abs(row.estimate.low or 0), abs(row.estimate.high or 0)) <= part.forest.band
                continue
            assert row.estimate.excludes(0) == (verdict.decision in {"report", "report-with-care", "do-not-report"})


def test_slugs_are_fit_for_links_and_none_is_used_twice() -> None:
    verdicts = [
        Verdict(question, "", model, "contrast", "inconclusive", "", "")
        for question in ("A b", "a-b", "<i>", "???") for model in ("m", "n")
    ]  # fmt: skip
    names = list(slugs(verdicts).values())
    assert len(set(names)) == len(verdicts)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_every_question_has_a_sentence_to_quote(audited: bg.audits.AuditResult) -> None:
    decisions = {one.question: one.decision for one in audited.verdicts} | {"gender_math": "not-measurable"}
    part = what_to_write(decided(audited, **decisions))
    assert part is not None
    assert len(part.quotes) == len(audited.verdicts) + 1
    for quote in part.quotes:
        assert quote.text.endswith(".")
        assert quote.caveat
    by_decision = {quote.mark: quote.text for quote in part.quotes}
    assert "it is not settled whether" in by_decision["inconclusive"]
    assert "could not be measured" in by_decision["not-measurable"]


def test_the_page_quotes_claims_and_leaves_other_sentences_to_their_rows(audited: bg.audits.AuditResult) -> None:
    part = text_for_report(audited)
    assert part is not None
    assert {quote.mark for quote in part.quotes} <= {"report", "report-with-care", "no-association-shown"}
    claims = [one for one in audited.verdicts if one.decision in REPORTED and one.family != "sanity"]
    assert len(part.quotes) == len(claims) > 0
    assert part.listings[0].text == methods(audited)
    assert "it is not settled" in " ".join(quote.text for quote in audited.quotes)
    first = next(one for one in in_order(audited) if one.family != "sanity")
    ruled_out = replace(first, decision="no-association-shown")
    verdicts = tuple(ruled_out if one is first else one for one in audited.verdicts)
    part = text_for_report(replace(audited, verdicts=verdicts))
    assert part is not None
    marks = [quote.mark for quote in part.quotes]
    assert marks[0] in REPORTED
    assert marks[-1] == "no-association-shown"


def test_the_methods_paragraph_follows_the_settings(audited: bg.audits.AuditResult) -> None:
    text = methods(audited)
    assert "4 replicates of SGNS enwiki (25,000 words, 64 dimensions)" in text
    assert "alpha = 0.05" in text
    rules = {**audited.settings["rules"], "alpha": 0.01, "agreement": 0.8, "smallest": 0.02}
    changed = methods(replace(audited, settings={**audited.settings, "rules": rules, "random_state": 7}))
    assert "alpha = 0.01" in changed
    assert "at least 80 %" in changed
    assert "set in advance" in changed
    assert changed.endswith("Random seed: 7.")


def test_references_are_of_what_was_used_and_of_nothing_else(decided_audit: bg.audits.AuditResult) -> None:
    keys = [re.match(r"@\w+\{(\w+),", entry) for entry in references(decided_audit)]
    found = {key.group(1) for key in keys if key}
    assert {"caliskan2017", "manzini2019", "benjamini1995", "benjamini2005", "du2021"} <= found
    assert not {"koo2016", "lauscher2019", "holm1979"} & found


def test_every_list_and_method_has_its_entry() -> None:
    known = _bibliography()
    cited = {citation_key(one.citation) for one in registry.everything("lexicon").values() if one.citation}
    assert cited | {key for keys in METHODS.values() for key in keys} <= set(known)
    for entry in known.values():
        assert entry.count("{") == entry.count("}")
        assert "author = {" in entry
        assert "year = {" in entry


def test_markdown_does_not_say_the_title_of_a_sentence_twice() -> None:
    quotes = (Quote("WEAT 7", "WEAT 7 could not be measured.", "Nothing."), Quote("WEAT 8", "In v, men.", "Only v."))
    text = markdown(Summary("T", "", quotes=quotes))
    assert "\nWEAT 7 could not be measured. *Nothing.*" in text
    assert "\nWEAT 8: In v, men. *Only v.*" in text


@pytest.mark.parametrize(
    ("power", "needed", "comment"),
    [(0.63, 102, "about 102 words per list needed"), (0.91, None, "near the limits in spite of enough words")],
)
def test_no_more_words_are_asked_for_than_there_are(power: float, needed: int | None, comment: str) -> None:
    """Power is reached with 76 words, of 98 at hand: what is undecided then is not for want of words."""
    numbers = {"contrast": 0.051, "power": 0.8, "now": power, "targets": 102, "attributes": 59, "both": 102}
    observed = {"contrast": 0.03, "low": -0.01, "high": 0.06, "smallest": 0.05}
    failed = (Evidence("association", observed, 0.05, passes=False, reason="p"),)
    verdict = Verdict("science", "Science", "toy", "contrast", "inconclusive", "", "p", failed, plan=numbers)
    assert verdict.words_needed == needed
    assert _comment(verdict) == comment
    (sentence,) = _sentences(verdict)
    assert ("They are long enough" in sentence) == (needed is None)
    assert ("102 words in each list" in sentence) == (needed is not None)
