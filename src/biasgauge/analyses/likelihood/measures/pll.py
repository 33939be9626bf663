"""Pseudo-log-likelihood: each token of a sentence hidden in turn, and the log probabilities summed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.masking import hidden_one_by_one
from biasgauge.analyses.likelihood.measure import SentenceMeasure
from biasgauge.analyses.likelihood.models import LanguageModel, Sentence, Tokens
from biasgauge.core import Floats


def _scores(
    model: LanguageModel, sentences: Sequence[Sentence], tokens: Sequence[Tokens], *, whole_words: bool
) -> Floats:
    del sentences
    rows = [(own, np.flatnonzero(own.scored)) for own in tokens]
    return np.array([values.sum() for values in hidden_one_by_one(model, rows, whole_words=whole_words)])


MEASURE = (
    SentenceMeasure(
        name="pll",
        summary="Sum of the log probabilities of all tokens, each hidden with the later pieces of its word, given the "
        "rest. At most 0; longer sentences score lower.",
        source="Kauf & Ivanova 2023",
        needs="masked",
        released="pll-released",
        score=lambda model, sentences, tokens: _scores(model, sentences, tokens, whole_words=True),
    ),
    SentenceMeasure(
        name="pll-released",
        summary="As `pll` with each piece hidden alone, as first published: the rest of a word gives its pieces "
        "away, so that rare words of many pieces look likely.",
        source="Salazar, Liang, Nguyen & Kirchhoff 2020",
        needs="masked",
        score=lambda model, sentences, tokens: _scores(model, sentences, tokens, whole_words=False),
    ),
)
