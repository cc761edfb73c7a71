"""The frame of every page: header, navigation, content."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nicegui import app, ui

from headrace.web.access.users import LOCAL, User

if TYPE_CHECKING:
    from headrace.web.page import Page

STYLE = """
:root { --q-primary: #1f5f8b; }
body { font-size: 15px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 9999; background: white; padding: 8px; }
:focus-visible { outline: 3px solid #d98e04; outline-offset: 2px; }
.hr-main { width: 100%; max-width: 1400px; margin: 0 auto; padding: 16px; }
"""


@contextmanager
def frame(page: "Page", pages: "tuple[Page, ...]", user: User) -> Iterator[None]:
    """Draw the frame of a page; what is drawn within comes into its content."""
    ui.add_css(STYLE)
    ui.html('<a class="skip" href="#content">Skip to content</a>', sanitize=False)
    dark = ui.dark_mode().bind_value(app.storage.user, "dark")
    with ui.header(elevated=True).classes("items-center"):
        menu = ui.button(icon="menu").props('flat color=white aria-label="Navigation"')
        ui.link("Headrace", "/").classes("text-white text-lg no-underline")
        ui.space()
        if user.name != LOCAL:
            ui.label(user.name)
            with ui.element("form").props('method="post" action="/logout"'):
                ui.button(icon="logout").props('flat color=white type=submit aria-label="Log out"')
        ui.button(icon="contrast", on_click=lambda: dark.set_value(not dark.value)).props(
            'flat color=white aria-label="Light or dark"'
        )
    with ui.left_drawer(bordered=True) as drawer, ui.element("nav").props('aria-label="Pages"'):
        for it in pages:
            if it.in_navigation:
                here = ' aria-current="page"' if it is page else ""
                link = ui.link(target=it.path).classes("no-underline").props(here.strip())
                with link, ui.row().classes("items-center q-pa-sm"):
                    ui.icon(it.icon).props('aria-hidden="true"')
                    ui.label(it.title)
    menu.on_click(drawer.toggle)
    with ui.element("main").props('id="content" tabindex="-1"').classes("hr-main"):
        with ui.element("h1").classes("text-2xl q-mb-md"):
            ui.label(page.title)
        yield
