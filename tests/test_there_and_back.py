"""Results whose JSON leaves something out come back with the same JSON, frame-like tables and sentences."""

from __future__ import annotations

import json

import pytest

import biasgauge as bg
from biasgauge.agreement import decision_study, variance_components
from biasgauge.embeddings import load_default_replicates
from biasgauge.results import Result, Stored


@pytest.fixture(scope="module")
def results() -> list[Result]:
    models = load_default_replicates()[:3]
    scores = bg.score(models, pairs="du2021", words="occ16", measures=["dbwa", "ripa"])
    components = variance_components(scores)
    simulated = bg.uncertainty.simulate_null(simulations=200)
    return [components, decision_study(components), bg.reliability(scores, target=None), simulated]


def test_abridged_results_keep_their_json(results: list[Result]) -> None:
    for result in results:
        content = json.loads(json.dumps(result.to_dict()))
        back = type(result).from_dict(content)
        assert isinstance(back, Stored), type(result).__name__
        assert back.to_dict() == content
        rows = [value for value in content.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        assert len(back.summary().tables) >= min(len(rows), 1)
