"""Steps of a load sweep: stored figures of their measurements, and their recovery on resume."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from headrace.histograms import SCHEMA as HISTOGRAMS
from headrace.histograms import check, with_exact
from headrace.measure.counters import SERIES as COUNTERS
from headrace.measure.measurement import SERIES, Measurement
from headrace.measure.saved_results import TABLES

DIGEST = "scenario_sha256"
"""Key of a step: the digest of its settings."""
SWEEP_KEYS = ("kind", "scenario", "seed", "version", "calls")
"""Keys that a sweep has once for all its steps."""
NOT_SAVED = (*SWEEP_KEYS, "phases", "stop", "error")
LOAD = ("requested_per_second", "offered_per_second", "achieved_per_second")
LATENCY_KEYS = {"response": "latency_from_intended", "service": "latency"}
"""Keys of a step for the latency of all operations, and where a measurement has it."""
NOT_FIGURES = ("load", "wanted_repeats", "intervals")
STEP_KEYS = (
    *("name", DIGEST, "partial", "keeps_up", "client_hosts", *LOAD, *LATENCY_KEYS),
    *("oversubscribed", "operations_per_second", "speedup", "efficiency"),
)
"""Keys of a step that are not figures of its measurement."""
NUMBERED = pl.Schema({"step": pl.String, "repetition": pl.UInt32})
"""Columns of a sweep's tables: the step's name, and the repetition, from 1."""
SCHEMAS = {
    "series": pl.Schema([*SERIES.items(), *NUMBERED.items()]),
    "counters": pl.Schema([*COUNTERS.items(), *NUMBERED.items()]),
    "histograms": pl.Schema([*HISTOGRAMS.items(), *NUMBERED.items()]),
}
"""Tables of a sweep: those of its measurements, concatenated."""


def without_sweep_keys(measurement: Measurement) -> Measurement:
    """Return a measurement without the keys that the sweep has once."""
    document = {key: it for key, it in measurement.document.items() if key not in NOT_SAVED}
    return replace(measurement, document=document)


def step(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step: its load, and all figures of its measurement, or of the merged repetitions."""
    figures = {key: it for key, it in document.items() if key not in NOT_FIGURES}
    made = {"name": name, **document.get("load", {}), **_total_latency(document), **figures}
    if found := dict(document.get("intervals", {})):
        load = found.pop("load", {})
        load = {key: it for key, it in load.items() if key in LOAD[1:]}
        made["intervals"] = {**load, **_total_latency(found), **found}
    return made


def _total_latency(document: Mapping[str, Any]) -> dict[str, Any]:
    """The latencies of all operations, as a step has them."""
    there = {key: document[it] for key, it in LATENCY_KEYS.items() if it in document}
    return {key: it.get("all") for key, it in there.items()}


def step_tables(name: str, repetition: int, measurement: Measurement) -> dict[str, pl.DataFrame]:
    """Return the tables of one of a step's measurements, with the columns of step and
    repetition."""
    return {
        table: getattr(measurement, table)
        .with_columns(step=pl.lit(name), repetition=pl.lit(repetition, dtype=pl.UInt32))
        .cast(schema)
        for table, schema in SCHEMAS.items()
    }


class EarlierMeasurements:
    """Measurements of an earlier run of a sweep."""

    def __init__(self, resumed: Mapping[str, Any] | None) -> None:
        """Raise ValueError if the tables of the resumed sweep are malformed."""
        steps = (resumed or {}).get("steps", ())
        self._steps = {step.get(DIGEST): step for step in steps if not step.get("partial")}
        self._tables = {name: _table(resumed or {}, name) for name in SCHEMAS}

    def measurements(self) -> dict[str, list[Measurement]]:
        """Return the measurements of each complete step, in the order of repetitions, by digest.
        Steps without tables are left out."""
        found = {str(digest): list(self._of(step)) for digest, step in self._steps.items()}
        return {digest: several for digest, several in found.items() if several}

    def _of(self, step: Mapping[str, Any]) -> Iterator[Measurement]:
        """A step's measurements, up to the first that lacks its tables."""
        documents = step.get("repetitions") or [_figures(step)]
        for repetition, document in enumerate(documents, 1):
            measurement = self._measurement(step, repetition, document)
            if measurement is None:
                return
            yield measurement

    def _measurement(
        self, step: Mapping[str, Any], repetition: int, document: Mapping[str, Any]
    ) -> Measurement | None:
        tables = {
            name: table.filter(step=step["name"], repetition=repetition).drop(*NUMBERED)
            for name, table in self._tables.items()
        }
        if not tables["histograms"].height:
            return None
        processes = {"processes": step["processes"]}
        return Measurement(
            {**processes, **document},
            series=tables["series"],
            counters=tables["counters"],
            histograms=tables["histograms"],
        )


def _table(resumed: Mapping[str, Any], name: str) -> pl.DataFrame:
    """Return a table of a saved sweep, which has different names in a file and in the store."""
    saved = next(key for key, table in TABLES.items() if table == name)
    columns = resumed.get(saved) or resumed.get(name) or {}
    try:
        if name == "histograms":
            columns = with_exact(columns)
        table = pl.DataFrame(columns, schema=SCHEMAS[name])
        if name == "histograms":
            check(table)
        return table
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError):
        named = resumed.get("named", "the resumed result")
        raise ValueError(
            f"{named}: its {saved} are not as they were saved: start again without --resume"
        ) from None


def _figures(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the saved figures of a step's only measurement."""
    load = {"load": {key: step[key] for key in LOAD}} if LOAD[0] in step else {}
    return load | {key: it for key, it in step.items() if key not in STEP_KEYS}
