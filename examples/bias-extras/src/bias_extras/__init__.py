"""One thing for each of the fifteen groups that biasgauge can be extended by."""
