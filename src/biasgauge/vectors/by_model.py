"""An analysis of one model, asked of several: one result for each, and all of them as one."""

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
        result: what the analysis gives for this model alone.
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
        """Those of the first; they differ in the model alone."""
        return dict(getattr(self.models[0].result, "settings", {}))

    def derived(self) -> JsonMapping:
        """The version."""
        return {"version": __version__}

    def to_frame(self) -> pd.DataFrame:
        """The table of each, below each other, after columns that say which model and view it is of."""
        import pandas as pd

        frames = []
        for row in self.models:
            frame = row.result.to_frame()
            about = {"model": row.model, **row.facets}
            frames.append(pd.concat([pd.DataFrame([about] * len(frame), index=frame.index), frame], axis=1))
        whole: pd.DataFrame = pd.concat(frames, ignore_index=True)
        return whole

    def summary(self) -> Summary:
        """What each comes to, in a line."""
        told = [row.result.summary() for row in self.models]
        what = "views" if all(row.facets for row in self.models) else "models"
        rows = [(row.model, summary.headline) for row, summary in zip(self.models, told, strict=True)]
        warnings = dict.fromkeys(warning for summary in told for warning in summary.warnings)
        return Summary(
            title=f"{self.analysis.capitalize()} of {len(self.models)} {what}",
            headline=f"{len(self.models)} {what}, each by itself: {len({text for _, text in rows})} different answers",
            tables=(Table.of("models", f"By {what.rstrip('s')}", [what.rstrip("s"), "answer"], rows, most=40),),
            warnings=tuple(warnings),
        )


def several_models(vectors: object) -> list[Embedding] | None:
    """The models of a list, or of "NAME:SOURCE" that means several; None for anything else.

    Raises:
        ParameterError: a list is empty, or holds something that is no model.
    """
    if isinstance(vectors, list):
        if not vectors:
            raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
        return load_models(vectors)
    made = encode(vectors)
    return made if made is not None and len(made) > 1 else None


def each_model(analysis: Analysis) -> Analysis:
    """Let a function of one model take several, such as views of a transformer: it then gives a `ByModel`."""

    @wraps(analysis)
    def of_each(vectors: Any, *rest: Any, **settings: Any) -> Any:  # noqa: ANN401 - as the function has them
        models = several_models(vectors)
        if models is None:
            return analysis(vectors, *rest, **settings)
        rows = (ModelResult(model.name, dict(model.facets), analysis(model, *rest, **settings)) for model in models)
        return ByModel(analysis.__name__, tuple(rows))

    return cast("Analysis", of_each)
