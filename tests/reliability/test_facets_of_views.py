"""Components by layer, pooling, template and context: planted variances come back, whatever the order of the models."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from biasgauge.analyses.reliability import decision_study, reliability, variance_components
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreTensor

PLANTED = {"word": 1.0, "word:layer": 0.5, "word:template": 0.25, "layer": 0.3, "word:pair": 0.2}
ERROR = 0.1


def scores(
    layers: int = 8, templates: int = 12, pairs: int = 6, words: int = 60, seed: int = 0, *, gaps: bool = False
) -> ScoreTensor:
    """Scores with planted components, the models in an order of chance."""
    random = np.random.default_rng(seed)
    sizes = {"pair": pairs, "layer": layers, "template": templates, "word": words}
    total = random.normal(0, np.sqrt(ERROR), tuple(sizes.values()))
    for name, variance in PLANTED.items():
        shape = [size if axis in name.split(":") else 1 for axis, size in sizes.items()]
        total = total + random.normal(0, np.sqrt(variance), shape)
    models = [(layer, template) for layer, template in product(range(layers), range(templates))]
    order = random.permutation(len(models))
    if gaps:
        order = order[: int(0.9 * len(models))]
    about: dict[str, Any] = {}
    values = np.empty((1, pairs, words, len(order)), np.float32)
    for place, number in enumerate(order):
        layer, template = models[number]
        facets = {"checkpoint": "m", "layer": layer, "pooling": "mean", "template": f"{template} {{}}", "context": 0}
        about[f"view {number}"] = {"facets": facets}
        values[0, :, :, place] = total[:, layer, template]
    return ScoreTensor(
        values=values,
        undefined=np.zeros(values.shape, np.uint8),
        measures=("dbwa",),
        pairs=tuple((f"a{pair}", f"b{pair}") for pair in range(pairs)),
        words=tuple(f"w{word}" for word in range(words)),
        models=tuple(about),
        provenance={"models": about},
    )


@pytest.mark.parametrize("gaps", [False, True])
def test_planted_components_are_found_by_facet(gaps: bool) -> None:  # noqa: FBT001 - a case
    found = variance_components(scores(gaps=gaps))
    assert dict(found.facets) == {"word": 60, "pair": 6, "layer": 8, "template": 12}
    for component in found.components:
        planted = PLANTED.get(component.name, ERROR if len(component.facets) == 4 else 0.0)
        assert component.interval.low is not None
        assert component.interval.high is not None
        assert component.interval.low - 0.01 <= planted <= component.interval.high + 0.01, component.name
    total = sum(PLANTED.values()) + ERROR
    assert found.involving("template").value == pytest.approx((0.25 + ERROR) / total, rel=0.25)
    assert found.involving("layer").value == pytest.approx((0.5 + 0.3 + ERROR) / total, rel=0.5)
    with pytest.raises(ParameterError, match="no facet 'context'"):
        found.involving("context")


def test_two_views_of_two_layers_are_a_facet_of_layers() -> None:
    assert dict(variance_components(scores(layers=2, templates=1)).facets) == {"word": 60, "pair": 6, "layer": 2}


def test_a_layout_by_facet_is_the_plain_one_where_it_is_complete() -> None:
    """The same numbers from an array that was never a list of models: main effects by hand, with their mean squares."""
    tensor = scores()
    found = variance_components(tensor)
    grid = np.empty((6, 8, 12, 60))
    for place, name in enumerate(tensor.models):
        facets = tensor.provenance["models"][name]["facets"]
        grid[:, facets["layer"], int(facets["template"].split()[0])] = tensor.values[0, :, :, place]
    layer_means = grid.mean(axis=(0, 2, 3))
    assert found["layer"].mean_square == pytest.approx(layer_means.var(ddof=1) * 6 * 12 * 60, rel=1e-5)


def test_how_many_templates_are_enough() -> None:
    """With layers as they are, a word's universe score holds its part of the layers; templates and pairs are error."""
    found = variance_components(scores(templates=20, words=200))
    study = decision_study(found, target=0.9, fixed=("layer",), pairs=[6], templates=[1, 4])
    assert study.solved == "template"
    universe, pair, template = 1 + 0.5 / 8, 0.2 / 6, 0.25 + ERROR / 48
    needed = template / (universe / 9 - pair)
    assert study.needs[0].estimate == pytest.approx(np.ceil(needed), abs=1)
    frame = study.to_frame()
    assert set(frame["templates"]) == {1, 4}
    expected = universe / (universe + pair + template / 4)
    value = frame[frame["templates"] == 4]["dependability"].item()
    assert value == pytest.approx(expected, abs=0.03)
    assert "templates" in study.sentences()[1]
    study.summary().charts[0].drawn()


def test_reliability_of_views_says_what_it_is() -> None:
    result = reliability(scores(layers=3, templates=4, words=20))
    assert any("views of transformers" in warning for warning in result.warnings)
    (design,) = result.design
    assert design.fixed == ("layer",)  # type: ignore[union-attr]
    assert result.components[0].to_dict()["design"] == {"word": 20, "pair": 6, "layer": 3, "template": 4}
