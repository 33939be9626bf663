from biasgauge.vectors.formats.vector_format import VectorFormat as VectorFormat
