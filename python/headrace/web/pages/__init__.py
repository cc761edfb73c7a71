"""The pages: a file here and a line in the list each."""

from headrace.web.page import Page
from headrace.web.pages import (
    design,
    help,
    jobs,
    measure,
    monitors,
    nets,
    profiles,
    results,
    simulate,
    start,
    traces,
)

PAGES: tuple[Page, ...] = (
    start.PAGE,
    simulate.PAGE,
    nets.PAGE,
    measure.PAGE,
    results.PAGE,
    monitors.PAGE,
    profiles.PAGE,
    traces.PAGE,
    design.PAGE,
    jobs.PAGE,
    help.PAGE,
)
"""In the order of the navigation."""
