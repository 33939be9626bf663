from biasgauge.mitigation.methods.attract_repel import crossed as crossed
from biasgauge.mitigation.methods.attract_repel import lexicon_pairs as lexicon_pairs
