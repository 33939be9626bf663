"""Tables for LaTeX: what would stop an engine is escaped, whatever words a list holds."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import biasgauge as bg
from biasgauge.core.estimate import Estimate
from biasgauge.results import Column, Summary, Table
from biasgauge.results.latex_tables import escaped, latex

HOSTILE = '50 % of R&D_x #1 {a} ~b^c \\d −0.5 Φ κ “quoted” "straight" it’s <b> naïve résumé 中 же \u200b 🙂'


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("89 %", r"89 \%"),
        ("R&D", r"R\&D"),
        ("word_list", r"word\_list"),
        ("#1", r"\#1"),
        ("−0.031", "$-$0.031"),
        ("Φ = .94", r"$\Phi$ = .94"),
        ("“so”", "``so''"),
        ("a\\b", r"a\textbackslash{}b"),
        ("résumé", "résumé"),
        ("中", r"\texttt{U+4E2D}"),
        ("č", "č"),
        ("\u0001", r"\texttt{U+0001}"),
    ],
)
def test_a_character_is_typed_so_that_every_engine_sets_it(text: str, typed: str) -> None:
    assert escaped(text) == typed


def _summary(rows: int) -> Summary:
    columns = ["word", Column("value", "estimate"), Column("p", "p"), "remark"]
    row = (HOSTILE, Estimate(value=-0.5, low=-0.9, high=-0.1), 0.0001, HOSTILE * 3)
    table = Table.of("a_table 1", HOSTILE, columns, [row] * rows, note=HOSTILE)
    return Summary("T", "H", tables=(table,))


def test_nothing_is_left_that_a_table_would_take_for_a_command() -> None:
    for line in latex(_summary(2)).replace(r"\label{tab:a_table-1}", "").splitlines():
        cells = re.sub(r"\\[&%#_{}$\\]|\$[^$]*\$|\\[a-zA-Z]+(\{\})?", "", line)
        assert not re.search(r"[%#_^\\~$]", cells.replace("~b", "")), line
        assert line.count("{") - line.count(r"\{") == line.count("}") - line.count(r"\}")


def test_a_long_table_goes_over_several_pages() -> None:
    assert r"\begin{longtable}" in latex(_summary(41))
    assert r"\begin{table}" in latex(_summary(40))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="NO LATEX: the tables were not typeset")
@pytest.mark.parametrize("rows", [2, 60])
def test_pdflatex_sets_the_tables(tmp_path: Path, rows: int) -> None:
    document = r"\documentclass{article}\usepackage{booktabs,longtable}\begin{document}" + latex(_summary(rows))
    (tmp_path / "paper.tex").write_text(document + r"\end{document}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_captions_of_an_audit_say_what_each_table_is_of(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    """Two of thirteen tables were called "card"."""
    summary = shipped_audit().summary()
    captions = re.findall(r"\\caption\{(.*)\}\n?\\label", latex(summary).replace("\n\\label", "\\label"))
    assert len(captions) == sum(bool(table.rows) for table in summary.all_tables())
    labels = re.findall(r"\\label\{([^}]*)\}", latex(summary))
    assert len(set(captions)) == len(captions) == len(labels) == len(set(labels))
    assert all(caption[:1].isupper() or caption[:1].isdigit() for caption in captions)
