"""The posterior of each question in an audit: a planted contrast, its probabilities, and what `posterior` says."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.measurement import Measured
from biasgauge.lexicons import Lexicon, parse_lexicon


def stereotypes() -> Lexicon:
    return parse_lexicon(
        {
            "name": "own",
            "kind": "stereotypes",
            "title": "two groups",
            "groups": {
                name: {
                    "protected": [f"{name}p{n}" for n in range(8)],
                    "attributes": [f"{name}a{n}" for n in range(12)],
                }
                for name in ("red", "blue")
            },
        },
        path="own.toml",
    )


def model(pull: float, *, without: str = "") -> bg.Embedding:
    """Words of a group share a direction, as far as `pull` says; all else is noise."""
    random = np.random.default_rng(5)
    own = stereotypes()
    words, rows = [], []
    for number, group in enumerate(own.groups):  # type: ignore[attr-defined]  # of stereotypes
        for word in (*group.protected, *group.attributes):
            noise = random.standard_normal(200) / 200**0.5
            noise[number] += pull
            words.append(word)
            rows.append(noise)
    words += [f"person{n}" for n in range(20)]
    rows += list(random.standard_normal((20, 200)) / 200**0.5)
    kept = [place for place, word in enumerate(words) if not without or not word.startswith(without)]
    return bg.Embedding(tuple(words[place] for place in kept), np.array(rows)[kept], name="made")


@cache
def of_glove() -> bg.audits.AuditResult:
    return bg.audit(bg.vectors.load_default(), lexicons=["weat7", "gender"], random_state=3)


def test_a_planted_stereotype_is_certain() -> None:
    (row,) = bg.audit(model(1.0), lexicons=[stereotypes()]).uncertainty
    # two words of one group have cosine 1 / (1 + 1); words of two groups are unrelated
    assert row.value == pytest.approx(0.5, abs=0.03)
    assert row.p_above == row.p_direction == 1
    assert row.p_equivalent == row.p_below == 0


def test_nothing_is_certain_in_noise() -> None:
    (row,) = bg.audit(model(0.0), lexicons=[stereotypes()]).uncertainty
    assert row.low < 0 < row.high
    assert max(row.p_above, row.p_below) < 0.9


def test_the_probabilities_are_of_the_verdicts_contrast_and_its_smallest() -> None:
    """Median near the verdict's number, one threshold, and three probabilities that share out all there is."""
    result = of_glove()
    assert len(result.uncertainty) == 2
    for row, verdict in zip(result.uncertainty, result.verdicts, strict=True):
        assert (row.question, row.model) == (verdict.question, verdict.model)
        assert row.smallest == verdict.observed("association")["smallest"]
        assert row.value == pytest.approx(verdict.contrast.value, abs=0.15 * row.sd)
        assert row.p_above + row.p_equivalent + row.p_below == pytest.approx(1)
        assert row.at_equal_frequency == verdict.at_equal_frequency
        assert row.low < row.value < row.high
        assert row.level == 0.89
        assert row.problems == ()


def test_it_is_what_the_function_and_the_command_say() -> None:
    result = of_glove()
    for row in result.uncertainty:
        found = bg.posterior(bg.vectors.load_default(), row.question, smallest=row.smallest, random_state=3).adjusted
        assert (row.value, row.low, row.high) == (found.median, found.low, found.high)
        assert (row.p_above, row.p_equivalent, row.p_below) == (found.p_above, found.p_equivalent, found.p_below)


def test_a_threshold_of_ones_own_is_the_only_one() -> None:
    rules = bg.audits.Rules(smallest=0.04)
    result = bg.audit(bg.vectors.load_default(), lexicons=["weat7"], rules=rules)
    assert [row.smallest for row in result.uncertainty] == [0.04]


def test_the_smallest_that_matters_is_computed_as_for_the_verdict() -> None:
    from biasgauge.audits.context import build_context

    context = build_context([bg.vectors.load_default()], lexicons=["weat7"], random_state=3)
    (verdict, _) = of_glove().verdicts
    (outcome,) = context.outcomes
    assert isinstance(outcome, Measured)
    alone = bg.audit(bg.vectors.load_default(), lexicons=["weat7"], random_state=3).verdicts[0]
    assert context.smallest_contrast(outcome.subject) == alone.observed("association")["smallest"]
    assert verdict.question == alone.question


def test_what_cannot_be_measured_has_no_posterior() -> None:
    result = bg.audit(model(1.0, without="bluea"), lexicons=[stereotypes()])
    assert [verdict.decision for verdict in result.verdicts] == ["not-measurable"]
    assert result.uncertainty == ()


def test_lists_of_one_word_give_a_reason() -> None:
    """The verdict takes the words of such lists as given; a posterior of words like them needs a second one."""
    targets = {side: {"words": [f"{color}p{n}" for n in range(4)]} for side, color in (("x", "red"), ("y", "blue"))}
    attributes = {"a": {"words": ["reda0"]}, "b": {"words": ["bluea0"]}}
    content = {"name": "own", "kind": "test", "title": "one attribute a side", **targets, **attributes}
    result = bg.audit(model(1.0), lexicons=[parse_lexicon(content, path="own.toml")])
    (row,) = result.uncertainty
    assert row.value is None
    assert "single word" in row.reason
    (section,) = (part for part in result.summary().parts if part.name == "uncertainty")
    assert any("single word" in sentence for sentence in section.sentences)


def test_the_page_and_the_json_have_it(tmp_path: object) -> None:
    result = of_glove()
    page = result.save(f"{tmp_path}/report.html").read_text(encoding="utf-8")
    assert "Posterior of each contrast" in page
    assert "P(contrast &gt; smallest)" in page
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["uncertainty"][0]["median"] == result.uncertainty[0].value
    again = bg.audits.AuditResult.from_dict(content)
    assert again.uncertainty == result.uncertainty
    (section,) = (part for part in again.summary().parts if part.name == "uncertainty")
    assert [len(chart.name) > 0 for chart in section.charts] == [True]
    assert [len(table.rows) for table in section.tables] == [2]
