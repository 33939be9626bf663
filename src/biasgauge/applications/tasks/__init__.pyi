from biasgauge.applications.tasks.result import as_task as as_task
from biasgauge.applications.tasks.task import Task as Task
