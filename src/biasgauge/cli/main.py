"""Runs a subcommand and turns whatever happens into one sentence and an exit code.

0: done. 1: a defect of ours. 2: something the user can mend. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, Parameter

from biasgauge._version import __version__
from biasgauge.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, DEFECT, MISTAKE, INTERRUPTED = 0, 1, 2, 130

EPILOGUE = """\
Every command takes --json, --seed, --quiet, --debug and --help.
Exit codes: 0 done, 1 a defect of ours, 2 something you can mend.

Examples:
  biasgauge audit                        the vectors that ship with the package
  biasgauge audit vectors.bin --out DIR  your own
  biasgauge weat vectors.bin --test weat7
  biasgauge train corpus.txt --seeds 8   replicates from your own text
  biasgauge lexicons list                which word lists ship, and from where
"""

app = App(
    name="biasgauge",
    help="Measure social bias in word embeddings, and how far each measurement can be trusted.",
    help_epilogue=EPILOGUE,
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    version=__version__,
)
# Commands are named by their import path and loaded when they are called: `biasgauge --help` imports none of them.
app.command(
    "biasgauge.cli.audit:app", name="audit", help="Say how biased some vectors are, and what to trust; write a page."
)
app.command("biasgauge.cli.weat:app", name="weat", help="Association test of two sets of words with two others.")
app.command("biasgauge.cli.score:app", name="score", help="Score words against base pairs, into a store.")
app.command("biasgauge.cli.train:app", name="train", help="Train replicates of an embedding on your own text.")
app.command(
    "biasgauge.cli.reliability:app", name="reliability", help="Say how far scores of replicates agree with themselves."
)
app.command(
    "biasgauge.cli.factors:app", name="factors", help="Say which words, algorithms and corpora are measured reliably."
)
app.command(
    "biasgauge.cli.robustness:app",
    name="robustness",
    help="Say what survives another base pair, word form or measure.",
)
app.command(
    "biasgauge.cli.seeds:app", name="seeds", help="Say whether pairs of word lists are fit to measure anything."
)
app.command(
    "biasgauge.cli.bayes:app", name="bayes", help="Posterior of how near words are to stereotypes, with intervals."
)
app.command(
    "biasgauge.cli.simulate_null:app",
    name="simulate-null",
    help="Say what a test reports when there is nothing to find.",
)
app.command("biasgauge.cli.mitigate:app", name="mitigate", help="Debias or overbias vectors, and say what that did.")
app.command(
    "biasgauge.cli.balance:app",
    name="balance",
    help="Debias or overbias a corpus before training, by sub-sampling its lines.",
)
app.command(
    "biasgauge.cli.extrinsic:app",
    name="extrinsic",
    help="Train a task on vectors; say how differently groups of people fare.",
)
app.command(
    "biasgauge.cli.correlate:app", name="correlate", help="Say whether an intrinsic number tracks an extrinsic one."
)
app.command("biasgauge.cli.study:app", name="study", help="Plan, run and show a whole study that one file declares.")
app.command(
    "biasgauge.cli.reproduce:app",
    name="reproduce",
    help="Set a paper's numbers beside what its own rule and a corrected one give.",
)
app.command("biasgauge.cli.lexicons:app", name="lexicons", help="List, show, check and expand word lists.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(words))


def run(words: list[str]) -> int:
    """Run one command line; return the exit code."""
    try:
        app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else DEFECT
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough (`| head`); keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (CycloptsError, InputError, OSError) as problem:
        _trace_if_asked(words)
        return _say(_sentence(problem), MISTAKE)
    except Exception as problem:  # noqa: BLE001 - the last stop: everything gets a sentence
        _trace_if_asked(words)
        hint = "" if "--debug" in words else " (--debug shows where)"
        return _say(f"a defect in biasgauge, please report it: {type(problem).__name__}: {problem}{hint}", DEFECT)
    return DONE


def _sentence(problem: CycloptsError | InputError | OSError) -> str:
    if isinstance(problem, InputError):
        return str(problem)
    if isinstance(problem, OSError):  # a full disk, a folder that may not be written: the machine, not our code
        place = f"{problem.filename}: " if problem.filename else ""
        return f"{place}{problem.strerror or problem}; check the path, the permissions and the disk"
    command = " ".join(["biasgauge", *(problem.command_chain or ())])
    return f"{' '.join(str(problem).split())} Try: {command} --help"


def _trace_if_asked(words: list[str]) -> None:
    if "--debug" in words:
        traceback.print_exc()


def _say(sentence: str, code: int) -> int:
    print(f"biasgauge: {sentence}", file=sys.stderr)  # noqa: T201 - the one place that speaks of failure
    return code
