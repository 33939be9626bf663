"""The crossed mixed model: biasgauge against lme4 at a million rows and statsmodels at 100,000, in one run.

    python bench/mixed_model.py [--rows 1000000] [--part lme4|statsmodels|both]

20 fixed effects, crossed random intercepts of 3 and 8 levels, REML. The peers get the same rows: lme4 through a file of
doubles that R reads before its clock starts, statsmodels in this process. Each side is timed from arrays in memory to a
fitted model, ours with degrees of freedom and intervals. lme4 needs R (Debian: r-cran-lme4).
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.stats import MixedFit, fit_mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIXED, LEVELS = 20, (3, 8)

PEER = """
arguments <- commandArgs(TRUE)
rows <- as.integer(arguments[2]); fixed <- as.integer(arguments[3])
values <- matrix(readBin(arguments[1], "double", rows * (fixed + 2)), nrow = rows)
data <- as.data.frame(values)
names(data) <- c("y", paste0("x", seq_len(fixed - 1)), "g", "h")
suppressMessages(library(lme4))
right <- paste(c(paste0("x", seq_len(fixed - 1)), "(1|g)", "(1|h)"), collapse = " + ")
started <- proc.time()[["elapsed"]]
model <- lmer(as.formula(paste("y ~", right)), data)
seconds <- proc.time()[["elapsed"]] - started
variances <- as.data.frame(VarCorr(model))
order <- match(c("g", "h", "Residual"), variances$grp)
cat(sprintf('{"seconds": %.17g, "criterion": %.17g, "variances": [%s]}\\n', seconds, REMLcrit(model),
            paste(sprintf("%.17g", variances$vcov[order]), collapse = ", ")))
"""


def rows(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[np.int64]]]:
    """Outcome, columns and groups: continuous columns, some of them 0 or 1, unequal numbers of rows at the levels."""
    random = np.random.default_rng(0)
    x = np.ones((count, FIXED))
    x[:, 1:11] = random.standard_normal((count, 10))
    x[:, 11:] = random.random((count, FIXED - 11)) < np.linspace(0.05, 0.4, FIXED - 11)
    groups = {}
    y = x @ random.normal(0, 0.1, FIXED) + random.standard_normal(count)
    for name, levels, sd in zip("gh", LEVELS, (0.7, 0.3), strict=True):
        shares = np.arange(1, levels + 1) / np.arange(1, levels + 1).sum()
        groups[name] = random.choice(levels, count, p=shares)
        y += random.normal(0, sd, levels)[groups[name]]
    return y, x, groups


def ours(count: int, repeat: int = 5) -> tuple[float, MixedFit]:
    y, x, groups = rows(count)
    names = [f"x{place}" for place in range(FIXED)]
    fit_mixed(y[:1000], x[:1000], {name: codes[:1000] for name, codes in groups.items()}, names)  # imports
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        fit = fit_mixed(y, x, groups, names)
        times.append(time.perf_counter() - started)
    return sorted(times)[repeat // 2], fit


def against_lme4(count: int) -> None:
    if shutil.which("Rscript") is None:
        sys.exit("Rscript is not here: install R with lme4 (Debian: apt-get install r-cran-lme4)")
    y, x, groups = rows(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.bin"
        columns = [y, *x[:, 1:].T, groups["g"].astype(np.float64), groups["h"].astype(np.float64)]
        path.write_bytes(np.ascontiguousarray(np.stack(columns), "<f8").tobytes())
        del y, x, groups, columns
        script = Path(folder) / "peer.R"
        script.write_text(PEER)
        command = ["Rscript", str(script), str(path), str(count), str(FIXED)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"lme4 failed: {done.stderr}")
    peer = json.loads(done.stdout.splitlines()[-1])
    seconds, fit = ours(count)
    variances = np.array([one.variance for one in fit.random])
    print(f"{count:,} rows, {FIXED} fixed effects, groups of {LEVELS}")
    print(f"  lme4       {peer['seconds']:8.2f} s   REML criterion {peer['criterion']:.6f}")
    print(
        f"  biasgauge  {seconds:8.2f} s   REML criterion {fit.criterion:.6f}   {peer['seconds'] / seconds:,.0f} times"
    )
    print(f"  criteria differ by {fit.criterion - peer['criterion']:.1e}, variances by at most "
          f"{np.abs(variances / np.array(peer['variances']) - 1).max():.1e} of their size")  # fmt: skip


def against_statsmodels(count: int) -> None:
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM

    y, x, groups = rows(count)
    frame = pd.DataFrame({"one": np.zeros(count, int), **{name: codes.astype(str) for name, codes in groups.items()}})
    frame["y"] = y
    for place in range(1, FIXED):
        frame[f"x{place}"] = x[:, place]
    formula = "y ~ " + " + ".join(f"x{place}" for place in range(1, FIXED))
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM.from_formula(
            formula, groups="one", re_formula="0", vc_formula={"g": "0 + C(g)", "h": "0 + C(h)"}, data=frame
        )
        peer = model.fit(reml=True)
    taken = time.perf_counter() - started
    seconds, fit = ours(count)
    print(f"{count:,} rows, {FIXED} fixed effects, groups of {LEVELS}")
    print(f"  statsmodels {taken:8.2f} s   −2 log restricted likelihood {-2 * peer.llf:.6f}")
    print(f"  biasgauge   {seconds:8.3f} s   −2 log restricted likelihood {fit.criterion:.6f}   "
          f"{taken / seconds:,.0f} times")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--part", choices=("lme4", "statsmodels", "both"), default="both")
    arguments = parser.parse_args()
    if arguments.part != "statsmodels":
        against_lme4(arguments.rows)
    if arguments.part != "lme4":
        against_statsmodels(arguments.rows // 10)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of this process: {peak:.1f} GB")


if __name__ == "__main__":
    main()
