"""Tables in pages."""

from collections.abc import Collection, Sequence

from nicegui import ui

LONGEST_FIGURE = 10
"""Letters of a figure with its unit."""


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    page: int = 50,
) -> ui.table:
    """Show a table of texts.

    Parameters:
        title: Line above it.
        columns: Headings.
        rows: Cells, as many in each row as there are columns.
        left: Numbers of the columns of names; figures stand to the right.
        page: Rows that are shown at once.
    """
    table = ui.table(
        title=title,
        columns=[
            {
                "name": str(at),
                "label": name,
                "field": str(at),
                "align": "left" if at in left else "right",
                "classes": "whitespace-pre-line",
            }
            for at, name in enumerate(columns)
        ],
        rows=[],
        row_key="row",
        pagination=page if len(rows) > page else None,
    ).classes("w-full")
    # A tuple: NiceGUI watches each row of a list.
    table.props["rows"] = tuple(
        {"row": at, **{str(number): _unbroken(cell) for number, cell in enumerate(row)}}
        for at, row in enumerate(rows)
    )
    table.props(f'dense flat bordered wrap-cells aria-label="{title.replace(chr(34), chr(39))}"')
    return table


def _unbroken(text: str) -> str:
    """Return a text that stays in one line if it is as short as a figure with its unit."""
    return text.replace(" ", "\N{NO-BREAK SPACE}") if len(text) <= LONGEST_FIGURE else text
