from biasgauge.mitigation.effects.analysis import LEXICONS as LEXICONS
from biasgauge.mitigation.effects.result import CLASSIFIER as CLASSIFIER
