"""A field for a directory that the operator allows, with a list to choose from."""

import functools
from collections.abc import Callable

from nicegui import run, ui

from headrace.web.directories import Listing, list_directory, name_below
from headrace.web.jobs import RefusedRequest
from headrace.web.site import site
from headrace.web.typed import keep


class DirectoryField:
    """An input for the path, and a dialog that browses."""

    def __init__(self, label: str = "Directory", hint: str = "") -> None:
        allowed = [str(directory) for directory in site().settings.directories]
        with ui.row().classes("w-full items-start no-wrap q-mb-md"):
            self.input = ui.input(label, value=allowed[0] if allowed else "").classes("grow")
            self.input.props("outlined dense stack-label hide-bottom-space aria-required=true")
            self.input.props["hint"] = hint or "Benchmarks make a directory of their own below it."
            self.input.on_value_change(lambda: self.show_error(None))
            keep(self.input, label)
            ui.button("Browse", icon="folder_open", on_click=self._open).props("outline")
        if not allowed:
            self.show_error(
                "the operator allows no directory: start headrace serve with --allow-directory DIR"
            )
        self._dialog = ui.dialog()
        with self._dialog, ui.card().classes("w-full"):
            self._list = ui.column().classes("w-full gap-1")

    @property
    def value(self) -> str:
        """The path."""
        return str(self.input.value or "").strip()

    def show_error(self, message: str | None) -> None:
        """Show what is wrong with the path; None if nothing is."""
        self.input.error = message

    async def _open(self) -> None:
        self._dialog.open()
        await self._show(self.value or None)

    async def _show(self, path: str | None) -> None:
        listing: Listing | None = None
        message = ""
        try:
            listing = await run.io_bound(list_directory, site().settings, site().paths, path)
        except (RefusedRequest, OSError) as error:
            message = str(error)
        if listing is None:
            listing = await run.io_bound(list_directory, site().settings, site().paths, None)
        assert listing is not None
        self._list.clear()
        with self._list:
            self._entries(listing, message)

    def _entries(self, listing: Listing, message: str) -> None:
        ui.label(listing.path or "Directories that the operator allows").classes("font-bold")
        if message:
            ui.label(message).classes("text-negative").props('role="alert"')
        with ui.scroll_area().classes("w-full").style("height: 50vh"):
            if listing.path is not None:
                above = listing.parent
                self._entry("Directory above", "arrow_upward", lambda: self._show(above))
            for path in listing.directories:
                name = name_below(path, listing)
                self._entry(name, "folder", functools.partial(self._show, path))
            if listing.left_out:
                ui.label(f"{listing.left_out:,} more: enter the path")
        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=self._dialog.close).props("flat")
            if listing.path is not None:
                chosen = listing.path
                ui.button("Use this directory", on_click=lambda: self._choose(chosen))

    def _entry(self, name: str, icon: str, go: Callable[[], object]) -> None:
        ui.button(name, icon=icon, on_click=go).props("flat align=left").classes("w-full")

    def _choose(self, path: str) -> None:
        self.input.value = path
        self._dialog.close()
