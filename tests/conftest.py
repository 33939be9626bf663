"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
