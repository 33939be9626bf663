"""In a notebook results show themselves: every public result class has an HTML form."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.presentation import notebook_chart
from biasgauge.presentation.notebook_chart import forest_spec
from biasgauge.results.blocks import Forest, ForestRow

if TYPE_CHECKING:
    from collections.abc import Iterator


def results(kind: type[Any]) -> Iterator[type[Any]]:
    """Every class of results, of all rooms."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("biasgauge."):
            yield one
        yield from results(one)


def test_every_result_says_what_it_comes_to() -> None:
    for info in walk_packages(bg.__path__, "biasgauge."):
        if "__main__" not in info.name:
            import_module(info.name)
    found = {one.__name__: one for one in results(bg.Result)}
    assert len(found) > 20
    assert [name for name, one in found.items() if one.summary is bg.Result.summary] == []
    repeated = [name for name, one in found.items() if {"__repr__", "_repr_html_"} & set(vars(one))]
    assert repeated == []  # written once, in Result


def test_direct_bias_shows_its_value_and_its_interval() -> None:
    vectors = bg.embeddings.load_default(3_000)
    found = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["nurse", "teacher", "judge"], min_coverage=0)
    shown = found._repr_html_()
    assert f"{found.mean.value:.3f} [{found.mean.low:.3f}, {found.mean.high:.3f}]" in shown
    lost = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["<b>nobody"])
    assert "undefined: fewer than 80 % found" in lost._repr_html_()
    assert "<b>nobody" not in lost._repr_html_()


def estimate(value: float, low: float, high: float) -> bg.Estimate:
    return bg.Estimate(value=value, low=low, high=high, level=0.95)


def test_a_notebook_gets_the_chart_as_a_drawing_that_loads_nothing() -> None:
    scores = bg.score(bg.embeddings.load_default_replicates(), pairs="bolukbasi2016", words="occ18", measures="dbwa")
    result = bg.reliability(scores)
    bundle = result._repr_mimebundle_()
    assert bundle["text/plain"] == repr(result)
    html = bundle["text/html"]
    assert html.startswith(result._repr_html_())
    first, *others = (name for name, _ in result.summary().named_charts())
    assert html.count("<svg") == 1
    assert "<script" not in html
    assert "src=" not in html
    assert f"figures()[&#x27;{first}" not in html
    assert all(f"figures()[&#x27;{name}&#x27;]" in html for name in others[:4])


def test_without_the_extra_a_notebook_says_how_to_get_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = bg.score(bg.embeddings.load_default(), pairs="bolukbasi2016", words="occ18", measures="dbwa")
    monkeypatch.setattr(notebook_chart, "find_spec", lambda _name: None)
    assert "biasgauge[figures]" in bg.reliability(scores)._repr_mimebundle_()["text/html"]
    weat = bg.weat(bg.embeddings.load_default(), "weat7")  # has no chart
    assert weat._repr_mimebundle_()["text/html"] == weat._repr_html_()


def test_a_forest_plot_draws_each_estimate_with_its_decision() -> None:
    rows = (
        ForestRow("a < b", "", "report", "good", estimate=estimate(0.2, 0.1, 0.3)),
        ForestRow("none", "", "not-measurable"),
        ForestRow("other axis", "", "report", estimate=estimate(5, 4, 6), drawn=False),
        ForestRow("c", "", "do-not-report", "bad", estimate=estimate(-0.1, -0.2, 0.0)),
    )
    spec = forest_spec(Forest("f", "Title", "", "contrast", rows, band=0.03))
    drawn = spec["data"]["values"]
    assert [(row["claim"], row["mark"], row["value"], row["low"], row["high"]) for row in drawn] == [
        ("a < b", "report", 0.2, 0.1, 0.3), ("c", "do not report", -0.1, -0.2, 0.0),
    ]  # fmt: skip
    assert drawn[0]["color"] != drawn[1]["color"]
    assert spec["layer"][0]["data"]["values"] == [{"from": -0.03, "to": 0.03}]
    assert json.dumps(spec)


def test_an_audit_in_a_notebook_shows_verdicts_what_to_write_and_the_forest_plot() -> None:
    result = bg.audit(bg.embeddings.load_default(), lexicons=["weat7"])
    html = result._repr_mimebundle_()["text/html"]
    assert result.quotes[0].text in html.replace("&#x27;", "'")
    assert result.methods.startswith("We audited GloVe 6B 100d (subset) (18,305 words, 100 dimensions) with biasgauge ")
    assert "One question was asked (gender)" in result.methods
    assert html.count("<svg") == 1
    assert "inconclusive" in html[html.index("<svg") :]


@pytest.mark.slow
def test_a_kernel_in_an_empty_folder_shows_results() -> None:
    """As Jupyter and VS Code run it: no display code, a result as the last line of a cell."""
    pytest.importorskip("nbclient")
    program = """
import json, sys, tempfile
import nbformat
from nbclient import NotebookClient
cells = ["import biasgauge as bg\nvectors = bg.embeddings.load_default()", "bg.weat(vectors, 'weat7')",
         "bg.audit(vectors, lexicons=['weat7'])", "vectors.to_frame().head()"]
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
where = {"metadata": {"path": tempfile.mkdtemp()}}
NotebookClient(book, timeout=600, kernel_name="python3", resources=where).execute()
print(json.dumps([sorted(output.data) for cell in book.cells for output in cell.outputs]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["text/html", "text/plain"]] * 3
