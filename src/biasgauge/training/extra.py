"""What training needs beyond the package itself."""

NEEDS_NUMBA = 'Training needs numba. Install it with: pip install "biasgauge[train]"'
