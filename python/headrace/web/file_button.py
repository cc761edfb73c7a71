"""A button that opens a text file of the user's device."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui


def while_open(call: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """Return a function that calls another one while the page is open, and then forgets it.

    FastAPI remembers the functions of thousands of routes, and each field for files has a route.
    Without this they would keep what the page shows.
    """
    calls = [call]
    ui.context.client.on_delete(calls.clear)

    async def call_if_open(*arguments: Any) -> None:
        for current in calls:
            done = current(*arguments)
            if isinstance(done, Awaitable):
                await done

    return call_if_open


def file_button(
    label: str,
    on_text: Callable[[str, str], Awaitable[Any] | Any],
    *,
    largest: int,
    props: str = "outline",
    accept: str = ".toml",
) -> None:
    """Draw the button.

    Parameters:
        label: Text of the button.
        on_text: Is called with the name and the text of the chosen file.
        largest: Bytes of a file.
        props: Quasar properties of the button.
        accept: Endings that the browser offers, such as `.toml`.
    """

    call = while_open(on_text)

    async def opened(event: events.UploadEventArguments) -> None:
        event.sender.run_method("reset")
        try:
            text = await event.file.text()
        except UnicodeDecodeError:
            ui.notify("expected a text in UTF-8", type="negative")
            return
        await call(event.file.name, text)

    field = ui.upload(
        auto_upload=True,
        max_file_size=largest,
        on_upload=opened,
        on_rejected=lambda: ui.notify(f"expected at most {largest:,} bytes", type="negative"),
    )
    field.props(f'accept="{accept}"').classes("hidden")
    # In the browser: it opens files only on a click.
    ui.button(label, icon="upload").props(props).on(
        "click", js_handler=f"() => getElement({field.id}).$refs.qRef.pickFiles()"
    )
