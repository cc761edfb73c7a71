"""The start page: three things a newcomer can do, what is running, and the newest results."""

from typing import TYPE_CHECKING

from nicegui import run, ui

from headrace.store.errors import StoreError, StoreFailure
from headrace.web.access.users import User
from headrace.web.jobs import Job, JobState
from headrace.web.layout import heading
from headrace.web.page import Page
from headrace.web.pages.jobs.words import ICONS, span
from headrace.web.site import site

if TYPE_CHECKING:
    from headrace.store.listing import ResultEntry

CARDS = (
    ("Simulate an example", "/simulate", "insights", "See where a storage system spends its time."),
    ("Measure a directory", "/measure", "speed", "Run a benchmark on a real file system."),
    ("Open a result", "/results", "table_chart", "Find, compare and export results."),
)
NEWEST = 5
"""Results shown."""
MOST_JOBS = 10
EVERY_S = 1.0
STYLE = """
.hr-cards { display: grid; gap: 16px; width: 100%;
  grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); }
.hr-card { display: block; padding: 24px; border: 1px solid #8888; border-radius: 8px;
  text-decoration: none; color: inherit; }
.hr-card .text-h6 { color: #1f5f8b; text-decoration: underline; }
.body--dark .hr-card .text-h6 { color: #7cc0ee; }
.hr-card:hover { border-color: #1f5f8b; box-shadow: 0 0 0 1px #1f5f8b; }
"""


def build(user: User) -> None:
    """Draw the page."""
    ui.add_css(STYLE)
    with ui.element("div").classes("hr-cards"):
        for title, target, icon, sentence in CARDS:
            with ui.link(target=target).classes("hr-card"):
                ui.icon(icon, size="lg").props('aria-hidden="true"')
                ui.label(title).classes("text-h6")
                ui.label(sentence)
    _heading("Running now")
    running = ui.element("div").classes("w-full")
    _follow(running)
    _heading("Newest results")
    with ui.element("div").classes("w-full") as results:
        ui.timer(0, lambda: _show_results(results), once=True)


def _follow(place: ui.element) -> None:
    """Draw the jobs that run and wait, and redraw the list when others do.

    Otherwise only their times change: a link that is replaced meanwhile loses a click.
    """
    drawn: dict[tuple[str, JobState], ui.label] = {}
    is_drawn = False

    def refresh() -> None:
        nonlocal is_drawn
        jobs = site().jobs.jobs([JobState.RUNNING, JobState.WAITING])
        # Those that run first, and those that wait in the order in which they came.
        jobs = sorted(jobs, key=lambda job: (job.state is not JobState.RUNNING, job.created))
        named = {(job.id, job.state): job for job in jobs}
        if not is_drawn or list(named)[:MOST_JOBS] != list(drawn):
            is_drawn = True
            place.clear()
            drawn.clear()
            with place:
                drawn.update(_draw_jobs(jobs))
        for key, label in drawn.items():
            label.set_text(_state_text(named[key]))

    refresh()
    ui.timer(EVERY_S, refresh)


def _draw_jobs(jobs: list[Job]) -> dict[tuple[str, JobState], ui.label]:
    """Draw jobs, and return the labels of their states."""
    labels: dict[tuple[str, JobState], ui.label] = {}
    if not jobs:
        ui.label("Nothing runs.")
        return labels
    with ui.element("ul").classes("q-my-none q-pl-md"):
        for job in jobs[:MOST_JOBS]:
            with ui.element("li"), ui.row().classes("items-center"):
                ui.icon(ICONS[job.state]).props('aria-hidden="true"')
                ui.link(job.title, f"/jobs/{job.id}")
                labels[job.id, job.state] = ui.label().classes("text-caption")
    if len(jobs) > MOST_JOBS:
        ui.link("All jobs that run and wait", "/jobs")
    return labels


def _state_text(job: Job) -> str:
    spent = f" for {span(job.seconds)}" if job.seconds is not None else ""
    return f"{job.state.value}{spent}, by {job.owner}"


async def _show_results(place: ui.element) -> None:
    entries = await run.io_bound(_newest)
    with place:
        if isinstance(entries, str):
            ui.label(entries)
        elif not entries:
            ui.label("There are no results yet.")
        else:
            with ui.element("ul").classes("q-my-none q-pl-md"):
                for entry in entries:
                    with ui.element("li"):
                        ui.link(entry.name or entry.id, f"/results/{entry.id}")
                        ui.label(f" {entry.kind}, {entry.started[:16].replace('T', ' ')}").classes(
                            "text-caption inline"
                        )


def _newest() -> "list[ResultEntry] | str":
    from headrace.store import make_filter

    try:
        return list(site().store().listed(make_filter(limit=NEWEST)).entries)
    except (StoreError, StoreFailure, OSError) as error:
        return f"The store cannot be read: {error}"


def _heading(text: str) -> None:
    heading(text)


PAGE = Page("/", "Start", "home", build)
