"""The plotting library, imported late, and the looks that all charts have."""

from __future__ import annotations

from typing import Any

from biasgauge.errors import InputError


def altair() -> Any:  # noqa: ANN401 - the library has no stubs
    """The plotting library, or a sentence that says how to get it."""
    try:
        import altair as alt
    except ImportError as problem:  # pragma: no cover - every test environment has it
        raise InputError('Figures need altair. Install it with: pip install "biasgauge[figures]"') from problem
    return alt


def styled(chart: Any, title: str, remark: str) -> Any:  # noqa: ANN401 - a chart
    """Give a chart its title, what to read from it, and the looks that all have."""
    alt = altair()
    return (
        chart.properties(title=alt.TitleParams(title, subtitle=remark.split("\n"), anchor="start", offset=12))
        .configure_view(strokeOpacity=0)
        .configure_axis(gridColor="#e4e6e2", domainColor="#b9bdb6", tickColor="#b9bdb6", labelLimit=220)
        .configure_title(fontSize=15, subtitleFontSize=12, subtitleColor="#5c6470")
    )
