from biasgauge.applications.text.data_set import DataSet as DataSet
from biasgauge.applications.text.groups import group_words as group_words
from biasgauge.applications.text.tables import check_names as check_names
from biasgauge.applications.text.tables import read_table as read_table
