"""A study of a table, and the HTML page that reports it.

`study` measures, `page_html` writes. Every number of the page is that of a call which the page
shows, and the same table and seed give the same page.
"""

from unbend.apps.study.page import page_html
from unbend.apps.study.study import Origin, Study, study

__all__ = ["Origin", "Study", "page_html", "study"]
