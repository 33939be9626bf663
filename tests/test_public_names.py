"""The names that users import: few, all found, none of them hidden by a module or hiding one."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from inspect import getattr_static
from pkgutil import iter_modules, walk_packages
from types import ModuleType
from typing import Any

import pytest

import biasgauge

package: Any = biasgauge
PUBLIC: list[str] = package.__all__
NAMESPACES = {
    "analyses", "applications", "audits", "errors", "lexicons", "metrics", "mitigation", "papers", "registry",
    "results", "scores", "stats", "study", "testing", "text", "vectors",
}  # fmt: skip
MODULES = sorted(info.name for info in walk_packages(biasgauge.__path__, "biasgauge.") if "__main__" not in info.name)


def test_the_front_door_is_small() -> None:
    assert len(PUBLIC) <= 41
    assert dir(biasgauge) == sorted({*PUBLIC, *NAMESPACES})


@pytest.mark.parametrize("room", ["analyses", "vectors", "text"])
def test_tab_finds_namespaces_inside_namespaces(room: str) -> None:
    inner = {"analyses": "regress", "vectors": "encoders", "text": "training"}[room]
    assert inner in dir(import_module(f"biasgauge.{room}"))


@pytest.mark.parametrize("name", sorted({*PUBLIC, *NAMESPACES} - {"__version__"}))
def test_every_public_name_is_found_in_its_room(name: str) -> None:
    thing = getattr(package, name)
    if name in NAMESPACES:
        assert isinstance(thing, ModuleType)
    else:
        assert not isinstance(thing, ModuleType)
        assert find_spec(f"biasgauge.{name}") is None  # no module has the name of a function or class


def test_every_name_of_the_stub_is_there() -> None:
    stub = files(biasgauge).joinpath("__init__.pyi").read_text(encoding="utf-8")
    names = [line.rpartition(" ")[2] for line in stub.splitlines() if line]
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(package, name) is not None


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_imported_in_the_ordinary_way(module: str) -> None:
    """`import a.b.c as x` gives the module: no name of the same spelling stands in its place."""
    found = import_module(module)
    room, _, name = module.rpartition(".")
    assert getattr_static(import_module(room), name) is found


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in MODULES}))
def test_every_name_that_a_package_lists_is_there(room: str) -> None:
    """Tab offered types that existed for type checkers alone."""
    found = import_module(room)
    assert [name for name in getattr(found, "__all__", ()) if not hasattr(found, name)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'biasgauge'"):
        package.weet  # noqa: B018 - the access is the test


def test_no_room_exports_a_name_of_one_of_its_modules() -> None:
    """Else the name would mean the module or the function, whichever was imported last."""
    rooms = [module.name for module in iter_modules(biasgauge.__path__) if module.ispkg]
    assert len(rooms) > 15
    for room in rooms:
        home = import_module(f"biasgauge.{room}")
        modules = {module.name for module in iter_modules(home.__path__)}
        assert modules.isdisjoint(getattr(home, "__all__", ())), room


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, biasgauge; print(*sorted({'numpy', 'pandas', 'rich', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_help_imports_nothing_that_computes() -> None:
    program = (
        "import sys\n"
        "from biasgauge.cli.entry import run\n"
        "assert run(['--help']) == 0\n"
        "print('HEAVY', *sorted({'numpy', 'pandas', 'jinja2', 'markdown_it'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY"
