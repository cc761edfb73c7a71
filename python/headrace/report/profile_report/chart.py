"""A chart of a profile with its caption."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import Panel, caption_of_lines, time_chart


class Chart(NamedTuple):
    """A chart of a profile."""

    name: str
    """Name of its file, without the suffix."""
    title: str
    caption: str
    """How it is to be read."""
    figure: Figure


def over_time(
    name: str, title: str, data: ProfileData, panels: Sequence[Panel], note: str = ""
) -> Iterator[Chart]:
    """Yield a chart of the panels over time, or nothing if none has data."""
    figure = time_chart(data, panels)
    if figure is not None:
        yield Chart(name, title, f"{note} {caption_of_lines(panels)}".strip(), figure)
