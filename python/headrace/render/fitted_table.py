"""Tables that omit less important columns on a narrow terminal."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headrace.plain_text import plain

NAME_WIDTH = 28
"""Longer names are folded if a figure would have to go otherwise."""
LEAST_NAME_WIDTH = 6
"""Width that each name keeps where one figure has no room beside them."""
LEAST_FIGURE_WIDTH = 20
"""Longer cells of figures, which are texts, are folded if they have no room beside the names."""
BETWEEN = 3
"""Columns of a terminal between two of a table."""


class FittedTable:
    """A table with `names` columns of names, then columns of figures.

    Without room for all, the columns in `spare` are omitted in that order, and a line names them.
    If the rest is still too wide, the table is split into several with the same names and all
    columns. Names are folded, the widest most, until there is room for one column of figures.
    Lines are longer than the terminal only if it has not even room for that.
    """

    def __init__(
        self,
        title: str,
        names: int,
        columns: Sequence[str],
        spare: Sequence[str] = (),
        redirected_width: int | None = None,
    ) -> None:
        """Begin a table.

        Args:
            title: Line above it.
            names: Number of columns of names.
            columns: Headings.
            spare: Columns that are omitted first.
            redirected_width: Widest that it is where there is no terminal; None for no limit.
        """
        self.caption = ""
        self.left_out_caption = ""
        """What stands for omitted columns, instead of their names."""
        self._redirected_width = redirected_width
        self.title = title
        self.names = names
        self.columns = columns
        self._spare = spare
        self._widths: list[int] = []
        self.rows: list[tuple[str, ...]] = []
        self._sections: set[int] = set()

    def add_row(self, *cells: str) -> None:
        """A row of as many cells as columns; a name is never read as markup."""
        self.rows.append(tuple(map(plain, cells)))

    def add_section(self) -> None:
        """A line after the rows so far."""
        self._sections.add(len(self.rows) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._redirected_width is not None and not console.is_terminal:
            options = options.update(width=min(options.max_width, self._redirected_width))
        widths = [
            max(cell_len(line) for cell in cells for line in [*cell.split("\n"), ""])
            for cells in zip(self.columns, *self.rows, strict=True)
        ]
        self._widths = [min(it, NAME_WIDTH) for it in widths[: self.names]] + widths[self.names :]
        shown = list(range(len(self.columns)))
        left_out = []
        spare = [self.columns.index(name) for name in self._spare if name in self.columns]
        if self._least([name for name in shown if name not in spare]) > options.max_width:
            spare = []
        for number in spare:
            if self._least(shown) <= options.max_width:
                break
            shown.remove(number)
            left_out.append(self.columns[number])
        notes = [self.caption] if self.caption else []
        if left_out:
            names = f"a wider terminal also shows {', '.join(left_out)}"
            notes.append(self.left_out_caption or names)
        self._fold(shown, options.max_width)
        parts = self._parts(shown, options.max_width)
        for number, part in enumerate(parts, 1):
            title = f"{self.title} ({number} of {len(parts)})" if len(parts) > 1 else self.title
            width = max(self._least(part), options.max_width)
            caption = "\n".join(notes) if number == len(parts) else ""
            table = self._table(part, widths, title.strip(), caption, width)
            yield from console.render(table, options.update(width=width))

    def _fold(self, shown: Sequence[int], width: int) -> None:
        """Make the widest names narrower until each column of figures has room beside them. Give
        texts in such a column the room that remains."""
        figures = [number for number in shown if number >= max(self.names, 1)]
        widest = max((self._widths[number] for number in figures), default=-BETWEEN)
        names = range(max(self.names, 1))
        excess = self._least(names) + BETWEEN + min(widest, LEAST_FIGURE_WIDTH) - width
        self._widths[: self.names] = _narrowed(
            self._widths[: self.names], [LEAST_NAME_WIDTH] * self.names, excess
        )
        room = max(width - self._least(names) - BETWEEN, LEAST_FIGURE_WIDTH)
        for number in figures:
            self._widths[number] = min(self._widths[number], room)

    def _parts(self, shown: Sequence[int], width: int) -> list[list[int]]:
        """The columns of each table, names first, so that it is no wider; a table has one column
        of figures at least."""
        names, figures = list(shown[: max(self.names, 1)]), shown[max(self.names, 1) :]
        parts = [list(names)]
        for number in figures:
            part = parts[-1]
            if len(part) > len(names) and self._least([*part, number]) > width:
                part = list(names)
                parts.append(part)
            part.append(number)
        return parts

    def _least(self, shown: Sequence[int]) -> int:
        """The narrowest that these columns can be."""
        return sum(self._widths[number] + BETWEEN for number in shown) - 1

    def _table(
        self, shown: Sequence[int], widths: Sequence[int], title: str, caption: str, width: int
    ) -> Table:
        drawn = Table(
            title=Text(f"\n{title}"),
            title_justify="left",
            title_style="bold",
            caption=Text(caption) if caption else None,
            caption_justify="left",
            box=box.SIMPLE_HEAD,
            show_edge=False,
        )
        names = [number for number in shown if number < self.names]
        excess = sum(widths[number] - self._widths[number] for number in names)
        excess += self._least(shown) - width
        least = [self._widths[number] for number in names]
        fitted = dict(
            zip(names, _narrowed([widths[number] for number in names], least, excess), strict=True)
        )
        for number in shown:
            if number < self.names:
                drawn.add_column(self.columns[number], overflow="fold", width=fitted[number])
            elif self._widths[number] < widths[number]:
                folded = self._widths[number]
                drawn.add_column(self.columns[number], overflow="fold", width=folded)
            else:
                drawn.add_column(
                    self.columns[number], justify="right", no_wrap=True, min_width=widths[number]
                )
        for rows, end_section in self._blocks(shown, widths, width):
            drawn.add_row(
                *(Text("\n".join(row[number] for row in rows)) for number in shown),
                end_section=end_section,
            )
        return drawn

    def _blocks(
        self, shown: Sequence[int], widths: Sequence[int], width: int
    ) -> Iterator[tuple[Sequence[tuple[str, ...]], bool]]:
        """The rows that are laid out together, and whether a line follows.

        A row whose cells have one line each needs no layout of its own. A section of such rows is
        laid out as one, which takes a fraction of the time.
        """
        fits = sum(widths[number] + BETWEEN for number in shown) - 1 <= width
        if not fits or any("\n" in cell for row in self.rows for cell in row):
            for number, row in enumerate(self.rows):
                yield [row], number in self._sections
            return
        begin = 0
        for last in sorted({*self._sections, len(self.rows) - 1}):
            if begin <= last:
                yield self.rows[begin : last + 1], last in self._sections
                begin = last + 1


def _narrowed(widths: Sequence[int], least: Sequence[int], excess: int) -> list[int]:
    """Return widths whose sum is smaller by `excess` if they can be: the widest are reduced, and
    none to less than its `least`."""
    narrowed = list(widths)
    for _ in range(excess):
        wide = [number for number, width in enumerate(narrowed) if width > least[number]]
        if not wide:
            break
        # Of equal ones the last: the first name identifies a row.
        narrowed[max(wide, key=lambda number: (narrowed[number], number))] -= 1
    return narrowed
