"""Sums of squares of crossed layouts."""
