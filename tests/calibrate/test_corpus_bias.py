"""What a text says: against statsmodels, counts by hand, text of a known model, and as users ask it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import Table2x2

import biasgauge as bg
from biasgauge.analyses.criterion import amplification
from biasgauge.errors import ParameterError
from biasgauge.results.wording import table_texts
from biasgauge.text import TokenCorpus, read_corpus

if TYPE_CHECKING:
    from pathlib import Path

FILLING = ["the", "of", "and", "was", "in", "said", "a", "to"]
WORDS = ["nurse", "doctor", "poet", "clerk"]


def known_text(random: np.random.Generator, documents: int, odds: dict[str, float], burst: float) -> TokenCorpus:
    """Documents of lines around "he" or "she"; places near them hold a word with a known chance.

    A line is one of the two with two places on each side. In a document the share of "he" differs, and a word that the
    document uses is used `burst` times as often; near "he" its chance is exp(log odds) times that near "she".
    """
    texts = []
    for _ in range(documents):
        share = random.beta(0.6, 0.6)
        used = random.random(len(WORDS)) < 1 / burst
        lines = []
        for _ in range(12):
            first = random.random() < share
            near = np.array(
                [0.01 * burst * use * np.exp(odds[word] * first) for word, use in zip(WORDS, used, strict=True)]
            )
            places = []
            for _ in range(4):
                drawn = random.random()
                word = int(np.searchsorted(np.cumsum(near), drawn, "right"))
                places.append(WORDS[word] if word < len(WORDS) else FILLING[int(drawn * 1e6) % len(FILLING)])
            places.insert(2, "he" if first else "she")
            lines.append(" ".join(places))
        texts.append("\n".join(lines))
    return read_corpus(iter(texts), tokenizer="whitespace")


def true_log_odds(odds: dict[str, float]) -> dict[str, float]:
    """Of pooled places: a word has the same mean chance near "she" whatever the document."""
    return {
        word: np.log(0.01 * np.exp(value) / (1 - 0.01 * np.exp(value)) / (0.01 / 0.99)) for word, value in odds.items()
    }


def test_columns_and_numbers_are_those_of_the_design() -> None:
    texts = [
        "the nurse said she was here",
        "he was a doctor and he said so",
        "she saw the nurse and he did",
        "he he nurse",
    ]
    frame = bg.corpus_bias(iter(texts), words=["nurse"], a=["he"], b=["she"], window=5).to_frame()
    assert list(frame.columns[:9]) == ["word", "log_odds", "low", "high", "se", "n_wa", "n_a", "n_wb", "n_b"]
    row = frame.iloc[0]
    assert (row.n_wa, row.n_a, row.n_wb, row.n_b) == (3, 12 + 6 + 4, 2, 5 + 5)  # by hand
    theirs = Table2x2(np.array([[3, 19], [2, 8]]))
    assert row.log_odds == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    assert row.se == pytest.approx(theirs.log_oddsratio_se, abs=1e-10)
    assert (row.closed_low, row.closed_high) == pytest.approx(theirs.log_oddsratio_confint(), abs=1e-9)


def test_a_zero_raises_counts_by_the_sizes_of_the_groups_or_as_published_itself() -> None:
    texts = ["he saw the poet", "she saw the clerk", "he said so"]
    asked: dict[str, Any] = {"words": ["poet"], "a": ["he"], "b": ["she"], "interval": "closed-form"}
    row = bg.corpus_bias(iter(texts), **asked).words[0]
    assert (row.n_wa, row.n_a, row.n_wb, row.n_b) == (1, 5, 0, 3)
    assert row.log_odds == pytest.approx(np.log((1 + 5 / 6) * 3.5 / ((4 + 5 / 6) * 0.5)))  # 5/6 and 3/6 are added
    published = bg.corpus_bias(iter(texts), as_published="valentini2023", **asked).words[0]
    theirs = Table2x2(np.array([[1, 4], [0, 3]]), shift_zeros=True)
    assert published.log_odds == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    assert (published.low, published.high) == pytest.approx(theirs.log_oddsratio_confint(), abs=1e-9)


THIN = ["he saw a poet", "he said so", "he was in there too", "she saw a poet", "the clerk was there", "she saw him"]


def test_a_word_without_contexts_is_undefined_with_the_reason() -> None:
    """As published it has an odds ratio of n_B / n_A, whatever the word."""
    asked: dict[str, Any] = {"words": ["poet", "clerk"], "a": ["he"], "b": ["she"]}
    row = bg.corpus_bias(iter(THIN), **asked).words[1]
    assert (row.log_odds, row.low, row.high, row.se, row.n_wa, row.n_wb) == (None, None, None, None, 0, 0)
    assert (row.n_a, row.n_b) == (9, 5)
    assert "no context of either group" in (row.reason or "")
    published = bg.corpus_bias(iter(THIN), as_published="valentini2023", **asked).words[1]
    theirs = Table2x2(np.array([[0, 9], [0, 5]]), shift_zeros=True)
    assert published.log_odds == pytest.approx(theirs.log_oddsratio, abs=1e-10)
    sets = bg.corpus_bias(iter(THIN), x=["poet"], y=["clerk"], a=["he"], b=["she"]).sets
    assert [row.value is None for row in sets] == [False, True, True]
    assert "no context" in (sets[2].reason or "")


@pytest.mark.parametrize(("least", "defined"), [(0, True), (2, True), (3, False)])
def test_min_contexts_decides_words_and_sets(least: int, *, defined: bool) -> None:
    asked: dict[str, Any] = {"a": ["he"], "b": ["she"], "min_contexts": least}
    result = bg.corpus_bias(iter(THIN), words=["poet", "saw"], **asked)
    assert (result.words[0].log_odds is not None) == defined
    assert result.sets[0].value is not None  # 5 contexts together
    assert result.settings["min_contexts"] == least
    if not defined:
        assert "fewer than min_contexts=3 contexts with the word: 2" in (result.words[0].reason or "")
        reason = bg.corpus_bias(iter(THIN), x=["poet"], y=["saw"], **asked).sets[2].reason
        assert "min_contexts=3 contexts with the words of" in (reason or "")


def test_beside_a_group_without_any_context_words_are_undefined() -> None:
    row = bg.corpus_bias(iter(["he saw the poet", "she"]), words=["poet"], a=["he"], b=["she"]).words[0]
    assert (row.log_odds, row.n_wa, row.n_b) == (None, 1, 0)
    assert "one of the groups has no context" in (row.reason or "")


def test_a_set_pools_its_counts_and_a_swap_negates() -> None:
    corpus = known_text(np.random.default_rng(0), 60, dict.fromkeys(WORDS, 0.0), 2.0)
    given: dict[str, Any] = {"x": WORDS[:2], "y": WORDS[2:], "a": ["he"], "b": ["she"]}
    result = bg.corpus_bias(corpus, **given)
    pooled = []
    for rows in (result.words[:2], result.words[2:]):
        near_a, near_b = sum(row.n_wa for row in rows), sum(row.n_wb for row in rows)
        table = np.array([[near_a, rows[0].n_a - near_a], [near_b, rows[0].n_b - near_b]])
        pooled.append(Table2x2(table).log_oddsratio)
    assert [row.value for row in result.sets[:2]] == pytest.approx(pooled)
    assert result.contrast is not None
    assert result.contrast.value == pytest.approx(pooled[0] - pooled[1])
    swapped = bg.corpus_bias(corpus, **{**given, "a": ["she"], "b": ["he"]}).contrast
    assert swapped is not None
    assert (swapped.low, swapped.value) == pytest.approx((-result.contrast.high, -result.contrast.value))  # type: ignore[operator]


def test_bootstrap_agrees_with_leaving_out_where_documents_are_many() -> None:
    """Of words, and of a set of one word; the interval of a larger set speaks of other words, too."""
    corpus = known_text(np.random.default_rng(5), 1200, {"nurse": -1.0, "doctor": 1.0, "poet": 0.0, "clerk": 0.5}, 2.0)
    asked: dict[str, Any] = {"a": ["he"], "b": ["she"], "window": 2}
    questions: list[dict[str, Any]] = [{"words": WORDS}, {"x": ["nurse"], "y": ["doctor"]}]
    for words in questions:
        left_out, drawn = (bg.corpus_bias(corpus, interval=how, **words, **asked) for how in ("documents", "bootstrap"))
        rows: list[tuple[Any, Any]] = [*zip(left_out.words, drawn.words, strict=True)]
        if "x" in words:
            rows += zip(left_out.sets, drawn.sets, strict=True)
        for one, other in rows:
            assert one.low is not None
            assert one.high is not None
            assert other.low == pytest.approx(one.low, abs=0.12 * (one.high - one.low))
            assert other.high == pytest.approx(one.high, abs=0.12 * (one.high - one.low))


@pytest.mark.calibration
def test_text_of_a_known_model_is_covered_at_its_level() -> None:
    """Doses planted in clustered documents: the default interval covers, that of independent contexts does not."""
    odds = {"nurse": -1.2, "doctor": 0.8, "poet": 0.0, "clerk": 0.4}
    truth = true_log_odds(odds)
    repeats, hits, closed, contrast = 60, 0, 0, 0
    for number in range(repeats):
        corpus = known_text(np.random.default_rng([9, number]), 150, odds, 6.0)
        result = bg.corpus_bias(corpus, x=["doctor", "clerk"], y=["nurse", "poet"], a=["he"], b=["she"], window=2)
        for row in result.words:
            assert row.low is not None
            assert row.high is not None
            assert row.closed_low is not None
            assert row.closed_high is not None
            hits += row.low <= truth[row.word] <= row.high
            closed += row.closed_low <= truth[row.word] <= row.closed_high
        expected = (truth["doctor"] + truth["clerk"] - truth["nurse"] - truth["poet"]) / 2
        assert result.contrast is not None
        contrast += not result.contrast.excludes(expected)
    share = hits / (4 * repeats)
    assert share >= 0.95 - 3 * (0.05 * 0.95 / (4 * repeats)) ** 0.5
    assert contrast / repeats >= 0.95 - 3 * (0.05 * 0.95 / repeats) ** 0.5
    assert closed / (4 * repeats) < share


def test_lost_words_are_undefined_with_a_reason_and_json_comes_back() -> None:
    texts = ["He saw her", "the nurse and she", "he is a Nurse"]
    result = bg.corpus_bias(iter(texts), words=["Nurse", "astronaut"], a=["he"], b=["she", "her"])
    lost = result.words[1]
    assert (lost.log_odds, lost.low, lost.reason) == (None, None, "the text does not have the word")
    assert result.coverage["lost"] == {"given words": ["astronaut"]}
    assert result.words[0].n_wa + result.words[0].n_wb > 0  # found in lower case, as the text is
    content = json.loads(json.dumps(result.to_dict()))
    assert type(result).from_dict(content).to_dict() == content


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"words": ["nurse"], "a": ["he"]}, "Two groups are needed"),
        ({"a": ["he"], "b": ["she"]}, "Say which words"),
        ({"x": ["nurse"], "a": ["he"], "b": ["she"]}, "both 'x' and 'y'"),
        ({"test": "weat7", "words": ["nurse"]}, "give it alone"),
        ({"test": "occ16"}, "of kind 'test'"),
        ({"words": ["nurse"], "a": ["he"], "b": ["zzz"]}, "too few words of the groups"),
        ({"words": ["nurse"], "a": ["he"], "b": ["she"], "window": 0}, "'window' parameter"),
        ({"words": ["nurse"], "a": ["he"], "b": ["she"], "pairs": "du2021"}, "either 'pairs'"),
        ({"words": ["nurse"], "a": ["he"], "b": ["she"], "weighting": "linear"}, "'weighting' parameter"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        bg.corpus_bias(iter(["he saw the nurse", "she saw him"]), **asked)


def test_amplification_is_the_slope_of_scores_on_log_odds() -> None:
    corpus = known_text(np.random.default_rng(3), 400, {"nurse": -1.0, "doctor": 1.0, "poet": 0.0, "clerk": 0.5}, 2.0)
    bias = bg.corpus_bias(corpus, words=WORDS, a=["he"], b=["she"], window=2)
    scores = {word: 0.3 * value + 0.1 for word, value in bias.log_odds.items()}
    row = amplification(bias, scores).rows[0]
    assert row.slope.value == pytest.approx(0.3)
    assert row.r.value == pytest.approx(1)
    assert row.slope_corrected.value is not None
    assert row.slope_corrected.value > 0.3


def test_a_kept_corpus_and_its_text_say_the_same(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("he saw the nurse\n\nshe is a nurse\nhe is not\n\nshe she nurse he\n")
    kept = read_corpus(text, out=tmp_path / "corpus", documents="blank-line")
    asked: dict[str, Any] = {"words": ["nurse"], "a": ["he"], "b": ["she"]}
    expected = bg.corpus_bias(kept, **asked).to_dict()
    assert bg.corpus_bias(tmp_path / "corpus", **asked).to_dict() == expected
    assert bg.corpus_bias(text, documents="blank-line", **asked).to_dict() == expected


def dominated_text(random: np.random.Generator) -> TokenCorpus:
    """Short documents around "he" or "she"; "common" has most places of three words, near "he"."""
    texts = []
    for _ in range(600):
        pronoun = "he" if random.random() < 0.5 else "she"
        chances = {"common": 0.5 if pronoun == "he" else 0.2, "rare": 0.04, "seldom": 0.03}
        chances |= dict.fromkeys(["other", "more", "third"], 0.2)
        words = [word for word, chance in chances.items() if random.random() < chance]
        texts.append(" ".join(["the", *words, pronoun, "was"]))
    return read_corpus(iter(texts), tokenizer="whitespace")


def test_a_word_with_most_contexts_is_named_and_balanced() -> None:
    sets: dict[str, Any] = {
        "x": ["common", "rare", "seldom"],
        "y": ["other", "more", "third"],
        "a": ["he"],
        "b": ["she"],
    }
    found = bg.corpus_bias(dominated_text(np.random.default_rng(3)), **sets)
    first, second, contrast = found.sets
    counts = {row.word: row.n_wa + row.n_wb for row in found.words}
    total = counts["common"] + counts["rare"] + counts["seldom"]
    assert (first.largest_word, first.largest_contexts) == ("common", (counts["common"], total))
    assert first.largest_share == pytest.approx(counts["common"] / total)
    assert first.dominated
    assert not second.dominated
    assert (contrast.largest_word, contrast.dominated) == ("common", True)
    assert first.balanced is not None
    assert abs(first.balanced.value or 0) < abs(first.value or 0)  # the other two words do not lean
    assert contrast.decisive == contrast.balanced
    assert second.decisive is second
    note = f"common has {counts['common']:,} of {total:,} contexts"
    assert any(note in sentence for sentence in found.summary().sentences)
    assert "words balanced" in found.summary().headline
    assert table_texts(found.summary().tables[0])[0][4] == "common"
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.sets[0].largest_word == "common"
    assert again.sets[0].balanced is not None
    assert again.sets[0].balanced.high == first.balanced.high
    assert again.summary().headline == found.summary().headline
