"""Word vectors: one `Embedding` from any file we read, which words it has, how good it is, how replicates compare."""

from biasgauge.embeddings.alignment import Alignment, align
from biasgauge.embeddings.analogies import Solutions, solve_analogies
from biasgauge.embeddings.analogy_accuracy import Accuracy, AnalogyAccuracy, analogy_accuracy
from biasgauge.embeddings.averaging import mean_embedding
from biasgauge.embeddings.benchmark_files import Question, RatedPair, google_analogies, read_analogies, similarity_names
from biasgauge.embeddings.coverage import Coverage, Lookup
from biasgauge.embeddings.default import load_default, load_default_replicates
from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.load import load
from biasgauge.embeddings.notices import Notice
from biasgauge.embeddings.quality import Similarity, similarity_benchmark
from biasgauge.embeddings.replicates import load_models, named_models
from biasgauge.embeddings.save import save
from biasgauge.embeddings.stability import stability, stability_by_pair
from biasgauge.embeddings.stability_result import PairStability, Stability, WordStability
from biasgauge.embeddings.subwords import Subwords, load_subwords, word_ngrams

__all__ = [
    "Accuracy",
    "Alignment",
    "AnalogyAccuracy",
    "Coverage",
    "Embedding",
    "Lookup",
    "Notice",
    "PairStability",
    "Question",
    "RatedPair",
    "Similarity",
    "Solutions",
    "Stability",
    "Subwords",
    "WordStability",
    "align",
    "analogy_accuracy",
    "google_analogies",
    "load",
    "load_default",
    "load_default_replicates",
    "load_models",
    "load_subwords",
    "mean_embedding",
    "named_models",
    "read_analogies",
    "save",
    "similarity_benchmark",
    "similarity_names",
    "solve_analogies",
    "stability",
    "stability_by_pair",
    "word_ngrams",
]
