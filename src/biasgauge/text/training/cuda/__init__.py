"""Replicates on a GPU: one block of threads a replicate, the bytes of the CPU loops (see docs/text/training.md)."""
