"""Registry of everything that another package may add, with one way in for every kind.

    import biasgauge as bg

    bg.registry.names("measure")            # what there is
    bg.registry.get("measure", "dbwa")      # one of them
    bg.registry.register(my_measure)        # one more, for this process

An installed package adds things for every process, in its `pyproject.toml`:

    [project.entry-points."biasgauge.measure"]
    my-measure = "my_package.my_module:MEASURE"

The name of the entry point is the name of the thing; of a folder of lexicons it is free. A package that is broken
breaks only what it brings. docs/extending.md has an example of each group.
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
    return name in _near(group, name) or name in _brought(group) or bool(source and has(source, name))


def added(group: str) -> tuple[str, ...]:
    """Names of those things of a group that do not ship."""
    of = _group(group)
    brought = {*_brought(group), *(_brought(of.made_from) if of.made_from else ())}
    if not brought:
        return ()
    ours = {*_shipped(group), *(_shipped(of.made_from) if of.made_from else ())}
    return tuple(name for name in names(group) if name in brought - ours)


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
    of = _group(group)
    if not of.inside and not isinstance(name, str) and _is_one(name, of):
        return name
    if isinstance(name, str) and name in (near := _near(group, name)):
        return near[name]()
    loaders = _loaders(group)
    if not isinstance(name, str) or name not in loaders:
        hint = did_you_mean(name, loaders) if isinstance(name, str) else ""
        known = f"must be one of {', '.join(loaders)}" if loaders else "must be registered, and none is"
        raise ParameterError(f"{of.article.capitalize()} {of.says} {known}. Got {name!r}{hint or '.'}")
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
    things = {}
    for name in names(group):
        try:
            things[name] = get(group, name)
        except BiasgaugeError as problem:
            warnings.warn(f"{problem} It is left out.", stacklevel=2)
    return things


def register(thing: Thing, group: str | None = None) -> Thing:
    """Add a thing for this process; its type says to which group. Gives it back, so that it decorates a class.

    Raises:
        ParameterError: it belongs to no group, has no name, or its name is taken.
    """
    chosen = _group_of(thing) if group is None else group
    of = _group(chosen)
    _check(thing, of, "What is registered")
    loaders = _contents(thing, of)
    taken = {*_loaders(chosen), *(name for other in _sharing(chosen) for name in _loaders(other))}
    for name in loaders:
        if name in taken:
            raise ParameterError(f"There is {of.article} {of.says} named {name!r} already: give this one another name.")
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
    for known in (_points, _installed, _load_entry, _loaders):
        known.cache_clear()


def _group(name: str) -> Group:
    if name not in GROUPS:
        hint = did_you_mean(name, GROUPS) if isinstance(name, str) else ""
        raise ParameterError(f"A group of the registry must be one of {', '.join(GROUPS)}. Got {name!r}{hint or '.'}")
    return GROUPS[name]


def _group_of(thing: object) -> str:
    for name, of in GROUPS.items():
        # A class whose module nobody has imported has no instance, and importing all rooms would cost seconds.
        if all(kind.partition(":")[0] in sys.modules for kind in of.kind.split("|")) and _is_one(thing, of):
            return name
    raise ParameterError(f"What is registered must belong to one of {', '.join(GROUPS)}. Got {_said(thing)}.")


def _sharing(group: str) -> list[str]:
    """Groups whose names are also names of this one."""
    return [name for name, of in GROUPS.items() if of.made_from == group]


def _is_one(thing: object, of: Group) -> bool:
    kinds = tuple(_import(kind) for kind in of.kind.split("|"))
    return isinstance(thing, type) and issubclass(thing, kinds) if of.classes else isinstance(thing, kinds)


def _check(thing: object, of: Group, source: str) -> None:
    if not _is_one(thing, of):
        kind = of.kind.replace(":", ".").replace("|", " or ")
        wanted = f"a subclass of {kind}" if of.classes else kind
        raise ParameterError(f"{source} must be {of.article} {of.says} ({wanted}). Got {_said(thing)}.")


def _said(thing: object) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"{type(thing).__name__}: {thing!r}"


def _contents(thing: Any, of: Group) -> dict[str, Callable[[], Any]]:  # noqa: ANN401 - as get
    """Return a loader for each name that a thing brings."""
    if of.inside:
        several: dict[str, Callable[[], Any]] = _import(of.inside)(thing)
        return several
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name:
        raise ParameterError(f"{of.article.capitalize()} {of.says} needs a name, as text. Got {name!r}.")
    return {name: lambda: thing}


@cache
def _loaders(group: str) -> dict[str, Callable[[], Any]]:
    """A function for each name of a group, in order, that gives the thing."""
    of = GROUPS[group]
    ours = _shipped(group)
    loaders = {**_brought(group), **ours}
    if of.made_from:
        loaders |= {name: partial(_made, of, name) for name in _loaders(of.made_from)}
    return dict(sorted(loaders.items(), key=lambda item: _natural(item[0])))


def _brought(group: str) -> dict[str, Callable[[], Any]]:
    """A function for each name that installed packages or this process bring; some may be names of what ships."""
    return {**_installed(group), **_added[group]}


def _read_package(of: Group, name: str) -> Any:  # noqa: ANN401 - as get
    return _import(of.made_by)(f"{of.home}.{name}")


def _made(of: Group, name: str) -> Any:  # noqa: ANN401 - as get
    return _import(of.made_by)(get(of.made_from, name))


@cache
def _shipped(group: str) -> dict[str, Callable[[], Any]]:
    of = GROUPS[group]
    if of.file:
        homes = getattr(find_spec(of.home), "submodule_search_locations", None) or ()
        return {
            info.name: partial(_read_package, of, info.name)
            for info in iter_modules(homes)
            if info.ispkg and any((Path(home) / info.name / of.file).exists() for home in homes)
        }
    return _in_modules(of, _modules(of.home))


def _near(group: str, name: str) -> dict[str, Callable[[], Any]]:
    """Return loaders of what ships; where modules bear the names of what they hold, of those that fit `name` alone.

    Where installed packages bring more, all are loaded: a name that is taken gets a warning.
    """
    of = GROUPS[group]
    if not of.by_module or _installed(group):
        return _shipped(group)
    parts = name.split("_")
    return _in_modules(of, [module for module in _modules(of.home) if module.rpartition(".")[2] in parts])


@cache
def _modules(home: str) -> tuple[str, ...]:
    """Names of the modules of a package; of a module, its own."""
    inside = getattr(import_module(home), "__path__", None)
    return (home,) if inside is None else tuple(f"{home}.{info.name}" for info in iter_modules(inside))


def _in_modules(of: Group, modules: Iterable[str]) -> dict[str, Callable[[], Any]]:
    loaders: dict[str, Callable[[], Any]] = {}
    for module in modules:
        for thing in _several(getattr(import_module(module), of.attribute, ())):
            loaders |= _contents(thing, of)
    return loaders


def _several(value: Any) -> Iterable[Any]:  # noqa: ANN401 - as get
    return value if isinstance(value, tuple | list) else (value,)


@cache
def _points() -> EntryPoints:
    """Those of all installed packages: looking for them takes a while, so it is done once."""
    return cast("EntryPoints", entry_points())  # Python 3.11 has a name of its own for what is the same here


@cache
def _installed(group: str) -> dict[str, Callable[[], Any]]:
    """Return what the entry points of installed packages bring; a name that ships already is refused with a warning."""
    of = GROUPS[group]
    values: dict[str, list[str]] = {}
    for point in sorted(_points().select(group=f"biasgauge.{group}"), key=lambda point: (point.name, point.value)):
        values.setdefault(point.name, [])
        if point.value not in values[point.name]:
            values[point.name].append(point.value)
    ours = _shipped(group) if values else {}
    loaders: dict[str, Callable[[], Any]] = {}
    for name, places in values.items():
        brought: dict[str, Callable[[], Any]] = {name: partial(_load_entry, group, name, tuple(places))}
        if of.inside:
            try:
                brought = _contents(brought[name](), of)
            except BiasgaugeError as problem:
                warnings.warn(f"{problem} It is left out.", stacklevel=2)
                continue
        for own in brought.keys() & (ours.keys() | loaders.keys()):
            warnings.warn(
                f"{_source(group, name, places)} brings {of.article} {of.says} named {own!r}, which there is already. "
                "It is left out.",
                stacklevel=2,
            )
        loaders = {**brought, **loaders}
    return loaders


@cache
def _load_entry(group: str, name: str, places: tuple[str, ...]) -> Any:  # noqa: ANN401 - as get
    of, source = GROUPS[group], _source(group, name, places)
    if len(places) > 1:
        raise ParameterError(f"{source} belongs to several packages: uninstall all but one of them.")
    point = next(one for one in _points().select(group=f"biasgauge.{group}", name=name) if one.value == places[0])
    try:
        thing = point.load()
    except Exception as problem:  # whatever a stranger's module does on import
        raise ParameterError(f"{source} cannot be loaded: {type(problem).__name__}: {problem}.") from problem
    _check(thing, of, source)
    if not of.inside and thing.name != name:
        raise ParameterError(f"{source} must have the name of the entry point. Got {thing.name!r}.")
    return thing


def _source(group: str, name: str, places: Iterable[str]) -> str:
    return f"The entry point {name!r} of 'biasgauge.{group}' ({', '.join(places)})"


def _import(place: str) -> Any:  # noqa: ANN401 - a class, a function or a thing
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts if part]
