from biasgauge.applications.classification.data_sets import check_names as check_names
from biasgauge.applications.classification.data_sets import read_table as read_table
from biasgauge.applications.classification.task import DataSet as DataSet
from biasgauge.applications.classification.texts import TextData as TextData
from biasgauge.applications.classification.texts import Texts as Texts
from biasgauge.applications.classification.texts import group_words as group_words
from biasgauge.applications.classification.texts import split_up as split_up
