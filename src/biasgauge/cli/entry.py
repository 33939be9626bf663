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

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from biasgauge._version import __version__
from biasgauge.cli.option_groups import HELP_ALL, HELP_FLAGS, shows_rare_options
from biasgauge.errors import InputError, one_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

SUCCESS, INTERNAL_ERROR, INVALID_INPUT, INTERRUPTED = 0, 1, 2, 130
_OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")
"""Messages of the system about a library for which there is no memory left."""
PLAIN = "biasgauge.plain"
"""Name of the error handler for characters that a terminal cannot show."""

EPILOGUE = """\
Every command takes --json, --seed, --quiet, --debug, --help and --help-all.
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
    help_flags=HELP_FLAGS,
    default_parameter=Parameter(negative=(), show_default=_show_default),
    version=__version__,
    suppress_keyboard_interrupt=False,  # `run` says what is kept
)
GROUPS = {
    "Start here": {
        "audit": "Audit vectors: how biased are they, and what may be reported? Writes a page.",
        "lexicons": "List, show, check, build and expand word lists, and measure their quality.",
        "plan": "Plan a test: the contrast that its lists can detect, words needed, words to drop and to add.",
        "workbench": "Write a page that measures your own word lists in the browser, offline.",
        "train": "Train replicates of an embedding on your own text.",
        "compare": "Compare corpora, or groups of models: the difference of a contrast, and its trend.",
        "regress": "Regress the use of words on covariates of documents, from one corpus, without training.",
        "corpus-bias": "Measure what a text itself says about words: log odds ratios from counts.",
        "study": "Plan, run and show a whole study that one file declares.",
    },
    "Look closer": {
        "explain": "Explain a verdict, or a rule that verdicts rest on.",
        "weat": "Association test of two sets of words with two others.",
        "score": "Score words against base pairs: mean, interval, and how many pairs agree.",
        "reliability": "Estimate test–retest, inter-rater and internal reliability of bias scores.",
        "factors": "Regress the reliability of words on properties of words, algorithms and corpora.",
        "robustness": "Test whether scores survive another base pair, word form or measure.",
        "posterior": "Estimate the contrast of a test: posterior with its interval and probabilities.",
        "criterion": "Correlate scores of words with what is known about them, such as the share of women.",
        "calibrate": "Plant known bias in your text, train on it, and say what the measures can see.",
        "mitigate": "Debias or overbias vectors, and measure what that did.",
        "balance": "Debias or overbias a corpus before training, by removing some of its lines.",
        "extrinsic": "Train a task on vectors, and measure gaps between groups of people.",
        "points": "Measure versions of an embedding by tests and by a task: points for correlate.",
        "correlate": "Correlate an intrinsic number with an extrinsic one.",
    },
    "Language models": {
        "encode": "Encode words in sentences with a transformer: views by layer, pooling and template.",
        "likelihood": "Find which of two sentences a language model prefers; StereoSet and CrowS-Pairs.",
    },
    "Reproduce": {
        "reproduce": "Compare a paper's numbers with what its own rule and a corrected one give.",
        "bayes": "Fit Dobrzeniecka & Urbaniak's published model of the distances of words from stereotypes.",
        "simulate-null": "Simulate what a test reports when there is no bias.",
    },
    "Files": {
        "convert": "Convert vectors from any format that biasgauge reads to any that it writes.",
        "formats": "List the formats of vector files that are read and written.",
    },
}
"""Commands by what they are for, in the order of the help."""
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}
MOVED = {
    "seeds": "lexicons quality",
    "seeds subspace": "lexicons subspace",
    "seeds bank": "lexicons seed-bank",
    "influence": "corpus-bias influence",
    "stereoset": "likelihood stereoset",
    "crows-pairs": "likelihood crows-pairs",
}
"""Commands of earlier versions that have another name."""
_below = Group("Options", sort_key=len(GROUPS))
for _flag in ("--help", "--version"):
    app[_flag].group = _below
# Commands are named by their import path and loaded when they are called: `biasgauge --help` imports none of them.
for _place, (_title, _commands) in enumerate(GROUPS.items()):
    _group = Group(_title, sort_key=_place)
    for _rank, (_name, _line) in enumerate(_commands.items()):
        _path = "biasgauge.cli.{0}:{0}".format(_name.replace("-", "_"))
        app.command(_path, name=_name, help=_line, group=_group, sort_key=_rank)


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
    shows_rare_options.set(HELP_ALL in words)
    try:
        _refuse_old_names(words)
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


def _refuse_old_names(words: list[str]) -> None:
    """Refuse a command of an earlier version that has another name.

    Raises:
        InputError: there is one.
    """
    for name in (" ".join(words[:2]), *words[:1]):
        if name in MOVED:
            raise InputError(f"the command {name!r} is now {MOVED[name]!r}. Try: biasgauge {MOVED[name]} --help")


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
            f"{' '.join(problem.unused_tokens)}: not expected here; an option takes one value, so separate several by "
            "commas, or repeat the option."
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
