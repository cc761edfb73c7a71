"""Results: search, show, label, compare, follow over time, export."""

from headrace.web.page import Page
from headrace.web.pages.results import comparison, history, listing, one

PAGE = Page(
    "/results",
    "Results",
    "inventory_2",
    listing.build,
    {
        "/results/compare": comparison.build,
        "/results/history": history.build,
        "/results/{identifier}": one.build,
    },
)
