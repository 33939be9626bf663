"""The steps of studies, a module for each family: `STEP` is one step, or a tuple of steps with their analyses."""
