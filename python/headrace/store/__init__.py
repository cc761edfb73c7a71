"""The store: every result, catalogued, to be found, compared and handed on.

import headrace as hr

store = hr.store.open()
print(store.list(name="striped read"))
print(store.compare(["last", "0tk3mz1q2w4x5y"]).table)
"""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names
from headrace.store.errors import StoreError, StoreFailure

if TYPE_CHECKING:
    from headrace.store.catalogue import Store, open
    from headrace.store.filters import make_filter
    from headrace.store.record import SERVER_LABELS, Record
else:
    __getattr__ = late_names(
        __name__,
        {
            "catalogue": ("Store", "open"),
            "filters": ("make_filter",),
            "record": ("SERVER_LABELS", "Record"),
        },
    )

__all__ = ["SERVER_LABELS", "Record", "Store", "StoreError", "StoreFailure", "make_filter", "open"]
