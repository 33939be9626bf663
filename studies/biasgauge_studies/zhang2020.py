"""Tables 1 to 6 of Zhang et al. 2020 on part of GoogleNews and of GloVe 6B, by the paper's own rules and corrected.

Leaves cells.csv (one row per published number), base_pairs.csv, likeness.csv, the tables in Markdown, and figures.
About a minute and a half of one core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.robustness.base_pairs import change_shares
from biasgauge.papers.zhang2020 import MEAN, PRINTED, SD
from biasgauge.results import save_figures
from biasgauge.study import file_step

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import Agreement, MeanKappa, RobustnessResult

MEASURES = ("dbwa", "ripa", "nbm")
SHORT = {"dbwa": "DB/WA", "ripa": "RIPA", "nbm": "NBM"}
PAIRS = tuple("~".join(pair) for pair in bg.lexicon("zhang2020").pairs)  # type: ignore[attr-defined]  # it holds pairs
LOST = "john~mary"

PUBLISHED: dict[str, dict[tuple[str, str], list[float]]] = {}
for line in [name.removesuffix(".he~she") for name in PRINTED if name.startswith("table") and name.endswith(".he~she")]:
    table, compared, with_what = line.removeprefix("table").split(".")
    PUBLISHED.setdefault(table, {})[compared, with_what] = [PRINTED[f"{line}.{pair}"] for pair in (*PAIRS, MEAN)]
"""Kappas of the ten pairs and their mean, by measure and by what is compared."""
PARTS = {"3": "pair_forms", "4": "word_forms", "5": "correspondence", "6": "between_measures"}
FORMS = ("plural", "capitalized", "upper")


def named(measure: str) -> str:
    """The measure under the name that the paper has for it."""
    return measure.removesuffix("_zhang2020")


class Run:
    """One embedding by one set of rules."""

    def __init__(self, vectors: bg.Embedding, *, as_published: bool) -> None:
        settings: dict[str, Any] = {"policy": bg.core.WordPolicy(0, "exact"), "as_published": as_published}
        self.main = bg.robustness(vectors, forms=FORMS, **settings)
        # A word counts by each form that it has: with all three at once, as published, hardly one is left of this part.
        single = [bg.robustness(vectors, forms=[form], truths={}, **settings) for form in FORMS] if as_published else []
        self.forms = single or [self.main]

    def cell(self, table: str, measure: str, against: str, pair: str | None) -> tuple[float | None, int]:
        """Kappa of one cell, or of the mean over pairs, and the number of words behind it."""
        for result in self.forms if table == "4" else [self.main]:
            rows: Iterable[Agreement | MeanKappa] = result.means if pair is None else getattr(result, PARTS[table])
            for row in rows:
                label = None if pair is None else "~".join(row.pair)  # type: ignore[union-attr]  # rows of pairs
                wanted = (PARTS[table], measure, against, pair)
                if (row.part, named(row.measure), named(row.against), label) == wanted and row.kappa.value is not None:
                    return row.kappa.value, row.kappa.n
        return None, 0


def cells(google: dict[str, Run], glove: dict[str, Run]) -> pd.DataFrame:
    """Every kappa of Tables 3 to 6: published, by the published rules, corrected."""
    rows = []
    for table, lines in PUBLISHED.items():
        for (measure, against), values in lines.items():
            for pair, published in zip((*PAIRS, None), values, strict=True):
                labels = {"table": table, "measure": measure, "against": against, "pair": pair or "mean"}
                row: dict[str, Any] = {**labels, "published": published}
                for name, runs in (("google", google), ("glove", glove)):
                    for rule, run in runs.items():
                        value, n = run.cell(table, measure, against, pair)
                        row |= {f"{name}_{rule}": value, f"{name}_{rule}_n": n}
                rows.append({**row, "note": note(table, measure, against, pair, row["google_as_published"])})
    return pd.DataFrame(rows)


def note(table: str, measure: str, against: str, pair: str | None, value: float | None) -> str:
    """Why our number by the published rules need not be the published one."""
    if pair is None:
        return "the published mean is over ten pairs"
    if pair == LOST:
        return "mary and john in lower case are not in the part"
    if value is None:
        return "the capitalized pair is not in the part" if table == "3" else "too few words of this form in the part"
    reasons = []
    if measure == "nbm" or against == "nbm":
        reasons.append("another pool of neighbors: the 26,145 neutral words are not all in the part")
    if table in {"4", "5"}:
        reasons.append("other words: some are not in the part")
    return "; ".join(reasons)


def matching(frame: pd.DataFrame) -> pd.DataFrame:
    """How many cells that rest on the same words and neighbors are reproduced to two decimals."""
    same = frame[(frame["note"] == "") & frame["google_as_published"].notna()]
    agrees = (same["google_as_published"] - same["published"]).abs() <= 0.005 + 1e-9
    return same.assign(agrees=agrees).groupby("table")["agrees"].agg(["sum", "count"]).reset_index()


def magnitudes(google: RobustnessResult, with_lengths: RobustnessResult, glove: RobustnessResult) -> pd.DataFrame:
    """Table 2: share of relevant changes with the paper's own sd on nine pairs, its bounds on ten, and with our sd."""
    rows = []
    pairs = [pair for pair in google.pairs if "~".join(pair) != LOST]
    nine = google.scores.select(pair=pairs, word=google.words).to_numpy()[..., 0].astype(np.float64)
    for place, measure in enumerate(MEASURES):
        known = float(change_shares(nine[place], SD[measure]).mean())
        own = with_lengths if measure == "ripa" else google
        kappa, printed, unanimous = (
            PRINTED[f"table2.{measure}.{name}"] for name in ("kappa", "magnitude", "unanimous")
        )
        rows.append(
            {
                "measure": measure,
                "kappa_published": kappa,
                "kappa_google": google.base_pairs[place].kappa.value,
                "kappa_glove": glove.base_pairs[place].kappa.value,
                "unanimous_published": unanimous / 100,
                "unanimous_google": google.base_pairs[place].unanimous.value,
                "unanimous_glove": glove.base_pairs[place].unanimous.value,
                "changed_printed": printed,
                "changed_true": 1 - printed,
                "changed_google_their_sd": known,
                "ten_pairs_least": known * 36 / 45,
                "ten_pairs_most": known * 36 / 45 + 9 / 45,
                "changed_google": own.base_pairs[own.settings["measures"].index(measure)].changed_by_one_sd.value,
                "changed_glove": glove.base_pairs[place].changed_by_one_sd.value,
            }
        )
    return pd.DataFrame(rows)


def likeness(published: RobustnessResult, corrected: RobustnessResult, glove: RobustnessResult) -> pd.DataFrame:
    """Figure 2: r of likeness and agreement of each pair with the others, DB/WA."""
    columns: dict[str, Any] = {
        "pair": [*PAIRS, "all"],
        "published": [*(PRINTED[f"figure2.{pair}"] for pair in PAIRS), None],
    }
    for name, result in (
        ("google_as_published", published),
        ("google_corrected", corrected),
        ("glove_corrected", glove),
    ):
        columns[name] = [one.r.value for one in result.similarity if one.measure == "dbwa"]
    return pd.DataFrame(columns)


def markdown(frame: pd.DataFrame) -> str:
    """A table of a page."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * len(frame.columns)]
    lines += ["| " + " | ".join(map(_shown, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines) + "\n"


def _shown(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        return f"{cell:.2f}".replace("0.", ".", 1).replace("-", "−") if abs(cell) < 1 else f"{cell:.2f}"
    return str(cell)


def wide(frame: pd.DataFrame, table: str) -> str:
    """One table of the paper: a line for each measure and comparison, ours under the published one."""
    names = {"published": "published", "google_as_published": "Google, their rules", "google_corrected": "Google",
             "glove_corrected": "GloVe"}  # fmt: skip
    lines = []
    for (measure, against), part in frame[frame["table"] == table].groupby(["measure", "against"], sort=False):
        for column, title in names.items():
            words = part[f"{column}_n"].max() if column != "published" else {"4": 230, "5": "all"}.get(table, 320)
            if column == "published" or part[column].notna().any():
                label = {"of": f"{SHORT[str(measure)]}, {SHORT.get(str(against), against)}", "": title, "words": words}
                lines.append(label | dict(zip(part["pair"], part[column], strict=True)))
    return markdown(pd.DataFrame(lines))


def number_by_number(out: Path, inputs: Mapping[str, Path], *, google_news: Path, glove_subset: Path) -> None:
    """Compute every published number by the published rules and corrected."""
    vectors = bg.load(google_news, name="GoogleNews (part)")
    other = bg.load(glove_subset, name="GloVe 6B 100d (part)")
    with np.load(google_news, allow_pickle=False) as archive:
        lengths = archive["words"][archive["raw_norm"]].tolist()
    google = {"as_published": Run(vectors, as_published=True), "corrected": Run(vectors, as_published=False)}
    glove = {"as_published": Run(other, as_published=True), "corrected": Run(other, as_published=False)}
    with_lengths = bg.robustness(vectors.subset(lengths), measures=["ripa"], truths={}, forms=(), pair_forms=())
    corrected = google["corrected"].main
    frame = cells(google, glove)
    frame.to_csv(out / "cells.csv", index=False, float_format="%.4f")
    size = magnitudes(corrected, with_lengths, glove["corrected"].main)
    size.to_csv(out / "base_pairs.csv", index=False, float_format="%.4f")
    alike = likeness(google["as_published"].main, corrected, glove["corrected"].main)
    alike.to_csv(out / "likeness.csv", index=False, float_format="%.4f")
    named_results = {"Google": corrected, "Google, with lengths": with_lengths, "GloVe": glove["corrected"].main}
    usual = pd.DataFrame(
        {
            "measure": SHORT[one.measure],
            "vectors": name,
            "mean": f"{one.mean.value:.4f}",
            "sd": f"{one.sd.value:.4f}",
            "words": one.words,
        }
        for name, result in named_results.items()
        for one in result.reference
    )
    texts = {f"Table {table}": wide(frame, table) for table in PUBLISHED}
    turned = size.set_index("measure").T.rename_axis("number").reset_index()
    texts |= {"Table 1": markdown(usual), "Table 2": markdown(turned), "Figure 2": markdown(alike),
              "Cells that rest on the same words": markdown(matching(frame))}  # fmt: skip
    texts["Forms found"] = markdown(
        pd.DataFrame(
            [
                {"vectors": result.settings["vectors"], "rules": rule, "form": one.name, "words": len(one.found)}
                for runs in (google, glove)
                for rule, run in runs.items()
                for result in run.forms
                for one in result.forms
            ]
        )
    )
    (out / "tables.md").write_text(
        "\n".join(f"## {title}\n\n{text}" for title, text in texts.items()), encoding="utf-8"
    )
    save_figures(corrected.figures(), out, ("svg", "png"))


STEP = file_step(
    "zhang2020", "every number of Zhang et al. 2020 beside the published one", {"zhang2020-numbers": number_by_number}
)
