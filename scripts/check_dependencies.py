"""What users install with the package: every library, its version, its license, and whether it brings compiled code.

Follows the dependencies of the package and of its extras for users through what is installed here. The exit status is 1
where a license is none that the package's own allows beside it. Libraries of extras that are not installed are named,
and not followed. With `--oldest`, installs the oldest versions that pyproject.toml allows into an empty environment,
and measures there.

    python scripts/check_dependencies.py
    python scripts/check_dependencies.py --oldest

Known weaknesses of these versions are looked up by `pip-audit` in .github/workflows/security.yml: that takes a network.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from environments import ROOT, built, empty_environment, install
from package_tries import EVERYWHERE, TRY, inputs
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NOT_FOR_USERS = frozenset({"dev", "docs", "release", "gpu", "vectors", "models"})
"""Extras for those who work on the package, and those that bring a GPU's libraries or data."""
FREE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|HPND|Zlib|0BSD|Unlicense|MPL|Mozilla|CC0|Public Domain|"
    r"Artistic|BSL|Boost)", re.IGNORECASE,
)  # fmt: skip
"""Licenses under which a library may be used beside a package of the Apache License."""
COMPILED = (".so", ".pyd", ".dylib")


def main() -> int:
    """Print the table; say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--oldest", action="store_true", help="try the oldest versions that are allowed")
    asked = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if asked.oldest:
        return oldest(project["dependencies"])
    extras = {
        name: own for name, own in project["optional-dependencies"].items() if name not in NOT_FOR_USERS | {"all"}
    }
    found, wrong = {"": closure(project["dependencies"])}, 0
    found |= {name: closure(own) for name, own in extras.items()}
    print(f"{'library':<26}{'version':<14}{'compiled':<10}{'for':<14}license")
    told: set[str] = set()
    for extra, libraries in found.items():
        for name, library in sorted(libraries.items()):
            if name in told:
                continue
            told.add(name)
            terms = "not installed here" if library is None else license_of(library)
            strange = library is not None and FREE.search(terms) is None
            wrong += strange
            version = "–" if library is None else library.version
            mark = "   <- look at this" if strange else ""
            print(
                f"{name:<26}{version:<14}{'yes' if is_compiled(library) else 'no':<10}{extra or 'all':<14}{terms}{mark}"
            )
    print(f"\n{len(told)} libraries; {len(found[''])} of them for everyone; {wrong} to look at")
    return int(wrong > 0)


def closure(requirements: Iterable[str]) -> dict[str, Distribution | None]:
    """Libraries that some requirements bring, by name; None where one is not installed."""
    found: dict[str, Distribution | None] = {}
    waiting = [(Requirement(line), "") for line in requirements]
    while waiting:
        asked, extra = waiting.pop()
        name = canonicalize_name(asked.name)
        if name == "biasgauge" or (asked.marker is not None and not asked.marker.evaluate({"extra": extra})):
            continue
        if name in found and not asked.extras:
            continue
        try:
            found[name] = library = distribution(asked.name)
        except PackageNotFoundError:
            found[name] = None
            continue
        for own in ["", *asked.extras]:
            waiting += [(Requirement(line), own) for line in library.requires or []]
    return found


def license_of(library: Distribution) -> str:
    """The license as the library's metadata has it, in one line."""
    about = library.metadata
    classifiers = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License")
    ]
    said = [*(about.get_all("License-Expression") or []), "; ".join(classifiers), *(about.get_all("License") or [])]
    named = next(filter(None, said), "not said")
    return " ".join(named.split())[:60]


def is_compiled(library: Distribution | None) -> bool:
    """Whether it brings code for the machine."""
    return library is not None and any(str(file).endswith(COMPILED) for file in library.files or [])


def oldest(requirements: Iterable[str]) -> int:
    """Install the lowest versions that are allowed on the oldest Python, and measure something."""
    pins = [f"{one.name}=={next(iter(one.specifier)).version}.*" for one in map(Requirement, requirements)]
    _, wheel = built()
    with empty_environment("3.11") as folder:
        done = install(folder, str(wheel), *pins)
        if done.returncode:
            print(done.stdout + done.stderr)
            return 1
        inputs(folder)
        for command in [*EVERYWHERE, *TRY[""]]:
            done = subprocess.run(  # noqa: S603 - our own commands
                shlex.split(f"environment/bin/{command}"), cwd=folder, capture_output=True, text=True, check=False
            )
            print(f"{command}: {'works' if not done.returncode else (done.stdout + done.stderr)[-500:]}", flush=True)
            if done.returncode:
                return 1
    print(f"works with {', '.join(pins)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
