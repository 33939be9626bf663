"""Text to numbers: readers, tokenisers, vocabularies, bootstrap samples, and a corpus with planted bias."""

from biasgauge.corpora.bootstrap import bootstrap_documents
from biasgauge.corpora.planted import PlantedCorpus, planted_corpus
from biasgauge.corpora.read import read_corpus
from biasgauge.corpora.statistics import CorpusSize, CorpusStatistics, statistics
from biasgauge.corpora.token_corpus import TokenCorpus, open_corpus
from biasgauge.corpora.tokenisers import tokeniser_names
from biasgauge.corpora.vocabulary import PAPER_RULES, PaperRules, Vocabulary, vocabulary

__all__ = [
    "PAPER_RULES",
    "CorpusSize",
    "CorpusStatistics",
    "PaperRules",
    "PlantedCorpus",
    "TokenCorpus",
    "Vocabulary",
    "bootstrap_documents",
    "open_corpus",
    "planted_corpus",
    "read_corpus",
    "statistics",
    "tokeniser_names",
    "vocabulary",
]
