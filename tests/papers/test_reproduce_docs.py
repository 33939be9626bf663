"""The page about reproducing papers: its counts are true."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from scipy.stats import pearsonr

from biasgauge import registry
from biasgauge.analyses.correlate import read_points
from biasgauge.papers import Row, reproduce

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.papers import Reproduction


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "reference" / "reproduce.md").read_text()


def test_every_paper_and_every_column_is_told(page: str) -> None:
    assert re.findall(r"^\| `(\w+\d{4})` \|", page, re.MULTILINE) == sorted(
        registry.names("paper"),
        key=[
            *("du2021", "dobrzeniecka2023", "badderseeds2022", "zhang2020", "goldfarbtarrant2021"),
            *("nadeem2021", "nangia2020", "may2019", "guo2021"),
        ].index,
    )
    told = set(re.findall(r"`(\w+)`", page.split("## The papers", maxsplit=1)[0]))
    assert set(Row("a", "", "").to_dict()) <= told


def test_the_counts_are_true(page: str, reproduced: Callable[..., Reproduction]) -> None:
    found = reproduced("du2021")
    assert f"({found.count('agrees', 'identity')} identities)" in page
    assert f"{found.count('agrees', 'value')} values and {found.count('agrees', 'range')} claims" in page


def test_the_tolerances_are_those_of_the_rows(page: str) -> None:
    named: set[str] = set()
    for name, starts, told in (
        ("dobrzeniecka2023", ("posterior.", ".mean"), ".002 for a mean"),
        *(("dobrzeniecka2023", ("posterior.", end), ".003 for an end") for end in (".low", ".high")),
        *(
            ("dobrzeniecka2023", (f"band.{topic}.change.", ""), "each rounded: 1 percentage point")
            for topic in ("religion", "race")
        ),
        ("dobrzeniecka2023", ("coverage.", ".89"), ".98 for 89 %"),
        ("dobrzeniecka2023", ("coverage.", ".50"), "1.38 for 50 %"),
        ("zhang2020", ("sums.table", ".mean"), "ten rounded kappas: .01"),
        ("zhang2020", ("analogies.cosine.digits", ""), "seven digits: 1e-06"),
        *(("du2021", (start, ""), "by eye: .02") for start in ("test_retest.", "inter_rater.", "alpha.")),
        ("du2021", ("arithmetic.r2.", ""), "three parts, each printed with seven digits: 2e-07"),
        ("nangia2020", ("sums.", ""), "from those of their parts: .1"),
        *(
            ("nadeem2021", (f"{start}{model}", number), "printed in full: 1e-09")
            for model in ("gpt2", "bert", "roberta-", "xlnet-", "sentiment.", "ensemble.")
            for start, number in (("", ".lms"), ("", ".ss"), ("", ".icat"), ("sums.", ".icat"))
        ),
    ):
        rows = [row for row in published(name) if row.id.startswith(starts[0]) and row.id.endswith(starts[1])]
        rows = [row for row in rows if row.published is not None]
        kept = {f"{row.tolerance:.12g}".removeprefix("0") for row in rows}
        assert len(kept) == 1
        assert kept.pop() in told
        assert told.replace("1e-06", ".000001").replace("2e-07", ".0000002").replace("1e-09", ".000000001") in page
        named |= {row.id for row in rows}
    for name in registry.names("paper"):
        for row in published(name) if name != "badderseeds2022" else ():
            if row.tolerance and not isinstance(row.published, str) and row.id not in named:
                assert row.tolerance <= 0.5 * _unit(float(row.published or 0)) * (1 + 1e-9), row.id


def published(name: str) -> list[Row]:
    """All rows of a paper, without our numbers: on other data a row has no tolerance."""
    return [row for part in registry.get("paper", name).parts for row in part.published]


def _unit(printed: float) -> float:
    """What the last digit of a number stands for."""
    return float(10.0 ** int(Decimal(f"{printed:.12g}").as_tuple().exponent))


@pytest.mark.shared
def test_the_counts_with_data_are_true(page: str, shared_data: Path, reproduced: Callable[..., Reproduction]) -> None:
    found = reproduced("goldfarbtarrant2021", shared_data)
    values, lengths, claims = (
        (found.count("agrees", kind), found.count("differs", kind)) for kind in ("value", "identity", "range")
    )
    reached = f"{values[0]} values are reached (looked up in their table) and {values[1]} are not"
    assert f"with them {reached}, beside {lengths[0]} list lengths" in page
    assert f"of {sum(claims)} claims in words {claims[0]} hold" in page
    # those of dobrzeniecka2023 are held by its own tests, and by the page of coverage
    assert (
        "229 values are reached (168 of them read off figures, 14 looked up in a file) and 15 are not, beside 22 "
        "identities; of 34 claims in words 27 hold"
    ) in page


@pytest.mark.shared
def test_what_is_told_of_the_negative_correlation_is_true(page: str, shared_data: Path) -> None:
    found = reproduce("goldfarbtarrant2021", shared_data, parts=["figure4b", "unfiltered"])
    points = read_points(shared_data / "goldfarb_tarrant_results" / "hsd_en.csv").without("Test=9")
    cells = zip(*(points.texts(name) for name in ("Metric", "Method")), strict=True)
    chosen = points.take([place for place, cell in enumerate(cells) if cell == ("Recall", "Preprocess")])
    oracle = pearsonr(chosen.numbers("WEAT"), chosen.numbers("Performance Gap"))
    labeled = found.row("unfiltered.recall.preprocess.r")
    assert labeled.as_published == pytest.approx(oracle.statistic)
    all_points = f"r = {oracle.statistic:.2f}, p = {oracle.pvalue:.4f}"
    p = found.row("hsd_en.recall.preprocess.both.p").corrected
    once = f"r = {labeled.corrected:.2f} [{labeled.low:.2f}, {labeled.high:.2f}], p = {p:.3f}"
    for told in (page, found.about):
        for numbers in (all_points, once):
            assert numbers.replace("0.", ".").replace("-", "−") in told
