"""An analysis of one model, applied to several: one result for each, and all of them as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from biasgauge._version import __version__
from biasgauge.core import JsonMapping, Record
from biasgauge.errors import ParameterError
from biasgauge.results import Result, Summary, Table
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.loading import encode, load_models

if TYPE_CHECKING:
    import pandas as pd

Analysis = TypeVar("Analysis", bound=Callable[..., Any])


@dataclass(frozen=True)
class ModelResult(Record):
    """The result of one model.

    Attributes:
        model: its name.
        facets: of a view of a transformer, its layer, pooling, template, context and checkpoint.
        result: of the analysis for this model alone.
    """

    model: str
    facets: Mapping[str, str | int]
    result: Any


@dataclass(frozen=True, eq=False, repr=False)
class ByModel(Result):
    """One analysis of several models or views, each by itself.

    Attributes:
        analysis: its function.
        models: one row for each, in the order given.
    """

    abridged: ClassVar[bool] = True

    analysis: str
    models: tuple[ModelResult, ...]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the first; they differ in the model alone."""
        return dict(getattr(self.models[0].result, "settings", {}))

    def derived(self) -> JsonMapping:
        """The version."""
        return {"version": __version__}

    def to_frame(self) -> pd.DataFrame:
        """Tables of all models below each other, after columns with the model and its facets."""
        import pandas as pd

        frames = []
        for row in self.models:
            frame = row.result.to_frame()
            labels = {"model": row.model, **row.facets}
            frames.append(pd.concat([pd.DataFrame([labels] * len(frame), index=frame.index), frame], axis=1))
        frame_of_all: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return frame_of_all

    def summary(self) -> Summary:
        """Headline of each model."""
        summaries = [row.result.summary() for row in self.models]
        units = "views" if all(row.facets for row in self.models) else "models"
        rows = [(row.model, summary.headline) for row, summary in zip(self.models, summaries, strict=True)]
        warnings = dict.fromkeys(warning for summary in summaries for warning in summary.warnings)
        return Summary(
            title=f"{self.analysis.capitalize()} of {len(self.models)} {units}",
            headline=f"{len(self.models)} {units}, each by itself: {len({text for _, text in rows})} different answers",
            tables=(Table.of("models", f"By {units.rstrip('s')}", [units.rstrip("s"), "answer"], rows, most=40),),
            warnings=tuple(warnings),
        )


def several_models(vectors: object) -> list[Embedding] | None:
    """Return the models of a list, or of "NAME:SOURCE" that means several; None for anything else.

    Raises:
        ParameterError: a list is empty, or holds something that is not a model.
    """
    if isinstance(vectors, list):
        if not vectors:
            raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
        return load_models(vectors)
    encoded = encode(vectors)
    return encoded if encoded is not None and len(encoded) > 1 else None


def _several_views(vectors: object) -> list[Embedding] | None:
    """Return the views of a transformer; None for one model, and for a list of models that are not views."""
    if isinstance(vectors, list) and not all(isinstance(model, Embedding) and model.facets for model in vectors):
        return None
    return several_models(vectors)


def each_model(analysis: Analysis) -> Analysis:
    """Let a function of one model take several, such as views of a transformer: it then gives a `ByModel`."""
    return _for_each(analysis, several_models)


def each_view(analysis: Analysis) -> Analysis:
    """Let a function of one model, or of a list of replicates, take views of a transformer: a `ByModel` of them."""
    return _for_each(analysis, _several_views)


def _for_each(analysis: Analysis, split: Callable[[object], list[Embedding] | None]) -> Analysis:
    @wraps(analysis)
    def apply_to_each(vectors: Any, *arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - as the function has them
        models = split(vectors)
        if models is None:
            return analysis(vectors, *arguments, **settings)
        results = ((model, analysis(model, *arguments, **settings)) for model in models)
        rows = tuple(ModelResult(model.name, dict(model.facets), result) for model, result in results)
        return ByModel(analysis.__name__, rows)

    return cast("Analysis", apply_to_each)
