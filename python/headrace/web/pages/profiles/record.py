"""The form that records a profile."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.command_form import CommandFields, command_fields
from headrace.web.jobs import JobRequest, RefusedRequest
from headrace.web.page import submit_and_follow, submit_button
from headrace.web.profiles import COMMAND
from headrace.web.site import site

NOT_ALLOWED = (
    "The operator of this server does not allow programs of users"
    " (headrace serve --allow-programs). You can watch a running process, or the whole host."
)
COMMON = ("interval", "name")


def draw_record(user: User) -> None:
    """Draw the three ways to record."""
    form = site().forms[COMMAND]
    with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
        program = ui.tab("Program", icon="terminal")
        process = ui.tab("Running process", icon="memory")
        host = ui.tab("Whole host", icon="dns")
    allowed = site().settings.programs
    with ui.tab_panels(tabs, value=program if allowed else process).classes("w-full"):
        with ui.tab_panel(program):
            if allowed:
                fields = command_fields(form, only=("command", *COMMON, "capture", "directory"))
                _button(user, fields, "a program", lambda values: bool(values.get("command")))
            else:
                ui.label(NOT_ALLOWED).props('role="note"')
        with ui.tab_panel(process):
            names = ("pid", "pid_name", "seconds", *COMMON)
            fields = command_fields(form, only=names if not allowed else (*names, "capture"))
            _button(
                user,
                fields,
                "a process by number or name",
                lambda values: bool(values.get("pid") or values.get("pid_name")),
            )
        with ui.tab_panel(host):
            fields = command_fields(form, only=("seconds", *COMMON), values={"seconds": 60})
            _button(user, fields, "a time span in seconds", lambda values: "seconds" in values)


def _button(
    user: User, fields: CommandFields, needed: str, complete: Callable[[dict[str, Any]], bool]
) -> None:
    error = ui.label().classes("text-negative").props('role="alert"')

    async def start() -> None:
        error.set_text("")
        try:
            values = fields()
            if not complete(values):
                error.set_text(f"Expected {needed}.")
                return
            title = f"Profile of {_what(values)}"
            request = JobRequest(command=COMMAND, values=values, title=title)
            await submit_and_follow(request, user, "/profiles")
        except RefusedRequest as refused:
            fields.show_error(refused)

    submit_button("Record", start, icon="fiber_manual_record")


def _what(values: dict[str, Any]) -> str:
    if values.get("name"):
        return str(values["name"])
    if values.get("command"):
        return str(values["command"][0]).rpartition("/")[2][:60]
    if values.get("pid"):
        return f"process {values['pid']}"
    return str(values.get("pid_name") or "the whole host")
