"""The study of Zhang et al. on whole sets of vectors, where a package that holds them is installed."""

from __future__ import annotations

import csv
import runpy
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("function", "name"), [("glove_50d", "GloVe 6B 50d"), ("spacy_md", "spaCy md")])
def test_agreement_over_pairs_is_what_the_study_says(
    function: str, name: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    vectors = runpy.run_path(str(repository / "scripts" / "study_vectors.py"))[function]()
    if vectors is None:
        pytest.skip(f"NOT CHECKED: {name}; pip install biasgauge[vectors], or set BIASGAUGE_VECTORS")
    asked = {*bg.lexicon("occ16").words, *(word for pair in bg.lexicon("zhang2020").pairs for word in pair)}  # type: ignore[attr-defined]
    kept = vectors.subset([word for word in vectors.words if word in asked])
    result = bg.robustness(
        kept, measures=["dbwa", "ripa"], truths={}, forms=(), pair_forms=(), frequent=100, min_coverage=0, pool=None
    )
    with (repository / "docs" / "studies" / "zhang2020" / "vectors.csv").open(encoding="utf-8") as file:
        told = {row["id"]: float(row["value"]) for row in csv.DictReader(file) if row["vectors"] == name}
    for row in result.base_pairs:
        assert row.kappa.value == pytest.approx(told[f"2.{row.measure}.kappa"], abs=1e-4)
        assert row.unanimous.value == pytest.approx(told[f"2.{row.measure}.unanimous"], abs=1e-4)
