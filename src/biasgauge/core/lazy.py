"""Public names that are imported when they are first used, each of them written once, in the package's `__init__.pyi`.

Type checkers and editors read the stub; `attach` reads it too, so that `import biasgauge` costs nothing and there is no
second list to keep.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str, hidden: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package from the imports of the stub beside `file`.

    Modules of the package that the stub names are namespaces: `dir` lists them, except those `hidden`; `import *`
    leaves them where they are.
    """
    homes: dict[str, str] = {}
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            homes |= {alias.asname or alias.name: node.module or "" for alias in node.names}
    names = sorted(name for name, home in homes.items() if home != package)
    listed = sorted(homes.keys() - set(hidden))

    def get(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:  # a namespace: a module of the package itself
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes[name]), name)

    return get, lambda: listed, names
