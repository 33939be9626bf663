"""Types of what JSON holds, each named once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = dict[str, Any]
"""An object of JSON: what `to_dict` gives and `from_dict` takes."""
JsonMapping = Mapping[str, Any]
"""The same, only read: settings, provenance, what follows from the fields of a result."""
