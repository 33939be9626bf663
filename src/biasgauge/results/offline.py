"""Altair charts that a notebook shows without a network."""

from __future__ import annotations

from functools import cache
from typing import Any, cast


class Offline:
    """Shown as a drawing, where Altair's own charts load their scripts from a server.

    Once another renderer was chosen (`altair.renderers.enable("html")`), that one shows the chart.
    """

    def _repr_mimebundle_(self, *choices: Any, **more: Any) -> Any:  # noqa: ANN401 - as Altair has it
        import altair as alt

        from biasgauge.results.notebook_chart import drawing, missing_extra

        if alt.renderers.active != "default":
            return cast("Any", super())._repr_mimebundle_(*choices, **more)
        chart = cast("Any", self)
        html = missing_extra() or drawing(chart)
        return {"text/plain": f"<{type(self).__name__}>", "text/html": html}


@cache
def _offline(kind: Any) -> Any:  # noqa: ANN401 - a class of charts
    return type(kind.__name__, (Offline, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__})


def offline(chart: Any) -> Any:  # noqa: ANN401 - a chart
    """The same chart, shown in notebooks without a network."""
    if isinstance(chart, Offline):
        return chart
    kind: Any = type(chart)
    copy = chart.copy(deep=False)
    object.__setattr__(copy, "__class__", _offline(kind))  # what is set in the usual way becomes content of the chart
    return copy
