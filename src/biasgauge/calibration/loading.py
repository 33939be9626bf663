"""Calibrations from files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from biasgauge.calibration.result import Calibration
from biasgauge.errors import InputError


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read the JSON of a calibration, as `Calibration.save` or `biasgauge calibrate --out` wrote it.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    source = Path(path)
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"{source}: cannot be read ({problem.strerror}); calibrate --out makes such a file"
        ) from problem
    except ValueError as problem:
        raise InputError(f"{source}: is not JSON ({problem}); calibrate --out makes such a file") from problem
    if not isinstance(content, dict) or "curves" not in content:
        raise InputError(f"{source}: is not a calibration; calibrate --out makes such a file")
    try:
        return Calibration.from_dict(content)
    except InputError as problem:
        raise InputError(f"{source}: is not a calibration ({problem})") from problem
