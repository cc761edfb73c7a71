"""The start page: three things a newcomer can do, and what is running."""

from nicegui import ui

from headrace.web.access.users import User
from headrace.web.page import Page


def build(user: User) -> None:
    """Draw the page."""
    with ui.row():
        ui.link("Simulate an example", "/simulate")
        ui.link("Measure a directory", "/measure")
        ui.link("Open a result", "/results")


PAGE = Page("/", "Start", "home", build)
