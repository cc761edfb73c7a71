"""Papers reproduced: rows of published | ours | error, tables and figures."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from headrace import exit_codes
from headrace.files import atomic_file, check_directory, make_directory
from headrace.interruption import run_interruptible
from headrace.plain_text import plain_line
from headrace.render.pictures import write_figure

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One published result against ours."""

    what: str
    published: str
    ours: str
    error: str
    """The relative error, where the published result is a number."""
    holds: bool
    """True if the reproduced value agrees within the bound that the paper's script states."""


class Paper:
    """Reproduction of a paper: reports its steps and saves its figures."""

    def __init__(self, folder: Path, report: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self.report = report

    def step(self, name: str, work: Callable[[], T]) -> T:
        """Do a part of the work, after saying which."""
        self.report(name)
        return work()

    def save(self, figure: Figure, name: str) -> None:
        """Write a figure as PNG and SVG."""
        make_directory(self.folder)
        for ending in ("png", "svg"):
            write_figure(figure, self.folder / f"{name}.{ending}")

    def save_rows(self, rows: list[Row]) -> None:
        """Write the table as Markdown and JSON."""
        make_directory(self.folder)
        lines = ["| what | published | ours | error | holds |", "| --- | --- | --- | --- | --- |"]
        for row in rows:
            holds = "yes" if row.holds else "NO"
            lines.append(f"| {row.what} | {row.published} | {row.ours} | {row.error} | {holds} |")
        self._write("table.md", "\n".join(lines) + "\n")
        document: list[dict[str, Any]] = [asdict(row) for row in rows]
        self._write("rows.json", json.dumps(document, indent=2))

    def _write(self, name: str, text: str) -> None:
        with atomic_file(self.folder / name) as partial:
            partial.write_text(text, encoding="utf-8")


def main(name: str, title: str, reproduce: Callable[[Paper], list[Row]]) -> int:
    """A paper's script: runs it, prints the table, leaves table and figures; 1 if a row fails."""
    parser = argparse.ArgumentParser(prog=f"headrace papers {name}", description=title)
    parser.add_argument("--out", type=Path, default=Path("out/papers") / name, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    return run_interruptible(lambda: exit_codes.run(lambda: _reproduced(options, title, reproduce)))


def _reproduced(
    options: argparse.Namespace, title: str, reproduce: Callable[[Paper], list[Row]]
) -> int:
    check_directory(options.out)
    progress = Console(stderr=True)
    with progress.status(title) as status:
        paper = Paper(options.out, lambda step: status.update(f"{title}: {step}"))
        rows = reproduce(paper)
        paper.save_rows(rows)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print(title, rows, options.out)
    return 0 if all(row.holds for row in rows) else 1


def _print(title: str, rows: list[Row], folder: Path) -> None:
    table = Table(title=title, title_justify="left")
    for column in ("what", "published", "ours", "error", "holds"):
        table.add_column(column)
    for row in rows:
        holds = "yes" if row.holds else "[bold red]NO[/]"
        table.add_row(row.what, row.published, row.ours, row.error, holds)
    console = Console()
    console.print(table)
    console.print(
        f"Table and figures are in {plain_line(str(folder))}/.", soft_wrap=True, markup=False
    )
