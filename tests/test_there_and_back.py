"""JSON there and back: every class of results gives the same JSON again after its JSON was read.

A made-up result of every class, from the types of its fields; classes whose fields must fit each other are computed.
A new class of results is tried unasked: where no values can be made up for it, it belongs into `computed`.
"""

from __future__ import annotations

import json
import pkgutil
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.reliability import decision_study, variance_components
from biasgauge.audits.result import AuditResult
from biasgauge.core.estimate import Estimate
from biasgauge.core.records import from_plain, required_keys, type_of_key
from biasgauge.errors import InputError
from biasgauge.lexicons import Lexicon, SeedBank, lexicon
from biasgauge.results import Result, Stored
from biasgauge.study import study_state
from biasgauge.vectors import load_default, load_default_replicates

ELSEWHERE = {
    **dict.fromkeys(("EmbeddingRegression", "AssociationReading"), "regress/test_regress.py"),
    "AuditResult": "audits/test_defects.py",
    "VectorChange": "audits/test_did_it_work.py",
    "Extrinsic": "audits/test_tracking.py",
    "ChangeResult": "posterior/test_change.py",
    "Comparison": "compare/test_compare.py",
    "Expansion": "mitigation/test_expansion.py",
    "Posterior": "posterior/test_distances.py",
    "SpecificationCurve": "robustness/test_specifications.py",
    "WithinBand": "posterior/test_within_band.py",
}
"""Classes whose JSON is read back by tests of their own, which compute them anyway."""

HANDMADE: dict[str, dict[str, Any]] = {
    "Explorer": {"words": 0, "reason": "no pairs"},
    "TrainedModels": {"models": [], "corpus": {}},
    "Workbench": {"model": "m", "words": 1, "warnings": []},
}
"""JSON of classes whose fields must fit each other, which is left of them."""

EXAMPLE = Path(__file__).parents[1] / "examples" / "five-minutes.toml"


def _known(kind: type[Result]) -> set[type[Result]]:
    return {kind, *(below for one in kind.__subclasses__() for below in _known(one))}


@cache
def _classes() -> dict[str, type[Result]]:
    """Every class of results of the package, by name."""
    for module in pkgutil.walk_packages(bg.__path__, "biasgauge."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    ours = [kind for kind in _known(Result) if kind.__module__.startswith("biasgauge.") and kind is not Result]
    return {f"{kind.__module__}:{kind.__name__}": kind for kind in sorted(ours, key=lambda kind: kind.__module__)}


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    return computed_results(tmp_path_factory.mktemp("study"))


def computed_results(folder: Path) -> dict[str, Result]:
    """Results whose fields must fit each other, on as little as they take."""
    vectors, models = load_default(3_000), load_default_replicates()[:2]
    he_she = [("he", "she"), ("man", "woman")]
    words = ["doctor", "nurse", "teacher", "lawyer", "writer"]
    scores = bg.score(models, pairs="du2021", words="occ16", measures=["dbwa", "ripa"])
    components = variance_components(scores)
    random = np.random.default_rng(0)
    groups = {"g": np.repeat(np.arange(6), 5)}
    sensitivity = bg.analyses.robustness
    robust: dict[str, Any] = {"measures": "dbwa", "forms": (), "pair_forms": (), "truths": {}}
    results = [
        components,
        decision_study(components),
        scores,
        bg.reliability(scores, target=None),
        bg.analyses.posterior.simulate_null(simulations=200),
        bg.weat(vectors, "weat7", min_coverage=0),
        bg.weat(vectors, x=["zz"], y=["he"], a=["she"], b=["man"]),  # undefined
        bg.scores.association_test(vectors, "weat7", kind="mac", min_coverage=0),
        bg.scores.neighbor_overlap(*models, words=words),
        bg.scores.direct_bias(vectors, pairs=he_she, words=words),
        bg.vectors.stability(models, words=words),
        bg.seeds(vectors, ["he", "man", "his"], ["she", "woman", "her"], shuffles=5, leave_one_out=False),
        bg.analyses.seeds.bias_subspace(vectors, ["he", "man", "his"], ["she", "woman", "her"]),
        sensitivity.flips(vectors, concepts={"jobs": words}, pairs=he_she, measures="dbwa", forms=()),
        bg.robustness(vectors, pairs=he_she, words=words, pool=None, policy=bg.core.WordPolicy(0), **robust),
        sensitivity.generate_pairs(vectors, words=vectors.words[:300], top=5),
        sensitivity.similarity_explained(vectors, words, random_pairs=200),
        sensitivity.analogy_report(vectors, words=words, top=5),
        bg.stats.fit_mixed(random.normal(size=30), random.normal(size=(30, 1)), groups, ["x"]),
        bg.papers.list_papers(),
        bg.study.plan_study(EXAMPLE),
        study_state(EXAMPLE, folder),
        bg.lexicons.check_language("es"),
    ]
    return {f"{type(result).__module__}:{type(result).__name__}": result for result in results}


def _there_and_back(result: Result) -> None:
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    back = type(result).from_dict(content)
    assert json.loads(json.dumps(back.to_dict(), allow_nan=False)) == content
    assert back.summary().title
    if type(result).abridged:
        assert isinstance(back, Stored)


@pytest.mark.parametrize("name", sorted(_classes()))
def test_the_json_of_every_class_of_results_can_be_read(name: str, computed: dict[str, Result]) -> None:
    short = name.rpartition(":")[2]
    if name in computed:
        _there_and_back(computed[name])
        return
    if short in ELSEWHERE:
        assert ".from_dict(" in (Path(__file__).parent / ELSEWHERE[short]).read_text(encoding="utf-8")
        return
    kind = _classes()[name]
    content = HANDMADE.get(short) or json.loads(json.dumps(_made_up(kind).to_dict()))
    assert json.loads(json.dumps(kind.from_dict(content).to_dict())) == content


@pytest.mark.parametrize("name", sorted(_classes()))
def test_every_class_of_results_is_shown_in_one_line(name: str) -> None:
    """A dataclass would write all of its fields, unless it is told not to."""
    assert _classes()[name].__repr__ is Result.__repr__


WITHOUT_ROWS = {
    "Conversion": "one file: how many words were converted",
    "Alignment": "one fit: residual, share met, rank",
    "VectorChange": "an effect, which has rows of its own",
    "Explanation": "texts of a verdict or a rule, no numbers",
    "Explorer": "scores for a page",
    "Extrinsic": "a correlation, which has rows of its own",
    "FitnessCard": "one pair of seed sets: coherence, similarity, each with its interval",
    "LexiconContent": "words, no numbers",
    "Mitigated": "how many words changed",
    "NotMeasured": "a reason, no numbers",
    "Preregistration": "a plan, no numbers",
    "SeedSetList": "words, no numbers",
    "Stored": "whatever was stored",
    "Workbench": "a page: number of words, error of rounding",
}
"""Classes whose frame is one row of single values."""


def test_every_class_of_results_says_which_rows_its_frame_has() -> None:
    by_default = {kind.__name__ for kind in _classes().values() if kind.to_frame is Result.to_frame and not kind.tables}
    assert by_default == set(WITHOUT_ROWS)


def test_frames_hold_numbers_and_lines_are_short(computed: dict[str, Result]) -> None:
    for name, result in computed.items():
        assert len(repr(result)) < 300, name
        frame = result.to_frame()
        assert len(frame), name
        assert len(frame.select_dtypes("number").columns) or name.rpartition(":")[2] in WORDS, name


WORDS = {"LanguageCheck", "Plan", "StudyState"}
"""Frames of names rather than numbers."""


UNTYPED = {"Association": {"distances"}, "StudyState": {"models"}}
"""Keys under which a result may have any JSON: numbers of third parties' tests, names of models of a study."""


def test_json_of_abridged_results_has_a_type_for_each_key(computed: dict[str, Result]) -> None:
    for name, result in computed.items():
        if type(result).abridged:
            untyped = {key for key in result.to_dict() if type_of_key(type(result), key) is Any}  # type: ignore[arg-type]
            assert untyped == UNTYPED.get(name.rpartition(":")[2], set()), name


def test_altered_json_of_abridged_results_is_refused_with_its_key(computed: dict[str, Result]) -> None:
    """It was taken as it stood: `Stored` held any object."""
    for name, result in computed.items():
        kind, content = type(result), json.loads(json.dumps(result.to_dict()))
        typed = [key for key in content if kind.abridged and key not in UNTYPED.get(name.rpartition(":")[2], set())]
        for key in typed:
            for wrong in ({"x": float("inf")}, [["x" * 5_000, [{}]]]):
                with pytest.raises(InputError) as problem:
                    kind.from_dict({**content, key: wrong})
                assert str(problem.value).startswith(key), name
                assert len(str(problem.value)) <= 300, name
        for hostile in (*dir(kind), "", "__class__"):
            if kind.abridged and hostile not in content:
                with suppress(InputError):
                    kind.from_dict({**content, hostile: [{"a": [1]}]})
        for key in required_keys(kind) if kind.abridged else ():  # type: ignore[arg-type]
            with pytest.raises(InputError, match="is missing"):
                kind.from_dict({there: value for there, value in content.items() if there != key})


def _made_up(kind: type[Any]) -> Any:  # noqa: ANN401 - of `kind`
    """An object of a class, with made-up values for the types of its fields."""
    if kind is Estimate:
        return Estimate(value=0.5, low=0.25, high=0.75, level=0.95, method="m", n=3)
    if issubclass(kind, Lexicon):
        return lexicon("seed_bank" if kind is SeedBank else "weat7")
    hints = get_type_hints(kind)
    # A field that may be of its own class, such as a contrast at equal frequency, is left empty.
    return kind(
        **{
            field.name: None if kind in get_args(hints[field.name]) else _value(hints[field.name])
            for field in fields(kind)
            if field.init
        }
    )


def _value(kind: Any) -> Any:  # noqa: ANN401, PLR0911 - one line a type
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _value(next(one for one in arguments if one is not type(None)))
    if origin is Literal:
        return arguments[0]
    if getattr(origin or kind, "__module__", "") == "numpy":
        return np.array([[0.25, 0.5], [0.5, 0.75]])
    if isinstance(kind, type) and is_dataclass(kind):
        return _made_up(kind)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return kind(**{name: _value(hints[name]) for name in kind._fields})
    if origin is tuple:
        own = arguments[:1] if arguments[1:] == (Ellipsis,) else arguments
        return tuple(map(_value, own))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {_value(arguments[0]): _value(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence | set | frozenset):
        return [_value(arguments[0])]
    plain: dict[Any, Any] = {bool: True, int: 2, float: 0.5, str: "text", Path: Path("a/b")}
    return plain.get(kind, "text")


@pytest.mark.parametrize("hostile", [1e308, 5, True, "text", {"a": 1}, [None, 3, {"sentence": 4}]])
def test_what_a_stored_result_says_may_be_no_list(hostile: object) -> None:
    summary = Stored.from_dict({"sentences": hostile, "warnings": ["beware"]}).summary()
    assert summary.headline == "beware"


def test_keys_that_must_be_numbers() -> None:
    assert from_plain(dict[int, str], {"3": "a"}) == {3: "a"}
    with pytest.raises(InputError, match="counts"):
        from_plain(dict[int, str], {"three": "a"}, "counts")


@pytest.mark.parametrize("content", [{}, {"extrinsic": 5}, {"extrinsic": {}}, {"extrinsic": {}, "models": 1}])
def test_what_is_not_the_json_of_an_audit(content: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="This is not the JSON of an audit"):
        AuditResult.from_dict(content)


@pytest.mark.parametrize("content", [None, [], "text", 1, [["a", 1]]], ids=repr)
@pytest.mark.parametrize("name", sorted(_classes()))
def test_json_that_is_no_object_is_refused(name: str, content: object) -> None:
    """It was an AttributeError."""
    with pytest.raises(InputError):
        _classes()[name].from_dict(content)  # type: ignore[arg-type]  # on purpose
