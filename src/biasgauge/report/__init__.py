"""Results to pages and tables. Sees result objects only."""

from biasgauge.report.audit_page import audit_page, audit_table, save_audit

__all__ = ["audit_page", "audit_table", "save_audit"]
