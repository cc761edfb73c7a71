"""Charts of a profile's samples over time, with the phases shaded behind them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from headrace.profile import recording
from headrace.profile.document import FILE, Phase
from headrace.render.echarts import CELL_TEXT, Series
from headrace.report.profile_report import ProfileData
from headrace.views.profile_values import NO_VERDICT
from headrace.views.verdict_words import verdict_words
from headrace.web.charts import Chart

Document = Mapping[str, Any]
Samples: TypeAlias = ProfileData
MOST_POINTS = 500
"""Points of a line: more samples are drawn as means of several."""


def read_samples(directory: Path, document: Document) -> Samples | None:
    """Return the samples of a profile directory; None if they are missing or damaged."""
    try:
        rates = recording.rates(directory, document.get("host"))
    except (OSError, ValueError):
        return None
    if rates.is_empty() or not {"from_s", "to_s"} <= set(rates.columns):
        return None
    figures = (document.get("baseline") or {}).get("figures") or {}
    return ProfileData(document, _thinned(rates), None, figures)


def _thinned(rates: pl.DataFrame) -> pl.DataFrame:
    every = -(-rates.height // MOST_POINTS)
    if every == 1:
        return rates
    groups = pl.int_range(pl.len()) // every
    return (
        rates.group_by(groups.alias("group"), maintain_order=True)
        .agg(pl.col("from_s").first(), pl.col("to_s").last(), pl.exclude("from_s", "to_s").mean())
        .drop("group")
    )


class ProfileCharts:
    """Charts of processors, disks, calls, memory and network. A click on a phase chooses it."""

    def __init__(
        self, samples: Samples, phases: Sequence[Phase], choose: Callable[[int], None]
    ) -> None:
        for title, unit, lines in panels(samples):
            chart = Chart(title, "time (s)", unit, lines, height=260)
            if not lines:
                continue
            chart.echart.options["series"][0]["markArea"] = phase_areas(phases)
            chart.echart.options["xAxis"] |= {"min": 0, "max": _end(samples, phases)}
            chart.echart.update()
            chart.echart.on(
                "chart:click", lambda event: _clicked(event.args, choose), ["componentType", "name"]
            )


def _clicked(event: Mapping[str, Any], choose: Callable[[int], None]) -> None:
    number = str(event.get("name") or "").partition(" ")[0]
    if event.get("componentType") == "markArea" and number.isdecimal():
        choose(int(number))


def phase_areas(phases: Sequence[Phase]) -> dict[str, Any]:
    """Return the phases as ECharts areas, each with its number and verdict."""
    return {
        "label": {
            "show": True,
            "position": "insideTop",
            "fontSize": 11,
            **CELL_TEXT,
        },
        "data": [
            [
                {
                    "name": f"{number} {phase.verdict or NO_VERDICT}",
                    "xAxis": phase.from_s,
                    "itemStyle": {
                        "color": verdict_words(phase.verdict).colour,
                        "opacity": 0.22,
                        "borderColor": "#666666",
                        "borderWidth": 1,
                    },
                },
                {"xAxis": phase.to_s},
            ]
            for number, phase in enumerate(phases, 1)
        ],
    }


def panels(samples: Samples) -> Iterator[tuple[str, str, list[Series]]]:
    """Yield title, unit and lines of each chart that has data."""
    along = [round(float(mid), 3) for mid in (samples.rates["from_s"] + samples.rates["to_s"]) / 2]
    for title, unit, factor, columns in _columns(samples):
        lines = [
            Series(name, along, [None if value is None else factor * value for value in values])
            for name, values in columns.items()
            if any(values.drop_nulls().drop_nans())
        ]
        if lines:
            yield title, unit, lines


def _columns(samples: Samples) -> Iterator[tuple[str, str, float, dict[str, pl.Series]]]:
    column = samples.column
    yield (
        "Processors",
        "% of a core",
        100.0,
        {
            "application": samples.sum("tree.user", "tree.system"),
            "its busiest thread": column("tree.busiest_thread"),
            "busiest core": samples.busiest_core(),
            "I/O wait": column("cpu.iowait"),
        },
    )
    yield (
        "Disks",
        "MB/s",
        1e-6,
        {
            f"{disk} {word}": column(f"disk.{disk}.{word}_bytes_per_s")
            for disk in samples.disks
            for word in ("read", "write")
        },
    )
    yield (
        "Calls of the application",
        "MB/s",
        1e-6,
        {word: column(f"tree.{word}_call_bytes_per_s") for word in ("read", "write")},
    )
    yield (
        "Memory",
        "GB",
        1e-9,
        {
            name: column(f"memory.{key}_bytes")
            for name, key in (("used", "used"), ("page cache", "cached"), ("dirty", "dirty"))
        }
        | {"application": column("tree.resident_bytes")},
    )
    yield (
        "Network",
        "MB/s",
        1e-6,
        {
            f"{name} {word}": column(f"{kind}.{name}.{word}_bytes_per_s")
            for kind in ("net", "infiniband")
            for name in samples.instances(kind)
            for word in ("receive", "send")
        },
    )


def _end(samples: Samples, phases: Sequence[Phase]) -> float:
    last = float(samples.rates["to_s"][-1])
    return round(max([last, *(phase.to_s for phase in phases)]), 3)


def profile_document(directory: Path) -> Document | None:
    """Return the document of a profile directory; None if there is none."""
    import json

    try:
        document = json.loads((directory / FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
