"""All unmasked likelihood: mean log probability of the tokens, given the whole sentence with nothing hidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.measure import SentenceMeasure, token_queries
from biasgauge.analyses.likelihood.models import LanguageModel, Tokens
from biasgauge.core import Floats

SOURCE = "Kaneko & Bollegala 2022"


def _log_probabilities(model: LanguageModel, tokens: Sequence[Tokens]) -> list[Floats]:
    return model.log_probabilities(token_queries(tokens, [np.flatnonzero(sentence.scored) for sentence in tokens]))


def _aul(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    return np.array([values.mean() for values in _log_probabilities(model, tokens)])


def _aula(model: LanguageModel, tokens: Sequence[Tokens], *, normalized: bool) -> Floats:
    received = model.attention_received([sentence.ids for sentence in tokens])
    scores = []
    for values, weights, sentence in zip(_log_probabilities(model, tokens), received, tokens, strict=True):
        weight = weights[sentence.scored]
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
        score=lambda model, tokens: _aula(model, tokens, normalized=True),
    ),
    SentenceMeasure(
        name="aula-released",
        summary="As `aula` in the paper and its code: weighted log probabilities are averaged over tokens though "
        "weights sum to about 1 already, so that the longer of two sentences scores higher for its length alone.",
        source=SOURCE,
        needs="masked",
        score=lambda model, tokens: _aula(model, tokens, normalized=False),
    ),
)
