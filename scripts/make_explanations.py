"""Write the tables of verdicts and rules into the documentation, from the one text that the package has of them.

A table stands between `<!-- explanations: NAME -->` and `<!-- end of explanations -->`, in any page of docs/. With
`--check`, nothing is written, and the exit status is 1 where a page has another text.

    python scripts/make_explanations.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from biasgauge.audits.explanations import documentation_tables

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"(<!-- explanations: (\w+) -->\n).*?(<!-- end of explanations -->)", re.DOTALL)


def filled(text: str) -> str:
    """Return a page with its tables as the package has them."""
    tables = documentation_tables()
    return BLOCK.sub(lambda block: f"{block[1]}{tables[block[2]]}\n{block[3]}", text)


def main() -> int:
    """Write or check every page."""
    stale = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            stale.append(page)
            if "--check" not in sys.argv:
                page.write_text(filled(text), encoding="utf-8")
    print(*stale, sep="\n")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
