"""Figures of a running job, from the lines of its progress."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from headrace.web.charts import Chart, Series
from headrace.web.jobs import Progress

MOST_POINTS = 600
"""Points of a line over time. When there are more, every second one is dropped."""
MOMENTS = {
    "IOPS": ("Requests a second", "IOPS", 1.0),
    "operations/s": ("Operations a second", "operations/s", 1.0),
    "MB/s": ("Throughput", "MB/s", 1.0),
    "latency": ("Latency", "ms", 1e3),
}
"""Title, unit and factor of the figures of a moment, by their names in the progress."""
LOAD = "requested load (operations/s)"
SIZES = ("MB/s", "operations/s")
"""Units in brackets behind the names of a micro-benchmark's figures."""


class LiveChart(msgspec.Struct, frozen=True):
    """A chart of a running job."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    x_kind: str = "value"


class LiveFigures:
    """Figures of a job so far: over time, and of its finished steps."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._stride, self._skipped = 1, 0
        self._moments: list[tuple[float, Mapping[str, Any]]] = []
        self.steps: list[Mapping[str, Any]] = []
        """Figures of the finished steps, in their order."""

    def add(self, lines: Iterable[Progress]) -> None:
        """Add lines of progress."""
        for line in lines:
            self._start = line.time if self._start is None else self._start
            if "step" in line.figures:
                self.steps.append(line.figures)
            elif any(name in line.figures for name in MOMENTS):
                self._add_moment(line.time - self._start, line.figures)

    def charts(self) -> list[LiveChart]:
        """Return what there is to draw so far."""
        return [*self._of_steps(), *self._over_time()]

    def _add_moment(self, seconds: float, figures: Mapping[str, Any]) -> None:
        self._skipped += 1
        if self._skipped < self._stride:
            return
        self._skipped = 0
        self._moments.append((seconds, figures))
        if len(self._moments) > MOST_POINTS:
            del self._moments[::2]
            self._stride *= 2

    def _over_time(self) -> list[LiveChart]:
        charts = []
        for name, (title, unit, factor) in MOMENTS.items():
            points = [(at, it[name]) for at, it in self._moments if name in it]
            if points:
                x, y = zip(*points, strict=True)
                line = Series(unit, [round(it, 2) for it in x], [factor * it for it in y])
                charts.append(LiveChart(f"{title} over time", "time (s)", unit, [line]))
        return charts

    def _of_steps(self) -> list[LiveChart]:
        if not self.steps:
            return []
        if all("requested" in it and "achieved" in it for it in self.steps):
            return self._loads()
        if all("processes" in it and "achieved" in it for it in self.steps):
            return self._by("processes", "processes")
        if all("achieved" in it for it in self.steps):
            return self._by("name", "step", "category")
        return self._tests()

    def _loads(self) -> list[LiveChart]:
        ordered = sorted(self.steps, key=lambda it: float(it["requested"]))
        requested = [it["requested"] for it in ordered]
        return [
            LiveChart(
                "Achieved against requested load",
                LOAD,
                "operations/s",
                [
                    Series("requested", requested, requested),
                    Series("achieved", requested, [it["achieved"] for it in ordered]),
                ],
            ),
            LiveChart(
                "Response time against load",
                LOAD,
                "ms",
                [Series("mean", requested, [_milliseconds(it) for it in ordered])],
            ),
        ]

    def _by(self, key: str, x: str, x_kind: str = "value") -> list[LiveChart]:
        along = [it[key] for it in self.steps]
        achieved = Series("achieved", along, [it["achieved"] for it in self.steps])
        latency = Series("mean", along, [_milliseconds(it) for it in self.steps])
        return [
            LiveChart(f"Rate of each {x}", x, "operations/s", [achieved], x_kind),
            LiveChart(f"Latency of each {x}", x, "ms", [latency], x_kind),
        ]

    def _tests(self) -> list[LiveChart]:
        """Return the figures of a micro-benchmark's points, by unit: a line for each test."""
        charts = []
        names = list(dict.fromkeys(str(it["name"]) for it in self.steps))
        for unit in SIZES:
            suffix = f" ({unit})"
            tests = dict.fromkeys(key for it in self.steps for key in it if key.endswith(suffix))
            if not tests:
                continue
            found = [
                Series(
                    test.removesuffix(suffix),
                    names,
                    [self._newest(name, test) for name in names],
                )
                for test in tests
            ]
            title = "Throughput so far" if unit == "MB/s" else "Rates so far"
            charts.append(LiveChart(title, "point", unit, found, "category"))
        return charts

    def _newest(self, name: str, test: str) -> float | None:
        values = [it[test] for it in self.steps if it["name"] == name and test in it]
        return values[-1] if values else None


class LiveCharts:
    """Charts of a running job, which grow."""

    def __init__(self) -> None:
        from nicegui import ui

        self._figures = LiveFigures()
        self._charts: dict[str, Chart] = {}
        self._place = ui.element("div").classes("w-full").props('aria-label="Live figures"')

    def add(self, lines: Sequence[Progress]) -> None:
        """Add lines of progress, and draw."""
        if not lines:
            return
        self._figures.add(lines)
        for it in self._figures.charts():
            if it.title not in self._charts:
                with self._place:
                    self._charts[it.title] = Chart(
                        it.title, it.x, it.y, x_kind=it.x_kind, height=260
                    )
            self._charts[it.title].show(it.series)


def _milliseconds(step: Mapping[str, Any]) -> float | None:
    latency = step.get("latency")
    return None if latency is None else 1e3 * float(latency)
