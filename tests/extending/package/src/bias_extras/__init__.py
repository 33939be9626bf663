"""One thing for each of the thirteen groups that biasgauge can be extended by."""
