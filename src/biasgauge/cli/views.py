"""Layers, poolings and templates as they are typed on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from biasgauge.cli.words import typed_names
from biasgauge.errors import ParameterError


def typed_layers(typed: str) -> str | list[int]:
    """All, or numbers separated by commas.

    Raises:
        ParameterError: it is neither.
    """
    if typed == "all":
        return typed
    names = typed_names(typed)
    if not names or not all(name.isdecimal() for name in names):
        raise ParameterError(f"--layers takes all, or numbers separated by commas. Got {typed!r}.")
    return [int(name) for name in names]


def typed_pooling(typed: str) -> str | list[str]:
    """All, or names separated by commas."""
    return typed if typed == "all" else typed_names(typed)


def typed_templates(typed: Iterable[str]) -> list[str] | None:
    """Every template that is meant; None for none typed."""
    from biasgauge.vectors.encoders import templates_of

    return [template for text in typed for template in templates_of(text)] or None
