"""Numbers on the pages of studies are those of the tables beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasgauge.analyses.correlate import seed_reliability

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
    """Ranges over all sets as the page prints them; printed percentages within two errors of simulation."""
    page = " ".join((studies / "dobrzeniecka2023.md").read_text().split())
    table = pd.read_csv(studies / "dobrzeniecka2023" / "predictive.csv")
    told = re.findall(
        r"the published model has (\S+ to \S+ and \S+ to \S+), the crossed one (\S+ to \S+ and \S+ to \S+) ", page
    )
    assert len(told) == 1
    for model, text in zip(("published", "crossed"), told[0], strict=True):
        shares = table[table["model"] == model][["within_50", "within_89"]]
        expected = [end for column in shares for end in (shares[column].min(), shares[column].max())]
        assert numbers(text) == pytest.approx(expected, abs=0.051), model
    printed = table[(table["model"] == "published") & table["printed_50"].notna()]
    assert len(printed) == 6
    for level, most in (("50", 0.5 + 1.38), ("89", 0.5 + 0.98)):
        assert ((printed[f"within_{level}"] - printed[f"printed_{level}"]).abs() <= most).all()


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
        part = six[six["measure"] == measure].drop_duplicates(["variant", "seed"]).sort_values("seed")
        runs, seeds = ([rows[name].tolist() for _, rows in part.groupby("variant")] for name in ("gap", "seed"))
        assert len(runs) == 6
        iccs.append(seed_reliability(runs, measure, seeds=seeds).single.value)
    told = numbers(re.findall(r"over the six others the ICC of the gap is (.*?) \(type 1", page)[0])
    told += numbers(re.findall(r"\(type 1, precision and recall\), (.*?) \(type 2\)", page)[0])
    assert told == pytest.approx(iccs, abs=0.0051)


@pytest.fixture
def graded(studies: Path) -> pd.DataFrame:
    """Gaps of the 33 graded versions, once for each task seed and test."""
    return pd.read_csv(studies / "goldfarb_tarrant2021" / "graded_points.csv")


def test_steps_of_graded_versions(studies: Path, graded: pd.DataFrame) -> None:
    """Every cell of the table from the points alone."""
    page = (studies / "goldfarb_tarrant2021.md").read_text()
    rows = lines(page, "| step | WEAT, effect size |")
    assert len(rows) == 9
    graded["original"] = graded["variant"].str.replace("_(de|over)bias_.*", "", regex=True)
    for step, weat, contrast, *cells in rows:
        direction, _, strength = step.partition(" ")
        here = graded[graded["strength"] == float(strength or 0)]
        here = here[here["direction"] == direction] if strength else here
        words = here[here["test"] != "weat6"]
        assert numbers(weat)[0] == pytest.approx(words["weat"].mean(), abs=0.0051)
        assert numbers(contrast)[0] == pytest.approx(words["contrast"].mean(), abs=0.0051)
        for kind, gap, change in (("1", *cells[:2]), ("2", *cells[2:])):
            own = here[(here["measure"] == f"precision, winobias test {kind}") & (here["test"] == "weat7")]
            assert numbers(gap)[0] == pytest.approx(own["gap"].mean(), abs=0.00056), step
            if not strength:
                continue
            whole = graded[(graded["measure"] == f"precision, winobias test {kind}") & (graded["test"] == "weat7")]
            before = whole[whole["strength"] == 0].set_index(["original", "seed"])["gap"]
            changes = own.assign(
                change=[row["gap"] - before[row["original"], row["seed"]] for _, row in own.iterrows()]
            )
            differences = changes.groupby("original")["change"].mean().tolist()  # embeddings are the unit
            assert len(differences) == (2 if strength in {".1", ".15"} else 5)
            ends = stats.t.interval(0.95, len(differences) - 1, np.mean(differences), stats.sem(differences))
            assert numbers(change.replace("**", "")) == pytest.approx([np.mean(differences), *ends], abs=0.0007), step


def test_correlations_of_graded_versions(studies: Path, graded: pd.DataFrame) -> None:
    page = (studies / "goldfarb_tarrant2021.md").read_text()
    table = pd.read_csv(studies / "goldfarb_tarrant2021" / "graded_influence.csv")
    table = table[table["tests"] == "all"].set_index(["measure", "scale", "versions"])
    both = ("all", "without Attract-Repel at full strength")
    choices = [(scale, which) for scale in ("weat", "contrast") for which in both]
    rows = lines(page, "| r, all tests pooled |")
    assert len(rows) == 2
    for name, *cells in rows:
        kind, metric = re.findall(r"type (\d) (\w+)", name)[0]
        own = graded[graded["measure"] == f"{metric}, winobias test {kind}"]
        for (scale, which), cell in zip(choices, cells, strict=True):
            row = (f"{metric}, winobias test {kind}", scale, which)
            kept: list[Any] = list(table.loc[row, ["r", "low", "high", "p"]])
            found = numbers(cell.replace("**", ""))
            assert found[:3] == pytest.approx(kept[:3], abs=0.0051), row
            assert kept[3] < 0.001 if "p <" in cell else found[3] == pytest.approx(kept[3], abs=0.0051)
            some = own if which == "all" else own[own["strength"] != 1]
            means = some.groupby(["variant", "test"])[[scale, "gap"]].mean()
            assert np.corrcoef(means[scale], means["gap"])[0, 1] == pytest.approx(kept[0], abs=0.001)
    assert graded["variant"].nunique() == 33


def test_slopes_of_graded_versions(studies: Path, graded: pd.DataFrame) -> None:
    """What a smaller spread would leave of r, and slopes on both scales with their intervals."""
    page = " ".join((studies / "goldfarb_tarrant2021.md").read_text().split())
    table = pd.read_csv(studies / "goldfarb_tarrant2021" / "graded_influence.csv")
    table = table[table["tests"] == "all"].set_index(["measure", "scale", "versions"])
    both = ("all", "without Attract-Repel at full strength")
    told = {
        "weat": r"on the effect size falls from (.*?\]) to (.*?\]) \(type 2: (.*?\]) to (.*?\])\)",
        "contrast": r"the slope is (.*?\]) over all versions and (.*?\]) without .*?\(type 2: (.*?\]) and (.*?\])\)",
    }
    expected = []
    for scale, pattern in told.items():
        cells = iter(re.findall(pattern, page)[0])
        for kind in "12":
            own = graded[graded["measure"] == f"precision, winobias test {kind}"]
            means = own.groupby(["variant", "test"])[[scale, "gap", "strength"]].mean()
            for which in both:
                row = (f"precision, winobias test {kind}", scale, which)
                kept: list[Any] = list(table.loc[row, ["slope", "slope_low", "slope_high"]])
                assert numbers(next(cells)) == pytest.approx(kept, abs=0.00051), row
                some = means if which == "all" else means[means["strength"] != 1]
                assert np.polyfit(some[scale], some["gap"], 1)[0] == pytest.approx(kept[0], abs=0.0002)
            r = float(np.corrcoef(means[scale], means["gap"])[0, 1])
            ratio = float(np.var(some[scale]) / np.var(means[scale]))
            expected += [r, r * ratio**0.5 / (1 - r**2 + r**2 * ratio) ** 0.5] if scale == "weat" else []
    shown = re.findall(r"would take r from (\S+) to (\S+) \(type 1\) and from (\S+) to (\S+) \(type 2\)", page)[0]
    assert numbers(" ".join(shown)) == pytest.approx(expected, abs=0.0051)


def test_what_weaker_versions_differ_in_is_noise(studies: Path, graded: pd.DataFrame) -> None:
    page = (studies / "goldfarb_tarrant2021.md").read_text().replace("\n", " ")
    agreed, spread = [], []
    for kind in "12":
        own = graded[(graded["strength"] != 1) & (graded["measure"] == f"precision, winobias test {kind}")]
        seeds = own.pivot_table(index="variant", columns="seed", values="gap")
        assert len(seeds) == 23
        agreed.append(seeds.corr().iloc[0, 1])
        spread.append((seeds[0] - seeds[1]).std() / 2**0.5)
    told = re.findall(r"agree on the gaps at r = (\S+) \(type 1\) and (\S+) \(type 2\)", page)[0]
    assert numbers(" ".join(told)) == pytest.approx(agreed, abs=0.0051)
    told = re.findall(r"what a task seed does \((\S+) in type 1, (\S+) in type 2\)", page)[0]
    assert numbers(" ".join(told)) == pytest.approx(spread, abs=0.00051)


def test_what_differs_reliably_are_fasttexts_versions(studies: Path) -> None:
    page = (studies / "goldfarb_tarrant2021.md").read_text().replace("\n", " ")
    table = pd.read_csv(studies / "goldfarb_tarrant2021" / "reliability.csv")
    iccs = table[table["task"] == "coref"].set_index(["embedding", "measure"])["icc"]
    for name, embedding in (("fastText", "fasttext"), ("skip-gram", "sgns")):
        told = numbers(re.findall(rf"[Ww]ith {name} alone (.*?)[;:]", page)[0])
        assert told == pytest.approx([iccs[embedding, measure] for measure in COREF], abs=0.0051)
