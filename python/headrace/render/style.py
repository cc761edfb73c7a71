"""Size, colours and grid that all figures share."""

import io
import math
import warnings
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from headrace.plain_text import plain

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito, "Color Universal Design", 2008: distinct with any kind of colour vision."""
DASHES = ("solid", "dashed", "dotted", "dashdot")


LONGEST_NAME = 80
"""Longer names are cut: there is no room for more."""


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name in one line that fits."""
    line = " ".join(plain(name[: 4 * longest]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


ZERO_ROOM = 0.4
"""Decades of room between 0 and the smallest other value of an axis."""
NOTEBOOK_RESOLUTION = 90
"""Dots per inch in a notebook: 8 inches are 720 pixels."""


class NotebookFigure(Figure):
    """A figure that Jupyter shows without pyplot."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        # Names are no formulas.
        with mpl.rc_context({"text.parse_math": False}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph |constrained_layout")
            self.savefig(picture, format="png", dpi=NOTEBOOK_RESOLUTION)
        return picture.getvalue()


def grid(axes: Axes) -> None:
    """Draw a grid behind the data, and no frame at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)


def log_scale(axis: Axis, values: Sequence[float]) -> None:
    """Scale an axis logarithmically. Zeros among the values have a place of their own: the part
    below the smallest other value is linear, and begins with the mark 0."""
    above = [value for value in values if value > 0]
    scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    if not above or len(above) == len(values):
        scale("log")
        return
    least = min(above)
    scale("symlog", linthresh=least, linscale=ZERO_ROOM)
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(max(above))) + 1)
    marks = [10.0**decade for decade in decades if 10.0**decade >= least / 2]
    # Without a power of ten in their range, the smallest value is marked.
    axis.set_ticks([0.0, *(marks or [least])])
    axis.set_ticks([], minor=True)


def nothing(axes: Axes, why: str) -> None:
    """Write in the figure that there is no data."""
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center")
    axes.set_xticks([])
    axes.set_yticks([])
