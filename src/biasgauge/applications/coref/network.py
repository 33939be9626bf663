"""The network of Lee et al. 2017, "End-to-end neural coreference resolution", as a PyTorch module.

Words are frozen vectors and what a convolution finds in their letters; a BiLSTM reads each sentence. A span is its two
end words after the BiLSTM, the mean of its words under attention, and its width. A mention scores s_m(i); a mention and
an antecedent score s_m(i) + s_m(j) + s_a(i, j); no antecedent scores 0.

The first layer over concatenated parts is a sum of one layer for each part, so that what depends on words is computed
once a word instead of once a span, and what depends on spans once a span instead of once a pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from biasgauge.applications.coref import features
from biasgauge.core import Integers, Vectors

PAIRS_AT_ONCE = {"cpu": 512, "cuda": 65_536}
"""Pairs compared at a time: bounds the memory of predictions, and on a CPU keeps vectors of pairs in its cache, which
makes comparing three times as fast."""


@dataclass(frozen=True)
class Ranking:
    """Output of the network for some documents: words of the mentions, and how many of them each document has.

    `scores` are mentions × (1 + how far back): column 0 is for no antecedent, −∞ where there is no such mention.
    `gold` is the number of the thing that each is a mention of; 0 for none.
    """

    first: Integers
    last: Integers
    counts: list[int]
    scores: Tensor
    gold: Tensor


class Letters(nn.Module):
    """Largest answer of each convolution filter over the letters of a word; padding is masked."""

    def __init__(self, settings: features.CorefSettings, alphabet: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(alphabet, settings.char_size, padding_idx=0)
        self.filters = nn.Conv1d(settings.char_size, settings.char_filters, settings.char_width)

    def forward(self, letters: Tensor) -> Tensor:
        """Words × letters to words × filters."""
        answers: Tensor = self.filters(self.embed(letters).transpose(1, 2))
        windows = (letters != 0).sum(dim=1) - self.filters.kernel_size[0] + 1
        inside = torch.arange(answers.shape[2], device=answers.device) < windows.clamp(min=1)[:, None]
        return relu(answers).masked_fill(~inside[:, None], 0.0).amax(dim=2)


class Scorer(nn.Module):
    """Layers behind the first one, down to a single number."""

    def __init__(self, settings: features.CorefSettings) -> None:
        super().__init__()
        size = settings.hidden_size
        self.drop = nn.Dropout(settings.dropout)
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(settings.hidden_layers - 1))
        self.out = nn.Linear(size, 1)

    def forward(self, first: Tensor) -> Tensor:
        """From the sum of the first layer, before its activation."""
        hidden = self.drop(relu(first))
        for layer in self.layers:
            hidden = self.drop(relu(layer(hidden)))
        score: Tensor = self.out(hidden)
        return score.squeeze(-1)


class SpanRanker(nn.Module):
    """Documents to mentions, and to scores of their antecedents."""

    def __init__(self, settings: features.CorefSettings, dimensions: int, alphabet: int, genres: int) -> None:
        super().__init__()
        self.settings = settings
        word = dimensions + settings.char_filters
        state, size, feature = 2 * settings.lstm_size, settings.hidden_size, settings.feature_size
        self.letters = Letters(settings, alphabet)
        self.lexical = nn.Dropout(settings.lexical_dropout)
        self.drop = nn.Dropout(settings.dropout)
        self.lstm = nn.LSTM(word, settings.lstm_size, bidirectional=True, batch_first=True)
        self.attention = nn.Linear(state, 1)
        self.width = nn.Embedding(settings.max_width, feature)
        self.mention_parts = nn.ModuleList(
            [nn.Linear(state, size), nn.Linear(state, size), nn.Linear(word, size, bias=False)]
        )
        self.mention_width = nn.Linear(feature, size, bias=False)
        self.mention = Scorer(settings)
        span = 2 * state + word + feature
        self.pair_parts = nn.ModuleList([nn.Linear(span, size), *(nn.Linear(span, size, bias=False) for _ in range(2))])
        tables = {"distance": nn.Embedding(features.BUCKETS, feature)}
        if settings.speakers:
            tables["speaker"] = nn.Embedding(3, feature)  # unknown, another, the same
        if settings.genres:
            tables["genre"] = nn.Embedding(genres + 1, feature)
        self.tables = nn.ModuleDict(tables)
        self.pair_features = nn.ModuleDict({name: nn.Linear(feature, size, bias=False) for name in tables})
        self.pair = Scorer(settings)
        for name, weights in self.named_parameters():
            if weights.dim() > 1 and "letters" not in name:
                (nn.init.orthogonal_ if "weight_hh" in name else nn.init.xavier_normal_)(weights)
        with torch.no_grad():  # what is unknown says nothing, unless training documents have it too
            self.letters.embed.weight[1] = 0.0
            for name in tables.keys() - {"distance"}:
                tables[name].weight[0] = 0.0

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.attention.weight.device

    def _on_device(self, numbers: Integers) -> Tensor:
        return torch.from_numpy(numbers).to(self.device)

    def words(self, arrays: features.Arrays) -> tuple[Tensor, Tensor]:
        """Vectors of words by themselves, and after the BiLSTM."""
        vectors = torch.from_numpy(arrays.vectors).to(self.device)
        types = torch.cat([vectors, self.letters(self._on_device(arrays.letters))], dim=1)
        words = self.lexical(types[self._on_device(arrays.types)])
        lengths = arrays.sentences.tolist()
        padded = nn.utils.rnn.pad_sequence(list(words.split(lengths)), batch_first=True)
        sizes = torch.from_numpy(arrays.sentences)
        packed = pack_padded_sequence(padded, sizes, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        inside = torch.arange(states.shape[1])[None, :] < sizes[:, None]
        return words, self.drop(states[inside.to(self.device)])

    def attention_weights(self, states: Tensor, first: Tensor, wide: Tensor) -> tuple[Tensor, Tensor]:
        """For spans: places of their words (padded to the greatest width) and how much each of them counts."""
        offsets = torch.arange(self.settings.max_width, device=self.device)
        positions = (first[:, None] + offsets).clamp(max=len(states) - 1)
        scores = self.attention(states).squeeze(-1)[positions].masked_fill(offsets > wide[:, None], -torch.inf)
        return positions, scores.softmax(dim=1)

    def mention_scores(self, words: Tensor, states: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """s_m of spans."""
        wide = last - first
        positions, weights = self.attention_weights(states, first, wide)
        begins, ends, heads = self.mention_parts
        head = torch.bmm(weights[:, None], heads(words)[positions]).squeeze(1)
        width = self.mention_width(self.drop(self.width.weight))
        score: Tensor = self.mention(begins(states)[first] + ends(states)[last] + head + width[wide])
        return score

    def span_vectors(self, words: Tensor, states: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Spans: end words, mean under attention, width."""
        wide = last - first
        positions, weights = self.attention_weights(states, first, wide)
        head = torch.bmm(weights[:, None], words[positions]).squeeze(1)
        return torch.cat([states[first], states[last], head, self.drop(self.width(wide))], dim=1)

    def pair_scores(
        self, spans: Tensor, mention: Tensor, antecedent: Tensor, feature_rows: dict[str, Tensor]
    ) -> Tensor:
        """s_a of pairs of spans; `feature_rows` says for each feature which row of its table a pair has."""
        mention_part, antecedent_part, product_part = self.pair_parts
        mention_terms, antecedent_terms = mention_part(spans), antecedent_part(spans)
        features = {name: self.pair_features[name](self.drop(table.weight)) for name, table in self.tables.items()}
        step = PAIRS_AT_ONCE.get(self.device.type, PAIRS_AT_ONCE["cuda"])
        scores = []
        for start in range(0, len(mention), step):
            i, j = mention[start : start + step], antecedent[start : start + step]
            first = mention_terms[i] + antecedent_terms[j] + product_part(spans[i] * spans[j])
            for name, rows in feature_rows.items():
                first = first + features[name][rows[start : start + step]]
            scores.append(self.pair(first))
        return torch.cat(scores) if scores else spans.new_zeros(0)

    def forward(self, arrays: features.Arrays) -> Ranking:
        """Mentions of some documents and scores of their antecedents."""
        words, states = self.words(arrays)
        firsts, lasts = features.candidate_spans(arrays.remaining, self.settings.max_width)
        scores = self.mention_scores(words, states, self._on_device(firsts), self._on_device(lasts))
        best, counts = self._select_mentions(arrays, firsts, lasts, scores.detach().cpu().numpy())
        first, last = firsts[best], lasts[best]
        chosen = scores[self._on_device(best)]
        spans = self.span_vectors(words, states, self._on_device(first), self._on_device(last))
        mention, back = features.antecedent_pairs(counts, self.settings.max_antecedents)
        i, j = self._on_device(mention), self._on_device(mention - back)
        feature_rows = self._pair_rows(arrays, first, counts, mention, back)
        total = self.pair_scores(spans, i, j, feature_rows) + chosen[i] + chosen[j]
        table = total.new_full((len(best), int(back.max(initial=0)) + 1), -torch.inf)
        table[:, 0] = 0.0
        ranked = table.index_put((i, self._on_device(back)), total)
        return Ranking(first, last, counts, ranked, self._on_device(arrays.gold[first, last - first]))

    def _select_mentions(
        self, arrays: features.Arrays, first: Integers, last: Integers, scores: Vectors
    ) -> tuple[Integers, list[int]]:
        """Places of the best candidates of each document, and how many it has."""
        ends = np.searchsorted(first, np.cumsum(arrays.documents))
        best, start = [], 0
        for words, end in zip(arrays.documents.tolist(), ends.tolist(), strict=True):
            most = features.mention_limit(words, self.settings.spans_per_word)
            best.append(start + features.select_spans(first[start:end], last[start:end], scores[start:end], most))
            start = end
        return np.concatenate(best), [len(indices) for indices in best]

    def _pair_rows(
        self, arrays: features.Arrays, first: Integers, counts: list[int], mention: Integers, back: Integers
    ) -> dict[str, Tensor]:
        """Row of each pair in each table of features."""
        rows = {"distance": features.distance_buckets(back)}
        if "speaker" in self.tables:
            speakers = arrays.speakers[first]
            a, b = speakers[mention], speakers[mention - back]
            rows["speaker"] = np.where((a == 0) | (b == 0), 0, 1 + (a == b))
        if "genre" in self.tables:
            rows["genre"] = np.repeat(arrays.genres, counts)[mention]
        return {name: self._on_device(numbers) for name, numbers in rows.items()}


def antecedent_loss(ranking: Ranking) -> Tensor:
    """−Σ log P(a gold antecedent): every mention of the same thing that is compared, or none where there is none."""
    scores, gold = ranking.scores, ranking.gold
    offsets = torch.arange(scores.shape[1], device=scores.device)
    candidates = (torch.arange(len(gold), device=scores.device)[:, None] - offsets).clamp(min=0)
    is_gold = (gold[candidates] == gold[:, None]) & (gold[:, None] > 0) & torch.isfinite(scores)
    is_gold[:, 0] = ~is_gold[:, 1:].any(dim=1)
    gold_scores = scores.masked_fill(~is_gold, -torch.inf)
    return (scores.logsumexp(dim=1) - gold_scores.logsumexp(dim=1)).sum()
