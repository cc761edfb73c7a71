"""The list of jobs."""

from typing import Any

from nicegui import ui

from headrace.web.access.permissions import NotAllowed
from headrace.web.access.users import User
from headrace.web.jobs import Job, JobState
from headrace.web.pages.jobs.words import ICONS, may_change, moment, span
from headrace.web.site import site

EVERY_S = 1.0
"""Seconds between two looks at the jobs, which are in memory."""
MOST = 100
"""Jobs shown at first, and added by each press of the button."""
STATES: dict[str, list[JobState] | None] = {
    "All": None,
    "Waiting": [JobState.WAITING],
    "Running": [JobState.RUNNING],
    "Ended": [state for state in JobState if state.ended],
}
WIDE = {"classes": "gt-xs", "headerClasses": "gt-xs"}
"""Columns that telephones leave out."""
COLUMNS = [
    {"name": "state", "label": "State", "field": "state", "align": "left"},
    {"name": "title", "label": "Job", "field": "title", "align": "left"},
    {"name": "owner", "label": "Owner", "field": "owner", "align": "left", **WIDE},
    {"name": "created", "label": "Created", "field": "created", "align": "left", **WIDE},
    {"name": "seconds", "label": "Duration", "field": "seconds", "align": "right", **WIDE},
    {"name": "actions", "label": "Actions", "field": "id", "align": "left"},
]
# Vue escapes what it inserts.
STATE_CELL = """
<q-td :props="props"><q-icon :name="props.row.icon" size="sm" aria-hidden="true" class="q-mr-xs" />
{{ props.row.state }}</q-td>
"""
TITLE_CELL = """
<q-td :props="props" style="white-space: normal; min-width: 160px">
<a :href="'/jobs/' + props.row.id" class="nicegui-link">{{ props.row.title }}</a>
<div class="text-negative" style="overflow-wrap: anywhere">{{ props.row.message }}</div></q-td>
"""
ACTIONS_CELL = """
<q-td :props="props"><q-btn v-if="props.row.cancel" outline dense label="Cancel"
:aria-label="'Cancel ' + props.row.title"
@click="() => $parent.$emit('cancel', props.row.id)" /></q-td>
"""


def listing(user: User) -> None:
    """Draw the list of jobs."""
    for it in site().jobs.damaged:
        ui.label(f"The job {it.name} is damaged and was skipped: {it.reason}").classes("text-body2")
    with ui.row().classes("items-center q-mb-sm"):
        state = ui.toggle(list(STATES), value="All").props('aria-label="State"')
        mine = ui.switch("Only my jobs")
    table = ui.table(rows=[], columns=COLUMNS, row_key="id").classes("w-full")
    table.props('flat bordered aria-label="Jobs"')
    table.add_slot("body-cell-state", STATE_CELL)
    table.add_slot("body-cell-title", TITLE_CELL)
    table.add_slot("body-cell-actions", ACTIONS_CELL)
    table.add_slot("no-data", "No jobs.")
    count = ui.label().classes("text-caption")
    shown = MOST

    def refresh() -> None:
        owner = user.name if mine.value else None
        matching = site().jobs.jobs(STATES[state.value], owner)
        rows = [_row(job, user) for job in matching[:shown]]
        more.set_visibility(len(matching) > shown)
        count.set_text(f"{len(rows)} of {len(matching)} jobs")
        if rows != table.rows:
            table.rows = rows

    def show_more() -> None:
        nonlocal shown
        shown += MOST
        refresh()

    def cancel(identifier: str) -> None:
        try:
            site().jobs.cancel(identifier, user)
        except (KeyError, NotAllowed) as error:
            ui.notify(str(error), type="negative")
        refresh()

    more = ui.button("More", on_click=show_more).props("flat")
    table.on("cancel", lambda event: cancel(str(event.args)))
    state.on_value_change(refresh)
    mine.on_value_change(refresh)
    refresh()
    ui.timer(EVERY_S, refresh)


def _row(job: Job, user: User) -> dict[str, Any]:
    return {
        "id": job.id,
        "state": job.state.value,
        "icon": ICONS[job.state],
        "title": job.title,
        "message": job.message,
        "owner": job.owner,
        "created": moment(job.created),
        "seconds": span(job.seconds),
        "cancel": may_change(job, user) and not job.state.ended and not job.cancelled,
    }
