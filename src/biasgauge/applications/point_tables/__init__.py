"""Intrinsic and extrinsic numbers of the same embeddings, side by side."""
