"""What drives reliability: multilevel regression."""
