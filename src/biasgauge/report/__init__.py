"""Results to something a person reads: figures, tables, one self-contained page."""

from biasgauge.report.audit_page import audit_page, audit_table, save_audit
from biasgauge.report.figures import figures, save_figures

__all__ = ["audit_page", "audit_table", "figures", "save_audit", "save_figures"]
