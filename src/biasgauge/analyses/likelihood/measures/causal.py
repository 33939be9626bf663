"""Log-likelihood of a sentence under a causal model: its sum, per token, and per word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel, SentenceMeasure, Tokens, token_queries
from biasgauge.core import Floats

_READING = "given everything before it, from the model's start token on"
_CAUSAL: dict[str, Any] = {"needs": "causal", "undefined": "it has no token that the model predicts"}


def token_log_likelihoods(model: LanguageModel, tokens: Sequence[Tokens]) -> list[Floats]:
    """Log probability of each scored token given those before it; without a start token the first is not scored."""
    predicted = [np.flatnonzero(sentence.scored & (np.arange(len(sentence)) > 0)) for sentence in tokens]
    return model.log_probabilities(token_queries(tokens, predicted))


def _likelihoods(model: LanguageModel, tokens: Sequence[Tokens], per: Literal["sentence", "token", "word"]) -> Floats:
    """Sum of the log probabilities of a sentence, or its share for each token or word; NaN without any."""
    scores = []
    for values, sentence in zip(token_log_likelihoods(model, tokens), tokens, strict=True):
        parts = {"sentence": 1, "token": max(len(values), 1), "word": max(sentence.word_count, 1)}[per]
        scores.append(values.sum() / parts if len(values) else np.nan)
    return np.array(scores)


MEASURE = (
    SentenceMeasure(
        name="causal-sum",
        summary=f"Sum of the log probabilities of all tokens, each {_READING}. At most 0. Of two sentences the "
        "shorter is favored.",
        source="log-likelihood",
        score=partial(_likelihoods, per="sentence"),
        **_CAUSAL,
    ),
    SentenceMeasure(
        name="causal-mean",
        summary=f"Mean log probability of a token, each {_READING}: minus the logarithm of perplexity. Of two "
        "sentences the one whose words fall into more, easily predicted pieces is favored.",
        source="Nadeem, Bethke & Reddy 2021, for GPT-2",
        score=partial(_likelihoods, per="token"),
        **_CAUSAL,
    ),
    SentenceMeasure(
        name="causal-word",
        summary=f"Sum of the log probabilities of all tokens, each {_READING}, by the number of words between "
        "spaces: does not depend on how words fall into pieces.",
        source="log-likelihood per word",
        score=partial(_likelihoods, per="word"),
        **_CAUSAL,
    ),
)
