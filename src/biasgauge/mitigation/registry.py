"""Finds the mitigations: every class of `methods/` with a name; `mitigate` runs one of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import isabstract, isclass
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.mitigation.mitigation import Mitigation

if TYPE_CHECKING:
    from biasgauge.embeddings import Embedding


@cache
def _found() -> dict[str, type[Mitigation]]:
    found = {}
    for module in sorted(info.name for info in iter_modules([str(Path(__file__).with_name("methods"))])):
        home = f"{__package__}.methods.{module}"
        for one in vars(import_module(home)).values():
            if isclass(one) and issubclass(one, Mitigation) and one.__module__ == home and not isabstract(one):
                found[one.name] = one
    return found


def mitigations() -> tuple[str, ...]:
    """Names of all methods, sorted; `mitigation_method(name)` tells about one."""
    return tuple(sorted(_found()))


def mitigation_method(name: str, **settings: Any) -> Mitigation:  # noqa: ANN401 - those of the method
    """A method with its settings, to `fit` and to `transform` with; its docstring says what it does.

    Raises:
        ParameterError: there is no method of that name, or it has no such setting.
    """
    if name not in _found():
        raise ParameterError(f"A mitigation must be one of {', '.join(mitigations())}. Got {name!r}.")
    kind = _found()[name]
    known = kind().get_params()
    for setting in settings:
        if setting not in known:
            raise ParameterError(f"The method {name!r} has no setting {setting!r}; it has {', '.join(known)}.")
    return kind(**settings)


def mitigate(vectors: object, method: str = "hard", **settings: Any) -> Embedding:  # noqa: ANN401 - as above
    """Debias (or overbias) vectors: fit a method on them and give the changed copy.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        method: one of `mitigations()`.
        settings: of the method: `direction`, `strength`, `norms` for all of them; see its class.

    Raises:
        ParameterError: a method or a setting is unknown or cannot be used.
    """
    return mitigation_method(method, **settings).fit_transform(vectors)
