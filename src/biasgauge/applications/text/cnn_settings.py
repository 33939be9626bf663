"""Settings of the classifier of Kim 2014, as they should be and as the released code of the study has them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

from biasgauge.errors import ParameterError

Monitor = Literal["loss", "accuracy"]
THREADS = 1
"""Sums are split by threads, so their number changes bits: one everywhere."""
PUBLISHED: dict[str, Any] = {
    "max_norm": None,
    "patience": None,
    "epochs": 256,
    "evaluate_every": 100,
    "monitor": "accuracy",
    "dropout_after_evaluation": False,
    "padding_counts": True,
}
"""Goldfarb-Tarrant et al. 2021: max-norm is read and not used, nothing stops training, the model stays in evaluation
mode after the first evaluation, and windows over the padding of a batch can win the maximum."""


@dataclass(frozen=True)
class CnnSettings:
    """How the classifier is built and trained.

    Attributes:
        widths: of the filters, in tokens.
        filters: of each width.
        dropout: share of the features that are left out at a training step.
        max_norm: longest weight vector of a class; longer ones are scaled down after each step. None for no limit.
        learning_rate: of Adam.
        batch: texts a step.
        epochs: most passes over the training texts.
        patience: evaluations without improvement before training stops; None for never.
        monitor: what has to improve on the dev texts.
        evaluate_every: steps between evaluations; None for once an epoch.
        dropout_after_evaluation: whether dropout is on again after an evaluation, as it should be.
        padding_counts: whether windows over the padding of a batch count, so that what is said about a text depends on
            the texts beside it.
    """

    widths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    max_norm: float | None = 3.0
    learning_rate: float = 1e-3
    batch: int = 64
    epochs: int = 25
    patience: int | None = 5
    monitor: Monitor = "loss"
    evaluate_every: int | None = None
    dropout_after_evaluation: bool = True
    padding_counts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        if not self.widths or not all(_whole(width, 1) for width in self.widths):
            raise _error("widths", "whole numbers of at least 1", self.widths)
        for name in ("filters", "batch", "epochs"):
            if not _whole(getattr(self, name), 1):
                raise _error(name, "a whole number of at least 1", getattr(self, name))
        for name in ("patience", "evaluate_every"):
            if getattr(self, name) is not None and not _whole(getattr(self, name), 1):
                raise _error(name, "a whole number of at least 1, or None", getattr(self, name))
        if not 0 <= self.dropout < 1:
            raise _error("dropout", "at least 0 and below 1", self.dropout)
        if not self.learning_rate > 0:
            raise _error("learning_rate", "above 0", self.learning_rate)
        if self.max_norm is not None and not self.max_norm > 0:
            raise _error("max_norm", "above 0, or None", self.max_norm)
        if self.monitor not in {"loss", "accuracy"}:
            raise _error("monitor", "loss or accuracy", self.monitor)

    @classmethod
    def named(cls, *, as_published: bool = False, **given: Any) -> Self:  # noqa: ANN401 - the attributes
        """The defaults, or those of the released code, with what the user says instead."""
        return replace(cls(**PUBLISHED) if as_published else cls(), **given)

    @classmethod
    def names(cls) -> frozenset[str]:
        """Of all settings."""
        return frozenset(one.name for one in fields(cls))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "widths": list(self.widths)}


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _error(name: str, needed: str, got: object) -> ParameterError:
    return ParameterError(f"The {name!r} setting of the classifier must be {needed}. Got {got!r}.")
