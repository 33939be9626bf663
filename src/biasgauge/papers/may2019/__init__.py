"""May et al. 2019, SEAT: associations in sentence encoders."""
