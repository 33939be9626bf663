"""Settings of each algorithm, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

from biasgauge.errors import ParameterError


@dataclass(frozen=True)
class NegativeSampling:
    """Settings of skip-gram and CBOW; the defaults are those of word2vec and gensim.

    Attributes:
        dim: numbers in a vector.
        window: context words on each side, at most.
        epochs: readings of the text.
        negative: words drawn against each true one.
        alpha, min_alpha: learning rate at the start and at the end.
        subsample: words more frequent than this share of the text are skipped at random; 0 skips none.
        exponent: negatives are drawn in proportion to count ** exponent.
    """

    dim: int = 100
    window: int = 5
    epochs: int = 5
    negative: int = 5
    alpha: float = 0.025
    min_alpha: float = 0.0001
    subsample: float = 0.001
    exponent: float = 0.75

    def __post_init__(self) -> None:
        at_least(self, 1, "dim", "window", "epochs", "negative")
        at_least(self, 0, "alpha", "min_alpha", "subsample")
        if not isfinite(self.exponent):
            raise ParameterError(f"The setting 'exponent' must be a finite number. Got {self.exponent!r}.")


@dataclass(frozen=True)
class FastTextSettings(NegativeSampling):
    """Those of skip-gram, and the lengths of the n-grams in characters, `<` and `>` at the ends included."""

    min_n: int = 3
    max_n: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 1, "min_n")
        at_least(self, self.min_n, "max_n")


@dataclass(frozen=True)
class GloveSettings:
    """Settings of GloVe; the defaults are those of the official tool's demonstration.

    Attributes:
        dim: numbers in a vector.
        window: context words on each side; a word at distance d counts 1 / d.
        epochs: readings of the co-occurrence counts (the tool calls them iterations).
        x_max, alpha: a count x weighs (x / x_max) ** alpha, at most 1.
        eta: first learning rate of AdaGrad.
    """

    dim: int = 100
    window: int = 15
    epochs: int = 15
    x_max: float = 100.0
    alpha: float = 0.75
    eta: float = 0.05

    def __post_init__(self) -> None:
        at_least(self, 1, "dim", "window", "epochs")
        at_least(self, 0, "x_max", "alpha", "eta")


Settings = NegativeSampling | GloveSettings


def at_least(settings: object, least: float, *names: str) -> None:
    """Refuse settings that are not numbers of their kind, or too small."""
    kinds = {field.name: str(field.type) for field in fields(settings)}  # type: ignore[arg-type]
    for name in names:
        value = getattr(settings, name)
        whole = kinds[name] == "int"
        right_kind = isinstance(value, int) if whole else isinstance(value, (int, float))
        if isinstance(value, bool) or not right_kind or not isfinite(value) or value < least:
            kind = "a whole number" if whole else "a number"
            raise ParameterError(f"The setting {name!r} must be {kind} of at least {least:g}. Got {value!r}.")
