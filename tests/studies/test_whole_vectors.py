"""The study of Zhang et al. on whole sets of vectors, where a package that holds them is installed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge_studies.vectors import glove_50d, spacy_md

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("load", "name"), [(glove_50d, "GloVe 6B 50d"), (spacy_md, "spaCy md")])
def test_agreement_over_pairs_is_what_the_study_says(
    load: Callable[[], bg.Embedding | None], name: str, repository: Path
) -> None:
    vectors = load()
    if vectors is None:
        pytest.skip(f"NOT CHECKED: {name}; pip install biasgauge[vectors]")
    asked = {*bg.lexicon("occ16").words, *(word for pair in bg.lexicon("zhang2020").pairs for word in pair)}  # type: ignore[attr-defined]
    kept = vectors.subset([word for word in vectors.words if word in asked])
    result = bg.robustness(
        kept,
        measures=["dbwa", "ripa"],
        truths={},
        forms=(),
        pair_forms=(),
        frequent=100,
        policy=bg.core.WordPolicy(0),
        pool=None,
    )
    with (repository / "docs" / "studies" / "zhang2020" / "vectors.csv").open(encoding="utf-8") as file:
        told = {row["id"]: float(row["value"]) for row in csv.DictReader(file) if row["vectors"] == name}
    for row in result.base_pairs:
        assert row.kappa.value == pytest.approx(told[f"2.{row.measure}.kappa"], abs=1e-4)
        assert row.unanimous.value == pytest.approx(told[f"2.{row.measure}.unanimous"], abs=1e-4)
