"""Studies of a scenario as jobs: what-if, sweep, optimum."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import msgspec
from nicegui import ui

from headrace.alternatives.table import GROUPS
from headrace.optimisation.goals import COST, EXAMPLES, WrongGoal, goals
from headrace.optimisation.samplers import SAMPLERS
from headrace.sweeps import DESIGNS, FIGURES, METHODS
from headrace.sweeps.axis import WrongAxis, parse
from headrace.web.access.users import User
from headrace.web.command_form import CommandFields, command_fields
from headrace.web.field_control import field_control
from headrace.web.jobs import CommandForm, FormField, RefusedRequest
from headrace.web.layout import when_opened
from headrace.web.page import Address, submit_button
from headrace.web.pages.simulate.form import field_offers
from headrace.web.pages.simulate.job_panel import JobPanel, request_of
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.site import site
from headrace.web.typed import forget, keep, typed_entries

STUDIES = {
    "whatif": "What would help? Changes each resource and kind in turn.",
    "sweep": "How does it scale? Runs the scenario at every combination of values.",
    "optimise": "What is best? Searches values for an objective.",
}
GOAL_FIGURES = (*FIGURES, COST)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "figure": tuple(FIGURES),
    "maximise": GOAL_FIGURES,
    "minimise": GOAL_FIGURES,
    "design": tuple(DESIGNS),
    "sensitivity": tuple(METHODS),
    "sampler": SAMPLERS,
    "cost": tuple(GROUPS),
}
"""Values of parameters that the command itself checks."""
LINKED = {
    "required": False,
    "option": "--linked-fields",
    "help": "Fields that change together: path,path=(a,b),(c,d).",
}
MOST_CHECKED = 20
"""Values of a field that are checked before the start."""
RELATIONS = ("<=", ">=")
VARIED, LIMIT = "varied ", "constraint "
"""First words of the names under which rows are kept."""
GOALS = ("maximise", "minimise", "subject_to")
Rows: TypeAlias = Callable[[], Awaitable[list[str]]]
"""Checks rows of a form and returns their values. Raises RefusedRequest."""


class Studies:
    """Forms of the commands that run a scenario many times, and the result of the last one."""

    def __init__(self, user: User, draft: ScenarioDraft, address: Address) -> None:
        self._draft = draft
        self._axes: list[_Axes] = []
        for name, question in STUDIES.items():
            form = site().forms.get((name,))
            if form is None:
                continue
            expansion = ui.expansion(name, caption=question, group="studies").classes("w-full")
            with expansion:
                when_opened(expansion, partial(self._draw, name, form))
        self._panel = JobPanel(user, address, "study")

    def _draw(self, name: str, form: CommandForm) -> None:
        rows: dict[str, Rows] = {}
        if form.field("vary"):
            self._axes.append(_Axes(self._draft))
            self._axes[-1].refresh()
            rows |= {"vary": self._axes[-1].values}
        if form.field("subject_to"):
            rows |= {"subject_to": _Limits().values}
        fields = command_fields(_with_choices(form), without=("file", "sets", "subject_to"))
        start = submit_button(f"Start {name}", partial(self._start, name, fields, rows))
        start.classes("q-mt-sm")

    async def refresh(self) -> None:
        """Offer the fields that the scenario has now."""
        for axes in self._axes:
            axes.refresh()

    async def _start(self, name: str, fields: CommandFields, rows: dict[str, Rows]) -> None:
        try:
            values = fields()
            for key, checked in rows.items():
                # Linked fields come from the field of the form.
                values[key] = await checked() + values.get(key, [])
        except RefusedRequest:
            # It is shown at its field.
            return
        try:
            if not values.get("vary", True):
                raise RefusedRequest("choose a field, or give linked ones", "vary")
            if name == "optimise":
                maximise, minimise, limits = (values.get(key, ()) for key in GOALS)
                has_prices = not values.keys().isdisjoint(("price", "price_file"))
                goals(maximise, minimise, limits, has_prices)
        except RefusedRequest as error:
            fields.show_error(error)
        except WrongGoal as error:
            fields.show_error(RefusedRequest(str(error), GOALS[0]))
        else:
            request = request_of(self._draft, name, **values)
            await self._panel.submit(request, fields.show_error)


class _Axes:
    """Fields that vary, from the list of a scenario's fields, each with its values."""

    def __init__(self, draft: ScenarioDraft) -> None:
        self._draft = draft
        self._values: dict[str, ui.input] = {}
        self._chosen = ui.select(
            {}, label="Vary a field (type to search)", with_input=True, on_change=self._add
        ).props("outlined dense stack-label input-debounce=0")
        self._chosen.classes("w-full q-mb-sm")
        self._place = ui.element("div").classes("w-full")
        for name in typed_entries().pending:
            if name.startswith(VARIED):
                self._row(name.removeprefix(VARIED))

    def refresh(self) -> None:
        options = field_offers(self._draft.fields())
        if options != self._chosen.options:
            self._chosen.set_options(options, value=None)

    def _add(self) -> None:
        path = self._chosen.value
        if path is not None and path not in self._values:
            self._row(path)
            self._chosen.value = None

    def _row(self, path: str) -> None:
        hint = "Values with their units: 1, 2, 4; or a range: 1..8:4, 1..8:log4."
        with self._place, ui.row().classes("w-full items-start no-wrap q-mb-sm") as row:
            value = field_control("text", "", label=path, named=path, hint=hint)
            self._values[path] = keep(value, f"{VARIED}{path}").classes("col")
            button = ui.button(icon="delete", on_click=partial(self._remove, path, row))
            button.props(f'flat dense aria-label="Remove {path}"')

    def _remove(self, path: str, row: ui.row) -> None:
        del self._values[path]
        forget(f"{VARIED}{path}")
        row.delete()

    async def values(self) -> list[str]:
        for path, control in self._values.items():
            control.error = await self._wrong(path, str(control.value or ""))
            if control.error is not None:
                control.run_method("focus")
                raise RefusedRequest(f"{path}: {control.error}")
        return [f"{path}={control.value}" for path, control in self._values.items()]

    async def _wrong(self, path: str, text: str) -> str | None:
        """Return why values of a field are none; None if the scenario takes them."""
        if not text.strip():
            return "expected values, such as 1, 2, 4"
        try:
            axis = parse(f"{path}={text}")
        except WrongAxis as error:
            return _reason(error)
        ends = [(axis.range.low,), (axis.range.high,)] if axis.range else axis.rows
        for (value,) in ends[:MOST_CHECKED]:
            setting = f"{path}={value}"
            answer = await site().quick.ask("check", self._draft.text, [setting])
            if answer.error is not None:
                return f"{value}: {answer.error.message.removeprefix(f'--set {setting}: ')}"
        return None


class _Limits:
    """Constraints: a figure, and the limit that it keeps."""

    def __init__(self) -> None:
        self._limits: list[tuple[Any, Any, Any]] = []
        self._place = ui.element("div").classes("w-full")
        ui.button("Add a constraint", icon="add", on_click=self._add).props("flat")
        self._numbers = count()
        typed = [name.split()[1] for name in typed_entries().pending if name.startswith(LIMIT)]
        for _ in range(max((int(number) + 1 for number in typed), default=0)):
            self._add()

    def _add(self) -> None:
        number = next(self._numbers)
        with self._place, ui.row().classes("w-full items-start q-mb-sm") as row:
            figure = ui.select(list(GOAL_FIGURES), label="Figure", value="latency_p99")
            relation = ui.select(list(RELATIONS), label="Relation", value="<=")
            hint = f"With its unit, such as {' or '.join(EXAMPLES.values())}."
            limit = field_control("text", "", label="Limit", named="Limit", hint=hint)
            entry = (figure.props("outlined dense"), relation.props("outlined dense"), limit)
            self._limits.append(entry)
            names = [f"{LIMIT}{number} {part}" for part in ("figure", "relation", "limit")]
            for name, field in zip(names, entry, strict=True):
                keep(field, name)

            def remove() -> None:
                self._limits.remove(entry)
                forget(*names)
                row.delete()

            button = ui.button(icon="delete", on_click=remove)
            button.props('flat dense aria-label="Remove the constraint"')

    async def values(self) -> list[str]:
        texts = []
        for figure, relation, limit in self._limits:
            texts.append(f"{figure.value} {relation.value} {limit.value}")
            limit.error = None
            try:
                goals((COST,), (), texts[-1:], has_prices=True)
            except WrongGoal as error:
                limit.error = _reason(error)
                limit.run_method("focus")
                raise RefusedRequest(f"{texts[-1]}: {limit.error}") from None
        return texts


def _reason(error: ValueError) -> str:
    """Return an error without the option that it names."""
    text = str(error)
    return text.partition("': ")[2] or text


def _with_choices(form: CommandForm) -> CommandForm:
    def changed(field: FormField) -> FormField:
        choices = CHOICES.get(field.name)
        changes = LINKED if field.name == "vary" else {"kind": "choice", "choices": choices}
        is_changed = field.name == "vary" or choices is not None
        return msgspec.structs.replace(field, **changes) if is_changed else field

    return msgspec.structs.replace(form, fields=tuple(map(changed, form.fields)))
