"""Calibrations from files."""

from __future__ import annotations

import os
from pathlib import Path

from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.errors import InputError
from biasgauge.io import read_saved

DEFAULT_CALIBRATION = Path(__file__).with_name("data") / "sgns-64d-enwiki.json"
"""What scripts/make_default_calibration.py made for the replicates that ship."""


def load_default_calibration() -> Calibration:
    """The calibration of the replicates that ship: doses planted in their text, trained with their recipe."""
    return load_calibration(DEFAULT_CALIBRATION)


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read the JSON of a calibration, as `Calibration.save` or `biasgauge calibrate --out` wrote it.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    source = Path(path)
    content = read_saved(source, again="calibrate --out makes such a file")
    if not isinstance(content, dict) or "curves" not in content:
        raise InputError(f"{source}: is not a calibration; calibrate --out makes such a file")
    try:
        calibration = Calibration.from_dict(content)
        calibration.summary()  # whatever is missing is missed now, and not in the middle of an audit
    except (InputError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as problem:
        raise InputError(f"{source}: is not a calibration ({problem})") from problem
    return calibration
