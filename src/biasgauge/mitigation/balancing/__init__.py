"""Dataset balancing: lines of a corpus removed before training."""
