"""Line over the steps of a sweep, with error bars where there are enough repetitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from headrace.report.figures.style import COLOURS


def draw_steps(
    axes: Axes,
    along: Sequence[float],
    steps: Sequence[Mapping[str, Any]],
    path: Sequence[str],
    *,
    label: str,
    number: int = 0,
    scale: float = 1.0,
) -> None:
    """Draw the figure that steps have under the keys of `path`, times `scale`, and half the
    width of its 95 % interval to both sides."""
    values = [scale * _found(step, path) for step in steps]
    style: dict[str, Any] = {"color": COLOURS[number], "markersize": 4, "label": label}
    halves = [_found(step.get("intervals"), path) for step in steps]
    if all(half is None for half in halves):
        axes.plot(along, values, "o-", **style)
        return
    bars = [0.0 if half is None else scale * half for half in halves]
    axes.errorbar(along, values, yerr=bars, fmt="o-", capsize=3, **style)


def _found(document: Any, path: Sequence[str]) -> Any:
    for key in path:
        document = document.get(key) if document else None
    return document
