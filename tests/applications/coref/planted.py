"""Documents with a rule that can be learned: a pronoun means the person of its gender, who comes first or second."""

from __future__ import annotations

import numpy as np

from biasgauge.applications.coref import CorefSettings, Document
from biasgauge.vectors import Embedding

WOMEN = ("alma", "berta", "clara", "dora", "elsa", "frida")
MEN = ("adam", "boris", "carl", "dan", "erik", "fritz")
VERBS = ("saw", "met", "left", "found")
TIMES = ("quickly", "today", "again", "there")
SMALL = CorefSettings(
    char_size=4,
    char_filters=8,
    lstm_size=16,
    hidden_size=24,
    feature_size=4,
    max_width=3,
    spans_per_word=0.4,
    lexical_dropout=0.2,
    epochs=7,
    learning_rate=8e-3,
)


def stories(count: int, seed: int) -> list[Document]:
    """Two sentences each: the first names a woman and a man, the second has a pronoun."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        woman, man = str(random.choice(WOMEN)), str(random.choice(MEN))
        people = [woman, man] if random.random() < 0.5 else [man, woman]
        about_her = random.random() < 0.5
        verbs, times = random.choice(VERBS, 2).tolist(), random.choice(TIMES, 2).tolist()
        first = ("the", people[0], verbs[0], "the", people[1], times[0], ".")
        second = ("she" if about_her else "he", verbs[1], "it", times[1], ".")
        at = first.index(woman if about_her else man)
        found.append(Document(f"story {number}", (first, second), (((at - 1, at), (7, 7)),)))
    return found


def vectors(seed: int = 0) -> Embedding:
    """Random vectors with a direction of gender."""
    words = (*WOMEN, *MEN, *VERBS, *TIMES, "the", ".", "it", "she", "he")
    matrix = np.random.default_rng(seed).standard_normal((len(words), 20)).astype(np.float32)
    for word, sign in (*((one, 3) for one in (*WOMEN, "she")), *((one, -3) for one in (*MEN, "he"))):
        matrix[words.index(word), 0] += sign
    return Embedding(words, matrix, name="planted")
