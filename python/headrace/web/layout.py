"""The frame of every page: header, navigation, content."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nicegui import app, ui

from headrace import __version__
from headrace.web.access.users import LOCAL, User
from headrace.web.typed import keep, typed_entries

if TYPE_CHECKING:
    from headrace.web.page import Page

SCRIPTS = {
    f"/scripts/{__version__}/{name}.js": name for name in ("scroll_areas", "toml_editor", "typed")
}
CURRENT = ' aria-current="page"'
STYLE = """
body { font-size: 15px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 9999; background: white; color: black; padding: 8px; }
:focus-visible { outline: 3px solid #d98e04; outline-offset: 2px; }
.hr-main { width: 100%; max-width: 1400px; margin: 0 auto; padding: 8px 16px 48px; }
.hr-main { overflow-wrap: anywhere; overflow-x: auto; min-width: 0; }
.hr-main table { overflow-wrap: normal; }
.hr-main pre, .hr-main .nicegui-markdown { max-width: 100%; overflow-x: auto; }
.q-btn, .q-tab { text-transform: none; }
.q-tab-panels { background: transparent; }
.hr-main h1, .hr-main h2 { font-weight: 600; line-height: 1.3; margin: 0; }
.hr-main h1 { font-size: 1.6rem; margin-bottom: 12px; }
.hr-main h2 { font-size: 1.2rem; margin: 20px 0 8px; }
.hr-main h3 { font-size: 1.05rem; font-weight: 600; line-height: 1.3; margin: 12px 0 4px; }
.hr-main a:not(.hr-card) { color: #1f5f8b; text-decoration: underline; }
.body--dark .hr-main a:not(.hr-card) { color: #7cc0ee; }
.hr-nav a { color: inherit; text-decoration: none; display: block; border-radius: 4px; }
.hr-nav a[aria-current] { background: rgba(31, 95, 139, 0.15); font-weight: 600; }
.hr-main fieldset { min-width: 0; }
@layer theme {
  /* The first layer: Quasar's important colours are in a later one. */
  .body--dark .text-primary:not(.bg-primary) { color: #7cc0ee !important; }
  .body--dark .text-negative { color: #ff8a80 !important; }
}
.body--dark .nicegui-echart text:not([fill="#010101"]) { fill: #dddddd !important; }
.body--dark .nicegui-echart [stroke="#000000"] { stroke: #dddddd; }
.body--dark .nicegui-echart [fill="#000000"]:not(text) { fill: #dddddd; }
.hr-tables { width: 100%; overflow-x: auto; }
.hr-tables table { border-collapse: collapse; margin: 8px 0; font-size: 13px; }
.hr-tables th, .hr-tables td { padding: 3px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.3);
  white-space: nowrap; }
.hr-tables caption { text-align: left; font-weight: 600; padding: 6px 0; }
.hr-tables summary { cursor: pointer; padding: 6px 0; font-weight: 600; }
"""


@contextmanager
def frame(page: "Page", pages: "tuple[Page, ...]", user: User) -> Iterator[None]:
    """Draw the frame of a page; what is drawn within comes into its content."""
    ui.add_css(STYLE)
    ui.colors(primary="#1f5f8b", secondary="#4b6472", accent="#a34700", negative="#b3261e")
    for url in SCRIPTS:
        ui.add_body_html(f'<script type="module" src="{url}"></script>')
    typed_entries()
    # None: as the browser prefers.
    dark = ui.dark_mode(app.storage.user.get("dark"))

    async def switch() -> None:
        dark.value = not await ui.run_javascript("Quasar.Dark.isActive", timeout=10.0)
        app.storage.user["dark"] = dark.value

    with ui.header(elevated=True).classes("items-center"):
        # First of all elements of the page.
        ui.html('<a class="skip" href="#content">Skip to content</a>', sanitize=False)
        menu = ui.button(icon="menu").props('flat color=white aria-label="Navigation"')
        ui.link("Headrace", "/").classes("text-white text-lg no-underline")
        ui.space()
        if user.name != LOCAL:
            ui.label(user.name)
            with ui.element("form").props('method="post" action="/logout"'):
                ui.button(icon="logout").props('flat color=white type=submit aria-label="Log out"')
        ui.button(icon="contrast", on_click=switch).props(
            'flat color=white aria-label="Light or dark"'
        )
    # Without a value NiceGUI asks the browser for one, and logs an error if the page is left.
    drawer = ui.left_drawer(value=False, bordered=True).props("show-if-above")
    with drawer:
        navigation = ui.html(_links(page, pages), sanitize=False, tag="nav")
        navigation.props('aria-label="Pages"').classes("hr-nav w-full")
    menu.on_click(drawer.toggle)
    # Quasar's page around it is the element main.
    with ui.element("div").props('id="content" tabindex="-1"').classes("hr-main"):
        heading(page.title, 1)
        yield


def _links(page: "Page", pages: "tuple[Page, ...]") -> str:
    """Return the links to all pages as HTML: elements of their own would cost 6 ms a page."""
    return "".join(
        f'<a href="{entry.path}"{CURRENT if entry is page else ""}>'
        '<div class="nicegui-row row items-center q-pa-sm">'
        f'<i class="q-icon notranslate material-icons" aria-hidden="true">{entry.icon}</i>'
        f"<div>{entry.title}</div></div></a>"
        for entry in pages
        if entry.in_navigation
    )


def heading(text: str, level: int = 2) -> None:
    """Draw a heading; the frame has the only one of level 1."""
    with ui.element(f"h{level}"):
        ui.label(text)


def when_opened(
    opener: ui.expansion | ui.switch | ui.tabs, draw: Callable[[], object], tab: str | None = None
) -> None:
    """Draw something here when an expansion or switch, or the tab of this name, is first open."""
    place, is_drawn = ui.context.slot, False

    def follow() -> None:
        nonlocal is_drawn
        if not is_drawn and opener.value == (tab or True):
            is_drawn = True
            with place:
                draw()

    opener.on_value_change(follow)
    keep(opener, "tab" if tab else f"open {opener.props.get('label', '')}")
    follow()


for _url, _name in SCRIPTS.items():
    _file = Path(__file__).with_name(f"{_name}.js")
    app.add_static_file(local_file=_file, url_path=_url, max_cache_age=0)
