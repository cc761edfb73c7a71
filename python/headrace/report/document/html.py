"""A report as one HTML file without scripts, which needs nothing from the network."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape as escape_html
from importlib.resources import files

from headrace.plain_text import plain
from headrace.report.document.content import (
    Block,
    Bullets,
    Code,
    Facts,
    Footnote,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
    Text,
)
from headrace.report.document.footnotes import numbered

PAPER_COLOURS = {
    "#ffffff": "paper",
    "#000000": "ink",
    "#444444": "ink",
    "#dddddd": "grid",
    "#888888": "border",
    "#0072b2": "blue",
    "#d55e00": "red",
    "#009e73": "green",
    "#cc79a7": "pink",
    "#56b4e9": "sky",
}
"""Colours of figures that the style sheet changes on a dark screen, and the names there."""


def render(report: Report) -> str:
    """Return the HTML document of a report."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    notes = numbered(report)
    citations = _Citations({note.key: number for number, note in enumerate(notes, 1)})
    titles = [(section.identifier, section.title) for section in report.sections]
    titles += [("notes", "Notes")] if notes else []
    links = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in titles)
    body = "\n".join(_section(section, citations) for section in report.sections)
    body += _notes(notes, citations) if notes else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{escape(report.title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
<p class="subtitle">{escape(report.subtitle)}</p>
<nav><ul>{links}</ul></nav>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def escape(text: str) -> str:
    """Return a text as HTML, in which nothing is markup; it may stand in an attribute."""
    return escape_html(plain(text))


@dataclass
class _Citations:
    """Numbers of footnotes by their keys, and how often each was cited so far."""

    numbers: Mapping[str, int]
    counts: Counter[str] = field(default_factory=Counter)

    def cite(self, key: str) -> str:
        """Return a link to a footnote."""
        self.counts[key] += 1
        name = _citation(self.numbers[key], self.counts[key])
        return f'<sup><a id="{name}" href="#note-{self.numbers[key]}">{self.numbers[key]}</a></sup>'


def _citation(number: int, count: int) -> str:
    return f"cite-{number}" if count == 1 else f"cite-{number}-{count}"


def _section(section: Section, citations: _Citations) -> str:
    blocks = "\n".join(_block(block, citations) for block in section.blocks)
    title = f"<h2>{escape(section.title)}</h2>"
    page = ' class="page"' if section.own_page else ""
    return f'<section id="{section.identifier}"{page}>\n{title}\n{blocks}\n</section>'


def _notes(notes: list[Footnote], citations: _Citations) -> str:
    # References within notes count before their links back are written.
    texts = [_text(one.text, citations) for one in notes]
    items = []
    for number, (note, text) in enumerate(zip(notes, texts, strict=True), 1):
        back = " ".join(
            f'<a href="#{_citation(number, count)}" aria-label="back to the text">↩</a>'
            for count in range(1, citations.counts[note.key] + 1)
        )
        title = f"<strong>{escape(note.title)}.</strong> " if note.title else ""
        items.append(f'<li id="note-{number}">{title}{text} {back}</li>')
    body = "\n".join(items)
    return f'\n<section id="notes">\n<h2>Notes</h2>\n<ol class="notes">\n{body}\n</ol>\n</section>'


def _text(text: Text, citations: _Citations) -> str:
    if isinstance(text, str):
        return escape(text)
    return "".join(escape(it) if isinstance(it, str) else citations.cite(it.note) for it in text)


def _block(block: Block, citations: _Citations) -> str:
    match block:
        case Paragraph():
            name = "h3" if block.style == "heading" else "p"
            return f'<{name} class="{block.style}">{_text(block.text, citations)}</{name}>'
        case Bullets():
            items = "".join(f"<li>{_text(item, citations)}</li>" for item in block.items)
            return f"<ul>{items}</ul>"
        case Facts():
            rows = "".join(
                f"<dt>{escape(name)}</dt><dd>{_text(value, citations)}</dd>"
                for name, value in block.rows
            )
            return f"<dl>{rows}</dl>"
        case Code():
            return f"<pre><code>{escape(block.text)}</code></pre>"
        case Table():
            return _table(block, citations)
        case Picture():
            return _picture(block)


def _table(table: Table, citations: _Citations) -> str:
    rows = []
    if table.groups:
        cells = "".join(
            f'<th colspan="{count}" scope="colgroup">{escape(text)}</th>'
            for text, count in table.groups
        )
        rows.append(f"<tr>{cells}</tr>")
    heads = zip(table.columns, table.align, strict=True)
    cells = "".join(f'<th class="{at}" scope="col">{escape(cell)}</th>' for cell, at in heads)
    rows.append(f"<tr>{cells}</tr>")
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{at}">{_text(cell, citations)}</td>'
            for cell, at in zip(row, table.align, strict=True)
        )
        + "</tr>\n"
        for row in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return (
        f'<div class="table"><table>{caption}'
        f"<thead>{''.join(rows)}</thead>\n<tbody>\n{body}</tbody></table></div>{note}"
    )


def _picture(picture: Picture) -> str:
    caption = f"<strong>{escape(picture.title)}.</strong> {escape(picture.caption)}"
    image = inline(picture.svg, picture.name, picture.title)
    if picture.wide:
        image = f'<div class="wide">{image}</div>'
    return f"<figure>\n{image}\n<figcaption>{caption}</figcaption>\n</figure>"


def inline(svg: str, name: str, title: str) -> str:
    """Return an SVG file as an element of a page.

    Its identifiers get the figure's name, so that those of several figures differ. Its colours
    become those of the style sheet.
    """
    image = svg[svg.index("<svg") :]
    image = re.sub(r"<metadata>.*?</metadata>", "", image, flags=re.DOTALL)
    image = re.sub(r"<!--.*?-->", "", image, flags=re.DOTALL)
    image = re.sub(r'\bid="', f'id="{name}-', image)
    image = re.sub(r'href="#', f'href="#{name}-', image)
    image = re.sub(r"url\(#", f"url(#{name}-", image)
    for colour, variable in PAPER_COLOURS.items():
        image = image.replace(colour, f"var(--{variable}, {colour})")
    # Paths without a fill of their own are black: the glyphs of texts.
    start = f'<svg role="img" aria-label="{escape(title)}" fill="currentColor" '
    image = image.replace(' role="img"', "", 1).replace("<svg ", start, 1)
    # The style sheet gives the width.
    head, end, rest = image.partition(">")
    return re.sub(r' (width|height)="[^"]*"', "", head) + end + rest
