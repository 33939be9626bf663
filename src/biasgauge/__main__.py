"""`python -m biasgauge` is the command `biasgauge`."""

from biasgauge.cli import main

main()
