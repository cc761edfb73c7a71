"""The data-flow diagram of a worksheet."""

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from nicegui import ui

from headrace.web.access.users import User

if TYPE_CHECKING:
    from headrace.web.pages.design.editor import Editor


class FlowDiagram:
    """The diagram of the draft as it is."""

    def __init__(self, user: User, editor: "Editor") -> None:
        self._editor = editor
        ui.label(
            "How data moves between zones, clients and the outside. Without flows: the accesses of"
            " the applications."
        )
        self._state = ui.label("")
        with (
            ui.element("div")
            .classes("w-full overflow-auto")
            .props('tabindex=0 role=group aria-label="Data-flow diagram"')
        ):
            # As an image: nothing in it runs.
            self._image = ui.element("img").style("background: white; max-width: none")
            self._image.props('alt="Data-flow diagram of the worksheet"')

    def refresh(self) -> None:
        """Show the diagram of the saved text."""
        error = self._editor.checked.error
        self._state.text = "" if error is None else "The worksheet has a mistake: correct it first."
        if error is None:
            mark = hashlib.sha256(self._editor.sheet.text.encode()).hexdigest()[:16]
            name = quote(self._editor.name)
            self._image.props["src"] = f"/api/design/drafts/{name}/flow.svg?v={mark}"
        self._image.set_visibility(error is None)
