"""The day that results are stamped with."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def today() -> str:
    """Date of today in UTC, or that of SOURCE_DATE_EPOCH, with which builds are the same bytes on every day."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), tz=UTC) if epoch.isdigit() else datetime.now(tz=UTC)
    return now.date().isoformat()
