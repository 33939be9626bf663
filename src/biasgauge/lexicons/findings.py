"""One thing that a check found, as a sentence with its severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from biasgauge.core import Record

Severity = Literal["error", "warning", "note"]

SHOWN = 8
"""Words named in a sentence; the rest is counted."""


@dataclass(frozen=True)
class Finding(Record):
    """One thing found, as a sentence."""

    severity: Severity
    sentence: str


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes."""
    order: tuple[Severity, ...] = ("error", "warning", "note")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


def listed_words(words: Iterable[str]) -> str:
    """Words in quotes; past eight, how many more there are."""
    several = tuple(words)
    named = ", ".join(f"'{word}'" for word in several[:SHOWN])
    return named if len(several) <= SHOWN else f"{named} and {len(several) - SHOWN} more"
