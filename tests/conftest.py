"""What every test may use."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge import Embedding
    from biasgauge.auditing import AuditResult

ROOT = Path(__file__).resolve().parents[1]

# No test depends on how long something takes: a busy machine is not a fault.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests are few and long come first: a process that starts on one of them last keeps all waiting."""
    items.sort(key=lambda item: not any(item.get_closest_marker(mark) for mark in ("e2e", "crash", "calibration")))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real vectors, corpora and published results; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"NO SHARED DATA at {folder}: set BIASGAUGE_SHARED to the folder to run this test")
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def shipped_audit() -> Callable[..., AuditResult]:
    """The audit of the shipped replicates with some lexicons, or with all; computed once, since it takes seconds."""

    @cache
    def audited(*lexicons: str) -> AuditResult:
        import biasgauge as bg

        return bg.audit(lexicons=list(lexicons) or None)

    return audited


@pytest.fixture(scope="session")
def small_replicates() -> list[Embedding]:
    """The shipped replicates with 2,500 frequent words and those of the lexicons that ship: cheap to audit."""
    import biasgauge as bg
    from biasgauge import registry

    asked = {word for lexicon in registry.everything("lexicon").values() for word in lexicon.words}
    models = []
    for model in bg.embeddings.load_default_replicates():
        rows = [row for row, word in enumerate(model.words) if row < 2_500 or word in asked]
        models.append(replace(model, words=tuple(model.words[row] for row in rows), vectors=model.vectors[rows]))
    return models
