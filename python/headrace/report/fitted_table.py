"""Tables that keep the columns that matter where a terminal is narrow."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headrace.report.plain import plain

NAME_WIDTH = 28
"""Longer names are folded if a figure would have to go otherwise."""
BETWEEN = 3
"""Columns of a terminal between two of a table."""


class FittedTable:
    """`names` columns of names, then columns of figures.

    Without room for all, the columns in `spare` go, the first first, and a line says which.
    Names never do: if the rest is still too wide, the lines are longer than the terminal's.
    """

    def __init__(
        self, title: str, names: int, columns: Sequence[str], spare: Sequence[str] = ()
    ) -> None:
        self.caption = ""
        self._title = title
        self._names = names
        self._columns = columns
        self._spare = spare
        self._rows: list[tuple[str, ...]] = []
        self._sections: set[int] = set()

    def add_row(self, *cells: str) -> None:
        """A row of as many cells as columns; a name is never read as markup."""
        self._rows.append(tuple(map(plain, cells)))

    def add_section(self) -> None:
        """A line after the rows so far."""
        self._sections.add(len(self._rows) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [
            max(cell_len(line) for cell in cells for line in [*cell.split("\n"), ""])
            for cells in zip(self._columns, *self._rows, strict=True)
        ]
        shown = list(range(len(self._columns)))
        left_out = []
        for name in self._spare:
            if self._least(shown, widths) <= options.max_width:
                break
            if name in self._columns:
                shown.remove(self._columns.index(name))
                left_out.append(name)
        notes = [self.caption] if self.caption else []
        if left_out:
            notes.append(f"a wider terminal shows also {', '.join(left_out)}")
        width = max(self._least(shown, widths), options.max_width)
        yield from console.render(
            self._table(shown, widths, "\n".join(notes)), options.update(width=width)
        )

    def _least(self, shown: Sequence[int], widths: Sequence[int]) -> int:
        """The narrowest that these columns can be."""
        return sum(self._width(number, widths) + BETWEEN for number in shown) - 1

    def _width(self, number: int, widths: Sequence[int]) -> int:
        return min(widths[number], NAME_WIDTH) if number < self._names else widths[number]

    def _table(self, shown: Sequence[int], widths: Sequence[int], caption: str) -> Table:
        made = Table(
            title=Text(f"\n{self._title}"),
            title_justify="left",
            title_style="bold",
            caption=Text(caption) if caption else None,
            caption_justify="left",
            box=box.SIMPLE_HEAD,
            show_edge=False,
        )
        for number in shown:
            if number < self._names:
                least = self._width(number, widths)
                made.add_column(self._columns[number], overflow="fold", min_width=least)
            else:
                made.add_column(
                    self._columns[number],
                    justify="right",
                    no_wrap=True,
                    min_width=widths[number],
                )
        for row, cells in enumerate(self._rows):
            made.add_row(
                *(Text(cells[number]) for number in shown), end_section=row in self._sections
            )
        return made
