"""Schema of a study's TOML, table by table; names and settings that need other packages are checked by the plan."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from biasgauge.core import JsonObject

NAME = r"^[A-Za-z0-9_-]+$"

Name = Annotated[str, Field(pattern=NAME)]
MOST = 100_000
"""Models of one recipe and corpus."""

Count = Annotated[int, Field(ge=1)]
Several = Annotated[int, Field(ge=1, le=MOST)]
Seed = Annotated[int, Field(ge=0)]
Names = Annotated[list[str], Field(min_length=1)]


def _different(seeds: list[int]) -> list[int]:
    twice = next((seed for seed, times in Counter(seeds).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"the seed {twice} stands there twice")
    return seeds


Seeds = Several | Annotated[list[Seed], Field(min_length=1, max_length=MOST), AfterValidator(_different)]


class StudyTable(BaseModel):
    """One table: wrong types are refused, not converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class OpenTable(StudyTable):
    """A table whose other keys are settings of the function that does its work."""

    model_config = ConfigDict(extra="allow")

    @property
    def settings(self) -> JsonObject:
        """Keys that belong to the function."""
        return dict(self.model_extra or {})

    @classmethod
    def declared_keys(cls) -> list[str]:
        """Keys that the study itself knows."""
        return [field.alias or name for name, field in cls.model_fields.items()]


class About(StudyTable):
    """`[study]`: what it is called, and the seed from which all others follow."""

    name: Name
    title: str = ""
    about: str = ""
    seed: Seed = 0


class CorpusTable(OpenTable):
    """`[corpora.NAME]`: a text, or another corpus balanced; other keys as in `read_corpus`."""

    path: str | Names | None = None
    origin: str | None = Field(default=None, alias="from")
    balance: JsonObject | None = None

    @model_validator(mode="after")
    def _one_source(self) -> CorpusTable:
        if (self.path is None) == (self.origin is None):
            raise ValueError("a corpus needs either 'path' or 'from'")
        if (self.balance is None) != (self.origin is None):
            raise ValueError("'from' and 'balance' go together")
        return self


class ModelTable(OpenTable):
    """`[models.NAME]`: a recipe; other keys as in `train`."""

    corpora: Names | None = None
    algorithm: str = "sgns"
    seeds: Seeds = 1
    bootstrap: Several | None = None

    @model_validator(mode="after")
    def _not_too_many(self) -> ModelTable:
        seeds = self.seeds if isinstance(self.seeds, int) else len(self.seeds)
        if seeds * (self.bootstrap or 1) > MOST:
            raise ValueError(f"'seeds' times 'bootstrap' must be at most {MOST:,} models")
        return self


class VectorsTable(StudyTable):
    """`[vectors.NAME]`: vectors that exist: files, or what ships."""

    path: str | Names | None = None
    default: Literal["glove", "replicates"] | None = None
    limit: Count | None = None

    @model_validator(mode="after")
    def _one_source(self) -> VectorsTable:
        if (self.path is None) == (self.default is None):
            raise ValueError("vectors need either 'path' or 'default'")
        return self


class EncoderTable(OpenTable):
    """`[encoders.NAME]`: views of words in sentences from a transformer; other keys as in `encode`."""

    path: str | Names
    words: str | Names
    corpus: str | None = None


class MitigationTable(StudyTable):
    """`[mitigations.NAME]`: other vectors, changed; settings as in `mitigate`."""

    of: Names
    method: str
    settings: JsonObject = {}


class ScoresTable(OpenTable):
    """`[scores.NAME]`: a score tensor for each group of replicates; other keys as in `score`."""

    of: Names
    pairs: Any
    words: Any
    measures: str | Names = ["dbwa", "ripa", "nbm"]


class AnalysisTable(StudyTable):
    """`[analyses.NAME]`: one result for each thing that it is made of."""

    kind: str
    of: Names = []
    before: str | None = None
    settings: JsonObject = {}


class TaskTable(StudyTable):
    """`[tasks.NAME]`: a downstream task on each of some vectors; settings as in `extrinsic`."""

    task: str
    data: str
    of: Names
    seeds: Seeds = 1
    settings: JsonObject = {}


class ReportTable(StudyTable):
    """`[report]`: one page over all analyses and tasks."""

    title: str = ""
    about: str = ""
    of: Names | None = None


NAMED: dict[str, type[StudyTable]] = {
    "corpora": CorpusTable,
    "models": ModelTable,
    "vectors": VectorsTable,
    "encoders": EncoderTable,
    "mitigations": MitigationTable,
    "scores": ScoresTable,
    "analyses": AnalysisTable,
    "tasks": TaskTable,
}
"""Tables that may occur many times under names."""
SINGLE: dict[str, type[StudyTable]] = {"study": About, "report": ReportTable}
"""Tables that occur once."""
