"""Content of a report, independent of its format: sections of blocks.

All texts are plain: a format escapes them.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from headrace.plain_text import plain, plain_line
from headrace.render import blocks as view

LONGEST = 400
"""Characters of a foreign name or command that are shown."""


class Reference(msgspec.Struct, frozen=True, tag="reference"):
    """A reference to a footnote."""

    note: str
    """Key of the footnote."""


Text: TypeAlias = str | list[str | Reference]
"""A text, in which references to footnotes may stand."""


def parts(text: Text) -> list[str | Reference]:
    """Return a text as its parts, to be joined with others."""
    return [text] if isinstance(text, str) else text


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph"):
    """A paragraph."""

    text: Text
    style: Literal["normal", "lead", "heading", "note"] = "normal"
    """"lead" is the main statement of the report, "note" is small print."""


class Bullets(msgspec.Struct, frozen=True, tag="bullets"):
    """A list."""

    items: Sequence[Text]


class Facts(msgspec.Struct, frozen=True, tag="facts"):
    """Names with their values, a line each."""

    rows: Sequence[tuple[str, Text]]


class Table(msgspec.Struct, frozen=True, tag="table"):
    """A table."""

    title: str
    columns: list[str]
    align: str
    """A letter for each column: "l" for words, "r" for figures, "w" for long texts, "W" for texts
    that are longer still."""
    rows: Sequence[Sequence[Text]]
    groups: list[tuple[str, int]] = []
    """Headings above several columns: text and number of columns, left to right."""
    note: str = ""


class Code(msgspec.Struct, frozen=True, tag="code"):
    """Text in a file's format."""

    text: str
    language: str = ""
    columns: int = 1
    """Columns of a page; a screen has one."""


class Picture(msgspec.Struct, frozen=True, tag="picture"):
    """A figure with its caption."""

    name: str
    """Name of its file, without the suffix."""
    title: str
    caption: str
    svg: str
    wide: bool = False
    """Whether it is too wide for a page: a PDF turns its page, a screen scrolls it."""


Block: TypeAlias = Paragraph | Bullets | Facts | Table | Code | Picture


class Section(msgspec.Struct, frozen=True):
    """A section of the report."""

    identifier: str
    title: str
    blocks: list[Block]
    own_page: bool = False
    """Whether a document with pages begins a new page after it."""


class Footnote(msgspec.Struct, frozen=True):
    """A footnote. Its number follows from the place of the first reference to it."""

    key: str
    """Unique in the report."""
    title: str
    text: Text


class Report(msgspec.Struct, frozen=True):
    """A whole report."""

    title: str
    subtitle: str
    sections: list[Section]
    footnotes: list[Footnote] = []
    """Only those that are referred to are shown."""


LONG_TEXT = 40
"""Characters from which the cells of a column may be broken."""


def of_view(table: view.Table) -> Table:
    """Return a table of a view."""
    rows = [[foreign(cell) for cell in row] for row in table.rows()]
    longest = [max((len(row[at]) for row in rows), default=0) for at in range(len(table.columns))]
    align = "".join(
        "r" if at >= table.names else "w" if letters > LONG_TEXT else "l"
        for at, letters in enumerate(longest)
    )
    names = [column.name[:1].upper() + column.name[1:] for column in table.columns]
    return Table(table.title, names, align, rows, note=table.caption)


def foreign(text: object, longest: int = LONGEST) -> str:
    """Return a text from outside in one line: control characters are escaped, the end of a long
    text is cut and counted."""
    line = plain_line(str(text))
    return line if len(line) <= longest else f"{line[:longest]}… ({len(line)} characters)"


def foreign_lines(text: object, longest: int = 40_000) -> str:
    """Return a text from outside with its lines, as `foreign` does."""
    lines = plain(str(text))
    return lines if len(lines) <= longest else f"{lines[:longest]}\n… ({len(lines)} characters)"
