"""Settings of the classifier of Kim 2014, as they should be and as the released code of the study has them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from biasgauge.core import Record, check_choice, check_number, check_whole
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
class CnnSettings(Record):
    """Architecture and training of the classifier.

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
        for width in self.widths or (None,):
            check_whole(1, widths=width)
        check_whole(1, filters=self.filters, batch=self.batch, epochs=self.epochs)
        limits = {"patience": self.patience, "evaluate_every": self.evaluate_every}
        check_whole(1, **{name: limit for name, limit in limits.items() if limit is not None})
        check_number(0, ends=False, learning_rate=self.learning_rate)
        check_number(0, ends=False, max_norm=1 if self.max_norm is None else self.max_norm)
        check_choice(get_args(Monitor), monitor=self.monitor)
        if not 0 <= self.dropout < 1:
            raise ParameterError(f"The 'dropout' parameter must be at least 0 and below 1. Got {self.dropout!r}.")

    @classmethod
    def named(cls, *, as_published: bool = False, **settings: Any) -> Self:  # noqa: ANN401 - the attributes
        """The defaults, or those of the released code, with what the user says instead."""
        return replace(cls(**PUBLISHED) if as_published else cls(), **settings)

    @classmethod
    def names(cls) -> frozenset[str]:
        """Of all settings."""
        return frozenset(field.name for field in fields(cls))
