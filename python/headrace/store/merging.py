"""What several measurements say together, from the histograms that the store has of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.histograms import LATENCIES, percentiles

if TYPE_CHECKING:
    from headrace.store.catalogue import Store
    from headrace.store.samples import Key

TABLE = "histograms"


def merged(store: "Store", ids: Sequence[str]) -> "dict[Key, float]":
    """Percentiles of service time over all operations of these results; nothing if there is one
    result, or one of them has no histograms."""
    if len(ids) < 2 or not all(TABLE in {it.name for it in store.contents(one)} for one in ids):
        return {}
    found = percentiles([store.table(one, TABLE) for one in ids]).filter(time="service")
    names = {quantile: name for name, quantile in LATENCIES.items()}
    return {
        (str(operation), f"latency_{names[quantile]}_s"): float(value)
        for operation, quantile, value in found.select(
            "operation", "quantile", "time_s"
        ).iter_rows()
    }
