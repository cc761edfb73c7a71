"""Design a storage system: capacity, reliability, facility, cost, performance, and the search."""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names

if TYPE_CHECKING:
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.recommendation import recommend
    from headrace.design.search import solve
    from headrace.design.worksheet_file import load_worksheet
else:
    # The search takes long to import.
    __getattr__ = late_names(
        __name__,
        {
            "catalogue_file": ("load_catalogue",),
            "recommendation": ("recommend",),
            "search": ("solve",),
            "worksheet_file": ("load_worksheet",),
        },
    )

__all__ = ["load_catalogue", "load_worksheet", "recommend", "solve"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
