"""Entry point: runs a subcommand, and turns whatever happens into one sentence and an exit code.

0: success. 1: internal error. 2: invalid input. 3: a verdict that --fail-on names. 130: interrupted.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
import tempfile
import threading
import traceback
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from biasgauge._version import __version__
from biasgauge.errors import InputError, one_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

SUCCESS, INTERNAL_ERROR, INVALID_INPUT, INTERRUPTED = 0, 1, 2, 130
_OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")
"""Messages of the system about a library for which there is no memory left."""
PLAIN = "biasgauge.plain"
"""Name of the error handler for characters that a terminal cannot show."""

EPILOGUE = """\
Every command takes --json, --seed, --quiet, --debug and --help.
Exit codes: 0 success, 1 internal error, 2 invalid input or undefined result,
3 a verdict that audit --fail-on names, 130 interrupted.
Inputs are never overwritten; results that are there stay unless --force.

Examples:
  biasgauge audit                        the vectors that ship with the package
  biasgauge audit vectors.bin --out DIR  your own
  biasgauge weat vectors.bin --test weat7
  biasgauge train corpus.txt --seeds 8   replicates from your own text
  biasgauge lexicons list                which word lists ship, and from where
"""


def _show_default(default: object) -> str | None:
    """Default of an option in its help; None where there is nothing to show."""
    return None if default is None or default is False or default in ("", ()) else str(default)


app = App(
    name="biasgauge",
    help="Measure social bias in word embeddings, and how far each measurement can be trusted.",
    help_epilogue=EPILOGUE,
    help_format="plaintext",
    default_parameter=Parameter(negative=(), show_default=_show_default),
    version=__version__,
    suppress_keyboard_interrupt=False,  # `run` says what is kept
)
COMMANDS = {
    "audit": "Audit vectors: how biased are they, and what may be reported? Writes a page.",
    "weat": "Association test of two sets of words with two others.",
    "compare": "Compare corpora, or groups of models: the difference of a contrast, and its trend.",
    "regress": "Regress the use of words on covariates of documents, from one corpus, without training.",
    "score": "Score words against base pairs: mean, interval, and how many pairs agree.",
    "train": "Train replicates of an embedding on your own text.",
    "encode": "Encode words in sentences with a transformer: views by layer, pooling and template.",
    "reliability": "Estimate test–retest, inter-rater and internal reliability of bias scores.",
    "factors": "Regress the reliability of words on properties of words, algorithms and corpora.",
    "robustness": "Test whether scores survive another base pair, word form or measure.",
    "seeds": "Assess whether pairs of word lists are fit to measure anything.",
    "plan": "Plan a test: the contrast that its lists can detect, words needed, words to drop and to add.",
    "workbench": "Write a page that measures your own word lists in the browser, offline.",
    "posterior": "Estimate the contrast of a test: posterior with its interval and probabilities.",
    "bayes": "Fit Dobrzeniecka & Urbaniak's published model of the distances of words from stereotypes.",
    "simulate-null": "Simulate what a test reports when there is no bias.",
    "calibrate": "Plant known bias in your text, train on it, and say what the measures can see.",
    "mitigate": "Debias or overbias vectors, and measure what that did.",
    "balance": "Debias or overbias a corpus before training, by removing some of its lines.",
    "extrinsic": "Train a task on vectors, and measure gaps between groups of people.",
    "corpus-bias": "Measure what a text itself says about words: log odds ratios from counts.",
    "criterion": "Correlate scores of words with what is known about them, such as the share of women.",
    "influence": "Find the documents of a text that carry an association.",
    "stereoset": "Score StereoSet from predictions or a language model, with intervals over targets.",
    "crows-pairs": "Score CrowS-Pairs with a language model or from predictions, with intervals over writers.",
    "likelihood": "Find which of two sentences a language model prefers, for your own pairs.",
    "points": "Measure versions of an embedding by tests and by a task: points for correlate.",
    "correlate": "Correlate an intrinsic number with an extrinsic one.",
    "study": "Plan, run and show a whole study that one file declares.",
    "reproduce": "Compare a paper's numbers with what its own rule and a corrected one give.",
    "convert": "Convert vectors from any format that biasgauge reads to any that it writes.",
    "formats": "List the formats of vector files that are read and written.",
    "lexicons": "List, show, check, build and expand word lists.",
}
# Commands are named by their import path and loaded when they are called: `biasgauge --help` imports none of them.
for _name, _help in COMMANDS.items():
    app.command("biasgauge.cli.{0}:{0}".format(_name.replace("-", "_")), name=_name, help=_help)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    replace_unencodable_characters()
    code = run(words)
    if code == INTERRUPTED and threading.active_count() > 1:  # threads that compute would keep the user waiting
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def replace_unencodable_characters() -> None:
    """Let stdout and stderr write plain replacements for characters that their encoding lacks (Windows, LC_ALL=C)."""
    codecs.register_error(PLAIN, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def _plain(problem: UnicodeError) -> tuple[str, int]:
    """Return a replacement for characters that cannot be written."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    from biasgauge.results import plain_characters

    return plain_characters(problem.object[problem.start : problem.end]), problem.end


def run(words: list[str]) -> int:
    """Run one command line; return the exit code."""
    try:
        app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else INTERNAL_ERROR
    except KeyboardInterrupt as stopped:
        return _report(one_sentence(f"interrupted{f'; {stopped}' if str(stopped) else ''}"), INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough (`| head`); keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS
    except (CycloptsError, InputError, OSError, MemoryError) as problem:
        _print_traceback(words)
        # An error of ours has its length already, and a line for each of several problems.
        sentence = str(problem) if isinstance(problem, InputError) else one_sentence(_sentence(problem))
        return _report(sentence, INVALID_INPUT)
    except Exception as problem:  # noqa: BLE001 - the last stop: everything gets a sentence
        return _report_unexpected(problem, words)
    return SUCCESS


def _sentence(problem: CycloptsError | OSError | MemoryError) -> str:
    if isinstance(problem, MemoryError):  # the machine's limit, or one that the user has set: not our defect
        reason = " ".join(str(problem).split())
        hint = "ask for fewer words or models at a time (--n-jobs 1), or use a machine with more"
        return f"there is not enough memory{f' ({reason})' if reason else ''}; {hint}"
    if isinstance(problem, OSError):  # a full disk, a folder that may not be written: the machine, not our code
        file = f"{problem.filename}: " if problem.filename else ""
        if problem.errno in {errno.ENOSPC, errno.EDQUOT}:
            disk = "" if problem.filename else f" (of the output, or of temporary files in {tempfile.gettempdir()})"
            return f"{file}{problem.strerror}{disk}; free some space, or name a place on another disk"
        return f"{file}{problem.strerror or problem}; check the path, the permissions and the disk"
    command = " ".join(["biasgauge", *(problem.command_chain or ())])
    sentence = " ".join(str(problem).split())
    if isinstance(problem, UnusedCliTokensError) and problem.unused_tokens:
        sentence = (
            f"{' '.join(problem.unused_tokens)}: one argument too many; what an option takes stands behind its name."
        )
    return f"{sentence} Try: {command} --help"


def _report_unexpected(problem: Exception, words: list[str]) -> int:
    """Report an unexpected error: our defect, unless there was no memory for a library."""
    _print_traceback(words)
    if isinstance(problem, ImportError) and any(text in str(problem) for text in _OUT_OF_MEMORY):
        return _report(one_sentence(_sentence(MemoryError(problem))), INVALID_INPUT)
    hint = "" if "--debug" in words else " (--debug shows the traceback)"
    reason = f"{type(problem).__name__}: {problem}"
    return _report(one_sentence(f"internal error, please report it: {reason}{hint}"), INTERNAL_ERROR)


def _print_traceback(words: list[str]) -> None:
    if "--debug" in words:
        traceback.print_exc()


def _report(sentence: str, code: int) -> int:
    print(f"biasgauge: {sentence}", file=sys.stderr)  # noqa: T201 - the one place that speaks of failure
    return code
