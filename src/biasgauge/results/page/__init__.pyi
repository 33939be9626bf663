from biasgauge.results.page.rendering import summary_page as summary_page
