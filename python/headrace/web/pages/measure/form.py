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
from headrace.web.page import submit_and_follow, submit_button
from headrace.web.pages.measure.mix_editor import MixEditor
from headrace.web.pages.measure.protocol_mix import ProtocolMix
from headrace.web.pages.measure.scenario_field import ScenarioField
from headrace.web.site import site

Part: TypeAlias = Callable[[], FormPart]
"""Function that returns what a part of the form adds to the request. Raises RefusedRequest."""


def build(user: User, name: str) -> None:
    """Draw the form of a benchmark."""
    found = benchmark(name)
    form = None if found is None else site().forms.get(found.command)
    if found is None or form is None:
        ui.label(f"There is no benchmark {name}.").props('role="alert"')
        ui.link("All benchmarks", "/measure")
        return
    with ui.element("h2").classes("text-xl"):
        ui.label(found.title)
    ui.label(found.question)
    ui.label(f"headrace {' '.join(found.command)}").classes("text-sm font-mono q-mb-sm")
    own = {found.directory, found.scenario, "workload" if found.composer else None}
    drawn = [it.name for it in form.fields if it.name not in own]
    main = [it for it in found.main if it in drawn]
    directory = DirectoryField() if found.directory else None
    parts: list[Part] = [ScenarioField(found.scenario).part] if found.scenario else []
    fields = [command_fields(form, only=main)]
    if found.composer:
        parts.append(MixEditor(sharing=found.name == "sharing").part)
    if found.name == "tune":
        parts.append(ProtocolMix().part)
    with ui.expansion("More parameters").classes("w-full"):
        fields.append(command_fields(form, only=[it for it in drawn if it not in main]))

    async def start() -> None:
        try:
            request = _request(found, directory, parts, fields)
            await submit_and_follow(request, user)
        except RefusedRequest as error:
            _show(error, found, directory, fields)

    submit_button("Measure", start, icon="play_arrow").classes("q-mt-md")


def _request(
    found: Benchmark,
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
    title = found.title
    if directory is not None and found.directory is not None:
        if not directory.value:
            raise RefusedRequest("a directory is required", found.directory)
        path = directory.value
        # An argument that takes a job file too is a list.
        values[found.directory] = [path] if found.directory == "paths" else path
        title = f"{found.title}: {path}"
    return JobRequest(command=found.command, values=values, inputs=inputs, title=title)


def _show(
    error: RefusedRequest,
    found: Benchmark,
    directory: DirectoryField | None,
    fields: list[CommandFields],
) -> None:
    """Show a refusal at its field."""
    if directory is not None and error.field == found.directory:
        directory.show_error(str(error))
        return
    of_field = [it for it in fields if it.form.field(error.field or "") and _has(it, error.field)]
    (of_field or fields)[0].show_error(error)


def _has(fields: CommandFields, name: str | None) -> bool:
    try:
        return fields.input(name or "") is not None
    except KeyError:
        return False
