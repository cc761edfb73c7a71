"""The store: every result, catalogued, to be found, compared and handed on.

import headrace as hr

store = hr.store.open()
print(store.list(name="striped read"))
print(store.compare(["last", "0tk3mz1q2w4x5y"]).table)
"""

from typing import TYPE_CHECKING, Any

from headrace.store.errors import StoreError, StoreFailure

if TYPE_CHECKING:
    from headrace.store.catalogue import Store
    from headrace.store.catalogue import open_store as open
    from headrace.store.filters import make_filter
    from headrace.store.record import SERVER_LABELS, Record

__all__ = ["SERVER_LABELS", "Record", "Store", "StoreError", "StoreFailure", "make_filter", "open"]

IN_MODULE = {
    "SERVER_LABELS": ("record", "SERVER_LABELS"),
    "Record": ("record", "Record"),
    "Store": ("catalogue", "Store"),
    "open": ("catalogue", "open_store"),
    "make_filter": ("filters", "make_filter"),
}


def __getattr__(name: str) -> Any:
    # The command line imports the errors at once, the rest only where it is needed.
    if name not in IN_MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = IN_MODULE[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
