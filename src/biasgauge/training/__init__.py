"""From corpus to models: every setting explicit, recorded, and the same bytes whenever it is run again."""

from biasgauge.training.algorithms import ALGORITHMS
from biasgauge.training.model_file import TrainedModel
from biasgauge.training.published import Plan, training_plan
from biasgauge.training.recipe import Recipe
from biasgauge.training.train import TrainedModels, train

__all__ = ["ALGORITHMS", "Plan", "Recipe", "TrainedModel", "TrainedModels", "train", "training_plan"]
