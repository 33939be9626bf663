"""Numbers of WEFE 1.0.1 and responsibly 0.1.2 on the shipped vectors, for the pages that say how to move from them.

    make .venv-wefe/.installed
    .venv-wefe/bin/python -m pip install --no-deps responsibly==0.1.2
    .venv-wefe/bin/python -m pip install mlxtend seaborn six tabulate "setuptools<80"
    python scripts/peer_numbers.py [--peers .venv-wefe/bin/python] [--out tests/golden/peers.json]

Both are called as their documentation says, in a process of their own. responsibly is made for gensim 3: the names that
it misses in gensim 4 are put in their old places, and *Mary* and *John*, which its ten pairs need, get the vectors of
*mary* and *john*. Nothing else of it is changed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import biasgauge as bg

NEUTRAL = ("nurse", "engineer", "poet", "judge", "teacher")

WEFE = """
import json, logging, sys, warnings
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
from gensim.models import KeyedVectors
from wefe.metrics import ECT, MAC, RIPA, RND, RNSB, WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel
path, sets = sys.argv[1], json.loads(sys.argv[2])
x, y, a, b = (sets[role] for role in "xyab")
model = WordEmbeddingModel(KeyedVectors.load_word2vec_format(path, binary=True), "glove")
four, three, along = Query([x, y], [a, b]), Query([x, y], [a]), Query([a, b], [x])
lost = Query([[*x[:-2], "qqqz", "qqqy"], y], [a, b])
print(json.dumps({
    "weat": WEAT().run_query(four, model)["weat"],
    "effect_size": WEAT().run_query(four, model, return_effect_size=True)["effect_size"],
    "mac": MAC().run_query(four, model)["mac"],
    "rnd": RND().run_query(three, model)["rnd"],
    "rnd_cos": RND().run_query(three, model, distance="cos")["rnd"],
    "ect": ECT().run_query(three, model)["ect"],
    "ripa": RIPA().run_query(along, model)["ripa"],
    "rnsb": [RNSB().run_query(four, model, random_state=seed)["rnsb"] for seed in range(3)],
    "weat_two_words_lost": str(WEAT().run_query(lost, model)["weat"]),
}, default=float))
"""

RESPONSIBLY = """
import json, sys, types, warnings
warnings.simplefilter("ignore")
import gensim, numpy as np
from gensim.models import KeyedVectors

class Vocabulary:
    def __get__(self, model, owner):
        return {word: types.SimpleNamespace(index=row) for word, row in model.key_to_index.items()}

KeyedVectors.vocab, KeyedVectors.vectors_norm = Vocabulary(), None
gensim.models.keyedvectors.BaseKeyedVectors = KeyedVectors
gensim.models.base_any2vec = types.SimpleNamespace(BaseWordEmbeddingsModel=KeyedVectors)
from responsibly.we import GenderBiasWE, calc_single_weat
path, sets, neutral = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])

def vectors():
    model = KeyedVectors.load_word2vec_format(path, binary=True)
    model.add_vectors(["Mary", "John"], np.stack([model["mary"], model["john"]]))
    return model

def named(some):
    return [{"name": role, "words": words[:some]} for role, words in sets.items()]

weat, least = calc_single_weat(vectors(), *named(None)), calc_single_weat(vectors(), *named(1))
ways = {way: GenderBiasWE(vectors(), only_lower=True, identify_direction=way) for way in ("pca", "sum", "single")}
print(json.dumps({
    "s": weat["s"], "d": weat["d"], "p": weat["p"], "one_word": {"d": least["d"], "p": least["p"]},
    "projection": {word: ways["pca"].project_on_direction(word) for word in neutral},
    "direct_bias": {way: found.calc_direct_bias(neutral) for way, found in ways.items()},
    "indirect_bias": ways["pca"].calc_indirect_bias("nurse", "librarian"),
}, default=float))
"""


def main() -> None:
    """Ask both and keep what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path(".venv-wefe/bin/python"))
    parser.add_argument("--out", type=Path, default=Path("tests/golden/peers.json"))
    arguments = parser.parse_args()
    sets = {role: [word.lower() for word in words] for role, words in bg.lexicon("weat7").sets.items()}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = bg.save(bg.vectors.load_default(), Path(folder) / "vectors.bin")
        given = [str(path), json.dumps(sets), json.dumps(NEUTRAL)]
        for name, program in (("wefe 1.0.1", WEFE), ("responsibly 0.1.2", RESPONSIBLY)):
            words = [str(arguments.peers), "-c", program, *given]
            done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - peers that the user named
            found[name] = json.loads(done.stdout)
    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(arguments.out)


if __name__ == "__main__":
    main()
