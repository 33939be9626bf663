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
from biasgauge.results import Forest, ForestRow, notebook
from biasgauge.results.notebook import forest_spec
from biasgauge.text import planted_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
    silent = [
        name
        for name, one in found.items()
        if one.summary is bg.Result.summary and one._headline is bg.Result._headline  # noqa: SLF001 - what a class declares
    ]
    assert silent == []
    repeated = [name for name, one in found.items() if {"__repr__", "_repr_html_"} & set(vars(one))]
    assert repeated == []  # written once, in Result


def test_direct_bias_shows_its_value_and_its_interval() -> None:
    vectors = bg.vectors.load_default(3_000)
    lenient = bg.core.WordPolicy(0, case="exact")
    found = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["nurse", "teacher", "judge"], policy=lenient)
    shown = found._repr_html_()
    assert f"{found.mean.value:.3f} [{found.mean.low:.3f}, {found.mean.high:.3f}]" in shown
    lost = bg.scores.direct_bias(vectors, pairs="bolukbasi2016", words=["<b>nobody"])
    assert "undefined: fewer than 80 % found" in lost._repr_html_()
    assert "<b>nobody" not in lost._repr_html_()


def estimate(value: float, low: float, high: float) -> bg.Estimate:
    return bg.Estimate(value=value, low=low, high=high, level=0.95)


def test_a_notebook_gets_the_chart_as_a_drawing_that_loads_nothing() -> None:
    scores = bg.score(bg.vectors.load_default_replicates(), pairs="bolukbasi2016", words="occ18", measures="dbwa")
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
    scores = bg.score(bg.vectors.load_default(), pairs="bolukbasi2016", words="occ18", measures="dbwa")
    monkeypatch.setattr(notebook, "find_spec", lambda _name: None)
    assert "biasgauge[figures]" in bg.reliability(scores)._repr_mimebundle_()["text/html"]
    chart = next(iter(bg.reliability(scores).figures().values()))
    assert "biasgauge[figures]" in chart._repr_mimebundle_()["text/html"]
    listed = bg.lexicons.check(bg.lexicon("weat7"))  # has no chart
    assert listed._repr_mimebundle_()["text/html"] == listed._repr_html_()


def drawn_alone(html: str) -> bool:
    """Whether it is one drawing that runs and loads nothing."""
    own = html.replace("http://www.w3.org/", "")  # names of the languages of a drawing, which are never loaded
    return html.count("<svg") == 1 and not any(sign in own for sign in ("<script", "http", "src=", "@import", "url("))


def test_a_chart_by_itself_is_shown_without_a_network() -> None:
    alt = pytest.importorskip("altair")
    weat = bg.weat(bg.vectors.load_default(), "weat7")
    chart = weat.figures()["words"]
    assert isinstance(chart, alt.LayerChart)  # still a chart of the library, which can be changed and combined
    for shown in (chart, chart.properties(height=300)):
        bundle = shown._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}
        assert drawn_alone(bundle["text/html"])
        assert "equations" in bundle["text/html"]
    with alt.renderers.enable("html"):  # who chose another renderer gets it
        assert "<script" in str(chart._repr_mimebundle_())
    assert "layer" in chart.to_dict()
    assert alt.Chart.from_dict(chart.to_dict()).to_dict()["layer"] == chart.to_dict()["layer"]


def drawn_rows(result: bg.Result, name: str) -> list[dict[str, Any]]:
    chart = result.figures()[name].to_dict()
    (rows,) = (rows for rows in chart["datasets"].values() if rows)
    return list(rows)


def test_weat_draws_its_words() -> None:
    weat = bg.weat(bg.vectors.load_default(), "weat7")
    rows = drawn_rows(weat, "words")
    assert {row["what"]: row["association"] for row in rows} == pytest.approx(weat.associations)
    values = [row["association"] for row in rows]
    assert values == sorted(values, reverse=True)
    means = {side: [row["association"] for row in rows if row["targets"] == side] for side in ("math", "arts")}
    contrast = sum(means["math"]) / len(means["math"]) - sum(means["arts"]) / len(means["arts"])
    assert contrast == pytest.approx(weat.contrast.value)
    assert drawn_alone(weat._repr_mimebundle_()["text/html"])
    lost = bg.weat({word: [1.0, 0.0] for word in ("a", "b")}, "weat7")
    assert lost.figures() == {}


def test_long_lists_are_drawn_by_their_ends() -> None:
    vectors = bg.vectors.load_default()
    words = [word for word in vectors.words if word.isalpha()][500:660]
    weat = bg.weat(vectors, x=words[:80], y=words[80:], a="weat7:a", b="weat7:b")
    rows = drawn_rows(weat, "words")
    strongest = sorted(map(abs, weat.associations.values()), reverse=True)[:50]
    assert sorted((abs(row["association"]) for row in rows), reverse=True) == pytest.approx(strongest)


def test_flips_draw_the_share_of_each_change() -> None:
    found = bg.analyses.robustness.flips(bg.vectors.load_default(), concepts=["weat7:math", "weat7:arts"])
    rows = drawn_rows(found, "flips")
    shares = [row.share.value for row in found.rows if row.share.value is not None]
    assert [row["share"] for row in rows] == pytest.approx(shares)
    assert {row["words"] for row in rows} == {"math (WEAT 7)", "arts (WEAT 7)"}
    assert "measure: RIPA" in {row["what"] for row in rows}
    layers = found.figures()["flips"].to_dict()["spec"]["layer"]
    shaped = [layer["mark"]["type"] for layer in layers if "shape" in layer["encoding"]]
    assert shaped == ["point"]  # a line with a shape is drawn with a second dot at its end
    assert drawn_alone(found._repr_mimebundle_()["text/html"])


def test_stability_draws_the_least_stable_words() -> None:
    models = [bg.vectors.load_default_replicates()[place].subset(["he", "she", "nurse"]) for place in range(3)]
    found = bg.vectors.stability(models)
    rows = drawn_rows(found, "words")
    assert [(row["what"], row["stability"], row["low"], row["high"]) for row in rows] == [
        (word.word, word.value, word.low, word.high)
        for word in sorted(map(found.__getitem__, found.words), key=lambda word: word.value or 0.0)
    ]
    assert drawn_alone(found._repr_mimebundle_()["text/html"])


def test_influence_draws_what_is_left_without_documents(tmp_path: Path) -> None:
    corpus = planted_corpus({"welder": 0.8, "nurse": -0.8}, lines=600, random_state=1)
    corpus.write(tmp_path / "text.txt")
    found = bg.analyses.calibrate.influence(tmp_path / "text.txt", words=["welder"], pairs=list(corpus.pairs))
    rows = drawn_rows(found, "removals")
    assert (rows[0]["documents"], rows[0]["log odds"]) == (0, found.value.value)
    assert [(row["documents"], row["log odds"]) for row in rows[1:]] == [
        (step.documents, step.value) for step in found.removals
    ]
    assert drawn_alone(found._repr_mimebundle_()["text/html"])


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
    result = bg.audit(bg.vectors.load_default(), lexicons=["weat6"])
    html = result._repr_mimebundle_()["text/html"]
    assert result.verdicts[0].decision == "report-with-care"  # claims are quoted; other sentences are in their rows
    assert result.quotes[0].text in html.replace("&#x27;", "'")
    assert result.methods.startswith("We audited GloVe 6B 100d (subset) (19,524 words, 100 dimensions) with biasgauge ")
    assert "One question was asked (gender)" in result.methods
    assert html.count("<svg") == 1
    assert "report with care" in html[html.index("<svg") :]


@pytest.mark.slow
def test_a_kernel_in_an_empty_folder_shows_results() -> None:
    """As Jupyter and VS Code run it: no display code, a result as the last line of a cell."""
    pytest.importorskip("nbclient")
    program = r"""
import json, sys, tempfile
import nbformat
from nbclient import NotebookClient
cells = ["import biasgauge as bg\nvectors = bg.vectors.load_default()", "bg.weat(vectors, 'weat7')",
         "bg.audit(vectors, lexicons=['weat7'])", "vectors.to_frame().head()"]
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
where = {"metadata": {"path": tempfile.mkdtemp()}}
NotebookClient(book, timeout=600, kernel_name="python3", resources=where).execute()
print(json.dumps([sorted(output.data) for cell in book.cells for output in cell.outputs]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["text/html", "text/plain"]] * 3
