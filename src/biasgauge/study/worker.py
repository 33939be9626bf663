"""A process that runs cells for the local engine: a line of JSON in for each cell, one out for each outcome.

It ends as soon as nobody is there to ask it: when its standard input closes, also in the middle of a cell. Nothing is
half-written then, since a cell's outcome is moved into the store in one step.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from queue import SimpleQueue

from biasgauge.io import parse_json
from biasgauge.study.cell import Cell
from biasgauge.study.execute import run_cell
from biasgauge.study.store import CellStore

BOOT = """
import json, sys
sys.path[:] = json.loads(sys.stdin.readline())
from biasgauge.study.worker import serve
serve(json.loads(sys.stdin.readline()))
"""
"""What such a process is started with: it sees the same modules as the one that starts it."""


READY = "ready\n"
"""What such a process says first: from then on, what kills it is a cell."""


def serve(url: str) -> None:
    """Run cells for a store until standard input closes."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what compiled code prints must not be taken for an answer
    store = CellStore(url)
    answers.write(READY)
    answers.flush()
    asked: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        outcome = run_cell(Cell.from_dict(parse_json(asked.get())), store)
        answers.write(json.dumps(outcome.to_dict()) + "\n")
        answers.flush()


def _listen(asked: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        asked.put(line)
    os._exit(0)
