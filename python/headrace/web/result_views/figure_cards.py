"""Figures of a result in a row of cards."""

from collections.abc import Mapping
from html import escape

from nicegui import ui

STYLE = """
.hr-figures { display: grid; gap: 12px; width: 100%; margin: 8px 0 16px;
  grid-template-columns: repeat(auto-fill, minmax(min(150px, 45%), 1fr)); }
.hr-figures > div { border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 6px;
  padding: 8px 12px; }
.hr-figures dt { font-size: 13px; }
.hr-figures dd { margin: 0; font-size: 20px; font-variant-numeric: tabular-nums; }
.hr-figures .hr-base { font-size: 13px; }
"""


def show_figures(figures: Mapping[str, str], base: Mapping[str, str] | None = None) -> ui.element:
    """Show figures by their names, each with that of the base below it."""
    ui.add_css(STYLE)
    below = {} if base is None else {name: f"base: {base.get(name, '')}" for name in figures}
    cards = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
        + (f'<dd class="hr-base">{escape(below[name])}</dd>' if below else "")
        + "</div>"
        for name, text in figures.items()
    )
    return ui.html("".join(cards), sanitize=False, tag="dl").classes("hr-figures")
