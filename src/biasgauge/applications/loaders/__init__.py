"""Labeled texts of published data sets: one file each, with a `DATA_SET` that the registry finds."""
