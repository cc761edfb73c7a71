"""A design with its parts, figures and applications; each figure opens its arithmetic."""

from nicegui import ui

from headrace.views.solution import configuration
from headrace.web.command_form import STYLE as FIELDS_STYLE
from headrace.web.design.figures import APPLICATIONS, GROUPS, UNKNOWN, DesignView, FrontPoint
from headrace.web.figure_dialog import FigureDialog, cell, figure_rows, header
from headrace.web.layout import heading
from headrace.web.tables import show_table

NUMBERS = ("number", "price", "amount")
TITLES = {
    "capacity": "Capacity",
    "reliability": "Reliability",
    "facility": "Power, cooling and space",
    "cost": "Cost",
}


def show_design(view: DesignView, point: FrontPoint) -> None:
    """Draw a design."""
    evaluation = view.evaluation
    heading(f"Design {point.label}: {evaluation.design.name}")
    for missed in evaluation.violations:
        ui.label(
            f"Misses {missed.field}: {missed.message} (wanted {missed.wanted}, got {missed.got})"
        ).classes("text-negative")
    dialog = FigureDialog(view.book)
    for line in configuration(evaluation):
        ui.label(line)
    ui.label("A click on a figure shows its arithmetic.").classes("text-caption")
    _bill(view, dialog)
    if evaluation.performance:
        show_table("Applications", APPLICATIONS, view.applications(), left=(0, 6))
        for note in dict.fromkeys(note for one in evaluation.performance for note in one.notes):
            ui.label(note).classes("text-caption")
    ui.add_css(FIELDS_STYLE)
    with ui.element("div").classes("hr-fields"):
        for group in GROUPS:
            figures = view.group(group)
            if figures:
                with ui.element("div"):
                    heading(TITLES[group], 3)
                    figure_rows(TITLES[group], figures, dialog)


def _bill(view: DesignView, dialog: FigureDialog) -> None:
    heading("Bill of materials", 3)
    with (
        ui.element("div").classes("w-full overflow-auto"),
        ui.element("table").classes("hr-figure-rows").props('aria-label="Bill of materials"'),
    ):
        header("part", "entry of the catalogue", *NUMBERS, right=NUMBERS)
        with ui.element("tbody"):
            for line in view.bill:
                with ui.element("tr"):
                    cell(line.part.title)
                    cell(line.part.entry)
                    for figure in (line.count, line.price, line.amount):
                        with ui.element("td").classes("hr-number"):
                            if figure is None:
                                ui.label(UNKNOWN)
                            else:
                                dialog.button(figure.key)
