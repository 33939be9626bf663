"""A model that has learned the planted rule, trained once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.applications.coref import CorefModel, train_coref

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="session")
def planted() -> ModuleType:
    """Documents with a rule, and vectors for their words."""
    spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def learned(planted: Any) -> CorefModel:  # noqa: ANN401 - a module
    """The rule, learned."""
    return train_coref(planted.vectors(), planted.stories(120, 1), planted.stories(30, 2), planted.SMALL)
