"""A field of a page for files to upload."""

import html
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui

from headrace.web.access.users import User
from headrace.web.file_button import while_open
from headrace.web.site import site
from headrace.web.uploads import RefusedUpload, UploadedFile

HEADER = """
<div class="row items-center no-wrap q-pa-sm q-gutter-sm">
  <span class="hidden"><q-uploader-add-trigger /></span>
  <q-btn outline icon="upload" color="white" label="LABEL" @click="props.pickFiles" />
  <span v-if="props.isUploading" role="status">{{ props.uploadProgressLabel }}</span>
  <span v-else>or drop it here</span>
</div>
"""


def upload_field(
    user: User,
    on_stored: Callable[[UploadedFile], Awaitable[Any] | Any],
    *,
    label: str = "Upload a file",
    accept: str = "",
) -> ui.upload:
    """Draw a field that stores each chosen file at once, among the user's files.

    Parameters:
        user: The user of the page.
        on_stored: Is called with each stored file; its `value` is that of a parameter of a job.
        label: Label of the field.
        accept: Endings that the browser offers, such as `.csv,.gz`.
    """
    limit = site().settings.limits.upload
    call = while_open(on_stored)

    async def store(event: events.UploadEventArguments) -> None:
        try:
            stored = await site().uploads.store(user.name, event.file.name, event.file.iterate())
        except RefusedUpload as error:
            ui.notify(str(error), type="negative")
            return
        ui.notify(f"{stored.name}: {stored.size:,} bytes stored", type="positive")
        await call(stored)

    field = ui.upload(
        label=label,
        auto_upload=True,
        max_file_size=limit,
        on_upload=store,
        on_rejected=lambda: ui.notify(f"expected at most {limit:,} bytes", type="negative"),
    )
    # Quasar's own header has a button without a name.
    field.add_slot("header", HEADER.replace("LABEL", html.escape(label)))
    return field.props(f'accept="{accept}"' if accept else "")
