"""What `check` finds, and how grave it says it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError
from biasgauge.lexicons import Finding, Words, check, lexicon, parse_lexicon

if TYPE_CHECKING:
    from pathlib import Path


def _test(x: list[str], y: list[str], a: list[str], b: list[str]) -> dict[str, object]:
    return {"kind": "test", **{role: {"words": words} for role, words in zip("xyab", (x, y, a, b), strict=True)}}


def _severities(findings: tuple[Finding, ...], part: str) -> list[str]:
    return [finding.severity for finding in findings if part in finding.sentence]


def test_a_word_in_both_targets_is_an_error() -> None:
    result = check(parse_lexicon(_test(["rose", "ant"], ["ant", "bee"], ["good"], ["bad"])))
    assert not result.ok
    assert result.findings[0] == Finding(
        "error", "Sets 'x' and 'y' share 'ant': a word cannot be in both targets of a test."
    )


def test_shared_attributes_and_a_target_among_attributes_are_warnings() -> None:
    result = check(parse_lexicon(_test(["rose"], ["ant"], ["good", "su"], ["bad", "su", "ant"])))
    assert result.ok
    assert _severities(result.findings, "Sets 'a' and 'b' share 'su'") == ["warning"]
    assert _severities(result.findings, "Sets 'y' and 'b' share 'ant'") == ["warning"]


def test_unequal_targets_warn_and_unequal_attributes_are_noted() -> None:
    result = check(parse_lexicon(_test(["p", "q"], ["r"], ["s"], ["t", "u", "v"])))
    assert [(it.a, it.b, it.sizes) for it in result.unequal] == [("x", "y", (2, 1)), ("a", "b", (1, 3))]
    assert _severities(result.findings, "differ in size, 2 and 1") == ["warning"]
    assert _severities(result.findings, "differ in size, 1 and 3") == ["note"]


def test_sets_of_concepts_may_differ_in_size_and_overlap() -> None:
    result = check(parse_lexicon({"kind": "sets", "sets": {"p": ["a", "b"], "q": ["b"]}}))
    assert result.unequal == ()
    assert _severities(result.findings, "share 'b'") == ["note"]


def test_duplicates_are_warned_of_and_case_is_noted() -> None:
    result = check(parse_lexicon({"kind": "words", "words": ["he", "He", "she", "she"]}))
    (only,) = result.sets
    assert (only.asked, only.unique) == (4, 3)
    assert only.duplicates == ("she",)
    assert only.case_duplicates == ("he", "He")
    assert _severities(result.findings, "'she' more than once") == ["warning"]
    assert _severities(result.findings, "2 words that differ by case alone") == ["note"]


@pytest.mark.parametrize(
    ("pairs", "severity", "part"),
    [
        ([["he", "he"]], "error", "The pair (he, he) has equal ends"),
        ([["he", "she"], ["he", "she"]], "warning", "The pair (he, she) is there 2 times"),
        ([["he", "she"], ["she", "he"]], "warning", "The pair (he, she) is there in both directions"),
        ([["he", "she"], ["her", "he"]], "warning", "share 'he': a word stands on both sides"),
    ],
)
def test_pairs_that_say_nothing_or_too_much(pairs: list[list[str]], severity: str, part: str) -> None:
    result = check(parse_lexicon({"kind": "pairs", "pairs": pairs}))
    assert _severities(result.findings, part) == [severity]
    assert result.ok == (severity != "error")


def test_a_protected_word_of_two_groups_is_an_error() -> None:
    groups = {
        "p": {"protected": ["a", "b"], "attributes": ["m", "n"]},
        "q": {"protected": ["b"], "attributes": ["n"]},
    }
    result = check(parse_lexicon({"kind": "stereotypes", "groups": groups}))
    assert _severities(result.findings, "'p.protected' and 'q.protected' share 'b'") == ["error"]
    assert _severities(result.findings, "'p.attributes' and 'q.attributes' share 'n'") == ["warning"]


def test_only_paired_seed_sets_are_compared() -> None:
    seeds = [{"id": name, "words": ["w", *extra]} for name, extra in (("p", []), ("q", ["v"]), ("r", []))]
    result = check(parse_lexicon({"kind": "seeds", "seeds": seeds, "pairings": [["p", "q"]]}))
    assert [(it.a, it.b, it.words) for it in result.overlaps] == [("p", "q", ("w",))]
    assert [(it.a, it.b) for it in result.unequal] == [("p", "q")]


def test_multi_word_items_are_those_with_an_inner_join() -> None:
    words = ["ex_wife", "arco iris", "HE_", "_a", "short-term", "plain"]
    (only,) = check(parse_lexicon({"kind": "words", "words": words})).sets
    assert only.multiword == ("ex_wife", "arco iris")


def test_lost_words_are_listed_and_weighed_by_their_share() -> None:
    sets = {"sets": {"all": ["a", "b"], "most": ["a", "b", "c", "d", "z"], "half": ["a", "z"], "none": ["y", "z", "z"]}}
    result = check(parse_lexicon({"kind": "sets", **sets}), vocabulary={"a", "b", "c", "d"})
    assert {one.name: one.lost for one in result.sets} == {
        "all": (),
        "most": ("z",),
        "half": ("z",),
        "none": ("y", "z"),
    }
    assert {one.name: one.found for one in result.sets} == {"all": 2, "most": 4, "half": 1, "none": 0}
    assert _severities(result.findings, "'most' are not in the vocabulary") == ["note"]  # 4 of 5 found: 0.8 is enough
    assert _severities(result.findings, "'half' are not in the vocabulary") == ["warning"]
    assert _severities(result.findings, "'none' are not in the vocabulary: 'y', 'z'; 80 % must be found.") == ["error"]
    assert result.to_dict()["coverage"] == {
        "asked": 11,
        "found": 7,
        "lost": {"most": ["z"], "half": ["z"], "none": ["y", "z"]},
    }


def test_without_a_vocabulary_nothing_is_said_of_coverage() -> None:
    result = check("weat7")
    assert "coverage" not in result.to_dict()
    assert {one.lost for one in result.sets} == {None}
    assert result.to_frame()["found"].isna().all()


def test_errors_come_first() -> None:
    result = check(parse_lexicon(_test(["a", "a"], ["a"], ["b", "B"], ["c"])))
    severities = [finding.severity for finding in result.findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert severities[0] == "error"


def test_a_path_or_a_name_can_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('kind = "words"\nwords = ["a", "a"]\n', encoding="utf-8")
    assert check(path).sets[0].duplicates == ("a",)
    assert check("occ16").name == "occ16"
    with pytest.raises(LexiconError, match="lexicon"):
        check("occ17")


def test_long_lists_are_cut_in_sentences_but_not_in_results() -> None:
    result = check("occ16", vocabulary=())
    (only,) = result.sets
    assert only.lost == lexicon("occ16").words
    assert any("and 312 more" in finding.sentence for finding in result.findings)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefAB"), min_size=1), st.sets(st.sampled_from("abcdefAB")))
def test_counts_of_a_set_add_up(words: list[str], vocabulary: set[str]) -> None:
    result = check(Words(name="mine", listed=tuple(words)), vocabulary)
    (only,) = result.sets
    assert only.lost is not None
    assert only.asked == len(words)
    assert only.unique == len(set(words))
    assert only.found == len(set(words) & vocabulary)
    assert set(only.lost) == set(words) - vocabulary
    assert set(only.duplicates) == {word for word in words if words.count(word) > 1}
    assert json.loads(json.dumps(result.to_dict()))["name"] == "mine"
    assert result.to_frame()["asked"].sum() == len(words)


def test_a_test_is_usable_exactly_where_weat_is_defined() -> None:
    import biasgauge as bg
    from biasgauge import registry

    embedding = bg.vectors.load_default()
    seen = set()
    for name, each in registry.everything("lexicon").items():
        if each.kind != "test":
            continue
        for fallback in (False, True):
            policy = bg.core.WordPolicy.from_options(case_fallback=fallback)
            checked = check(name, embedding, policy=policy)
            defined = bg.weat(embedding, name, interval=None, policy=policy, samples=10, max_exact=10).value is not None
            assert checked.ok == defined, (name, fallback)
            seen.add(defined)
    assert seen == {True, False}


def test_a_set_that_is_too_short_spoils_a_test_and_not_a_list_of_sets() -> None:
    vocabulary = {"p", "q", "r", "s", "good", "bad"}
    short = check(parse_lexicon(_test(["p", "lost"], ["q", "r"], ["good"], ["bad"])), vocabulary)
    assert not short.ok
    assert _severities(short.findings, "80 % must be found") == ["error"]
    half = parse_lexicon(_test(["p", "lost"], ["q", "r"], ["good"], ["bad"]))
    assert check(half, vocabulary, policy=WordPolicy(0.5)).ok
    sets = check(parse_lexicon({"kind": "sets", "sets": {"one": ["p", "lost"], "two": ["q"]}}), vocabulary)
    assert sets.ok
    assert _severities(sets.findings, "80 % must be found") == ["warning"]
