"""Every number of an audit as a row of a table: what was measured, its interval, its p, and its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from biasgauge.core import to_plain

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult

Row = dict[str, Any]
STATISTICS = {"weat": "effect size d"}
SETS = ("x", "y", "a", "b")


def effect_rows(result: AuditResult) -> Iterator[Row]:
    """Contrast and effect size of every test, MAC of every list of stereotypes: in each model, and over replicates."""
    for row in result.bias:
        content = to_plain(row)
        start = {"lexicon": content["name"], "model": content["model"], "over": "words"}
        sets = {role: content["sets"].get(role) for role in SETS}
        if content["test"] != "weat":
            number = {**(content["interval"] or {}), "value": content["value"]}
            yield {**start, "statistic": content["test"], **_ends(number), "reason": content["reason"], **sets}
            continue
        contrast = content.get("contrast") or {}
        p = {"p_targets": content.get("p_value"), "p_attributes": content.get("p_attributes")}
        yield {**start, "statistic": "contrast", **_ends(contrast), **p, "reason": content["reason"], **sets}
        size = {"value": content.get("effect_size")}
        yield {**start, "statistic": "effect size d", **_ends(size), "reason": content["reason"], **sets}
    for spread in result.spread:
        number = {"value": spread.mean, "low": spread.low, "high": spread.high}
        start = {"lexicon": spread.name, "model": f"{spread.models} replicates", "over": "replicates"}
        yield {
            **start,
            "statistic": f"mean {STATISTICS.get(spread.test, spread.test)}",
            **_ends(number),
            "sd": spread.sd,
            "reason": spread.reason,
        }


def _ends(number: Row) -> Row:
    return {name: number.get(name) for name in ("value", "low", "high", "level", "method")}
