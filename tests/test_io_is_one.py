"""Files of each type are read in one place, which no hostile byte gets past; and few modules may remove anything."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from tests.source_trees import module_trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READERS = {
    **dict.fromkeys(("json.load", "json.loads", "json.JSONDecoder"), "io/json_file.py"),
    **dict.fromkeys(("tomllib.load", "tomllib.loads"), "io/text_file.py"),
    **dict.fromkeys(("csv.reader", "csv.DictReader", "csv.writer", "csv.DictWriter"), "io/text_file.py"),
    **dict.fromkeys(
        ("np.load", "np.save", "np.savez", "np.savez_compressed", "np.genfromtxt", "np.loadtxt", "np.lib.format"),
        "io/npy_file.py",
    ),
}
"""Functions that only one module may name."""
METHODS = {"to_csv": "io/text_file.py", "model_validate_json": "", "validate_json": "", "read_json_lines": ""}
"""Methods of libraries that read or write such files as well; "" where nobody may."""
FRAMES = ("pd.read_csv", "pd.read_json", "pd.read_table", "pd.read_pickle", "pd.read_excel", "pd.read_parquet")
EXCEPTIONS = {("vectors/plain_text.py", "pd.read_csv")}  # rows of numbers, split and bounded before
MODULES = {"tomllib": "io/text_file.py", "csv": "io/text_file.py"}
NEVER = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "xml", "joblib"}

REMOVES = {
    "io/atomic.py": "temporary files that it makes itself, or of a process that has ended",
    "io/locks.py": "its own lock",
    "applications/coref/model.py": "weights and states by a name of ours, which a model or training has replaced",
    "text/document_table.py": "a temporary folder that it has made",
    "text/read.py": "a temporary folder that it has made",
    "text/writer.py": "its own blocks of numbers, in a folder that it has made; a corpus that nothing was made from",
    "vectors/encoders/view_files.py": "its own list of views, under the lock",
    "scores/store.py": "its own list of models, and tables by a name of ours, under the lock",
    "study/steps/inputs.py": "a record that the same step has written in a folder of the study",
    "study/store.py": "files of the store, by a name that no link leads out of",
    "text/training/cooccurrence.py": "its own list of tables",
    "text/training/sweep.py": "counts that models share, in folders by a name of ours, under the lock",
}
"""Modules that remove files or folders, and which."""
REMOVERS = {"unlink", "rmtree", "rmdir", "remove_all", "rm_file"}


def name_of(node: ast.AST) -> str:
    """A dotted name as it stands: np.lib.format."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def strangers(module: str, tree: ast.Module) -> Iterator[str]:
    """Readers and writers that a module has no right to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = name_of(node)
            owner = READERS.get(name, READERS.get(name.rpartition(".")[0]) if "lib.format" in name else None)
            owner = METHODS.get(node.attr, owner) if not name.startswith("self.") else owner
            if owner is not None and module != owner:
                yield f"{module}, line {node.lineno}: {name}"
            if name in FRAMES and (module, name) not in EXCEPTIONS:
                yield f"{module}, line {node.lineno}: {name}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            given = [item.name for item in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for name in given:
                root = name.split(".")[0]
                if root in NEVER or (root in MODULES and MODULES[root] != module):
                    yield f"{module}, line {node.lineno}: import {name}"
                if isinstance(node, ast.ImportFrom) and root == "json" and any("load" in it.name for it in node.names):
                    yield f"{module}, line {node.lineno}: from json import …"


def test_no_file_is_read_outside_of_io(package: Path) -> None:
    named = {name.rpartition(".")[2] for name in (*READERS, *METHODS, *FRAMES)} | {
        *MODULES,
        *NEVER,
        "lib.format",
        "json",
    }
    assert [found for module, tree in module_trees(package, named) for found in strangers(module, tree)] == []


def test_only_modules_that_say_what_they_remove_do(package: Path) -> None:
    removing = {
        module
        for module, tree in module_trees(package, REMOVERS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in REMOVERS
    }
    assert removing == set(REMOVES)


@pytest.mark.parametrize(
    "code",
    [
        "import json\njson.loads(text)",
        "import json\njson.load(file)",
        "from json import loads",
        "import tomllib",
        "import csv",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.lib.format.open_memmap(path)",
        "import pandas as pd\npd.read_csv(path)",
        "frame.to_csv(path)",
        "Model.model_validate_json(text)",
        "import pickle",
        "from yaml import safe_load",
    ],
)
def test_the_test_itself_finds_readers(code: str) -> None:
    assert list(strangers("scores/new.py", ast.parse(code)))
