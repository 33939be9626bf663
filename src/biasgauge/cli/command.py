"""Commands: the options that they share, and what happens around each of them.

A command is a function with an ordinary signature. Its parameters are arguments and options, its docstring is their
help, `**further` takes the settings of --set, and it returns an `Outcome`. `command` adds what is the same everywhere:
inputs are looked for, outputs are tried before any work starts, and the outcome is printed, drawn and saved.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import wraps
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from cyclopts import App, Parameter

from biasgauge.cli.files import FIGURES, RESULT, Output, check_there, describe_kept, try_outputs
from biasgauge.cli.option_groups import HELP_FLAGS, RARE, Common, Rare
from biasgauge.cli.screen import console, print_json
from biasgauge.cli.typed_values import read_settings
from biasgauge.core import JsonMapping, JsonObject, to_plain
from biasgauge.errors import ParameterError
from biasgauge.results import explained

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.results import Summary

UNDEFINED = 2
"""Exit code of a command whose result is undefined."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Options of every command.

    Attributes:
        json: print one JSON object on stdout; everything else goes to stderr
        latex: print the tables as LaTeX (booktabs, longtable) on stdout
        markdown: print the summary as Markdown on stdout
        seed: random seed; recorded in the settings
        quiet: print the result alone: no progress, no notes
        debug: show the traceback when something fails
    """

    outputs: ClassVar[tuple[Output, ...]] = ()
    json: Common[bool] = False
    latex: Rare[bool] = False
    markdown: Rare[bool] = False
    seed: Common[int] = 0
    quiet: Common[bool] = False
    debug: Common[bool] = False

    @property
    def for_programs(self) -> bool:
        """True if stdout is for another program, so that everything else goes to stderr."""
        return self.json or self.latex or self.markdown


@Parameter(name="*")
@dataclass(frozen=True)
class WriteOptions(Options):
    """Options of a command that writes a file of its own.

    Attributes:
        force: replace outputs that are there already; inputs are never replaced
    """

    force: bool = False


@Parameter(name="*")
@dataclass(frozen=True)
class ResultOptions(WriteOptions):
    """Options of a command whose result can be saved.

    Attributes:
        out: file for the result: .html, .json, .csv, .md, .tex or .txt
    """

    outputs: ClassVar[tuple[Output, ...]] = (RESULT,)
    out: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class FigureOptions(ResultOptions):
    """Options of a command whose result can be saved and drawn.

    Attributes:
        figures: folder for the figures, as SVG, PNG and PDF
    """

    outputs: ClassVar[tuple[Output, ...]] = (FIGURES, RESULT)
    figures: Path | None = None


OPTIONS, WRITE, SAVE, DRAW = Options(), WriteOptions(), ResultOptions(), FigureOptions()
"""Their defaults."""

VectorFile = Annotated[
    Path,
    Parameter(help="a vector file in any format that `biasgauge formats` lists, gzipped or not"),
]
CaseFallback = Annotated[
    bool, Parameter(help="look up a word that is not in the vocabulary in lower case, then capitalized")
]
AutoCaseFallback = Annotated[
    bool | None,
    Parameter(
        help="look up words not in the vocabulary in lower case, then capitalized; by default in a vocabulary in lower "
        "case"
    ),
]
MinCoverage = Annotated[float, Parameter(help="share of each set's words that must be in the vocabulary")]
Level = Annotated[float, Parameter(help="nominal coverage of the intervals", group=RARE)]
Jobs = Annotated[int | None, Parameter(help="threads; all cores by default")]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command.

    Attributes:
        result: has `to_dict` and `summary`.
        also: further results, under the keys that they have in JSON.
        extra: further keys of the JSON.
        settings: settings of the command that are not in those of the result.
        warnings: warnings beside those of the result.
        written: files and folders that were written, by what they hold; not printed with --quiet.
        then: the next step, printed last; not printed with --quiet.
        charts: choices for the figures.
        figures: folder for the figures of a command whose --out is no file of its result.
        exit_code: exit code of the process.
        show: prints the result, in the place of its summary.
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
    figures: Path | None = None
    exit_code: int = 0
    show: Callable[[Console], None] | None = None
    seed: int | None = None

    def summary(self) -> Summary:
        """The summary of the result, with those of further results as its parts."""
        summary: Summary = self.result.summary()
        summaries = (*summary.parts, *(result.summary() for result in self.also.values()))
        return replace(summary, parts=summaries, warnings=(*self.warnings, *summary.warnings))


def command(
    *,
    examples: str,
    terms: str = "",
    outputs: Sequence[Output] = (),
    checks: Mapping[str, Callable[[Any], None]] | None = None,
    settings: Mapping[str, Any] | None = None,
    open_ended: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Outcome]], App]:
    """Decorate a function that is a command.

    Args:
        examples: text below the help.
        terms: names of terms that the help uses, which are explained below the examples.
        outputs: files and folders that the command itself writes.
        checks: by parameter, a function that refuses missing inputs, where `check_there` does not fit.
        settings: settings that --set changes, by name, each with its type or with a function that reads it.
        open_ended: whether --set also takes names that are not in `settings`.
        name: name of the command; the function's by default.
    """

    def decorate(function: Callable[..., Outcome]) -> App:
        title = name or function.__name__.replace("_", "-")
        parameters = signature(function, eval_str=True)

        @wraps(function)
        def run(*arguments: Any, set: tuple[str, ...] = (), **named: Any) -> None:  # noqa: A002 - typed as --set
            bound = parameters.bind(*arguments, **named)
            bound.apply_defaults()
            options: Options = bound.arguments["options"]
            if sum((options.json, options.latex, options.markdown)) > 1:
                raise ParameterError("stdout holds one of --json, --latex and --markdown.")
            typed: JsonObject = {"set": set}
            for parameter, value in bound.arguments.items():
                typed |= vars(value) if is_dataclass(value) else {parameter: value}
            written = (*outputs, *options.outputs)
            targets = {output.option for output in written}
            for option, value in typed.items():
                if option not in targets:
                    (checks or {}).get(option, check_there)(value)
            try_outputs(written, typed, force=getattr(options, "force", False))
            if typed.get(FIGURES.option) is not None:  # before the work, not after it
                from biasgauge.results import check_figures_extra

                check_figures_extra()
            further = read_settings(set, settings or {}, title, options=typed, open_ended=open_ended)
            try:
                finish(function(*bound.args, **bound.kwargs, **further), options)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(describe_kept(written, typed)) from None

        run.__doc__ = re.sub(r"\n {12}", " ", function.__doc__ or "")  # one line per parameter
        run.__signature__ = _with_set(parameters, title, settings or {})  # type: ignore[attr-defined]
        return App(
            name=title, help_flags=HELP_FLAGS, help_epilogue=examples + explained(terms.split()), default_command=run
        )

    return decorate


def _with_set(parameters: Signature, title: str, settings: Mapping[str, Any]) -> Signature:
    """The signature with --set in the place of `**further`, before the options of every command."""
    typed = list(parameters.parameters.values())
    if typed[-1].kind is Argument.VAR_KEYWORD:
        names = f": {', '.join(settings)}" if settings else ""
        text = f"a further setting of {title}, as NAME=VALUE; repeat for several{names}"
        option = Annotated[tuple[str, ...], Parameter(help=text, group=RARE)]
        typed[-2:] = [Argument("set", Argument.KEYWORD_ONLY, default=(), annotation=option), typed[-2]]
    return parameters.replace(parameters=typed)


def finish(outcome: Outcome, options: Options) -> None:
    """Print, draw and save an outcome; leave with its exit code where that is not 0."""
    written = dict(outcome.written)
    options = options if outcome.seed is None else replace(options, seed=outcome.seed)
    folder = options.figures if isinstance(options, FigureOptions) else outcome.figures
    if folder is not None:
        from biasgauge.results import save_figures

        charts = _charts(outcome.result, **outcome.charts)
        for result in outcome.also.values():
            charts |= _charts(result)
        save_figures(charts, folder, ("svg", "png", "pdf"))
        written["figures"] = folder
    if isinstance(options, ResultOptions) and options.out is not None:
        from biasgauge.results import save_result

        saved: Any = _WholeOutcome(outcome) if outcome.also else outcome.result
        written["result"] = save_result(saved, options.out)
    _print(outcome, options)
    if not options.quiet:
        for content, path in written.items():
            console(options).print(f"{content}: {path.resolve()}", soft_wrap=True, markup=False)
        if outcome.then:
            console(options).print(f"next: {outcome.then}", soft_wrap=True, markup=False)
    if outcome.exit_code:
        raise SystemExit(outcome.exit_code)


def _print(outcome: Outcome, options: Options) -> None:
    """Print the result on stdout, in the form that was asked for."""
    if options.json:
        content = outcome.result.to_dict()
        settings = content.pop("settings", getattr(outcome.result, "settings", {}))
        missing = {key: value for key, value in outcome.settings.items() if settings.get(key) is None}
        warnings = [*outcome.warnings, *content.pop("warnings", getattr(outcome.result, "warnings", ()))]
        also = {key: result.to_dict() for key, result in outcome.also.items()}
        content = {**content, **also, **outcome.extra}
        print_json(options, content, settings={**settings, **to_plain(missing)}, warnings=warnings)
    elif options.for_programs:
        from biasgauge.results import escape_control_characters, latex, markdown

        frame = outcome.result.to_frame() if options.latex and hasattr(outcome.result, "to_frame") else None
        text = latex(outcome.summary(), frame) if options.latex else markdown(outcome.summary())
        sys.stdout.write(escape_control_characters(text))
    elif outcome.show is not None:
        outcome.show(console(options))
    else:
        from biasgauge.results import print_summary

        print_summary(console(options), outcome.summary())


@dataclass(frozen=True)
class _WholeOutcome:
    """The result of an outcome with the further results beside it, as files hold them."""

    outcome: Outcome

    def to_dict(self) -> JsonObject:
        """JSON of the result, and of further results under their keys."""
        also = {key: result.to_dict() for key, result in self.outcome.also.items()}
        return {**self.outcome.result.to_dict(), **also, **self.outcome.extra}

    def summary(self) -> Summary:
        """The summary of all."""
        return self.outcome.summary()

    def page(self) -> str:
        """Render one page of all."""
        from biasgauge.results.page import summary_page

        return summary_page(self.summary())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.outcome.result, name)


def _charts(result: Any, **choices: Any) -> JsonObject:
    """The figures of a result; none of a result that has none."""
    return dict(result.figures(**choices)) if hasattr(result, "figures") else {}
