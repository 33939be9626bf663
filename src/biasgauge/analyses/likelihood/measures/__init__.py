"""Likelihood measures, one file each; the registry finds them by `MEASURE`."""
