"""`LikelihoodMeasure`: a rule that gives each of two sentences a score, higher where it is more likely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel, TokenQuery, Tokens
from biasgauge.core import Floats, Integers

Needs: TypeAlias = Literal["masked", "causal", "any"]
SentenceScores: TypeAlias = Callable[[LanguageModel, Sequence[Tokens]], Floats]
PairScores: TypeAlias = Callable[[LanguageModel, Sequence[tuple[Tokens, Tokens]]], Floats]


@dataclass(frozen=True)
class LikelihoodMeasure(ABC):
    """A rule that scores sentences by a language model.

    Sentences that the model cannot read never reach it. NaN is a score that is undefined.

    Attributes:
        name: by which it is found.
        summary: what the number means, what 0 or a difference of 0 means, when it is undefined.
        source: where it was published.
        needs: the kind of model that it asks.
        released: the name of the same measure as released code computes it, where that differs.
        undefined: why a score of readable sentences may be undefined.
    """

    name: str
    summary: str
    source: str
    needs: Needs
    released: str = ""
    undefined: str = "the measure has no value for it"

    @abstractmethod
    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""

    def score_units(self, model: LanguageModel, units: Sequence[Any]) -> Floats:
        """Scores of units of tokens, units × sentences of each: pairs, or single sentences where it can."""
        return self.of_pairs(model, units)


@dataclass(frozen=True, kw_only=True)
class SentenceMeasure(LikelihoodMeasure):
    """A rule that scores each sentence by itself.

    Attributes:
        score: gives the score of each sentence.
    """

    score: SentenceScores

    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""
        return self.score_units(model, pairs)

    def score_units(self, model: LanguageModel, units: Sequence[Any]) -> Floats:
        """Scores of the sentences of each unit."""
        scores = self.score(model, [tokens for unit in units for tokens in unit])
        return np.asarray(scores, np.float64).reshape(len(units), -1)


@dataclass(frozen=True, kw_only=True)
class PairMeasure(LikelihoodMeasure):
    """A rule that scores two sentences by the tokens that they share, or in which they differ.

    Attributes:
        score: gives the scores of both, pairs × 2.
    """

    score: PairScores

    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""
        return np.asarray(self.score(model, pairs), np.float64).reshape(-1, 2)


def token_queries(tokens: Sequence[Tokens], positions: Sequence[Integers]) -> list[TokenQuery]:
    """Query of the tokens at some positions of each sentence, nothing hidden."""
    return [
        TokenQuery(sentence.ids, index, sentence.ids[index]) for sentence, index in zip(tokens, positions, strict=True)
    ]
