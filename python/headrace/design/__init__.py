"""Design a storage system: capacity, reliability, facility, cost, performance, and the search."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.recommendation import recommend
    from headrace.design.search import solve
    from headrace.design.worksheet_file import load_worksheet

__all__ = ["load_catalogue", "load_worksheet", "recommend", "solve"]

MODULES = {
    "load_catalogue": "catalogue_file",
    "load_worksheet": "worksheet_file",
    "recommend": "recommendation",
    "solve": "search",
}


def __getattr__(name: str) -> Any:
    # The command line imports a part of the package only: the search takes long to import.
    if name in MODULES:
        return getattr(import_module(f"headrace.design.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
