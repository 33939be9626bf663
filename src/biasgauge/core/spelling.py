"""The known name that a mistyped one most likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 200
"""Names longer than this are not compared: no known name comes near, and the comparison is quadratic."""


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Give up to `count` of the `known` names that look most like `name`, best first; empty when none does."""
    if len(name) > LONGEST:
        return []
    by_folded = {candidate.casefold(): candidate for candidate in known}
    return [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.6)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give "; did you mean 'x'?", or nothing when no known name is near."""
    matches = nearest(name, known)
    return f"; did you mean {matches[0]!r}?" if matches else ""
