"""The pages: a file here and a line in the list each."""

from headrace.web.page import Page
from headrace.web.pages import design, help, jobs, results, start

PAGES: tuple[Page, ...] = (
    start.PAGE,
    results.PAGE,
    design.PAGE,
    jobs.PAGE,
    help.PAGE,
)
"""In the order of the navigation."""
