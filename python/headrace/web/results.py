"""Results of users: who changes and removes them."""

from collections.abc import Mapping

from headrace.store.listing import ResultEntry
from headrace.store.record import OWNER, SERVER_LABELS
from headrace.web.access.permissions import Action, Kind, NotAllowed, is_allowed, require
from headrace.web.access.users import User
from headrace.web.site import site


def may_change(user: User, entry: ResultEntry) -> bool:
    """Return whether a user may change the labels of a result, and remove it."""
    return is_allowed(user, Action.CHANGE, Kind.RESULT, entry.labels.get(OWNER))


def change_labels(
    user: User, identifier: str, changes: Mapping[str, str | None]
) -> Mapping[str, str]:
    """Set labels of a result, remove those whose value is None, and return all.

    Raises:
        NotAllowed: if the user may not change the result, or the server sets a label.
        StoreError: if there is no such result, or a label is not allowed.
        StoreFailure: if the store cannot be used.
    """
    store = site().store()
    entry = store.shown(identifier)
    require(user, Action.CHANGE, Kind.RESULT, entry.labels.get(OWNER))
    for key in sorted(SERVER_LABELS & changes.keys()):
        if changes[key] != entry.labels.get(key):
            raise NotAllowed(f"the server sets the label {key}: choose another one")
    store.set_labels(entry.id, changes)
    labels: Mapping[str, str] = store.shown(entry.id).labels
    return labels


def remove(user: User, identifier: str) -> None:
    """Remove a result with its tables.

    Raises:
        NotAllowed: if the user may not remove it.
        KeyError: if there is no result with this whole identifier.
        StoreFailure: if the store cannot be used.
    """
    store = site().store()
    if not store.known([identifier]):
        raise KeyError(identifier)
    require(user, Action.REMOVE, Kind.RESULT, store.shown(identifier).labels.get(OWNER))
    store.remove(identifier)
