"""What a command hands back, and what becomes of it: printed, drawn and saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.cli.screen import console, print_json
from biasgauge.core import JsonMapping, JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.cli.options import Options
    from biasgauge.results import Summary


@dataclass(frozen=True)
class Outcome:
    """What a command hands back.

    Attributes:
        result: has `to_dict` and `summary`.
        also: further results, under the keys that they have in JSON.
        extra: further keys of the JSON.
        settings: what was asked for and is not in the result's own settings.
        warnings: what to know beside the result's own warnings.
        written: what was written, and where; not said with --quiet.
        then: what to do next, after what was written; not said with --quiet.
        charts: choices for the figures.
        exit_code: what to leave with.
        show: prints it, in the place of its summary.
        seed: the random seed, where that is not the one of --seed.
    """

    result: Any
    also: JsonMapping = field(default_factory=dict)
    extra: JsonMapping = field(default_factory=dict)
    settings: JsonMapping = field(default_factory=dict)
    warnings: Sequence[str] = ()
    written: Mapping[str, Path] = field(default_factory=dict)
    then: str = ""
    charts: JsonMapping = field(default_factory=dict)
    exit_code: int = 0
    show: Callable[[Console], None] | None = None
    seed: int | None = None


def finish(outcome: Outcome, options: Options, figures: Path | None = None, out: Path | None = None) -> None:
    """Print, draw and save what a command hands back; leave with its exit code where that is not 0."""
    result, written = outcome.result, dict(outcome.written)
    options = options if outcome.seed is None else replace(options, seed=outcome.seed)
    if figures is not None:
        from biasgauge.results import save_figures

        charts = _charts(result, **outcome.charts)
        for other in outcome.also.values():
            charts |= _charts(other)
        save_figures(charts, figures, ("svg", "png", "pdf"))
        written["figures"] = figures
    if out is not None:
        from biasgauge.results import save_result

        written["result"] = save_result(result, out)
    _print(outcome, options)
    if not options.quiet:
        for what, path in written.items():
            console(options).print(f"{what}: {path.resolve()}", soft_wrap=True, markup=False)
        if outcome.then:
            console(options).print(f"next: {outcome.then}", soft_wrap=True, markup=False)
    if outcome.exit_code:
        raise SystemExit(outcome.exit_code)


def _print(outcome: Outcome, options: Options) -> None:
    """The result on stdout, in the form that was asked for."""
    if sum((options.json, options.latex, options.markdown)) > 1:
        raise ParameterError("stdout has room for one of --json, --latex and --markdown.")
    if options.json:
        result = outcome.result
        content = result.to_dict()
        own = content.pop("settings", getattr(result, "settings", {}))
        settings = {**own, **{key: value for key, value in outcome.settings.items() if own.get(key) is None}}
        warnings = [*outcome.warnings, *content.pop("warnings", getattr(result, "warnings", ()))]
        also = {key: other.to_dict() for key, other in outcome.also.items()}
        print_json(options, {**content, **also, **outcome.extra}, settings=settings, warnings=warnings)
    elif options.for_programs:
        _print_markup(outcome, options)
    else:
        _show(outcome, options)


def _show(outcome: Outcome, options: Options) -> None:
    from biasgauge.results import print_summary

    if outcome.show is not None:
        outcome.show(console(options))
        return
    print_summary(console(options), _whole_summary(outcome))


def _whole_summary(outcome: Outcome) -> Summary:
    """The summary of a result with those of further results as its parts."""
    summary: Summary = outcome.result.summary()
    parts = (*summary.parts, *(other.summary() for other in outcome.also.values()))
    return replace(summary, parts=parts, warnings=(*outcome.warnings, *summary.warnings))


def _print_markup(outcome: Outcome, options: Options) -> None:
    """The summary in the language of another program."""
    from biasgauge.results import latex, markdown, without_orders

    summary = _whole_summary(outcome)
    frame = outcome.result.to_frame() if options.latex and hasattr(outcome.result, "to_frame") else None
    sys.stdout.write(without_orders(latex(summary, frame) if options.latex else markdown(summary)))


def _charts(result: Any, **choices: Any) -> JsonObject:  # noqa: ANN401 - any result
    """Its figures; none of a result that has none."""
    return dict(result.figures(**choices)) if hasattr(result, "figures") else {}
