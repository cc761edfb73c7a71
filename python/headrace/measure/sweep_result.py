"""Result of a load sweep: its document and its tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from headrace import kinds
from headrace.files import save_json
from headrace.host import this_host
from headrace.store import open as open_store
from headrace.store.saved_documents import TABLES

KIND = "load-sweep"


@dataclass(frozen=True)
class LoadSweep:
    """Result of a load sweep: its steps and their findings.

    The tables are those of the steps' measurements (`headrace.measure.Measurement`), concatenated,
    with the columns `step`, the step's name, and `repetition`, from 1.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=0.1, warm_up=0)
        >>> sweep = hr.measure.load_sweep(mix.at, ".", rates=[100], calls="null")
        >>> sweep.name, sweep.partial
        ('mpfs-benchmark', False)
        >>> sweep.save("sweep.json")
        >>> sorted(sweep.saved().keys() - sweep.document.keys())
        ['counter_series', 'histograms', 'host', 'series']
        >>> hr.store.open().record(sweep.keep(labels={"disk": "new"})).kind
        'load-sweep'
    """

    document: dict[str, Any]
    series: pl.DataFrame
    """Operations, bytes and latency over time, by operation."""
    counters: pl.DataFrame
    """Processor, memory and device counters over time."""
    histograms: pl.DataFrame
    """Latency histograms, as `headrace.histograms` defines them."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.document["scenario"].get("name", ""))

    @property
    def partial(self) -> bool:
        """True if the sweep ended early."""
        return bool(self.document["stop"]["reason"] != "done")

    def keep(
        self, *, started: datetime | None = None, labels: Mapping[str, str] | None = None
    ) -> str:
        """Save the sweep in the store and return its identifier."""
        tables: dict[str, pl.DataFrame] = {name: getattr(self, name) for name in TABLES_OF_IT}
        return open_store().add(
            self.document,
            {name: table for name, table in tables.items() if table.height},
            kind=KIND,
            started=started,
            labels=labels,
        )

    def _repr_html_(self) -> str:
        return kinds.html(KIND, self.document)

    def saved(self) -> dict[str, Any]:
        """Return the document with its tables, as it is saved and resumed."""
        tables = {
            key: getattr(self, name).to_dict(as_series=False)
            for key, name in TABLES.items()
            if name in TABLES_OF_IT
        }
        return {**self.document, "host": this_host(), **tables}

    def save(self, path: str | PathLike[str]) -> None:
        """Save the sweep as JSON, atomically."""
        save_json(Path(path), self.saved())


TABLES_OF_IT = ("series", "counters", "histograms")
