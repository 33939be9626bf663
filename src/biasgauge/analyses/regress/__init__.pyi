from biasgauge.analyses.regress.contexts import ContextReader as ContextReader
from biasgauge.analyses.regress.contexts import OccurrenceBlock as OccurrenceBlock
from biasgauge.analyses.regress.occurrences import Occurrences as Occurrences
from biasgauge.analyses.regress.occurrences import embed_occurrences as embed_occurrences
from biasgauge.analyses.regress.transform import Recovery as Recovery
from biasgauge.analyses.regress.transform import Transform as Transform
from biasgauge.analyses.regress.transform import estimate_transform as estimate_transform
from biasgauge.analyses.regress.transform import load_transform as load_transform
