"""A report as one HTML file without scripts, which needs nothing from the network."""

import re
from html import escape as escape_html
from importlib.resources import files

from headrace.report.document.content import (
    Block,
    Bullets,
    Code,
    Facts,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
)
from headrace.report.plain_text import plain

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
    links = "".join(
        f'<li><a href="#{it.identifier}">{escape(it.title)}</a></li>' for it in report.sections
    )
    body = "\n".join(map(_section, report.sections))
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


def _section(section: Section) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    title = f"<h2>{escape(section.title)}</h2>"
    return f'<section id="{section.identifier}">\n{title}\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            name = "h3" if block.style == "heading" else "p"
            return f'<{name} class="{block.style}">{escape(block.text)}</{name}>'
        case Bullets():
            return f"<ul>{''.join(f'<li>{escape(it)}</li>' for it in block.items)}</ul>"
        case Facts():
            rows = "".join(
                f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in block.rows
            )
            return f"<dl>{rows}</dl>"
        case Code():
            return f"<pre><code>{escape(block.text)}</code></pre>"
        case Table():
            return _table(block)
        case Picture():
            return _picture(block)


def _table(table: Table) -> str:
    rows = []
    if table.groups:
        cells = "".join(
            f'<th colspan="{count}" scope="colgroup">{escape(text)}</th>'
            for text, count in table.groups
        )
        rows.append(f"<tr>{cells}</tr>")
    heads = zip(table.columns, table.align, strict=True)
    cells = "".join(f'<th class="{at}" scope="col">{escape(it)}</th>' for it, at in heads)
    rows.append(f"<tr>{cells}</tr>")
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{at}">{escape(it)}</td>' for it, at in zip(row, table.align, strict=True)
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
    image = image.replace("<svg ", start, 1)
    # The style sheet gives the width.
    head, end, rest = image.partition(">")
    return re.sub(r' (width|height)="[^"]*"', "", head) + end + rest
