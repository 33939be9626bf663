"""Registry of everything that another package may add, with one way in for every kind.

    import biasgauge as bg

    bg.registry.names("measure")            # what there is
    bg.registry.get("measure", "dbwa")      # one of them
    bg.registry.register(my_measure)        # one more, for this process

An installed package adds things for every process, in its `pyproject.toml`:

    [project.entry-points."biasgauge.measure"]
    my-measure = "my_package.my_module:MEASURE"

The name of the entry point is the name of the thing; of a folder of lexicons it is free. A package that is broken
breaks only what it brings. docs/howto/extending.md has an example of each group.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from biasgauge.core import GROUPS, Group, did_you_mean
from biasgauge.errors import BiasgaugeError, ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.likelihood import LikelihoodMeasure
    from biasgauge.applications import DataSet, Task
    from biasgauge.audits import AuditPart, VerdictRule
    from biasgauge.lexicons import Lexicon
    from biasgauge.lexicons.recipes import WordSource
    from biasgauge.metrics import Measure, SetTest
    from biasgauge.mitigation import Mitigation
    from biasgauge.papers import Paper
    from biasgauge.study import Step
    from biasgauge.text import CorpusReader
    from biasgauge.vectors.encoders import Encoder
    from biasgauge.vectors.formats import VectorFormat

Thing = TypeVar("Thing")

_added: dict[str, dict[str, Callable[[], Any]]] = {name: {} for name in GROUPS}


def groups() -> tuple[str, ...]:
    """Names of the groups."""
    return tuple(GROUPS)


def names(group: str) -> tuple[str, ...]:
    """Names of all things of a group: those that ship, of installed packages, and of this process.

    Sorted, numbers as numbers: weat2 before weat10.

    Raises:
        ParameterError: there is no such group.
    """
    _group(group)
    return tuple(_loaders(group))


def has(group: str, name: str) -> bool:
    """True if a group has a thing of this name.

    Raises:
        ParameterError: there is no such group.
    """
    source = _group(group).made_from
    return name in _shipped_near(group, name) or name in _added_loaders(group) or bool(source and has(source, name))


def added(group: str) -> tuple[str, ...]:
    """Names of those things of a group that do not ship; what cannot be loaded is left out, with a warning."""
    definition = _group(group)
    brought = {*_added_loaders(group), *(_added_loaders(definition.made_from) if definition.made_from else ())}
    if not brought:
        return ()
    ours = {*_shipped(group), *(_shipped(definition.made_from) if definition.made_from else ())}
    return tuple(_load_usable(group, [name for name in names(group) if name in brought - ours]))


@overload
def get(group: Literal["measure"], name: str | Measure) -> Measure: ...
@overload
def get(group: Literal["association_test"], name: str | SetTest) -> SetTest: ...
@overload
def get(group: Literal["mitigation"], name: str | type[Mitigation]) -> type[Mitigation]: ...
@overload
def get(group: Literal["vector_format"], name: str) -> VectorFormat: ...
@overload
def get(group: Literal["likelihood_measure"], name: str | LikelihoodMeasure) -> LikelihoodMeasure: ...
@overload
def get(group: Literal["encoder"], name: str) -> Encoder: ...
@overload
def get(group: Literal["corpus_reader"], name: str) -> CorpusReader: ...
@overload
def get(group: Literal["task"], name: str | Task) -> Task: ...
@overload
def get(group: Literal["data_set"], name: str) -> DataSet: ...
@overload
def get(group: Literal["lexicon"], name: str) -> Lexicon: ...
@overload
def get(group: Literal["word_source"], name: str) -> WordSource: ...
@overload
def get(group: Literal["verdict_rule"], name: str) -> VerdictRule: ...
@overload
def get(group: Literal["audit_part"], name: str | AuditPart) -> AuditPart: ...
@overload
def get(group: Literal["study_step"], name: str) -> Step: ...
@overload
def get(group: Literal["paper"], name: str) -> Paper: ...
@overload
def get(group: str, name: object) -> Any: ...  # noqa: ANN401 - each group has a type of its own
def get(group: str, name: object) -> Any:
    """One thing of a group, by its name; a thing of the group is handed back as it is.

    Raises:
        ParameterError: there is no such group, no such thing, or the package that brings it cannot be used.
    """
    definition = _group(group)
    if not definition.inside and not isinstance(name, str) and _belongs_to(name, definition):
        return name
    if isinstance(name, str) and name in (near := _shipped_near(group, name)):
        return near[name]()
    loaders = _loaders(group)
    if not isinstance(name, str) or name not in loaders:
        hint = did_you_mean(name, loaders) if isinstance(name, str) else ""
        rule = f"must be one of {', '.join(loaders)}" if loaders else "must be registered, and none is"
        raise ParameterError(f"{definition.article.capitalize()} {definition.says} {rule}. Got {name!r}{hint or '.'}")
    return loaders[name]()


def read(group: str, reference: Any) -> Any:  # noqa: ANN401 - as get
    """Read one thing of a group from whatever names it: its name, its file, or the thing itself.

    Raises:
        ParameterError: things of the group are not read from files.
    """
    reader = _group(group).reader
    return _import(reader)(reference) if reader else get(group, reference)


def everything(group: str) -> dict[str, Any]:
    """All things of a group by name, each of them loaded; what cannot be loaded is left out, with a warning."""
    return _load_usable(group, names(group))


def _load_usable(group: str, selected: Iterable[str]) -> dict[str, Any]:
    """Load things of a group by name; what cannot be loaded is left out, with a warning."""
    things = {}
    for name in selected:
        try:
            things[name] = get(group, name)
        except BiasgaugeError as problem:
            warnings.warn(f"{problem} It is left out.", stacklevel=3)
    return things


def register(thing: Thing, group: str | None = None) -> Thing:
    """Add a thing for this process; its type says to which group. Gives it back, so that it decorates a class.

    Raises:
        ParameterError: it belongs to no group, has no name, or its name is taken.
    """
    chosen = _group_of(thing) if group is None else group
    definition = _group(chosen)
    _check(thing, definition, "What is registered")
    loaders = _contents(thing, definition)
    taken = {*_loaders(chosen), *(name for other in _sharing(chosen) for name in _loaders(other))}
    for name in loaders:
        if name in taken:
            kind = f"{definition.article} {definition.says}"
            raise ParameterError(f"There is {kind} named {name!r} already: give this one another name.")
    _added[chosen] |= loaders
    _loaders.cache_clear()
    return thing


def unregister(group: str, name: str) -> None:
    """Take back what `register` added; nothing happens where there is no such thing."""
    _group(group)
    _added[group].pop(name, None)
    _loaders.cache_clear()


def refresh() -> None:
    """Look for installed packages again, as after one was installed while this process runs."""
    for cached in (_points, _installed, _load_entry, _loaders):
        cached.cache_clear()


def _group(name: str) -> Group:
    if name not in GROUPS:
        hint = did_you_mean(name, GROUPS) if isinstance(name, str) else ""
        raise ParameterError(f"A group of the registry must be one of {', '.join(GROUPS)}. Got {name!r}{hint or '.'}")
    return GROUPS[name]


def _group_of(thing: object) -> str:
    for name, definition in GROUPS.items():
        # A class whose module nobody has imported has no instance, and importing all packages would cost seconds.
        modules = (kind.partition(":")[0] for kind in definition.kind.split("|"))
        if all(module in sys.modules for module in modules) and _belongs_to(thing, definition):
            return name
    raise ParameterError(f"What is registered must belong to one of {', '.join(GROUPS)}. Got {_describe(thing)}.")


def _sharing(group: str) -> list[str]:
    """Groups whose names are also names of this one."""
    return [name for name, definition in GROUPS.items() if definition.made_from == group]


def _belongs_to(thing: object, definition: Group) -> bool:
    kinds = tuple(_import(kind) for kind in definition.kind.split("|"))
    return isinstance(thing, type) and issubclass(thing, kinds) if definition.classes else isinstance(thing, kinds)


def _check(thing: object, definition: Group, source: str) -> None:
    if not _belongs_to(thing, definition):
        kind = definition.kind.replace(":", ".").replace("|", " or ")
        wanted = f"a subclass of {kind}" if definition.classes else kind
        raise ParameterError(
            f"{source} must be {definition.article} {definition.says} ({wanted}). Got {_describe(thing)}."
        )


def _describe(thing: object) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"{type(thing).__name__}: {thing!r}"


def _contents(thing: Any, definition: Group) -> dict[str, Callable[[], Any]]:  # noqa: ANN401 - as get
    """Return a loader for each name that a thing brings."""
    if definition.inside:
        loaders: dict[str, Callable[[], Any]] = _import(definition.inside)(thing)
        return loaders
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name:
        raise ParameterError(
            f"{definition.article.capitalize()} {definition.says} needs a name, as text. Got {name!r}."
        )
    return {name: lambda: thing}


@cache
def _loaders(group: str) -> dict[str, Callable[[], Any]]:
    """A function for each name of a group, in order, that gives the thing."""
    definition = GROUPS[group]
    ours = _shipped(group)
    loaders = {**_added_loaders(group), **ours}
    if definition.made_from:
        loaders |= {name: partial(_make_from_source, definition, name) for name in _loaders(definition.made_from)}
    return dict(sorted(loaders.items(), key=lambda item: _natural(item[0])))


def _added_loaders(group: str) -> dict[str, Callable[[], Any]]:
    """A function for each name that installed packages or this process bring; some may be names of what ships."""
    return {**_installed(group), **_added[group]}


def _read_package(definition: Group, name: str) -> Any:  # noqa: ANN401 - as get
    return _import(definition.made_by)(f"{definition.home}.{name}")


def _make_from_source(definition: Group, name: str) -> Any:  # noqa: ANN401 - as get
    return _import(definition.made_by)(get(definition.made_from, name))


@cache
def _shipped(group: str) -> dict[str, Callable[[], Any]]:
    definition = GROUPS[group]
    if definition.file:
        homes = getattr(find_spec(definition.home), "submodule_search_locations", None) or ()
        return {
            info.name: partial(_read_package, definition, info.name)
            for info in iter_modules(homes)
            if info.ispkg and any((Path(home) / info.name / definition.file).exists() for home in homes)
        }
    return _in_modules(definition, _modules(definition.home))


def _shipped_near(group: str, name: str) -> dict[str, Callable[[], Any]]:
    """Return loaders of what ships; where modules bear the names of what they hold, of those that fit `name` alone.

    Where installed packages bring more, all are loaded: a name that is taken gets a warning.
    """
    definition = GROUPS[group]
    if not definition.by_module or _installed(group):
        return _shipped(group)
    parts = name.split("_")
    return _in_modules(
        definition, [module for module in _modules(definition.home) if module.rpartition(".")[2] in parts]
    )


@cache
def _modules(home: str) -> tuple[str, ...]:
    """Names of the modules of a package; of a module, its own."""
    inside = getattr(import_module(home), "__path__", None)
    return (home,) if inside is None else tuple(f"{home}.{info.name}" for info in iter_modules(inside))


def _in_modules(definition: Group, modules: Iterable[str]) -> dict[str, Callable[[], Any]]:
    loaders: dict[str, Callable[[], Any]] = {}
    for module in modules:
        for thing in _as_iterable(getattr(import_module(module), definition.attribute, ())):
            loaders |= _contents(thing, definition)
    return loaders


def _as_iterable(value: Any) -> Iterable[Any]:  # noqa: ANN401 - as get
    return value if isinstance(value, tuple | list) else (value,)


@cache
def _points() -> EntryPoints:
    """Those of all installed packages: looking for them takes a while, so it is done once."""
    return cast("EntryPoints", entry_points())  # Python 3.11 has a name of its own for what is the same here


@cache
def _installed(group: str) -> dict[str, Callable[[], Any]]:
    """Return what the entry points of installed packages bring; a name that ships already is refused with a warning."""
    definition = GROUPS[group]
    values: dict[str, list[str]] = {}
    for point in sorted(_points().select(group=f"biasgauge.{group}"), key=lambda point: (point.name, point.value)):
        values.setdefault(point.name, [])
        if point.value not in values[point.name]:
            values[point.name].append(point.value)
    ours = _shipped(group) if values else {}
    loaders: dict[str, Callable[[], Any]] = {}
    for name, targets in values.items():
        brought: dict[str, Callable[[], Any]] = {name: partial(_load_entry, group, name, tuple(targets))}
        if definition.inside:
            try:
                brought = _contents(brought[name](), definition)
            except BiasgaugeError as problem:
                warnings.warn(f"{problem} It is left out.", stacklevel=2)
                continue
        for taken in brought.keys() & (ours.keys() | loaders.keys()):
            warnings.warn(
                f"{_source(group, name, targets)} brings {definition.article} {definition.says} named {taken!r}, "
                "which there is already. It is left out.",
                stacklevel=2,
            )
        loaders = {**brought, **loaders}
    return loaders


@cache
def _load_entry(group: str, name: str, values: tuple[str, ...]) -> Any:  # noqa: ANN401 - as get
    definition, source = GROUPS[group], _source(group, name, values)
    if len(values) > 1:
        raise ParameterError(f"{source} belongs to several packages: uninstall all but one of them.")
    points = _points().select(group=f"biasgauge.{group}", name=name)
    point = next(point for point in points if point.value == values[0])
    try:
        thing = point.load()
    except Exception as problem:  # whatever a third party's module does on import
        raise ParameterError(f"{source} cannot be loaded: {type(problem).__name__}: {problem}.") from problem
    _check(thing, definition, source)
    if not definition.inside and thing.name != name:
        raise ParameterError(f"{source} must have the name of the entry point. Got {thing.name!r}.")
    return thing


def _source(group: str, name: str, values: Iterable[str]) -> str:
    return f"The entry point {name!r} of 'biasgauge.{group}' ({', '.join(values)})"


def _import(path: str) -> Any:  # noqa: ANN401 - a class, a function or a thing
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts if part]
