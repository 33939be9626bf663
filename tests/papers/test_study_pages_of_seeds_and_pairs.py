"""Numbers on the pages of Badder Seeds and of Zhang et al. are those of the tables beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"−?\d*\.?\d+")


def numbers(cell: str) -> list[float]:
    return [float(text.replace("−", "-")) for text in NUMBER.findall(cell.replace(",", "") if "," in cell else cell)]


def table(page: str, start: str) -> list[list[str]]:
    """Cells of the table whose header begins so."""
    rows = page[page.index(start) :].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip(" *") for cell in row.strip().strip("|").split("|")] for row in rows]


@pytest.fixture(scope="module")
def studies(repository: Path) -> Path:
    return repository / "docs" / "studies"


def test_smallest_counts(studies: Path) -> None:
    page = (studies / "badder_seeds2022.md").read_text(encoding="utf-8")
    kept = pd.read_csv(studies / "badder_seeds2022" / "min_count_summary.csv").set_index(
        ["corpus", "min_count", "number"]
    )
    settings = [(corpus, least) for corpus in ("imdb", "novels") for least in (1, 10, 100)]
    rows = {name: cells for name, *cells in table(page, "| | `imdb` 1 |")}
    for place, (corpus, least) in enumerate(settings):
        place_of: Any = (corpus, least, "coherence")
        coherence = kept.loc[place_of]
        assert numbers(rows["words in the model"][place]) == [coherence["vocabulary"]]
        assert numbers(rows["pairings that can be measured, of 90"][place]) == [coherence["pairs"]]
        whole = kept.loc[(corpus, least, "coherence_published"), "pairs"]
        assert numbers(rows["with every seed, as published"][place]) == [whole]
        assert numbers(rows["median coherence of those"][place]) == pytest.approx([coherence["median"]], abs=0.0051)
        if least != 10:
            moved = numbers(rows["coherence of the same pairs, median move against 10"][place])
            assert moved == pytest.approx([coherence["median_move"]], abs=0.0006)
            ranks = numbers(rows["rank correlation with 10"][place])
            assert ranks == pytest.approx([coherence["rank_correlation"]], abs=0.0051)


def test_coherence_on_wiki(studies: Path) -> None:
    page = (studies / "badder_seeds2022.md").read_text(encoding="utf-8")
    kept = pd.read_csv(studies / "badder_seeds2022" / "pairs.csv")
    kept = kept[kept["corpus"] == "wiki"].set_index("a")
    named = {
        "career, family (Caliskan)": "career-Caliskan_et_al_2017",
        "female, male (Rudinger)": "female-Rudinger_et_al_2017",
        "definitional female, male (Bolukbasi)": "definitional_female-Bolukbasi_et_al_2016",
        "caucasian, asian (Manzini)": "caucasian-Manzini_et_al_2019",
    }
    rows = {name: cells for name, *cells in table(page, "| sets | paper, NYT |")}
    for name, first in named.items():
        row = kept.loc[first]
        assert isinstance(row, pd.Series), name
        _, published, corrected, held_out, similarity = rows[name]
        assert numbers(published) == pytest.approx([row["coherence_published"]], abs=0.00051)
        ends = row[["coherence", "coherence_low", "coherence_high"]].tolist()
        assert [float(text) for text in re.findall(r"\.\d+", corrected)] == pytest.approx(ends, abs=0.00051)
        assert numbers(held_out) == pytest.approx([row["coherence_held_out"]], abs=0.0051)
        assert numbers(similarity) == pytest.approx([row["similarity"]], abs=0.0051)
    names = kept.loc["names_black-Garg_et_al_2018"].set_index("b").loc["names_white-Garg_et_al_2018"]
    assert names["coherence_high"] <= 0.05, "by construction"


def test_nouns(studies: Path) -> None:
    page = (studies / "badder_seeds2022.md").read_text(encoding="utf-8")
    kept = pd.read_csv(studies / "badder_seeds2022" / "nouns.csv").set_index(["corpus", "nouns"])
    columns = [(corpus, source) for corpus in ("wiki", "imdb", "novels") for source in ("tagged text", "Brown")]
    for (_, *cells), number in zip(
        table(page, "| | `wiki` tagged |"), ("median", "similarity_coherence", "similarity_first_share"), strict=True
    ):
        told = [numbers(cell)[0] for cell in cells]
        assert told == pytest.approx([kept.loc[column, number] for column in columns], abs=0.0051)


def test_conclusions_of_zhang2020(studies: Path) -> None:
    """Each cell has the numbers of conclusions.csv, and each conclusion its verdict."""
    page = (studies / "zhang2020.md").read_text(encoding="utf-8")
    kept = pd.read_csv(studies / "zhang2020" / "conclusions.csv").fillna("")
    rows = table(page, "| conclusion | GoogleNews (part) |")
    cells = {tuple(_shown(cell) for cell in row[1:5]): row[5] for row in rows}
    assert len(cells) == len(kept)
    for row in kept.itertuples(index=False):
        told = cells[tuple(_shown(str(cell)) for cell in row[1:5])]
        assert {"yes": "yes", "no": "no", "open": "open", "on one set alone": "on one set"}[str(row.general)] in told


def _shown(cell: str) -> str:
    """The numbers of a cell without verdict and interval."""
    return ", ".join(re.findall(r"−?\.\d\d", cell.split("[", maxsplit=1)[0]))


def test_skip_gram_beside_cbow(studies: Path) -> None:
    page = (studies / "badder_seeds2022.md").read_text(encoding="utf-8")
    text = " ".join(page[page.index("**Skip-gram**") :].split("\n\n", 1)[0].split())
    cbow = pd.read_csv(studies / "badder_seeds2022" / "pairs.csv").query("corpus == 'imdb'")
    both = pd.read_csv(studies / "badder_seeds2022_skip_gram" / "pairs.csv").merge(cbow, on=["a", "b"])
    both = both.dropna(subset=["coherence_x", "coherence_y"])
    assert len(both) == 31
    shown = {
        "there, too, −.65": both["coherence_x"].corr(both["similarity_x"], method="spearman"),
        "is shown, .19": both["first_share_x"].corr(both["similarity_x"], method="spearman"),
        "the median is .85": both["coherence_x"].median(),
        "CBOW's .51": both["coherence_y"].median(),
        "values correlate at .01": both["coherence_x"].corr(both["coherence_y"], method="spearman"),
    }
    for phrase, value in shown.items():
        assert phrase in text
        assert numbers(phrase)[-1] == pytest.approx(value, abs=0.00501), phrase
