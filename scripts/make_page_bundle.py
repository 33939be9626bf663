"""Make the plotting code that every page carries: Vega and Vega-Lite as one script, with their licenses.

    python scripts/make_page_bundle.py

Needs node and npm, and a package registry that npm can reach; nothing that uses biasgauge needs either. Writes
`vega.js` and `LICENSES.txt` into `src/biasgauge/results/page/`. Expressions are interpreted, not compiled, so that
a page can forbid evaluation of strings.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "biasgauge" / "presentation" / "page"

VERSIONS = {"vega": "6.4.0", "vega-lite": "6.4.3", "vega-interpreter": "2.3.2", "esbuild": "0.28.2"}

ENTRY = """\
import { View, parse, Warn } from "vega";
import { compile } from "vega-lite";
import { expressionInterpreter } from "vega-interpreter";

// Draw a Vega-Lite specification into an element; the promise is of the view, which `finalize` removes.
globalThis.biasgaugePlot = (element, spec, config, tooltip) => {
  const { spec: vega } = compile(spec, { config });
  const runtime = parse(vega, undefined, { ast: true });
  const options = { expr: expressionInterpreter, renderer: "svg", container: element, hover: true, logLevel: Warn };
  return new View(runtime, options).tooltip(tooltip).runAsync();
};
"""

HEADING = """\
vega.js holds Vega, Vega-Lite and what they need, as published, in one minified file; scripts/make_page_bundle.py makes
it. The licenses of the packages in it:
"""


def run(command: list[str], folder: Path) -> None:
    """Run a command, which stops the script when it fails."""
    subprocess.run(command, cwd=folder, check=True)  # noqa: S603 - the commands below, and no others


def bundle(folder: Path) -> list[str]:
    """Build `vega.js` in `folder`; return the names of the packages that went into it."""
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": VERSIONS}))
    (folder / "entry.js").write_text(ENTRY)
    run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], folder)
    build = ["--bundle", "--minify", "--format=iife", "--legal-comments=none", "--metafile=meta.json"]
    run(["npx", "esbuild", "entry.js", *build, "--log-level=warning", "--outfile=vega.js"], folder)
    inputs = json.loads((folder / "meta.json").read_text())["inputs"]
    return sorted({_package(path) for path in inputs if "node_modules/" in path})


def _package(path: str) -> str:
    parts = path.rpartition("node_modules/")[2].split("/")
    return "/".join(parts[:2] if parts[0].startswith("@") else parts[:1])


def licenses(folder: Path, packages: list[str]) -> str:
    """The license of every package, equal texts once."""
    found = []
    for name in packages:
        home = folder / "node_modules" / name
        version = json.loads((home / "package.json").read_text())["version"]
        texts = [path for path in sorted(home.iterdir()) if path.name.lower().startswith("licen")]
        if not texts:
            raise SystemExit(f"{name} {version} has no license file; look at it before you ship it")
        text = "\n".join(line.rstrip() for line in texts[0].read_text().strip().splitlines())
        found.append((text, f"{name} {version}"))
    parts = [HEADING]
    for text, group in groupby(sorted(found), key=lambda one: one[0]):
        parts.append(f"{'-' * 40}\n{', '.join(name for _, name in group)}\n\n{text}\n")
    return "\n".join(parts)


def main() -> None:
    """Build in a temporary folder, then replace what ships."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        packages = bundle(folder)
        code = (folder / "vega.js").read_text()
        if "</script" in code.lower() or "<!--" in code:
            raise SystemExit("the script would end itself inside a page")
        (FOLDER / "LICENSES.txt").write_text(licenses(folder, packages))
        (FOLDER / "vega.js").write_text(code)
    print(f"{FOLDER / 'vega.js'}: {len(code):,} characters, {len(packages)} packages")


if __name__ == "__main__":
    main()
