"""What irrCAC says about labels.csv: `python make_irrcac_goldens.py`, in an environment of its own (irrCAC 0.4)."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from irrCAC.raw import CAC  # type: ignore[import-not-found]  # in an environment of its own

HERE = Path(__file__).parent


def main() -> None:
    """Write Fleiss' kappa with its standard error and interval."""
    found = CAC(pd.read_csv(HERE / "labels.csv", header=None), digits=12).fleiss()["est"]
    kept = {"value": found["coefficient_value"], "error": found["se"], "interval": list(found["confidence_interval"])}
    (HERE / "irrcac_fleiss.json").write_text(json.dumps(kept, default=float) + "\n")


if __name__ == "__main__":
    main()
