"""Posteriors of every shipped set: the command `biasgauge bayes`, cold, against PyMC on sufficient statistics.

    python bench/bayes.py [--peer-sets 2] [--draws 4000] [--repeat 3]

Both are whole processes on one core, from start to posterior: ours reads the shipped vectors and prints JSON; PyMC gets
the counts, means and sums of squares of each word and draws 4 chains after 1,000 steps of tuning. The peer takes half a
minute or more for a set, so it runs on the first few unless `--peer-sets 0` asks for all. Effective draws are the
smallest over all parameters, bulk and tail.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import biasgauge as bg
from biasgauge.analyses.posterior.table import cells_of
from biasgauge.core import WordPolicy
from biasgauge.vectors.loading import DEFAULT_PATH

SETS = ("religion", "gender", "race", "weat1", "weat2", "weat6b", "weat7", "weat8", "weat9")

PEER = """
import json, sys, time, warnings
started = time.perf_counter()
warnings.simplefilter("ignore")
import numpy as np, pymc as pm, logging
logging.disable(logging.CRITICAL)
cells, draws = json.loads(sys.argv[1]), int(sys.argv[2])
with pm.Model() as model:
    group = pm.Normal("group", 1.0, 0.3, shape=len(cells))
    tau = pm.Exponential("between", 2.0, shape=len(cells))
    sigma = pm.Exponential("residual", 2.0, shape=len(cells))
    for at, one in enumerate(cells):
        count, mean = np.array(one["count"]), np.array(one["mean"])
        word = pm.Normal(f"word{at}", group[at], tau[at], shape=len(count))
        pm.Normal(f"mean{at}", word, sigma[at] / np.sqrt(count), observed=mean)
        spare = count.sum() - len(count)
        pm.Potential(f"within{at}", -spare * pm.math.log(sigma[at]) - 0.5 * one["within"] / sigma[at] ** 2)
    trace = pm.sample(draws // 4, tune=1000, chains=4, cores=1, random_seed=0, progressbar=False,
                      compute_convergence_checks=False)
seconds = time.perf_counter() - started
from biasgauge.analyses.posterior.estimates import ess_bulk, ess_tail
ess = min(float(np.minimum(ess_bulk(one), ess_tail(one)).min())
          for one in (np.asarray(trace.posterior[name]).reshape(4, draws // 4, -1) for name in trace.posterior))
means = np.asarray(trace.posterior["group"]).mean(axis=(0, 1)).tolist()
print(json.dumps([seconds, ess, means]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-sets", type=int, default=2, help="sets that PyMC runs on; 0: all")
    parser.add_argument("--draws", type=int, default=4_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--variant", default="per-connection")
    arguments = parser.parse_args()
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    heads = ("set", "ours s", "CPU s", "ESS", "PyMC s", "ESS", "faster", "ESS/s")
    print("{:<9} {:>7} {:>6} {:>6} {:>7} {:>6} {:>7} {:>7}  largest gap of a group mean".format(*heads))
    for number, name in enumerate(SETS):
        command = [sys.executable, "-m", "biasgauge", "bayes", str(DEFAULT_PATH), "--lexicon", name, "--json"]
        command += ["--draws", str(arguments.draws), "--variant", arguments.variant, "--min-coverage", "0.5"]
        runs = [timed(command, one_core) for _ in range(arguments.repeat)]
        seconds, cpu, found = min(runs, key=lambda run: run[0])
        effective = found["diagnostics"]["ess_min"]
        line = f"{name:<9} {seconds:7.2f} {cpu:6.2f} {effective:6.0f}"
        if arguments.peer_sets == 0 or number < arguments.peer_sets:
            peer_seconds, peer_effective, means = peer(name, arguments.draws, one_core)
            gap = max(abs(one["mean"] - mean) for one, mean in zip(found["groups"], means, strict=True))
            rates = (effective / seconds) / (peer_effective / peer_seconds)
            line += f" {peer_seconds:7.1f} {peer_effective:6.0f} {peer_seconds / seconds:7.0f} {rates:7.0f}  {gap:.4f}"
        print(line, flush=True)


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, float, dict]:  # type: ignore[type-arg]  # JSON
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, cpu, json.loads(done.stdout)


def peer(name: str, draws: int, environment: dict[str, str]) -> tuple[float, float, list[float]]:
    cells = [
        {"count": one.count.tolist(), "mean": one.mean.tolist(), "within": one.within}
        for one in cells_of(
            bg.analyses.posterior.distances(bg.vectors.load_default(), name, policy=WordPolicy(0.5, "exact"))
        )
    ]
    command = [sys.executable, "-c", PEER, json.dumps(cells), str(draws)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds, effective, means = json.loads(done.stdout.splitlines()[-1])
    return seconds, effective, means


if __name__ == "__main__":
    main()
