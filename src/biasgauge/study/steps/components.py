"""What do scores vary with? `variance_components`."""

from biasgauge.study.kind import Kind
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (Kind("components", needs="scores", step="components", functions=("reliability:variance_components",)),)
STEP = Step("components", 1, analysis(KINDS[0]), "what do scores vary with?")
