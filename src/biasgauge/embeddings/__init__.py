"""Word vectors: one `Embedding` from any file we read, and which words it has."""

from biasgauge.embeddings.coverage import Coverage, Lookup
from biasgauge.embeddings.default import load_default
from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.load import load
from biasgauge.embeddings.notices import Notice
from biasgauge.embeddings.replicates import load_models, named_models
from biasgauge.embeddings.save import save

__all__ = ["Coverage", "Embedding", "Lookup", "Notice", "load", "load_default", "load_models", "named_models", "save"]
