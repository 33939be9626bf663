"""A study as data: one TOML file becomes cells, each computed once and kept, on this machine or on Dask."""

from biasgauge.study.cell import Cell
from biasgauge.study.plan import Plan, plan_study
from biasgauge.study.read import Study, read_study, study_from
from biasgauge.study.result import StudyRun
from biasgauge.study.run import run_study
from biasgauge.study.store import CellStore

__all__ = [
    "Cell",
    "CellStore",
    "Plan",
    "Study",
    "StudyRun",
    "plan_study",
    "read_study",
    "run_study",
    "study_from",
]
