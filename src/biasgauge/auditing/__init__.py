"""The main job: everything biasgauge can say about some vectors, as one result."""

from biasgauge.auditing.encoder import audit_encoder, audit_words
from biasgauge.auditing.extrinsic import track
from biasgauge.auditing.result import AuditResult, LexiconVerdict, ModelSummary
from biasgauge.auditing.run import audit
from biasgauge.auditing.verdicts import Evidence, Rules, Verdict

__all__ = [
    "AuditResult",
    "Evidence",
    "LexiconVerdict",
    "ModelSummary",
    "Rules",
    "Verdict",
    "audit",
    "audit_encoder",
    "audit_words",
    "track",
]
