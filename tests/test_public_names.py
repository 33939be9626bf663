"""The names that users import: all there, all found, none by accident."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", bg.__all__)
def test_every_public_name_is_found_in_its_room(name: str) -> None:
    assert name in dir(bg)
    if name != "__version__":
        home = getattr(bg, name).__module__
        assert home.startswith("biasgauge.")


def test_the_three_lists_of_names_agree(repository: Path) -> None:
    """`__all__`, the names for type checkers and the rooms that hold them are the same names."""
    tree = ast.parse((repository / "src/biasgauge/__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed | {"__version__"} == set(bg.__all__) == set(bg._HOMES) | {"__version__"}  # noqa: SLF001


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'biasgauge' has no attribute 'weet'"):
        bg.weet  # noqa: B018 - the access is the test


def test_a_function_stays_a_function_when_its_room_is_imported() -> None:
    program = (
        "import biasgauge.audit.result, biasgauge\n"
        "from biasgauge import audit\n"
        "assert callable(audit) and callable(biasgauge.audit), audit\n"
        "import biasgauge.audit.run\n"
        "assert callable(biasgauge.audit)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, biasgauge; print(*sorted({'numpy', 'pandas', 'rich', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_help_imports_nothing_that_computes() -> None:
    program = (
        "import sys\n"
        "from biasgauge.cli.main import run\n"
        "assert run(['--help']) == 0\n"
        "print('HEAVY', *sorted({'numpy', 'pandas', 'jinja2', 'markdown_it'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY"
