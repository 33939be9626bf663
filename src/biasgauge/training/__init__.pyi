from biasgauge.training.algorithms import ALGORITHMS as ALGORITHMS
from biasgauge.training.algorithms import Recipe as Recipe
from biasgauge.training.model_file import TrainedModel as TrainedModel
from biasgauge.training.models import TrainedModels as TrainedModels
from biasgauge.training.models import train as train
from biasgauge.training.published import Plan as Plan
from biasgauge.training.published import training_plan as training_plan
