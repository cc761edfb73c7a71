"""The pages: a file here and a line in the list each."""

from headrace.web.page import Page
from headrace.web.pages import help, jobs, measure, profiles, results, start, traces

PAGES: tuple[Page, ...] = (
    start.PAGE,
    measure.PAGE,
    profiles.PAGE,
    traces.PAGE,
    results.PAGE,
    jobs.PAGE,
    help.PAGE,
)
"""In the order of the navigation."""
