"""Steps of the studies in docs/studies: each module holds its `STEP`, which a study file beside this package names."""
