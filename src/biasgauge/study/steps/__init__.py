"""The kinds of cells: one module each, with its `STEP`."""
