"""The section of the audit on how sure the associations are, from vectors made so that the answer is known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import biasgauge as bg
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


def test_a_planted_stereotype_is_found() -> None:
    result = bg.audit(model(1.0), lexicons=[stereotypes()])
    (one,) = result.uncertainty
    (contrast,) = one.contrasts
    assert (contrast.a, contrast.b, contrast.decision) == ("associated", "different", "different")
    # two words of one group have cosine 1 / (1 + 1); words of two groups are unrelated
    assert contrast.mean == pytest.approx(-0.5, abs=0.03)
    assert "closer to their own stereotype's attributes than to other groups'" in one.sentences[0]
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))["uncertainty"]
    assert content[0]["variant"] == "crossed"
    assert content[0]["contrasts"][0]["mean"] == contrast.mean


def test_nothing_is_found_in_noise() -> None:
    (one,) = bg.audit(model(0.0), lexicons=[stereotypes()]).uncertainty
    (contrast,) = one.contrasts
    assert contrast.low < 0 < contrast.high
    assert contrast.decision != "different"


def test_too_few_words_give_a_reason() -> None:
    (one,) = bg.audit(model(1.0, without="bluea"), lexicons=[stereotypes()]).uncertainty
    assert one.contrasts == ()
    assert one.sentences[0].startswith("own: unknown: ")
    assert "blue.attributes 0 of 12" in one.sentences[0]


def test_the_page_and_the_command_say_it(tmp_path: object) -> None:
    result = bg.audit(model(1.0), lexicons=[stereotypes()])
    page = result.save(f"{tmp_path}/report.html").read_text(encoding="utf-8")
    assert "Posterior distributions of distances" in page
    assert "closer to their own stereotype" in page
