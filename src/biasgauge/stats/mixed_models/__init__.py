"""Crossed mixed models by profiled REML."""
