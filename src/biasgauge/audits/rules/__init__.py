"""Rules of the verdicts: each module holds its `RULE`, which the registry finds."""
