"""Charts of a host."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import run, ui

from headrace.monitors.history import Event
from headrace.web.access.users import User
from headrace.web.charts import Chart
from headrace.web.job_samples import Window
from headrace.web.layout import heading
from headrace.web.monitor_series import CHARTS, KINDS, RANGES, STATISTICS, ChartOf, Reading
from headrace.web.page import NotThere
from headrace.web.pages.monitors.events import EventTable
from headrace.web.pages.monitors.words import STYLE, clock_text, facts_text, seen_text, state_icon
from headrace.web.site import site
from headrace.web.times import local_time

GRID = "grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr))"
HEIGHT = 260
AROUND = 0.1
"""Share of a job's time that is shown before and after it."""
LEAST_AROUND_S = 10.0
STATES_EVERY_S = 2.0


def host(user: User, name: str) -> None:
    """Draw a host."""
    if site().monitors.host(name) is None:
        raise NotThere(f"There is no host {name}. It may have been removed.")
    HostPage(name, None)


def at_job(user: User, identifier: str) -> None:
    """Draw the host of this server at the time of a job."""
    job = site().jobs.job(identifier)
    name = site().monitors.local_name
    if job is None or job.started is None:
        raise NotThere(f"There is no job {identifier} that has run.")
    with ui.row():
        ui.label("At the time of the job")
        ui.link(job.title, f"/jobs/{job.id}")
    if site().monitors.host(name) is None:
        ui.label("The host of this server is not monitored.")
        return
    HostPage(name, Window(job))


class HostPage:
    """The charts of a host in a browser."""

    def __init__(self, name: str, window: Window | None) -> None:
        self._name, self._window = name, window
        self._range, self._statistic, self._is_live = "5min", STATISTICS[0], True
        self._chosen: dict[str, str] = {}
        """Device of each kind that the user has chosen."""
        self._drawn: Any = None
        self._charts: list[tuple[ChartOf, str, Chart]] = []
        self._due = 0.0
        self._states_before: Any = None
        ui.add_css(STYLE)
        ui.link("All hosts", "/monitors")
        heading(name)
        self._facts = ui.label().classes("text-caption")
        self._states = ui.element("ul").classes("q-my-sm").style("list-style: none; padding: 0")
        self._controls()
        self._body = ui.element("div").classes("w-full")
        heading("Jobs that measured in this time")
        self._jobs = ui.element("ul").classes("q-my-none")
        self._jobs_before: Any = None
        heading("Changes of states")
        self._events = EventTable()
        self._show_states()
        # Draws the charts first when the page is connected.
        ui.timer(1.0, self._tick)

    def _controls(self) -> None:
        with ui.row().classes("items-center"):
            if self._window is None:
                ranges = {key: entry.label for key, entry in RANGES.items()}
                toggle = ui.toggle(ranges, value=self._range, on_change=self._choose("_range"))
                toggle.props('aria-label="Time"')
                live = ui.switch("Live", value=True)
                live.on_value_change(self._choose("_is_live"))
            statistics = ui.toggle(
                list(STATISTICS), value=self._statistic, on_change=self._choose("_statistic")
            )
            statistics.props('aria-label="Values of each interval"')

    def _choose(self, attribute: str) -> Callable[[Any], Awaitable[None]]:
        async def chosen(event: Any) -> None:
            setattr(self, attribute, event.value)
            await self._refresh()

        return chosen

    async def _tick(self) -> None:
        self._show_states()
        if self._is_live and time.monotonic() >= self._due:
            await self._refresh()

    async def _refresh(self) -> None:
        self._show_states()
        every_s = RANGES[self._range].every_s
        self._due = time.monotonic() + every_s
        reading, events = await run.io_bound(self._read) or (None, [])
        if reading is None:
            return
        layout = [(kind, tuple(reading.devices(kind))) for kind in KINDS]
        # The order of devices by throughput changes; what is drawn does not.
        shape = [(kind, sorted(names)) for kind, names in layout], bool(reading.values)
        if shape != self._drawn:
            self._drawn = shape
            self._draw(reading)
        for chart, device, drawn in self._charts:
            drawn.show(
                reading.series(chart, self._chosen.get(chart.kind, device), self._statistic),
                reading.spans(),
                (reading.begin, reading.end),
            )
        self._show_jobs(reading)
        self._events.show(events)

    def _read(self) -> tuple[Reading, list[Event]]:
        if self._window is None:
            reading = site().readings.recent(self._name, self._range)
        else:
            job = site().jobs.job(self._window.id)
            if job is not None:
                self._window = Window(job)
            around = max(AROUND * (self._window.end - self._window.begin), LEAST_AROUND_S)
            reading = site().readings.between(
                self._name, self._window.begin - around, self._window.end + around
            )
        events = site().monitors.history.events(self._name, reading.begin, reading.end)
        return reading, events

    def _draw(self, reading: Reading) -> None:
        self._charts.clear()
        self._body.clear()
        groups = list(dict.fromkeys(chart.group for chart in CHARTS))
        with self._body:
            if not reading.values:
                ui.label("There are no samples of this time.")
                return
            for group in groups:
                self._draw_group(group, reading)

    def _draw_group(self, group: str, reading: Reading) -> None:
        charts = []
        for chart in (each for each in CHARTS if each.group == group):
            devices = reading.devices(chart.kind) if chart.kind else [""]
            if not devices:
                continue
            if chart.kind and self._chosen.get(chart.kind) not in devices:
                self._chosen[chart.kind] = devices[0]
            device = self._chosen.get(chart.kind, "")
            if chart.kind or reading.series(chart, device, self._statistic):
                charts.append((chart, device))
        if not charts:
            return
        heading(group)
        with ui.row().classes("items-center"):
            for kind in dict.fromkeys(chart.kind for chart, _ in charts if chart.kind):
                self._device_choice(kind, reading.devices(kind))
        with ui.element("div").classes("w-full grid gap-3").style(GRID):
            for chart, device in charts:
                drawn = Chart(chart.title, "time", chart.y, x_kind="time", height=HEIGHT)
                self._charts.append((chart, device, drawn))

    def _device_choice(self, kind: str, devices: list[str]) -> None:
        async def choose(event: Any) -> None:
            self._chosen[kind] = event.value
            await self._refresh()

        select = ui.select(
            devices, label=KINDS[kind], value=self._chosen[kind], on_change=choose
        ).props("outlined dense options-dense")
        select.classes("min-w-[200px]")

    def _show_states(self) -> None:
        status = site().monitors.host(self._name)
        if status is None:
            return
        lines = (facts_text(status), clock_text(status), seen_text(status))
        self._facts.set_text(", ".join(filter(None, lines)))
        shown = (status.state, status.reasons, status.states)
        if shown == self._states_before:
            return
        self._states_before = shown
        self._states.clear()
        with self._states:
            if status.state in ("unreached", "waiting"):
                _state(status.state, "; ".join(status.reasons))
            for state in status.states:
                _state(state.state, f"{state.reason} (since {local_time(state.since)})")

    def _show_jobs(self, reading: Reading) -> None:
        shown = [(one.id, one.title, int(one.begin), int(one.end)) for one in reading.windows]
        if shown == self._jobs_before:
            return
        self._jobs_before = shown
        self._jobs.clear()
        with self._jobs:
            for window in reading.windows:
                with ui.element("li"):
                    ui.link(window.title, f"/jobs/{window.id}")
                    ui.label(f"{local_time(window.begin)} to {local_time(window.end)}").classes(
                        "text-caption"
                    )
            if not reading.windows:
                with ui.element("li"):
                    ui.label("none")


def _state(state: str, text: str) -> None:
    with ui.element("li"), ui.row().classes("items-center no-wrap gap-2"):
        state_icon(state)
        ui.label(f"{state}: {text}")
