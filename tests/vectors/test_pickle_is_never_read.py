"""No code from data: nothing in the package can unpickle, and what it refuses comes with a way out."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import TYPE_CHECKING

import gensim
import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import load

if TYPE_CHECKING:
    from pathlib import Path

FORBIDDEN = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def _imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _risky(call: ast.Call) -> bool:
    """Whether this call reads pickles: `read_pickle`, `torch.load`, `np.load` unless it says no, or a say-so."""
    said = [word.value for word in call.keywords if word.arg == "allow_pickle"]
    refuses = bool(said) and all(isinstance(one, ast.Constant) and one.value is False for one in said)
    name = ast.unparse(call.func)
    loads = name in {"np.load", "numpy.load"} or name.endswith("torch.load")
    return name.endswith("read_pickle") or bool(said and not refuses) or (loads and not refuses)


def test_the_scan_sees_what_it_looks_for() -> None:
    tree = ast.parse(
        "import pickle.x\nfrom dill import load\nnp.load(path)\nread(path, allow_pickle=True)\nload(path)\n"
        "np.load(path, allow_pickle=False)\nnp.load(path, allow_pickle=flag)"
    )
    assert _imported(tree) & FORBIDDEN == {"pickle", "dill"}
    assert [ast.unparse(call) for call in _calls(tree) if _risky(call)] == [
        "np.load(path)",
        "read(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
    ]


def test_no_module_can_unpickle(package: Path) -> None:
    files = sorted(package.rglob("*.py"))
    assert len(files) > 10
    for file in files:
        text = file.read_text(encoding="utf-8")
        if not any(name in text for name in (*FORBIDDEN, "pickle", "load")):  # what the two below look for
            continue
        tree = ast.parse(text)
        assert not _imported(tree) & FORBIDDEN, file
        assert not [ast.unparse(call) for call in _calls(tree) if _risky(call)], file


def test_advice_of_a_refused_model_can_be_followed(tmp_path: Path) -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(["a", "b"], np.array([[1, 2], [3, 4]], np.float32))
    keyed.mark = Fraction(1, 2)  # what no reader of ours knows
    path = tmp_path / "vectors.kv"
    keyed.save(str(path))
    with pytest.raises(EmbeddingFormatError, match="pickle") as raised:
        load(path)
    advice = "v = gensim.utils.SaveLoad.load(path); getattr(v, 'wv', v).save_word2vec_format('v.bin', binary=True)"
    assert advice in str(raised.value)

    # The advice, followed to the letter, gives a file that is read.
    v = gensim.utils.SaveLoad.load(str(path))
    getattr(v, "wv", v).save_word2vec_format(tmp_path / "vectors.bin", binary=True)
    found = load(tmp_path / "vectors.bin")
    assert found.words == ("a", "b")
    assert found.vectors.tolist() == [[1, 2], [3, 4]]
