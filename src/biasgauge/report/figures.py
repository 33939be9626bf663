"""Results to figures: ordinary Altair charts that a notebook shows and a file keeps."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge._io.atomic import whole_file
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

MAKERS = {
    "ReliabilityResult": "reliability_figures",
    "DecisionStudy": "reliability_figures",
    "VarianceComponents": "reliability_figures",
    "AuditResult": "bias_figures",
    "CorrelationResult": "correlation_figures",
    "GapResult": "correlation_figures",
    "GapComparison": "correlation_figures",
    "TaskResult": "extrinsic_figures",
    "WinoBiasResult": "extrinsic_figures",
    "GapF1": "extrinsic_figures",
    "MitigationEffect": "mitigation_figures",
    "SeedsResult": "seeds_figures",
    "BiasSubspace": "seeds_figures",
    "SeedChoice": "seeds_figures",
    "RobustnessResult": "robustness_figures",
    "Posterior": "uncertainty_figures",
    "ChangeResult": "uncertainty_figures",
    "NullSimulation": "null_figures",
    "WithinBand": "null_figures",
}
"""Which module of this room draws which result; the module's `DRAW` has a function for the class."""

FORMATS = ("svg", "png", "html", "json")


def altair() -> Any:  # noqa: ANN401 - the library has no stubs
    """The plotting library, or a sentence that says how to get it."""
    try:
        import altair as alt  # noqa: PLC0415 - a second of import that only figures need
    except ImportError as problem:  # pragma: no cover - every test environment has it
        raise InputError('Figures need altair. Install it with: pip install "biasgauge[figures]"') from problem
    return alt


def figures(result: object, **choices: Any) -> dict[str, Any]:  # noqa: ANN401 - each result has choices of its own
    """Draw what a result has to show: a chart for each name.

    `choices` say what to draw where a result leaves a choice: `word="muslim"` adds that word's distances to the
    figures of a posterior.

    Raises:
        ParameterError: nothing is drawn of such a result, or it leaves no such choice.
    """
    kind = type(result).__name__
    if kind not in MAKERS:
        raise ParameterError(f"There are figures of {', '.join(MAKERS)}. Got {kind}.")
    draw = import_module(f"biasgauge.report.{MAKERS[kind]}").DRAW[kind]
    known = list(signature(draw).parameters)[1:]
    if unknown := [name for name in choices if name not in known]:
        raise ParameterError(f"Figures of {kind} leave {', '.join(known) or 'nothing'} to choose. Got {unknown[0]!r}.")
    drawn: dict[str, Any] = draw(result, **choices)
    return drawn


def save_figures(
    charts: Mapping[str, Any], folder: str | os.PathLike[str], formats: tuple[str, ...] = ("svg", "png")
) -> list[Path]:
    """Write each chart as NAME.FORMAT into `folder`, which is made if need be; each file whole or not at all.

    Raises:
        ParameterError: a format is not known.
    """
    if strange := [one for one in formats if one not in FORMATS]:
        raise ParameterError(f"A figure can be saved as {', '.join(FORMATS)}. Got {strange[0]!r}.")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, chart in charts.items():
        for kind in formats:
            path = target / f"{name}.{kind}"
            with whole_file(path) as part:
                if kind == "png":
                    chart.save(str(part), format=kind, scale_factor=2)
                elif kind == "html":
                    chart.save(str(part), format=kind, inline=True)
                else:
                    chart.save(str(part), format=kind)
            written.append(path)
    return written


def styled(chart: Any, title: str, remark: str) -> Any:  # noqa: ANN401 - a chart
    """Give a chart its title, what to read from it, and the looks that all have."""
    alt = altair()
    return (
        chart.properties(title=alt.TitleParams(title, subtitle=remark.split("\n"), anchor="start", offset=12))
        .configure_view(strokeOpacity=0)
        .configure_axis(gridColor="#e4e6e2", domainColor="#b9bdb6", tickColor="#b9bdb6", labelLimit=220)
        .configure_title(fontSize=15, subtitleFontSize=12, subtitleColor="#5c6470")
    )
