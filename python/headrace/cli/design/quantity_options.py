"""Options that are numbers with units, and the error that names the option."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from headrace import _core
from headrace.design.quantities import parse_probability, parse_time
from headrace.files import check_directory, check_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
IMAGES = (".png", ".svg", ".pdf")
OTHER_IMAGES = (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".tif", ".tiff", ".webp")

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON document.")
]
PlotPath: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="PATH",
        help="Write a plot: to a file (.png, .svg or .pdf), or as PNG and SVG to a directory.",
    ),
]


def parsed(option: str, text: str, parse: Callable[[str], T]) -> T:
    """Parse an option's value. Raises ValueError, which names the option and its value."""
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f'{option} "{text}": {error}') from None


def time(option: str, text: str, *, zero: bool = False) -> float:
    """Return the seconds of an option such as --mttf "1000000 h". Raises ValueError."""
    return parsed(option, text, lambda it: parse_time(it, zero=zero))


def probability(option: str, text: str) -> float:
    """Return an option's probability. Raises ValueError."""
    return parsed(option, text, parse_probability)


def capacity(option: str, text: str) -> float:
    """Return the bytes of an option such as --capacity "2 TB". Raises ValueError."""
    found = float(parsed(option, text, _core.parse_bytes))
    if found == 0:
        raise ValueError(f'{option} "{text}": expected a size such as "2 TB", more than 0')
    return found


def check_plot(path: Path | None) -> None:
    """Check before the work that a plot can be written. Raises OSError or ValueError."""
    if path is None:
        return
    if path.suffix in IMAGES:
        check_writable(path)
    elif path.suffix.lower() in (*IMAGES, *OTHER_IMAGES) and not path.is_dir():
        raise ValueError(f"{path}: expected a file of {', '.join(IMAGES)}, or a directory")
    else:
        check_directory(path)


def save_plot(path: Path, name: str, figure: "Figure") -> None:
    """Write a figure to a file, or as `name` to a directory. Raises OSError."""
    from headrace.report import plots

    if path.suffix in IMAGES:
        plots.write_figure(figure, path)
    else:
        plots.save_figures(path, {name: figure})
