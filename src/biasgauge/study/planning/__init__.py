"""From a study file to a plan of cells."""
