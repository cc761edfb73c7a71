"""Results in the store as tables for a terminal."""

import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from headrace.kinds import KINDS, UNSHOWN, blocks
from headrace.render.terminal import rendered
from headrace.views import stored_results

if TYPE_CHECKING:
    from headrace.store.listing import ShownResult, ShownStep


def one_result(entry: "ShownResult") -> RenderableType:
    """Return how a result was made, and its figures.

    Results of other versions that lack fields have the catalogued figures instead of tables.
    """
    try:
        figures = tables(entry.kind, entry.document)
    except UNSHOWN:
        figures = rendered([stored_results.catalogued_figures(entry)])
    return Group(rendered([stored_results.origin(entry)]), figures)


def one_step(entry: "ShownStep") -> RenderableType:
    """Return the figures of one step of a load sweep."""
    try:
        return rendered(stored_results.one_step(entry))
    except UNSHOWN as error:
        raise ValueError(
            f"{entry.id}: its {entry.step['name']} lacks fields that this version shows, or is"
            f" damaged ({type(error).__name__}: {error}): expected --json beside --step"
        ) from None


def tables(kind: str, document: Mapping[str, Any]) -> RenderableType:
    """Return the tables of a document. Raises one of `UNSHOWN` if it lacks fields."""
    named = KINDS[kind].tables
    if not named:
        return rendered(blocks(kind, document))
    drawn: RenderableType = pkgutil.resolve_name(named)(document)
    return drawn
