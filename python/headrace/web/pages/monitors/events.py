"""The list of changes of states."""

from collections.abc import Sequence

from nicegui import ui

from headrace.monitors.history import Event
from headrace.web.times import local_time

COLUMNS = [
    {"name": "time", "label": "Time", "field": "time", "align": "left"},
    {"name": "host", "label": "Host", "field": "host", "align": "left"},
    {"name": "monitor", "label": "Monitor", "field": "monitor", "align": "left"},
    {"name": "state", "label": "State", "field": "state", "align": "left"},
    {"name": "text", "label": "Reason", "field": "text", "align": "left"},
]


class EventTable:
    """The newest events."""

    def __init__(self) -> None:
        self._table = ui.table(rows=[], columns=COLUMNS, row_key="id", pagination=20)
        self._table.classes("w-full").props('flat bordered dense wrap-cells aria-label="Events"')
        self._table.add_slot("no-data", "No state has changed.")

    def show(self, events: Sequence[Event]) -> None:
        """Show events."""
        rows = [
            {
                "id": at,
                "time": local_time(row.time),
                "host": row.host,
                "monitor": f"{row.monitor} {row.device}".rstrip(),
                "state": f"{row.before} → {row.state}" if row.before != row.state else row.state,
                "text": row.text,
            }
            for at, row in enumerate(events)
        ]
        if rows != self._table.rows:
            self._table.rows = rows
