"""One uploaded trace, and what can be done with it."""

from typing import Any

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.jobs import JobRequest, RefusedRequest
from headrace.web.jobs.directory import NAME
from headrace.web.layout import heading
from headrace.web.page import NotThere, submit_and_follow, submit_button
from headrace.web.pages.traces.replay import draw_replay
from headrace.web.site import site

TARGETS = ("trace.parquet", "trace.csv")
"""Names of the files that a conversion writes."""


def build(user: User, name: str) -> None:
    """Draw the page."""
    path = site().paths.uploads(user.name) / name
    if not NAME.fullmatch(name) or not path.is_file():
        raise NotThere(f"There is no trace {name}.")
    heading(name)
    error = ui.label().classes("text-negative").props('role="alert"')
    value = f"upload:{name}"

    async def start(command: tuple[str, ...], title: str, **values: Any) -> None:
        error.set_text("")
        request = JobRequest(command=command, values=values, title=f"{title} of {name}")
        try:
            await submit_and_follow(request, user)
        except RefusedRequest as refused:
            error.set_text(str(refused))

    with ui.row().classes("gap-3 items-center"):
        submit_button(
            "Characteristics",
            lambda: start(("trace", "info"), "Characteristics", trace=value, full=True),
            icon="insights",
        )
        submit_button(
            "Costly requests",
            lambda: start(("trace", "findings"), "Costly requests", trace=value),
            icon="report",
        )
    with ui.row().classes("gap-3 items-end q-mt-md"):
        target = ui.select(list(TARGETS), label="Convert to", value=TARGETS[0]).classes("w-48")
        target.props("outlined dense stack-label")
        submit_button(
            "Convert",
            lambda: start(
                ("trace", "convert"), "Conversion", trace=value, target=f"output:{target.value}"
            ),
            icon="transform",
        ).props("outline")
    draw_replay(user, name)
