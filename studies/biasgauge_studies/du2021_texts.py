"""Texts of the study of Du et al. 2021 as numbers: made where Numba is, read where only NumPy and PyTorch are.

What trainers look things up in (tables, cells of GloVe and the order in which they are visited) is made here without
Numba, and is the same as theirs: tests/studies/test_du2021.py.
"""

from __future__ import annotations

import hashlib
import lzma
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BENCH = Path(__file__).resolve().parents[2] / "bench"
WIKI = ("long_articles_5M", "long_articles_5M_part2", "short_articles_10M", "short_articles_10M_part2")
SMALL_LISTS, SAMPLED = ("occ16", "occ18", "adj"), 600
MIN_COUNT = 5
PART = 3_500_000
"""Words of `wiki_part`: as many as the novels have."""
WORD2VEC = {"window": 5, "negative": 5, "epochs": 5, "alpha": 0.025, "min_alpha": 0.0001, "subsample": 0.001}
GLOVE = {"window": 15, "epochs": 15, "x_max": 100.0, "alpha": 0.75, "eta": 0.05}
PILE = 1 << 15
"""Cells of a pile, as `glove` has them."""
_PACK = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lp": 1, "lc": 3, "pb": 1, "dict_size": 1 << 26}]
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_SHUFFLE = f"""
extern "C" __global__ void shuffle_piles(int* order, const long long* first, const long long* size,
                                         const long long* draw, const unsigned long long* state, long long piles) {{
  long long pile = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (pile >= piles) return;
  int* own = order + first[pile];
  for (unsigned long long bound = size[pile], place = draw[pile] + 1; bound > 1; --bound, ++place) {{
    unsigned long long mixed = state[pile] + {_GOLDEN}ull * place;
    mixed = (mixed ^ (mixed >> 30)) * {_FIRST}ull;
    mixed = (mixed ^ (mixed >> 27)) * {_SECOND}ull;
    mixed ^= mixed >> 31;
    unsigned long long other = ((mixed >> 32) * bound) >> 32;
    int last = own[bound - 1];
    own[bound - 1] = own[other];
    own[other] = last;
  }}
}}
"""
"""The exchanges of `_in_step` on a GPU, a thread for each pile."""


def packed(array: np.ndarray) -> np.ndarray:
    """Compressed bytes."""
    return np.frombuffer(lzma.compress(array.tobytes(), filters=_PACK), np.uint8)


def unpacked(raw: np.ndarray, dtype: Any) -> np.ndarray:  # noqa: ANN401 - what NumPy takes
    """What `packed` was given."""
    return np.frombuffer(lzma.decompress(raw.tobytes()), dtype)


def make(data: Path, folder: Path, names: list[str]) -> None:
    """Read, tokenize and number the texts of `data`; keep in `folder` what the other machine needs of them."""
    import biasgauge as bg
    from biasgauge_studies import texts

    def wiki(data: Path) -> Iterator[str]:
        for part in WIKI:
            yield from texts.read_text(data, "enwiki_sample", f"enwiki_{part}.txt.xz").split("\n\n")

    def wiki_part(data: Path) -> Iterator[str]:
        return texts.first_words(wiki(data), PART)

    sources = {"wiki": wiki, "wiki_part": wiki_part, "imdb": texts.film_reviews, "novels": texts.novels}
    (folder / "corpora").mkdir(parents=True, exist_ok=True)
    (folder / "carry").mkdir(exist_ok=True)
    for name in names:
        place = folder / "corpora" / name
        if place.is_dir():
            corpus = bg.text.open_corpus(place)
        else:
            corpus = bg.text.read_corpus((text for text in sources[name](data) if text.strip()), out=place)
        pack_text(bg.text.vocabulary(corpus, min_count=MIN_COUNT), corpus, folder / "carry" / f"{name}.npz", name)


def pack_text(vocabulary: Any, corpus: Any, out: Path, name: str) -> None:  # noqa: ANN401 - of biasgauge
    """Write one text. Words left out of the vocabulary go: no trainer looks at them."""
    import biasgauge as bg
    from biasgauge.lexicons import pairs_of
    from biasgauge.text.training.word2vec import word_parts

    tokens = vocabulary.places[corpus.tokens]
    kept = np.concatenate([[0], np.cumsum(tokens >= 0)])
    lengths = np.diff(kept[corpus.lines])
    tokens = tokens[tokens >= 0]
    rare = tokens >= 65_535
    row = {word: place for place, word in enumerate(vocabulary.words)}
    pairs = pairs_of("du2021").pairs
    both = [number for number, pair in enumerate(pairs) if pair[0] in row and pair[1] in row]
    google = [row[word] for word in bg.lexicon("google10k").words if word in row]
    small = {word for one in SMALL_LISTS for word in bg.lexicon(one).words}
    others = np.random.default_rng(2021).permutation(sorted(set(google)))[:SAMPLED]
    arrays = {
        "tokens": packed(np.where(rare, 65_535, tokens).astype(np.uint16)),
        "rare": packed(tokens[rare].astype(np.uint32)),
        "lengths": packed(lengths.astype(np.uint32)),
        "counts": vocabulary.counts.astype(np.int64),
        "pair_numbers": np.array(both),
        "first": np.array([row[pairs[number][0]] for number in both]),
        "second": np.array([row[pairs[number][1]] for number in both]),
        "google": np.unique(google),
        "rows": np.unique([*(row[word] for word in small if word in row), *others.tolist()]),
    }
    if not name.startswith("wiki"):
        _, starts, parts = word_parts(vocabulary.words, 3, 6)
        arrays |= {"starts": packed(starts.astype(np.uint32)), "parts": packed(parts.astype(np.uint32))}
    np.savez(out, **arrays)
    (out.parents[1] / f"{name}.words.txt").write_text("\n".join(vocabulary.words), encoding="utf-8")
    print(
        name, f"{len(tokens):,} words, {len(row):,} of them different, {len(both)} pairs, {out.stat().st_size:,} bytes"
    )


@dataclass(eq=False)
class Text:
    """A text, ready to be trained on."""

    name: str
    tokens: np.ndarray
    lines: np.ndarray
    counts: np.ndarray
    more: dict[str, np.ndarray]

    @classmethod
    def read(cls, path: Path) -> Text:
        """Open what `pack_text` wrote."""
        given = dict(np.load(path))
        tokens = unpacked(given["tokens"], np.uint16).astype(np.uint32)
        tokens[tokens == 65_535] = unpacked(given["rare"], np.uint32)
        lines = np.concatenate([[0], np.cumsum(unpacked(given["lengths"], np.uint32), dtype=np.int64)])
        for name, dtype in (("starts", np.int64), ("parts", np.int32)):
            if name in given:
                given[name] = unpacked(given[name], np.uint32).astype(dtype)
        return cls(path.stem, tokens, lines, given["counts"], given)

    @property
    def size(self) -> int:
        """Different words."""
        return len(self.counts)

    def cut(self, words: int) -> None:
        """Keep the first lines, for a trial."""
        last = int(np.searchsorted(self.lines, words))
        self.lines = self.lines[: last + 1]
        self.tokens = self.tokens[: self.lines[-1]]

    def tables(self, subwords: str) -> dict[str, np.ndarray]:
        """As `negative_sampling.prepare_reading`; `subwords` are "", "ngrams", or "none" (each word its only part)."""
        sys.path.append(str(BENCH))
        from gpu_training import alias_table

        counts = self.counts.astype(np.float64)
        threshold = WORD2VEC["subsample"] * counts.sum()
        shares = np.minimum(1.0, (np.sqrt(counts / threshold) + 1) * threshold / counts)
        keep, other = alias_table(counts**0.75)
        made = {
            "tokens": self.tokens, "lines": self.lines, "order": np.arange(len(self.lines) - 1, dtype=np.int64),
            "places": np.arange(self.size, dtype=np.int32), "keep": np.floor(shares * 2**32).astype(np.uint64),
            "negative_keep": keep, "negative_other": other,
        }  # fmt: skip
        if subwords == "ngrams":
            made |= {"starts": self.more["starts"], "parts": self.more["parts"]}
        if subwords == "none":
            own = np.arange(self.size + 1)
            made |= {"starts": own.astype(np.int64), "parts": own[:-1].astype(np.int32)}
        return made


def first_state(purpose: str, seed: int) -> int:
    """As `stream.stream`."""
    return int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:8], "little")


def count_cells(text: Text, device: str, settings: dict[str, Any] = GLOVE) -> Any:  # noqa: ANN401 - PyTorch, late
    """As `count_cooccurrences` and the weights of `shuffled`: one row a cell, four 32-bit numbers each."""
    import torch

    window, unit = settings["window"], 360_360
    tokens = torch.from_numpy(text.tokens.astype(np.int64)).to(device)
    line = torch.from_numpy(np.repeat(np.arange(len(text.lines) - 1), np.diff(text.lines))).to(device)
    keys = []
    for distance in range(1, int(window) + 1):
        near = line[distance:] == line[:-distance]
        one, other = tokens[:-distance][near], tokens[distance:][near]
        keys += [(one * text.size + other) * 16 + distance, (other * text.size + one) * 16 + distance]
    every = torch.sort(torch.cat(keys)).values
    del keys
    weights = torch.tensor([0, *(unit // distance for distance in range(1, int(window) + 1))], device=device)
    cells, counts = torch.unique_consecutive(every >> 4, return_counts=True)
    sums = torch.cumsum(weights[every & 15], 0)[torch.cumsum(counts, 0) - 1]
    del every
    value = (torch.diff(sums, prepend=sums[:1] * 0).double() / unit).float().double()
    row, column = cells // text.size, cells % text.size + text.size
    weight = torch.where(value > settings["x_max"], 1.0, (value / settings["x_max"]) ** settings["alpha"])
    halves = [value.log().float().view(torch.int32), weight.float().view(torch.int32)]
    return torch.stack([row.int(), column.int(), *halves], dim=1).contiguous()


def orders_on(device: str, cells: int, seeds: list[int]) -> list[Any]:
    """The order in which `glove.shuffled` visits cells, of each seed: dealt to piles, each pile shuffled."""
    some = max(1, (2**31 - 1) // cells)
    return [
        order for start in range(0, len(seeds), some) for order in _orders(device, cells, seeds[start : start + some])
    ]


def _orders(device: str, cells: int, seeds: list[int]) -> Any:  # noqa: ANN401 - PyTorch, late
    """Cells dealt to piles, and all piles of some seeds shuffled: exchanges from the last place down."""
    import torch

    piles = cells // PILE + 1
    made = torch.empty((len(seeds), cells), dtype=torch.int32, device=device)
    firsts, sizes, draws, states = [], [], [], []
    for number, seed in enumerate(seeds):
        state = torch.tensor(_signed(first_state("piles of cells", seed)), device=device)
        chosen = (_number_on(state, torch.arange(cells, device=device)) * piles) >> 32
        made[number] = torch.sort(chosen.to(torch.int32), stable=True).indices
        size = torch.bincount(chosen, minlength=piles)
        firsts.append(number * cells + torch.cumsum(size, 0) - size)
        sizes.append(size)
        draw = (size - 1).clamp(min=0)
        draws.append(torch.cumsum(draw, 0) - draw)
        states.append(torch.full_like(size, _signed(first_state("order of cells", seed))))
    shuffle = _by_threads if made.is_cuda else _in_step
    shuffle(made.view(-1), *(torch.cat(parts) for parts in (firsts, sizes, draws, states)))
    return made


def check_shuffle() -> None:
    """Whether a GPU shuffles piles as `_in_step` does.

    Raises:
        ValueError: it does not.
    """
    cells, seeds = 3_000, [1, 3]
    if not bool((_orders("cuda", cells, seeds).cpu() == _orders("cpu", cells, seeds)).all()):
        raise ValueError("the GPU puts cells in another order than the CPU")


def _by_threads(flat: Any, first: Any, size: Any, draw: Any, state: Any) -> None:  # noqa: ANN401 - tensors
    import cupy
    import torch

    threads = 64
    arguments = [np.uint64(tensor.data_ptr()) for tensor in (flat, first, size, draw, state)]
    torch.cuda.current_stream().synchronize()
    blocks = -(-len(size) // threads)
    cupy.RawKernel(_SHUFFLE, "shuffle_piles")((blocks,), (threads,), (*arguments, np.int64(len(size))))
    cupy.cuda.get_current_stream().synchronize()


def _in_step(flat: Any, first: Any, size: Any, draw: Any, state: Any) -> None:  # noqa: ANN401 - tensors
    import torch

    size, by_size = torch.sort(size, descending=True, stable=True)
    first, draw, state = first[by_size], draw[by_size], state[by_size]
    largest, device = int(size[0]), flat.device
    ends = torch.searchsorted(-size, -torch.arange(1, largest + 1, device=device), right=True).tolist()
    for step in range(largest - 1):
        active = ends[step + 1]
        bound = size[:active] - step
        other = (_number_on(state[:active], draw[:active] + step) * bound) >> 32
        here, there = first[:active] + bound - 1, first[:active] + other
        one, two = flat[here], flat[there]
        flat[here], flat[there] = two, one


def _signed(number: int) -> int:
    """A whole number of 64 bits as one with a sign, which PyTorch computes with."""
    return number - 2**64 if number >= 2**63 else number


def _number_on(state: Any, place: Any) -> Any:  # noqa: ANN401 - tensors
    """The upper half of the number that `next_number` gives as its (place + 1)th.

    A shift of a number with a sign brings in copies of the sign, which are masked.
    """
    mixed = state + _signed(_GOLDEN) * (place + 1)
    mixed = (mixed ^ ((mixed >> 30) & (2**34 - 1))) * _signed(_FIRST)
    mixed = (mixed ^ ((mixed >> 27) & (2**37 - 1))) * _signed(_SECOND)
    return ((mixed ^ ((mixed >> 31) & (2**33 - 1))) >> 32) & (2**32 - 1)


def means_of_parts(inputs: np.ndarray, starts: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """As fastText's vectors of words are built, part after part."""
    count = np.diff(starts)
    share = (np.float32(1) / count.astype(np.float32))[:, None]
    vectors = np.zeros((len(count), inputs.shape[1]), np.float32)
    for part in range(int(count.max())):
        some = np.flatnonzero(count > part)
        vectors[some] += share[some] * inputs[parts[starts[some] + part]]
    return vectors
