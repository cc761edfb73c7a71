"""Use of time by process over the run, and the latency of the traced calls."""

from collections.abc import Iterator

from headrace.render.blocks import Chart as BlockChart
from headrace.render.blocks import HeatMap, View
from headrace.render.pictures import drawn
from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.data import ProfileData
from headrace.views import calls


def activity(data: ProfileData) -> Iterator[Chart]:
    """Yield the map of processes; nothing of a single one."""
    if data.activity is not None:
        caption = calls.activity_caption(data.activity)
        yield from _charts(calls.activity_map(data.activity), caption)


def latency(data: ProfileData) -> Iterator[Chart]:
    """Yield median and range of each kind of call."""
    view = [] if data.trace is None else calls.view(data.trace)
    yield from _charts(
        view,
        "Circle: median, with the range from 1 % to 99 % of the calls. Square: the longest call.",
    )


def _charts(view: View, caption: str) -> Iterator[Chart]:
    titles = {part.picture: part.title for part in view if isinstance(part, BlockChart | HeatMap)}
    for name, figure in drawn(view).items():
        yield Chart(name, titles[name], caption, figure)
