from biasgauge.likelihood.stereoset_result import SplitScores as SplitScores
from biasgauge.likelihood.stereoset_result import StereoSetResult as StereoSetResult
from biasgauge.likelihood.stereoset_result import StereoSetScores as StereoSetScores
from biasgauge.likelihood.stereoset_result import Undefined as Undefined
from biasgauge.likelihood.stereoset_scoring import stereoset as stereoset
