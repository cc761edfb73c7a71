"""Filters of results."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from headrace.kinds import STORED, current_kind
from headrace.quantities import parse_time
from headrace.store.errors import StoreError
from headrace.store.queries import SORT_KEYS, Filter
from headrace.store.record import CALLS

LARGEST = 2**63 - 1
"""Largest integer of the databases."""


class By(StrEnum):
    """Keys by which results are grouped."""

    VERSION = "version"
    DATE = "date"


def make_filter(
    kind: str | None = None,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    since: str | datetime | None = None,
    limit: int | None = None,
    calls: str | None = None,
    skip: int = 0,
    host: str | None = None,
    file_system: str | None = None,
    device: str | None = None,
    search: str | None = None,
    sort: str = "",
) -> Filter:
    """Build a filter of results. Raises StoreError if a value is invalid.

    Examples:
        >>> hr.store.make_filter(kind="sweep", limit=10).kind
        'sweep'
    """
    kind = None if kind is None else current_kind(kind)
    if kind is not None and kind not in STORED:
        raise StoreError(f'kind "{kind}": expected one of {", ".join(STORED)}')
    if calls is not None and calls not in CALLS:
        raise StoreError(f'calls "{calls}": expected one of {", ".join(CALLS)}')
    for number, value in (("limit", limit), ("skip", skip)):
        if value is not None and not 0 <= value <= LARGEST:
            raise StoreError(f"{number} {value}: expected 0 to {LARGEST}")
    if sort and sort.removeprefix("-") not in SORT_KEYS:
        raise StoreError(f"sort {sort}: expected one of {', '.join(SORT_KEYS)}")
    if isinstance(since, str):
        since = _moment(since)
    place = (host, file_system, device)
    return Filter(kind, name, labels, since, limit, calls, skip, *place, search, sort)


def compared(
    ids: Sequence[str],
    by: str | None,
    kind: str | None = None,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    since: str | datetime | None = None,
    calls: str | None = None,
    host: str | None = None,
    file_system: str | None = None,
    device: str | None = None,
    search: str | None = None,
) -> tuple[Filter, By] | None:
    """Return a filter and a key to compare results by; None to compare by identifiers. Raises
    StoreError if the arguments conflict."""
    chosen = name is not None or bool(labels)
    if by is None:
        if chosen or any((kind, since, calls, host, file_system, device, search)) or not ids:
            raise StoreError("expected identifiers to compare, or a name with by version or date")
        return None
    if by not in list(By):
        raise StoreError(f'by "{by}": expected {" or ".join(By)}')
    if ids:
        raise StoreError("by has no effect on identifiers: expected a name in their place")
    if not chosen:
        raise StoreError("by compares results of one scenario: expected its name or a label")
    chosen_results = make_filter(
        kind,
        name,
        labels,
        since,
        calls=calls,
        host=host,
        file_system=file_system,
        device=device,
        search=search,
    )
    return chosen_results, By(by)


def _moment(text: str) -> datetime:
    """A date, a date with a time of day, or how long ago; local time if it names no zone."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return datetime.now(UTC) - timedelta(seconds=parse_time(text))
    except (ValueError, OverflowError):
        raise StoreError(
            f'--since "{text}": expected a date such as 2026-11-01, or how long ago, as "7 d"'
        ) from None
