"""Runs the blocks of one page in the folder in which it is started; the site's hook starts it.

python scripts/site_runner.py BLOCKS.json OUTPUTS.json
"""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from site_blocks import joined_lines
from site_values import shown, text

COMMAND_SECONDS = 180


class BlockRunError(Exception):
    """A block ended in an error: the line within the block, and what went wrong."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def main(asked: Path, made: Path) -> None:
    """Run all blocks in order; write their pieces, or which one failed."""
    sys.path.insert(0, "")  # files of the page can be imported
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs: list[list[dict[str, str]]] = []
    for number, block in enumerate(json.loads(asked.read_text(encoding="utf-8"))):
        try:
            outputs.append(pieces_of(block, names))
        except BlockRunError as failed:
            made.write_text(json.dumps({"block": number, "line": failed.line, "problem": str(failed)}))
            return
    made.write_text(json.dumps({"outputs": outputs}), encoding="utf-8")


def pieces_of(block: dict[str, Any], names: dict[str, Any]) -> list[dict[str, str]]:
    """A block as pieces of code, each with what it showed as HTML."""
    if block["task"] == "file":
        path = Path(block["told"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["source"] + "\n", encoding="utf-8")
        return [{"code": block["source"], "html": ""}]
    if block["language"] == "console":
        return _commands(block["source"], block["exit_code"])
    return _statements(block["source"], names)


def _commands(source: str, exit_code: int) -> list[dict[str, str]]:
    pieces: list[dict[str, str]] = []
    lines: list[str] = []
    for number, line in enumerate(joined_lines(source), start=1):
        lines.append(line)
        if not line.strip():
            continue
        try:
            done = subprocess.run(  # noqa: S603 - commands of the project's own pages
                ["bash", "-o", "pipefail", "-c", line.removeprefix("$ ")],  # noqa: S607 - whichever the machine has
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=COMMAND_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise BlockRunError(number, f"{line} takes longer than {COMMAND_SECONDS} seconds") from None
        if done.returncode != exit_code:
            raise BlockRunError(number, f"{line} ended with exit code {done.returncode}:\n{done.stdout[-2000:]}")
        if told := _without_folder(done.stdout).strip():
            pieces.append({"code": "\n".join(lines), "html": text(told)})
            lines = []
    return [*pieces, *([{"code": "\n".join(lines), "html": ""}] if any(lines) else [])]


def _statements(source: str, names: dict[str, Any]) -> list[dict[str, str]]:
    """Statements in order; a bare expression's value stands below its line, what is printed before the next of them."""
    try:
        tree = ast.parse(source)
    except SyntaxError as problem:
        raise BlockRunError(problem.lineno or 1, f"SyntaxError: {problem.msg}") from None
    pieces: list[dict[str, str]] = []
    lines, done, printed = source.split("\n"), 0, io.StringIO()
    for statement in tree.body:
        value = None
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                value = _run(statement, names)
                html = _without_folder(shown(value))
            except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever a page's code raises
                raise BlockRunError(_line(problem, statement.lineno), _told(problem)) from None
        if html:
            end = statement.end_lineno or len(lines)
            pieces.append({"code": "\n".join(lines[done:end]).strip("\n"), "html": _printed(printed) + html})
            done, printed = end, io.StringIO()
    rest = "\n".join(lines[done:]).strip("\n")
    if rest or printed.getvalue():
        pieces.append({"code": rest, "html": _printed(printed)})
    return pieces


def _run(statement: ast.stmt, names: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever it gives
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), "<block>", "eval"), names)  # noqa: S307 - our own pages
    exec(compile(ast.Module([statement], []), "<block>", "exec"), names)  # noqa: S102 - our own pages
    return None


def _line(problem: BaseException, first: int) -> int:
    own = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == "<block>"]
    return own[-1] if own and own[-1] is not None else first


def _told(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem)[-12:])


def _printed(printed: io.StringIO) -> str:
    return text(_without_folder(printed.getvalue()))


def _without_folder(told: str) -> str:
    """What was told, with paths as a reader would see them from her own folder."""
    here = str(Path.cwd())
    return told.replace(here + "/", "").replace(here, ".")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
