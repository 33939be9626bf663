"""The main job: everything biasgauge can say about some vectors, as one result."""

from biasgauge.audit.extrinsic import track
from biasgauge.audit.questions import Evidence, Question, Rules
from biasgauge.audit.result import AuditResult, LexiconVerdict, ModelSummary
from biasgauge.audit.run import audit

__all__ = ["AuditResult", "Evidence", "LexiconVerdict", "ModelSummary", "Question", "Rules", "audit", "track"]
