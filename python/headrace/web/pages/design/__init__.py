"""Design: worksheets, solutions with the arithmetic of their figures, calculators."""

from headrace.web.page import Page
from headrace.web.pages.design import calculators, drafts, solution, worksheet

PAGE = Page(
    "/design",
    "Design",
    "architecture",
    drafts.build,
    routes={
        "/design/drafts/{name}": worksheet.build,
        "/design/solutions/{identifier}": solution.build,
        "/design/calculators": calculators.build,
    },
)
