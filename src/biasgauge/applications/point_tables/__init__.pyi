from biasgauge.applications.point_tables.build import Variant as Variant
