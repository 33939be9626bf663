"""Measure social bias in word embeddings, and how far each measurement can be trusted."""
