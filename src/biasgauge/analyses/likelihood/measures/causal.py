"""Log-likelihood of a sentence under a causal model: its sum, per token, and per word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.analyses.likelihood.measure import SentenceMeasure, token_queries
from biasgauge.analyses.likelihood.models import LanguageModel, Tokens
from biasgauge.core import Floats

_READING = "given everything before it, from the model's start token on"


def token_log_likelihoods(model: LanguageModel, tokens: Sequence[Tokens]) -> list[Floats]:
    """Log probability of each scored token given those before it; without a start token the first is not scored."""
    predicted = [np.flatnonzero(sentence.scored & (np.arange(len(sentence)) > 0)) for sentence in tokens]
    return model.log_probabilities(token_queries(tokens, predicted))


def _sum(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    return np.array([values.sum() if len(values) else np.nan for values in token_log_likelihoods(model, tokens)])


def _mean(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    return np.array([values.mean() if len(values) else np.nan for values in token_log_likelihoods(model, tokens)])


def _per_word(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    return np.asarray(_sum(model, tokens) / np.array([max(sentence.word_count, 1) for sentence in tokens]))


MEASURE = (
    SentenceMeasure(
        name="causal-sum",
        summary=f"Sum of the log probabilities of all tokens, each {_READING}. At most 0. Of two sentences the "
        "shorter is favored.",
        source="log-likelihood",
        needs="causal",
        undefined="it has no token that the model predicts",
        score=_sum,
    ),
    SentenceMeasure(
        name="causal-mean",
        summary=f"Mean log probability of a token, each {_READING}: minus the logarithm of perplexity. Of two "
        "sentences the one whose words fall into more, easily predicted pieces is favored.",
        source="Nadeem, Bethke & Reddy 2021, for GPT-2",
        needs="causal",
        undefined="it has no token that the model predicts",
        score=_mean,
    ),
    SentenceMeasure(
        name="causal-word",
        summary=f"Sum of the log probabilities of all tokens, each {_READING}, by the number of words between "
        "spaces: does not depend on how words fall into pieces.",
        source="log-likelihood per word",
        needs="causal",
        undefined="it has no token that the model predicts",
        score=_per_word,
    ),
)
