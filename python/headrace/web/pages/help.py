"""The documentation, with search and with examples that open as simulations."""

from nicegui import app, ui

from headrace.web import help_texts
from headrace.web.access.users import User
from headrace.web.layout import heading
from headrace.web.page import NotThere, Page

WITHOUT = (
    "This installation has no documentation: a wheel made by make dist has it, and so has the"
    " repository."
)
EXTRAS = ["fenced-code-blocks", "tables", "header-ids"]


def build(user: User, search: str = "") -> None:
    """Draw the search and the list of all pages."""
    field = ui.input("Search the documentation", value=search).classes("w-full")
    field.props('clearable debounce=300 type="search"')
    box = ui.element("div").classes("w-full")

    def show(words: str) -> None:
        ui.navigate.history.replace(f"/help?search={words}" if words else "/help")
        box.clear()
        with box:
            _hits(words) if words.strip() else _contents()

    field.on_value_change(lambda: show(field.value or ""))
    with box:
        _hits(search) if search.strip() else _contents()


def _hits(words: str) -> None:
    hits = help_texts.search(words)
    ui.label(f"{len(hits)} pages" if hits else f"No page has all of: {words}").props(
        'aria-live="polite"'
    )
    for hit in hits:
        with ui.element("div").classes("q-my-sm"):
            ui.link(hit.page.title, f"/help/{hit.page.path}").classes("text-lg")
            ui.label(f"{hit.page.section}: {hit.line[:200]}")


def _contents() -> None:
    index = help_texts.pages().get("index")
    if index is None:
        ui.label(WITHOUT)
        return
    # Notebooks and files outside the documentation are in the repository only.
    lines = help_texts.markdown(index).splitlines()
    shown = [line for line in lines if ".ipynb)" not in line and "](../" not in line]
    ui.markdown("\n".join(shown), extras=EXTRAS).classes("w-full")


def one(user: User, section: str, name: str) -> None:
    """Draw a page of the documentation."""
    _draw(f"{section}/{name}")


def top(user: User, name: str) -> None:
    """Draw a page at the top of the documentation, such as the glossary."""
    _draw(name)


def deep(user: User, section: str, part: str, name: str) -> None:
    """Draw a page two levels down."""
    _draw(f"{section}/{part}/{name}")


def _draw(path: str) -> None:
    page = help_texts.pages().get(path)
    if page is None:
        raise NotThere(f"There is no page {path}." if help_texts.pages() else WITHOUT)
    ui.link("All pages", "/help")
    heading(page.title)
    if page.examples:
        with ui.row().classes("items-center"):
            ui.label("Open as a simulation:")
            for name in page.examples:
                ui.link(name, f"/simulate?example={name}")
    ui.markdown(help_texts.markdown(page), extras=EXTRAS)


def _serve_pictures() -> None:
    root = help_texts.directory()
    if root is not None:
        app.add_static_files("/help-files/images", root / "images")


_serve_pictures()
PAGE = Page(
    "/help",
    "Help",
    "help",
    build,
    {"/help/{name}": top, "/help/{section}/{name}": one, "/help/{section}/{part}/{name}": deep},
)
