"""Jobs: what waits, runs and has ended."""

from headrace.web.page import Page
from headrace.web.pages.jobs.change import change
from headrace.web.pages.jobs.listing import listing
from headrace.web.pages.jobs.one import one

PAGE = Page(
    "/jobs",
    "Jobs",
    "list",
    listing,
    {"/jobs/{identifier}": one, "/jobs/{identifier}/change": change},
)
