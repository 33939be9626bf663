from biasgauge.results.page.colors import style_sheet as style_sheet
from biasgauge.results.page.rendering import content_policy as content_policy
from biasgauge.results.page.rendering import packed as packed
from biasgauge.results.page.rendering import summary_page as summary_page
from biasgauge.results.page.rendering import template_environment as template_environment
