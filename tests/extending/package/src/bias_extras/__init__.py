"""One thing for each of the twelve groups that biasgauge can be extended by."""
