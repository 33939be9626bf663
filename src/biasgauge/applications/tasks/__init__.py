"""Downstream tasks: run, kept, compared."""
