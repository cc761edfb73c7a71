"""The form of one benchmark."""

from collections.abc import Callable
from typing import Any, TypeAlias

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.benchmarks import Benchmark, benchmark
from headrace.web.command_form import CommandFields, command_fields
from headrace.web.directory_field import DirectoryField
from headrace.web.jobs import JobRequest, RefusedRequest
from headrace.web.jobs.job import FormPart
from headrace.web.layout import heading
from headrace.web.page import NotThere, submit_and_follow, submit_button
from headrace.web.pages.measure.mix_editor import MixEditor
from headrace.web.pages.measure.protocol_mix import ProtocolMix
from headrace.web.pages.measure.scenario_field import ScenarioField
from headrace.web.site import site

Part: TypeAlias = Callable[[], FormPart]
"""Function that returns what a part of the form adds to the request. Raises RefusedRequest."""


def build(user: User, name: str) -> None:
    """Draw the form of a benchmark."""
    chosen = benchmark(name)
    form = None if chosen is None else site().forms.get(chosen.command)
    if chosen is None or form is None:
        raise NotThere(f"There is no benchmark {name}.")
    heading(chosen.title)
    ui.label(chosen.question)
    ui.label(f"headrace {' '.join(chosen.command)}").classes("text-sm font-mono q-mb-sm")
    own = {chosen.directory, chosen.scenario, "workload" if chosen.composer else None}
    drawn = [field.name for field in form.fields if field.name not in own]
    main = [key for key in chosen.main if key in drawn]
    directory = DirectoryField() if chosen.directory else None
    parts: list[Part] = [ScenarioField(chosen.scenario).part] if chosen.scenario else []
    fields = [command_fields(form, only=main)]
    if chosen.composer:
        parts.append(MixEditor(sharing=chosen.name == "sharing").part)
    if chosen.name == "tune":
        parts.append(ProtocolMix().part)
    with ui.expansion("More parameters").classes("w-full") as more:
        rest = [key for key in drawn if key not in main]
        fields.append(command_fields(form, only=rest, within=more))

    async def start() -> None:
        try:
            request = _request(chosen, directory, parts, fields)
            await submit_and_follow(request, user)
        except RefusedRequest as error:
            _show(error, chosen, directory, fields)

    submit_button("Measure", start, icon="play_arrow").classes("q-mt-md")


def _request(
    kind: Benchmark,
    directory: DirectoryField | None,
    parts: list[Part],
    fields: list[CommandFields],
) -> JobRequest:
    values: dict[str, Any] = {}
    inputs: dict[str, str] = {}
    for fields_of in fields:
        values |= fields_of()
    for part in parts:
        more = part()
        values |= more.values
        inputs |= more.inputs
    title = kind.title
    if directory is not None and kind.directory is not None:
        if not directory.value:
            raise RefusedRequest("a directory is required", kind.directory)
        path = directory.value
        # An argument that takes a job file too is a list.
        values[kind.directory] = [path] if kind.directory == "paths" else path
        title = f"{kind.title}: {path}"
    return JobRequest(command=kind.command, values=values, inputs=inputs, title=title)


def _show(
    error: RefusedRequest,
    kind: Benchmark,
    directory: DirectoryField | None,
    fields: list[CommandFields],
) -> None:
    """Show a refusal at its field."""
    if directory is not None and error.field == kind.directory:
        directory.show_error(str(error))
        return
    of_field = [it for it in fields if it.form.field(error.field or "") and _has(it, error.field)]
    (of_field or fields)[0].show_error(error)


def _has(fields: CommandFields, name: str | None) -> bool:
    try:
        return fields.input(name or "") is not None
    except KeyError:
        return False
