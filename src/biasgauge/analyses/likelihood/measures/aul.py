"""All unmasked likelihood: how likely is every token, given the whole sentence with nothing hidden?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.measure import SentenceMeasure
from biasgauge.analyses.likelihood.models import LanguageModel, Query, Sentence, Tokens
from biasgauge.core import Floats

SOURCE = "Kaneko & Bollegala 2022"


def _likely(model: LanguageModel, tokens: Sequence[Tokens]) -> list[Floats]:
    places = [np.flatnonzero(own.scored) for own in tokens]
    return model.log_probabilities([Query(own.ids, at, own.ids[at]) for own, at in zip(tokens, places, strict=True)])


def _aul(model: LanguageModel, sentences: Sequence[Sentence], tokens: Sequence[Tokens]) -> Floats:
    del sentences
    return np.array([values.mean() for values in _likely(model, tokens)])


def _aula(model: LanguageModel, sentences: Sequence[Sentence], tokens: Sequence[Tokens], *, normalized: bool) -> Floats:
    del sentences
    received = model.attention_received([own.ids for own in tokens])
    scores = []
    for values, weights, own in zip(_likely(model, tokens), received, tokens, strict=True):
        weight = weights[own.scored]
        scores.append((values * weight).sum() / (weight.sum() if normalized else len(values)))
    return np.array(scores)


MEASURE = (
    SentenceMeasure(
        name="aul",
        summary="Mean log probability of every token given the whole sentence, nothing hidden; special tokens left "
        "out. At most 0. A model that copies its input is near 0 for every sentence.",
        source=SOURCE,
        needs="masked",
        score=_aul,
    ),
    SentenceMeasure(
        name="aula",
        summary="As `aul`, weighted by the attention that each token receives (mean over layers, heads and reading "
        "tokens); weights sum to 1 in each sentence.",
        source=f"{SOURCE}, with weights that sum to 1",
        needs="masked",
        released="aula-released",
        score=lambda model, sentences, tokens: _aula(model, sentences, tokens, normalized=True),
    ),
    SentenceMeasure(
        name="aula-released",
        summary="As `aula` in the paper and its code: weighted log probabilities are averaged over tokens though "
        "weights sum to about 1 already, so that the longer of two sentences scores higher for its length alone.",
        source=SOURCE,
        needs="masked",
        score=lambda model, sentences, tokens: _aula(model, sentences, tokens, normalized=False),
    ),
)
