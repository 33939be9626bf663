"""A likelihood measure: how likely is the least likely token of a sentence?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood import LanguageModel, SentenceMeasure, TokenQuery, Tokens
from biasgauge.core.arrays import Floats


def worst(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    """The smallest log probability of a token given those before it; the first token is the model's start."""
    scored = [np.flatnonzero(sentence.scored)[1:] for sentence in tokens]
    queries = [TokenQuery(sentence.ids, at, sentence.ids[at]) for sentence, at in zip(tokens, scored, strict=True)]
    answers = model.log_probabilities(queries)
    return np.array([values.min() if len(values) else np.nan for values in answers])


MEASURE = SentenceMeasure(
    name="worst-token",
    summary="Log probability of the least likely token. At most 0. Undefined for a single token.",
    source="textbook",
    needs="causal",
    score=worst,
)
