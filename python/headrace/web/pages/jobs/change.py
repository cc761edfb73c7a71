"""A job's request, changed and submitted once more."""

import msgspec
from nicegui import ui

from headrace.web.access.users import User
from headrace.web.command_form import command_fields
from headrace.web.jobs import RefusedRequest
from headrace.web.layout import heading
from headrace.web.page import NotThere, submit_and_follow, submit_button
from headrace.web.site import site
from headrace.web.typed import keep


def change(user: User, identifier: str) -> None:
    """Draw the form of a job's request."""
    job = site().jobs.job(identifier)
    form = None if job is None else site().forms.get(job.request.command)
    if job is None or form is None:
        raise NotThere(f"There is no job {identifier}. It may have been removed.")
    request = job.request
    heading(job.title)
    ui.label(form.summary)
    title = keep(ui.input("Title", value=request.title), "title").classes("w-full q-my-md")
    title.props("outlined dense stack-label")
    fields = command_fields(form, values=request.values)
    inputs = {
        name: keep(ui.textarea(name, value=text), f"input {name}")
        .classes("w-full q-mt-md")
        .props("outlined autogrow")
        for name, text in request.inputs.items()
    }
    for area in inputs.values():
        area.props("input-class=font-mono")

    async def submit() -> None:
        try:
            changed = msgspec.structs.replace(
                request,
                values=fields(),
                inputs={name: str(area.value) for name, area in inputs.items()},
                title=str(title.value).strip(),
            )
            await submit_and_follow(changed, user)
        except RefusedRequest as error:
            fields.show_error(error)

    submit_button("Run", submit, icon="play_arrow").classes("q-mt-md")
