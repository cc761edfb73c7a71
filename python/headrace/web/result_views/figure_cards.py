"""Figures of a result in a row of cards."""

from collections.abc import Mapping

from nicegui import ui

STYLE = """
.hr-figures { display: grid; gap: 12px; width: 100%; margin: 0 0 16px;
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
    with ui.element("dl").classes("hr-figures") as element:
        for name, text in figures.items():
            with ui.element("div"):
                with ui.element("dt"):
                    ui.label(name)
                with ui.element("dd"):
                    ui.label(text)
                if base is not None:
                    with ui.element("dd").classes("hr-base"):
                        ui.label(f"base: {base.get(name, '')}")
    return element
