"""The page about sentences and language models: its numbers are those of the code."""

from __future__ import annotations

from pathlib import Path

from biasgauge import registry


def test_every_measure_is_on_the_page(repository: Path) -> None:
    page = (repository / "docs" / "language_models" / "likelihood.md").read_text(encoding="utf-8")
    for name in registry.names("likelihood_measure"):
        assert f"`{name}`" in page


def test_released_names_are_measures() -> None:
    for measure in registry.everything("likelihood_measure").values():
        assert measure.released in {"", *registry.names("likelihood_measure")}
