"""Pseudo-log-likelihood: each token of a sentence hidden in turn, and the log probabilities summed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.alignment import hidden_one_by_one
from biasgauge.analyses.likelihood.measure import SentenceMeasure
from biasgauge.analyses.likelihood.models import LanguageModel, Tokens
from biasgauge.core import Floats


def _scores(model: LanguageModel, tokens: Sequence[Tokens], *, whole_words: bool) -> Floats:
    rows = [(sentence, np.flatnonzero(sentence.scored)) for sentence in tokens]
    return np.array([values.sum() for values in hidden_one_by_one(model, rows, whole_words=whole_words)])


MEASURE = (
    SentenceMeasure(
        name="pll",
        summary="Sum of the log probabilities of all tokens, each hidden with the later pieces of its word, given the "
        "rest. At most 0; longer sentences score lower.",
        source="Kauf & Ivanova 2023",
        needs="masked",
        released="pll-released",
        score=lambda model, tokens: _scores(model, tokens, whole_words=True),
    ),
    SentenceMeasure(
        name="pll-released",
        summary="As `pll` with each piece hidden alone, as first published: the rest of a word gives its pieces "
        "away, so that rare words of many pieces look likely.",
        source="Salazar, Liang, Nguyen & Kirchhoff 2020",
        needs="masked",
        score=lambda model, tokens: _scores(model, tokens, whole_words=False),
    ),
)
