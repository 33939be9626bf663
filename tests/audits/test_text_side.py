"""What the text says, beside the vectors of an audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.text_comparison import CorpusAssociation
from biasgauge.text import TokenCorpus, read_corpus


@pytest.fixture(scope="module")
def corpus() -> TokenCorpus:
    random = np.random.default_rng(1)
    sets = bg.lexicon("weat7").sets
    lines = []
    for _ in range(1500):
        first = random.random() < 0.5
        targets = sets["x"] if random.random() < (0.7 if first else 0.3) else sets["y"]
        lines.append(f"{random.choice(targets)} and {random.choice(sets['a'] if first else sets['b'])} were there")
    return read_corpus(iter(lines))


def test_an_audit_shows_what_its_text_says(corpus: TokenCorpus) -> None:
    result = bg.audit(lexicons=["weat7"], corpus=corpus)
    assert result.text is not None
    answer = result.text.answers[0]
    counted = bg.corpus_bias(corpus, test="weat7").contrast
    assert counted is not None
    assert (answer.text.value, answer.text.low) == (counted.value, counted.low)
    assert answer.text.value == pytest.approx(4 * np.log(7 / 3) / 2, abs=0.35)  # the odds are (7/3)² in each set
    models = [one for one in result.bias if one.test == "weat"]
    contrasts = [one.contrast.value for one in models[: len(result.subjects[0].models)]]
    assert answer.vectors == pytest.approx(np.mean(contrasts))
    content = json.loads(json.dumps(result.to_dict()))
    back = type(result).from_dict(content)
    assert back.to_dict()["text"] == content["text"]
    assert any(part.name == "text" for part in back.summary().parts)


def test_words_without_contexts_are_undefined_beside_the_vectors(corpus: TokenCorpus) -> None:
    """The words of a test stand in the text, and never near its attributes."""
    sets = bg.lexicon("weat7").sets
    lines = [f"{word} was there" for word in [*sets["x"], *sets["y"]]]
    lines += [f"{word} said so" for word in [*sets["a"], *sets["b"]]]
    answer = compare_with(iter(lines))
    assert answer.text.value is None
    assert "no context of either group" in (answer.text.reason or "")
    assert answer.slope.value is None
    assert compare_with(corpus).text.excludes(0)


def compare_with(text: TokenCorpus | Iterator[str]) -> CorpusAssociation:
    answer: CorpusAssociation = bg.audit(lexicons=["weat7"], corpus=text).text.answers[0]
    return answer


def test_without_a_text_there_is_no_such_part(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    result = shipped_audit("weat7")
    assert result.text is None
    assert "text" not in result.to_dict()
    assert not any(part.name == "text" for part in result.summary().parts)
