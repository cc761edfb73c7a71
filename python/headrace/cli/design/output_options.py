"""Output of the commands: progress, JSON, figures with their arithmetic, and plots."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Annotated as A

from headrace import progress_events
from headrace.cli.binding import command
from headrace.cli.screen import ProgressLines, late_bar
from headrace.commands.parameters import Help, Word
from headrace.design.figure import Figure
from headrace.files import check_directory, check_writable
from headrace.kinds import with_kind

if TYPE_CHECKING:
    from headrace.render.blocks import View

IMAGES = (".png", ".svg", ".pdf")
OTHER_IMAGES = (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".tif", ".tiff", ".webp")

FiguresAsJson: TypeAlias = A[
    bool,
    Word("--json"),
    Help("Print one JSON document: value, unit, formula and inputs of each figure."),
]
PlotPath: TypeAlias = A[
    Path | None,
    Word("--plot", metavar="PATH"),
    Help("Write a plot: to a file (.png, .svg or .pdf), or as PNG and SVG to a directory."),
]


def print_figures(title: str, figures: Sequence[Figure], as_json: bool, currency: str = "") -> None:
    """Print figures as a table with their arithmetic, or as JSON.

    The document has the value of each figure by its key, all of the figures under `figures`, and
    their notes under `assumptions`.
    """
    from headrace.report.figure_tables import figure_table, figures_document

    if not as_json:
        from headrace.cli.screen import FOLDED, show

        show(figure_table(title, figures, currency), redirected_width=FOLDED)
        return
    document = figures_document(figures)
    values: dict[str, Any] = {key.replace("-", "_"): it["value"] for key, it in document.items()}
    notes = list(dict.fromkeys(it.note for it in figures if it.note))
    fields = values | {"figures": document, "assumptions": notes}
    print(json.dumps(with_kind("design-figures", fields), allow_nan=False, indent=2))


def figures_command(record: type[Any]) -> Callable[..., None]:
    """Return the command of a record whose answer is figures."""

    def run(asked: Any, as_json: FiguresAsJson = False) -> None:
        print_figures(asked.form.title, asked.figures(), as_json, getattr(asked, "currency", ""))

    return command(record, run)


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


def save_plot(path: Path, view: "View") -> None:
    """Write the picture of a view to a file, or by its name to a directory. Raises OSError."""
    from headrace.render import pictures

    if path.suffix in IMAGES:
        (figure,) = pictures.drawn(view).values()
        pictures.write_figure(figure, path)
    else:
        pictures.save(path, view)


@contextlib.contextmanager
def part_done(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback for the part of the work that is done, from 0 to 1. It draws a bar if the
    work takes long, or prints lines where standard error is no terminal."""
    with _drawn(title) as draw:

        def tell(part: float) -> None:
            draw(part)
            progress_events.report(title, min(part, 1.0), 1.0)

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _drawn(title: str) -> Iterator[Callable[[float], None]]:
    if not sys.stderr.isatty():
        lines = ProgressLines(title)
        yield lambda part: lines.write(lambda: f"{100 * min(part, 1.0):.0f} % done")
        return
    with late_bar(title, total=1.0) as update:
        yield lambda part: update(completed=min(part, 1.0))
