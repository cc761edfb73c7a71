"""Tables of reference pages between markers that name the tool which writes them."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"


def with_tables(text: str, tables: Mapping[str, Iterable[str]], tool: str, page: str) -> str:
    """Return the text of a page with current tables between its markers.

    Args:
        text: The page.
        tables: Rows by the names of the markers.
        tool: The tool that the markers name, such as "tools/design_tables.py".
        page: Name of the page in messages.

    Raises:
        ValueError: The page does not have the markers of a table once.
    """
    for name, rows in tables.items():
        start, end = f"<!-- {name}: {tool} -->", f"<!-- end of {name} -->"
        body = "\n".join([start, "", "\n".join(rows).rstrip(), "", end])
        parts = re.split(re.escape(start) + ".*?" + re.escape(end), text, flags=re.DOTALL)
        if len(parts) != 2:
            raise ValueError(f"{page}: expected one {start} with {end}")
        text = body.join(parts)
    return text


def update(pages: Mapping[Path, Mapping[str, Iterable[str]]], tool: str) -> int:
    """Write the tables of pages, or with `--check` compare them.

    Returns:
        Exit status: 1 if a page that was compared differs.
    """
    is_check = sys.argv[1:] == ["--check"]
    status = 0
    for page, tables in pages.items():
        text = page.read_text(encoding="utf-8")
        new = with_tables(text, tables, tool, str(page))
        if not is_check:
            page.write_text(new, encoding="utf-8")
        elif text != new:
            print(f"{page}: the tables are out of date: run python {tool}")
            status = 1
    return status
