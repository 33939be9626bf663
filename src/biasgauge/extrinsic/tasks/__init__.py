"""One file a kind of task; `biasgauge.extrinsic.tasks_registry` finds every `TASKS` in them."""
