"""One thing for each of the fourteen groups that biasgauge can be extended by."""
