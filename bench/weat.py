"""WEAT 6, 7 and 8 with p: biasgauge (exact) against WEFE 1.0.1 (10,000 resamples, approximate), in one run.

    python bench/weat.py [--peer .venv-wefe/bin/python] [--iterations 10000]

WEFE needs an older NumPy, so it runs in an environment of its own (`make bench` makes it), in a process that reads the
same vectors: the shipped GloVe subset, words in lower case. WEFE is called with lost words allowed and 2 cores idle.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import biasgauge as bg

TESTS = ("weat6", "weat7", "weat8")

PEER = """
import json, sys, time, warnings, logging
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
from gensim.models import KeyedVectors
from wefe.metrics import WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel
path, tests, iterations = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
model = WordEmbeddingModel(KeyedVectors.load_word2vec_format(path, binary=True), "glove")
for name, sets in tests.items():
    query = Query([sets["x"], sets["y"]], [sets["a"], sets["b"]])
    started = time.perf_counter()
    found = WEAT().run_query(query, model, return_effect_size=True, calculate_p_value=True,
                             p_value_iterations=iterations, lost_vocabulary_threshold=0.5)
    print(json.dumps([name, time.perf_counter() - started, found["effect_size"], found["p_value"]]), flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, default=Path(".venv-wefe/bin/python"))
    parser.add_argument("--iterations", type=int, default=10_000)
    arguments = parser.parse_args()
    vectors = bg.vectors.load_default()
    tests = {
        name: {role: [word.lower() for word in words] for role, words in bg.lexicon(name).sets.items()}
        for name in TESTS
    }
    ours = {}
    for name, sets in tests.items():
        times = []
        for _ in range(20):
            started = time.perf_counter()
            found = bg.weat(vectors, x=sets["x"], y=sets["y"], a=sets["a"], b=sets["b"], interval=None)
            times.append(time.perf_counter() - started)
        ours[name] = (sorted(times)[len(times) // 2], found)
    print(f"{'test':<6} {'WEFE s':>8} {'ours ms':>8} {'ratio':>8} {'effect':>18} {'p, WEFE':>8} {'p, exact':>9}")
    with tempfile.TemporaryDirectory() as folder:
        path = bg.save(vectors, Path(folder) / "vectors.bin")
        command = [str(arguments.peer), "-c", PEER, str(path), json.dumps(tests), str(arguments.iterations)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
            for line in peer.stdout or ():
                name, seconds, effect, p = json.loads(line)
                median, found = ours[name]
                print(
                    f"{name:<6} {seconds:8.1f} {median * 1e3:8.2f} {seconds / median:8,.0f} "
                    f"{effect:8.4f} / {found.effect_size:7.4f} {p:8.4f} {found.p_value:9.4f}"
                )
        if peer.returncode:
            sys.exit("the peer failed: does its environment have wefe==1.0.1?")


if __name__ == "__main__":
    main()
