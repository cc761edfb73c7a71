"""A mix of file operations, composed in the page."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from nicegui import events, ui

from headrace.web.jobs import RefusedRequest
from headrace.web.jobs.job import FormPart
from headrace.web.layout import when_opened
from headrace.web.mix import GROUPS, OWN, SHARED, SHARING, SIZES, Mix, mixes, percentages
from headrace.web.mix import scenario_text as text_of
from headrace.web.typed import keep

DEFAULT = "mpfs-benchmark"
SHARING_START = {"shared-read": 70.0, "shared-write": 30.0}
"""Percentages with which the sharing tests begin."""


class MixEditor:
    """Preset mixes, with percentages for each operation, files, order, locality and sharing."""

    def __init__(self, *, sharing: bool = False) -> None:
        """Draw the editor; with `sharing`, begin with operations on a shared file."""
        self._weights: dict[str, float | None] = {}
        """Percentage of each operation; those that are not drawn have one as well."""
        self._percent: dict[str, ui.number] = {}
        self._preset: ui.select = ui.select(
            {name: f"{name}: {text}" for name, text in mixes().items()},
            label="Preset mix",
            value=DEFAULT,
            on_change=lambda: self._set(percentages(str(self._preset.value))),
        ).classes("w-full q-mt-md")
        self._preset.props("outlined dense stack-label")
        self._preset.set_visibility(not sharing)
        keep(self._preset, "preset mix")
        self._own = ui.switch("Change the mix", value=sharing)
        if sharing:
            self._own.set_visibility(False)
        with ui.column().classes("w-full").bind_visibility_from(self._own, "value"):
            self._sum = ui.label().props('role="status"').classes("font-bold q-mt-md")
            self._set(SHARING_START if sharing else percentages(DEFAULT))
            when_opened(self._own, partial(self._draw, sharing))

    def part(self) -> FormPart:
        """Return the workload of the request. Raises RefusedRequest."""
        if not self._own.value:
            return FormPart({"workload": str(self._preset.value)})
        try:
            text = text_of(self._mix())
        except ValueError as error:
            self._error.set_text(str(error))
            raise RefusedRequest(f"the mix: {error}", "mix") from None
        self._error.set_text("")
        return FormPart({"workload": f"input:{OWN}"}, {OWN: text})

    def _draw(self, sharing: bool) -> None:
        shown = {"Shared file": GROUPS["Shared file"]} if sharing else GROUPS
        rest = {name: members for name, members in GROUPS.items() if name not in shown}
        self._groups_of(shown)
        if rest:
            with ui.expansion("Further operations").classes("w-full") as further:
                when_opened(further, partial(self._groups_of, rest))
        ui.button("Scale to 100 %", on_click=self._scale).props("outline")
        with ui.element("fieldset").classes("w-full hr-fields"):
            ui.element("legend").classes("font-bold")._text = "Sharing"
            self._sharing = ui.select(
                SHARING,
                label="Operations on the shared file",
                value="client" if sharing else "none",
            )
            self._clients = _number("Clients", "groups of processes", 1)
            self._processes = _number("Processes of each client", "", 4 if sharing else None)
        for number, element in enumerate((self._sharing, self._clients, self._processes)):
            keep(element, f"sharing {number}").props("outlined dense stack-label")
        with ui.expansion("Files and order", value=not sharing).classes("w-full") as files:
            self._open_files = partial(files.set_value, True)
            when_opened(files, self._draw_files)
        self._error = ui.label().classes("text-negative").props('role="alert"')

    def _draw_files(self) -> None:
        with ui.element("div").classes("hr-fields"):
            self._sizes = ui.select(SIZES, label="File sizes", value="")
            self._files = _number("Number of files", "empty: as the preset says")
            self._bytes = ui.input("Bytes of files for each operation/s", value="")
            self._bytes.props('hint="such as 10 MB; empty: as the preset says"')
            self._directories = _number("Directories for each operation/s", "SPEC SFS: 10")
            self._links = _number("Symbolic links for each operation/s", "SPEC SFS: 100")
            self._append = _number("Appends, % of writes", "Wang 2002: 80; the rest overwrites")
            self._groups = _number("Locality: groups of files", "drawn by a Poisson distribution")
            self._burst = _number("Writes in bursts, %", "consecutive writes")
            self._length = _number("Length of a burst", "writes")
            self._random = ui.input("Random access from file size", value="")
            self._random.props('hint="such as 1 MiB; smaller files are read in order"')
        for number, element in enumerate(self._elements()):
            keep(element, f"mix {number}").props("outlined dense stack-label")

    def _elements(self) -> list[Any]:
        return [
            *(self._sizes, self._files, self._bytes, self._directories),
            *(self._links, self._append, self._groups, self._burst, self._length),
            self._random,
        ]

    def _groups_of(self, groups: dict[str, tuple[str, ...]]) -> None:
        for group, names in groups.items():
            with ui.element("fieldset").classes("w-full"):
                ui.element("legend").classes("font-bold")._text = f"{group}, %"
                with ui.row().classes("w-full gap-2"):
                    for name in names:
                        self._percent[name] = field = ui.number(
                            name, value=self._weights[name], min=0, max=100, step=1
                        )
                        field.props("outlined dense stack-label").classes("w-36")
                        field.on_value_change(partial(self._entered, name))
                        keep(field, f"share {name}")

    def _entered(self, name: str, event: events.ValueChangeEventArguments[Any]) -> None:
        self._weights[name] = event.value
        self._add_up()

    def _set(self, weights: Mapping[str, float]) -> None:
        self._weights = {name: weights.get(name) for names in GROUPS.values() for name in names}
        for name, field in self._percent.items():
            field.value = weights.get(name)
        self._add_up()

    def _add_up(self) -> None:
        self._sum.set_text(f"Sum of the percentages: {self._total:.4g} %")

    @property
    def _total(self) -> float:
        return sum(value or 0 for value in self._weights.values())

    def _scale(self) -> None:
        total = self._total
        if total:
            given = {name: value for name, value in self._weights.items() if value}
            self._set({name: round(100 * value / total, 3) for name, value in given.items()})

    def _mix(self) -> Mix:
        def whole(field: ui.number) -> int | None:
            return None if field.value is None else int(field.value)

        # It draws the fields, if they are not yet.
        self._open_files()
        weights = {name: float(value) for name, value in self._weights.items() if value}
        shares = self._sharing.value if SHARED & weights.keys() else "none"
        return Mix(
            preset=str(self._preset.value),
            weights=weights,
            file_sizes=str(self._sizes.value or ""),
            files=whole(self._files),
            bytes_per_rate=self._bytes.value or None,
            directories_per_rate=self._directories.value,
            links_per_rate=self._links.value,
            append_percent=self._append.value,
            locality_groups=whole(self._groups),
            burst_percent=self._burst.value,
            burst_length=whole(self._length),
            random_from=self._random.value or None,
            sharing=str(shares),
            clients=whole(self._clients) or 1,
            processes=whole(self._processes),
        )


def _number(label: str, hint: str, value: float | None = None) -> ui.number:
    field = ui.number(label, value=value, min=0)
    field.props["hint"] = hint
    return field
