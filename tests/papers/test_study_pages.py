"""Numbers on the pages of studies are those of the tables beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from biasgauge.applications import seed_reliability

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"[+−]?\d*\.?\d+")


def numbers(cell: str) -> list[float]:
    return [float(text.replace("−", "-")) for text in NUMBER.findall(cell)]


def lines(page: str, start: str) -> list[list[str]]:
    """Cells of the table whose header begins so."""
    rows = page[page.index(start) :].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip(" *") for cell in row.strip("| ").split(" | ")] for row in rows]


@pytest.fixture(scope="module")
def studies(repository: Path) -> Path:
    return repository / "docs" / "studies"


def test_contrasts_of_dobrzeniecka2023(studies: Path) -> None:
    page = (studies / "dobrzeniecka2023.md").read_text()
    table = pd.read_csv(studies / "dobrzeniecka2023" / "contrasts.csv")
    table = table[table["contrast"] == "associated − different"].set_index(["set", "model"])
    rows = lines(page, "| set | published model | crossed |")
    assert len(rows) == 11
    for name, *cells, direction in rows:
        dataset = name.lower().replace(", ", "_").replace(" ", "_")
        for model, cell in zip(("published", "crossed", "attribute × group"), cells, strict=True):
            kept: list[Any] = list(table.loc[(dataset, model), ["mean", "low", "high"]])
            assert numbers(cell) == pytest.approx(kept, abs=0.00051), (name, model)
        assert float(direction) == pytest.approx(float(table["p_direction"][dataset, "crossed"]), abs=0.0051)


def test_predictive_checks_of_dobrzeniecka2023(studies: Path) -> None:
    page = (studies / "dobrzeniecka2023.md").read_text()
    table = pd.read_csv(studies / "dobrzeniecka2023" / "predictive.csv").set_index(["set", "model"])
    for name, printed, *cells in lines(page, "| set | printed | published model, here |"):
        dataset = name.lower().replace(", ", "_")
        for model, cell in zip(("published", "crossed"), cells, strict=True):
            kept: list[Any] = list(table.loc[(dataset, model), ["within_50", "within_89"]])
            assert numbers(cell) == pytest.approx(kept, abs=0.051)
        assert numbers(printed)[:2] == list(table.loc[(dataset, "published"), ["printed_50", "printed_89"]])


def test_shares_before_and_after_debiasing(studies: Path) -> None:
    page = (studies / "dobrzeniecka2023.md").read_text()
    table = pd.read_csv(studies / "dobrzeniecka2023" / "change.csv").set_index(["topic", "connection"])
    columns = ["printed_before", "earlier_words", "band_before", "printed_after", "band_after"]
    rows = lines(page, "| | printed before | earlier words |")
    assert len(rows) == 8
    for name, *cells in rows:
        topic, connection = name.split(", ")
        kept: list[Any] = list(table.loc[(topic, connection), [*columns, "band_share", "band_low", "band_high"]])
        assert [value for cell in cells for value in numbers(cell)] == pytest.approx(kept, abs=0.051), name


def test_chains_of_the_authors_kind(studies: Path) -> None:
    page = (studies / "dobrzeniecka2023.md").read_text()
    table = pd.read_csv(studies / "dobrzeniecka2023" / "sampler.csv")
    table = table[table["set"] == "religion_reddit"].set_index("run")
    rows = lines(page, "| run | P(tau < .03) |")
    assert len(rows) == len(table)
    for run, *cells in rows:
        kept: list[Any] = list(table.loc[run, ["small_tau", "mean", "largest", "farther_out", "divergences"]])
        for cell, value in zip(cells, kept, strict=True):
            assert (cell == "–") == (value != value), run  # noqa: PLR0124 - NaN
            if cell != "–":
                assert numbers(cell)[0] == pytest.approx(value, abs=0.0051 if value > 0.2 else 0.00051), run


def test_which_versions_make_the_correlation(studies: Path) -> None:
    page = (studies / "goldfarb_tarrant2021.md").read_text()
    table = pd.read_csv(studies / "goldfarb_tarrant2021" / "influence.csv").set_index(["measure", "versions"])
    chosen = ("all", "without Attract-Repel at full strength", "without balanced text")
    for name, *cells in lines(page, "| gap, all tests pooled |"):
        kind, metric = re.findall(r"type (\d) (\w+)", name)[0]
        for versions, cell in zip(chosen, cells, strict=True):
            kept: list[Any] = list(table.loc[(f"{metric}, winobias test {kind}", versions), ["r", "low", "high", "p"]])
            found = numbers(cell.replace("**", ""))
            assert found[:3] == pytest.approx(kept[:3], abs=0.0051), (name, versions)
            assert found[3] == pytest.approx(kept[3], abs=0.0051 if kept[3] > 0.1 else 0.00051)


COREF = tuple(f"{metric}, winobias test {kind}" for kind in (1, 2) for metric in ("precision", "recall"))


def test_gaps_of_six_versions_do_not_differ_by_more_than_the_task_seed(studies: Path) -> None:
    """Without full strength there is nothing that a correlation could be with: the page says so with these numbers."""
    page = (studies / "goldfarb_tarrant2021.md").read_text().replace("\n", " ")
    points = pd.read_csv(studies / "goldfarb_tarrant2021" / "points_coref.csv")
    points["measure"] = points["metric"] + ", " + points["of"]
    six = points[(points["method"] != "attract_repel") | (points["strength"] != 1)]
    iccs = []
    for measure in COREF:
        part = six[six["measure"] == measure].drop_duplicates(["variant", "seed"])
        runs = [rows["gap"].tolist() for _, rows in part.groupby("variant")]
        assert len(runs) == 6
        iccs.append(seed_reliability(runs, measure).single.value)
    told = numbers(re.findall(r"over the six others the ICC of the gap is (.*?) \(type 1", page)[0])
    told += numbers(re.findall(r"\(type 1, precision and recall\), (.*?) \(type 2\)", page)[0])
    assert told == pytest.approx(iccs, abs=0.0051)


def test_what_differs_reliably_are_fasttexts_versions(studies: Path) -> None:
    page = (studies / "goldfarb_tarrant2021.md").read_text().replace("\n", " ")
    table = pd.read_csv(studies / "goldfarb_tarrant2021" / "reliability.csv")
    iccs = table[table["task"] == "coref"].set_index(["embedding", "measure"])["icc"]
    for name, embedding in (("fastText", "fasttext"), ("skip-gram", "sgns")):
        told = numbers(re.findall(rf"[Ww]ith {name} alone (.*?)[;:]", page)[0])
        assert told == pytest.approx([iccs[embedding, measure] for measure in COREF], abs=0.0051)
