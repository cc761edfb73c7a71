"""Small calculations: capacity, reliability, spares, power, cost, growth."""

from functools import partial
from typing import Any

from nicegui import ui

from headrace.commands.design import CALCULATIONS, record
from headrace.commands.parameters import Form, parameters
from headrace.web.access.users import User
from headrace.web.command_form import CommandFields, command_fields
from headrace.web.design.calculations import calculate
from headrace.web.figure_dialog import FigureDialog, figure_rows
from headrace.web.jobs import CommandForm, RefusedRequest
from headrace.web.layout import when_opened
from headrace.web.page import submit_button
from headrace.web.site import site


def build(user: User, calculator: str = "capacity") -> None:
    """Draw the calculators; `calculator` is the one that is open."""
    ui.link("Worksheets", "/design")
    with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
        for name in CALCULATIONS:
            ui.tab(name, label=record(name).form.title)
    opened = calculator if calculator in CALCULATIONS else "capacity"
    with ui.tab_panels(tabs, value=opened, animated=False).classes("w-full"):
        for name in CALCULATIONS:
            with ui.tab_panel(name).classes("q-px-none"):
                draw = partial(CalculatorPanel, record(name), site().forms["design", name])
                when_opened(tabs, draw, name)


class CalculatorPanel:
    """A calculator with its figures."""

    def __init__(self, calculation: Any, form: CommandForm) -> None:
        self._form = form
        shown: Form = calculation.form
        # Options of the terminal alone are not parameters of the calculation.
        names = [parameter.name for parameter in parameters(calculation)]
        more = [name for name in names if name not in {*shown.usual, *shown.fixed}]
        ui.label(form.summary)
        self._groups: list[CommandFields] = [
            command_fields(form, shown.usual, values=shown.example)
        ]
        with ui.expansion("More parameters").classes("w-full") as box:
            self._groups.append(command_fields(form, more, values=shown.example, within=box))
        compute = submit_button("Compute", self._compute, icon="calculate")
        compute.classes("q-my-md")
        self._error = ui.label("").props('role="alert"').classes("whitespace-pre-line")
        self._error.set_visibility(False)
        self._place = ui.element("div").classes("w-full").props('aria-live="polite"')

    async def _compute(self) -> None:
        self._error.set_visibility(False)
        try:
            values = {name: value for group in self._groups for name, value in group().items()}
            book = await calculate(self._form, values)
        except RefusedRequest as error:
            self._place.clear()
            self._error.text = str(error)
            self._error.set_visibility(True)
            return
        self._place.clear()
        with self._place:
            ui.label("A click on a figure shows its arithmetic.").classes("text-caption")
            figure_rows("Figures", list(book), FigureDialog(book))
