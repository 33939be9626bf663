"""A likelihood measure: how likely is the least likely token of a sentence?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood import LanguageModel, Query, Sentence, SentenceMeasure, Tokens
from biasgauge.core.arrays import Floats


def worst(model: LanguageModel, sentences: Sequence[Sentence], tokens: Sequence[Tokens]) -> Floats:
    """The smallest log probability of a token given those before it; the first token is the model's start."""
    del sentences
    places = [np.flatnonzero(own.scored)[1:] for own in tokens]
    answers = model.log_probabilities([Query(own.ids, at, own.ids[at]) for own, at in zip(tokens, places, strict=True)])
    return np.array([values.min() if len(values) else np.nan for values in answers])


MEASURE = SentenceMeasure(
    name="worst-token",
    summary="Log probability of the least likely token. At most 0. Undefined for a single token.",
    source="textbook",
    needs="causal",
    score=worst,
)
