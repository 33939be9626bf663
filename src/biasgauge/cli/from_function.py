"""Commands made of the functions that they call: options, defaults and help are read from signature and docstring.

A command file names the function, the parameters that are arguments and options, examples, and what a signature cannot
say. Everything else happens here: what was typed becomes arguments, the function is called with progress, and what it
hands back is printed, as one JSON object or as its summary, and saved where that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from biasgauge.cli.inputs import check_there
from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.outcome import Outcome, finish
from biasgauge.cli.outputs import FIGURES, RESULT, Output, try_outputs, what_is_kept
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_names, typed_words
from biasgauge.core import JsonObject, Setting, did_you_mean, function_named, settings_of
from biasgauge.errors import ParameterError
from biasgauge.results import explained

NONE = "none"
"""How None is typed."""
_FILES = ("VectorsLike", "ModelsLike", "os.PathLike[str]")
"""Types of parameters for which the path of a file is typed."""
_OURS = frozenset({"random_state", "progress", "stage", "tell", "planned", "store", "replace"})
"""What the command gives itself: the seed of --seed, what is called with progress, where scores are kept."""
_TYPED = {
    "vectors": "a vector file: word2vec, GloVe, fastText .vec, .npz, .npy or safetensors, gzipped or not",
    "words": "a lexicon, NAME:SET, words separated by commas, or a file with one word per line",
    "pairs": "a lexicon of pairs, or your own TOML file",
    "n_jobs": "threads; all cores by default",
    "case_fallback": "look up a word that is not in the vocabulary in lower case, then capitalized",
    "min_coverage": "share of each set's words that must be in the vocabulary",
}
"""Help on what is typed in a shell, where the function also takes objects."""
FORCE = "replace outputs that are there already; inputs are never replaced"


@dataclass(frozen=True)
class Option:
    """What a signature cannot say about an argument or an option.

    Attributes:
        help: its help, in the place of the docstring's.
        type: what is typed; of a parameter of the function by default the plain type nearest to its own.
        default: in the place of the function's.
        read: what becomes of the typed value.
        alias: other names, such as -n.
        like: the parameter whose type, default and help it has, where that is of another name.
        minus: what is typed may begin with a minus, as numbers separated by commas do.
        check: refuses what is not there, before outputs are tried.
    """

    help: str = ""
    type: Any = None
    default: Any = Argument.empty
    read: Callable[[Any], Any] | None = None
    alias: str | tuple[str, ...] | None = None
    like: str = ""
    minus: bool = False
    check: Callable[[Any], None] = check_there


Body = Callable[[JsonObject, Options], Any]


def command(
    function: str,
    *,
    arguments: str = "",
    options: str = "",
    examples: str,
    doing: str = "computing",
    changes: Mapping[str, Option] | None = None,
    sources: Sequence[str] = (),
    call: Body | None = None,
    recorded: str = "",
    figures: bool = False,
    saves: bool = True,
    outputs: Sequence[Output] = (),
    fixed: str = "",
    name: str | None = None,
    about: str = "",
    terms: str = "",
) -> App:
    """The command of a function.

    Args:
        function: "room:name" of what is called; imported when the command is called or explains itself.
        arguments: names of positional arguments.
        options: names of options, in their order.
        examples: what stands below the help.
        doing: what progress says.
        changes: what signatures cannot say about some of them.
        sources: further functions whose parameters are options, or settings for --set.
        call: what is called with what was typed, in the place of the function.
        recorded: names of what is recorded in the settings beside what the result records; KEY=NAME for another key.
        figures: whether the result has charts.
        saves: whether --out writes the result; not where the function writes something of its own.
        outputs: what else is written, and where; tried before any work starts, and after inputs were looked for.
        fixed: names of parameters that --set does not change either, because the command gives them.
        name: of the command; the function's by default.
        about: the first sentence of its help, where it is not in the table of commands.
        terms: names of terms that its help uses, which are explained below the examples.
    """
    made = _Command(
        function,
        arguments.split(),
        options.split(),
        doing=doing,
        changes=changes or {},
        sources=sources,
        call=call,
        recorded=[each.partition("=") for each in recorded.split()],
        figures=figures,
        saves=saves,
        outputs=(*outputs, *([FIGURES] * figures), *([RESULT] * saves)),
        fixed={*fixed.split(), *_OURS},
    )
    called = name or function.partition(":")[2].replace("_", "-")
    return App(name=called, help=about or None, help_epilogue=examples + explained(terms.split()), default_command=made)


@dataclass(kw_only=True)
class _Command:
    """A command, as the command-line library takes it; its function is imported when its own arguments are needed."""

    function: str = field(kw_only=False)
    arguments: Sequence[str] = field(kw_only=False)
    options: Sequence[str] = field(kw_only=False)
    doing: str
    changes: Mapping[str, Option]
    sources: Sequence[str]
    call: Body | None
    recorded: Sequence[tuple[str, str, str]]
    figures: bool
    saves: bool
    outputs: Sequence[Output]
    fixed: set[str]

    def __post_init__(self) -> None:
        self.__name__ = self.function.partition(":")[2]
        self.__annotations__ = {}
        self.label = f"biasgauge.{self.function.replace(':', '.')}"

    @cached_property
    def known(self) -> dict[str, Setting]:
        """Its parameters, and those of the further functions."""
        known: dict[str, Setting] = {}
        for source in (self.function, *self.sources):
            for setting in settings_of(source).values():
                first = known.setdefault(setting.name, setting)
                known[setting.name] = first if first.about else replace(first, about=setting.about)
        return known

    @cached_property
    def further(self) -> dict[str, Setting]:
        """What --set changes."""
        named = {*self.arguments, *self.options, *self.fixed, *(change.like for change in self.changes.values())}
        return {
            name: setting
            for name, setting in self.known.items()
            if name not in named and not setting.open_ended and not is_dataclass(setting.default)
        }

    @cached_property
    def open_ended(self) -> bool:
        """Whether the function takes settings that its signature does not name."""
        return any(setting.open_ended for setting in settings_of(self.function).values())

    @cached_property
    def __signature__(self) -> Signature:
        maker = _Maker(self.known, self.changes)
        typed = [maker.argument(name) for name in self.arguments] + [maker.option(name) for name in self.options]
        if self.further or self.open_ended:
            named = f": {', '.join(self.further)}" if self.further else ""
            told = f"a further setting of {self.label}, as NAME=VALUE; repeat for several{named}"
            typed.append(_own("set", tuple[str, ...], (), told))
        if self.figures:
            typed.append(_own("figures", Path | None, None, "folder for the figures, as SVG, PNG and PDF"))
        if self.saves:
            typed.append(_own("out", Path | None, None, "file for the result: .html, .json, .csv, .md, .tex or .txt"))
        if "force" not in self.options and any(output.kind != "continued" for output in self.outputs):
            typed.append(_own("force", bool, default=False, about=FORCE))
        typed.append(Argument("options", Argument.KEYWORD_ONLY, default=DEFAULTS, annotation=Options))
        return Signature(typed)

    def __call__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as the signature says
        bound = self.__signature__.bind(*given, **named)
        bound.apply_defaults()
        typed = dict(bound.arguments)
        options: Options = typed.pop("options")
        force = typed["force"] if "force" in self.options else typed.pop("force", False)
        written = {output.option for output in self.outputs}
        for name, value in typed.items():
            if name not in written:
                self.changes.get(name, Option()).check(value)
        try_outputs(self.outputs, typed, force=force)
        try:
            self._run(typed, options)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(what_is_kept(self.outputs, typed)) from None

    def _run(self, typed: JsonObject, options: Options) -> None:
        typed = dict(typed)
        places = {name: typed.pop(name) for name in (["figures"] * self.figures + ["out"] * self.saves)}
        settings = further_settings(
            typed.pop("set", ()), self.further, self.label, options=self.options, open_ended=self.open_ended
        )
        maker = _Maker(self.known, self.changes)
        read = {name: maker.read(name, value) for name, value in typed.items() if not maker.silent(name, value)}
        outcome = (self.call or _plain_call(function_named(self.function), self.doing))({**read, **settings}, options)
        outcome = outcome if isinstance(outcome, Outcome) else Outcome(outcome)
        asked = {key: _recorded(read.get(name or key), typed[name or key]) for key, _, name in self.recorded}
        finish(replace(outcome, settings={**asked, **outcome.settings}), options, **places)


def _plain_call(function: Callable[..., Any], doing: str) -> Body:
    takes = signature(function).parameters

    def call(arguments: JsonObject, options: Options) -> Any:  # noqa: ANN401 - the function's result
        own: JsonObject = {"random_state": options.seed} if "random_state" in takes else {}
        with progress(options, doing) as report:
            own |= {"progress": report} if "progress" in takes else {}
            return function(**own, **arguments)

    return call


class _Maker:
    """Arguments and options from settings, and what becomes of typed values."""

    def __init__(self, known: Mapping[str, Setting], changes: Mapping[str, Option]) -> None:
        self.known = known
        self.changes = changes

    def argument(self, name: str) -> Argument:
        """A positional argument; one with a default may be left out."""
        return self._parameter(name, Argument.POSITIONAL_ONLY)

    def option(self, name: str) -> Argument:
        """An option by its name."""
        return self._parameter(name, Argument.KEYWORD_ONLY)

    def read(self, name: str, value: Any) -> Any:  # noqa: ANN401 - as typed, as the function takes it
        """What the function takes, of what was typed."""
        change = self.changes.get(name, Option())
        setting = self.known.get(change.like or name)
        if value is None or not (isinstance(value, str) or change.read is not None):
            return value
        if change.read is not None:
            return change.read(value)
        if value == NONE and setting is not None and setting.nullable:
            return None
        if setting is None or setting.choices:
            return value
        return _texts(value, setting)

    def silent(self, name: str, value: object) -> bool:
        """Whether nothing was typed for a parameter that has a default of its own."""
        setting = self.known.get(name)
        return value is None and setting is not None and not setting.needed and setting.default is not None

    def _parameter(self, name: str, kind: Any) -> Argument:  # noqa: ANN401 - a kind of parameter
        change = self.changes.get(name, Option())
        setting = self.known.get(change.like or name, Setting(name, Argument.empty, "str"))
        default = setting.default if change.default is Argument.empty else change.default
        if _several(setting) and isinstance(default, tuple | list) and change.type is None:
            default = ",".join(default) if default else None
        told = change.help or _TYPED.get(name, "") or setting.about
        help_ = told.replace("`", "").replace("None", NONE).removesuffix(".")
        named = Parameter(
            help=help_,
            alias=change.alias,
            show_default=default not in ("", (), None) and default is not False,
            allow_leading_hyphen=change.minus,
        )
        plain = _plain_type(setting) if change.type is None else change.type
        annotation = plain | None if default is None and change.type is None else plain
        return Argument(name, kind, default=default, annotation=Annotated[annotation, named])


def _plain_type(setting: Setting) -> Any:  # noqa: ANN401 - a type
    """What is typed for a setting."""
    if setting.choices:
        return Literal[setting.choices]
    if any(kind in _FILES for kind in setting.types):
        return Path
    for kind in (bool, int, float):
        if isinstance(setting.default, kind) or {kind.__name__} == set(setting.types) - {"None"}:
            return kind
    return str


def _several(setting: Setting) -> bool:
    """Whether it takes a list of names."""
    lists = ("Sequence[str", "Iterable[str", "list[str", "tuple[str, ...")
    return isinstance(setting.default, tuple) or any(part.startswith(lists) for part in setting.types)


def _own(name: str, kind: Any, default: Any, about: str) -> Argument:  # noqa: ANN401 - a type and one of it
    return Argument(
        name,
        Argument.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, Parameter(help=about, show_default=False)],
    )


def further_settings(
    typed: Sequence[str],
    known: Mapping[str, Setting],
    function: str,
    *,
    options: Sequence[str] = (),
    open_ended: bool = False,
) -> JsonObject:
    """Settings typed as NAME=VALUE, each as the function takes it; NAME.KEY=VALUE for one that is a mapping.

    Raises:
        ParameterError: it is something else, or the function has no such setting.
    """
    settings: JsonObject = {}
    for text in typed:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ParameterError(f"--set takes NAME=VALUE, such as resamples=500. Got {text!r}.")
        name, _, part = name.partition(".")
        if name in options:
            raise ParameterError(f"--set: {name} has an option of its own, --{name.replace('_', '-')}.")
        if name not in known and not open_ended:
            meant = did_you_mean(name, known) or f"; it has {', '.join(known)}"
            raise ParameterError(f"--set: {function} has no further setting {name!r}{meant}")
        if name in settings and isinstance(settings[name], dict) != bool(part):
            raise ParameterError(f"--set: {name} is set as a whole and by its parts; give one of the two.")
        if part:
            settings.setdefault(name, {})[part] = value.strip()
        else:
            settings[name] = _value(value.strip(), known.get(name), name)
    return settings


def _value(text: str, setting: Setting | None, name: str) -> Any:  # noqa: ANN401 - as the function takes it
    kinds = {"int", "float", "bool", "str"} if setting is None else set(setting.types)
    if text == NONE and (setting is None or setting.nullable):
        return None
    if "bool" in kinds and text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        if kind.__name__ in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if not kinds - {"int", "float", "bool", "None"}:
        raise ParameterError(f"--set: {name} must be of type {' or '.join(sorted(kinds - {'None'}))}. Got {text!r}.")
    return text if setting is None else _texts(text, setting)


def _texts(typed: str, setting: Setting) -> Any:  # noqa: ANN401 - as the function takes it
    """Words, several names, or one text; a single name where the function takes it as such."""
    if "WordsLike" in setting.types:
        return typed_words(typed)
    alone = "str" in setting.types and "," not in typed
    return typed_names(typed) if _several(setting) and not alone else typed


def _recorded(read: Any, typed: Any) -> Any:  # noqa: ANN401 - JSON
    """What the function got, or what was typed where that is no plain value."""
    value = read if isinstance(read, str | int | float | list | tuple | None) else typed
    if isinstance(value, tuple | list):
        return [_recorded(item, item) for item in value]
    return str(value) if isinstance(value, Path) else value
