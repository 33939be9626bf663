"""Variance components of a score tensor."""
