"""One file a method; `biasgauge.mitigation.registry` finds them."""
