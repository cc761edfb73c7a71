"""A drawn net that can be zoomed and played in a browser.

The element `headrace-net` holds the picture of `net_diagram` and the frames of a run. `player.js`
draws the rest; it loads nothing and needs no library.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from headrace.drawing.net_diagram import draw, load_of
from headrace.fields import to_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCRIPT = Path(__file__).with_name("player.js")
"""The script that defines the element."""
STEPS_SCRIPT = Path(__file__).with_name("steps.js")
"""The script that moves tokens. The element needs it where frames have steps."""

PAGE_STYLE = """
body { margin: 0; padding: 12px 16px; color: #1d2730; background: #fff;
  font: 15px/1.4 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 8px; }
@media (prefers-color-scheme: dark) { body { color: #e4e9ee; background: #12171c; } }
"""


class RecordedRun(Protocol):
    """Frames of a run, as `simulate.Playback` has them: a row for each, a column for each node."""

    @property
    def structure(self) -> Mapping[str, Any]: ...
    @property
    def time_s(self) -> "NDArray[Any]": ...
    @property
    def tokens(self) -> "NDArray[Any]": ...
    @property
    def queue(self) -> "NDArray[Any]": ...
    @property
    def busy_mean(self) -> "NDArray[Any]": ...


def net_element(
    structure: Mapping[str, Any],
    *,
    stations: Iterable[Mapping[str, Any]] | None = None,
    playback: "RecordedRun | None" = None,
) -> str:
    """Return the element of a net as HTML, with all names escaped.

    Parameters:
        structure: The net, as `Scenario.structure()` returns it.
        stations: `stations` of a result's document: without a playback they shade the picture.
        playback: Frames of a run of this net.

    Raises:
        StructureError: if the structure is not that of a net.
        ValueError: if the playback is of another net.
    """
    if playback is None:
        load = load_of(structure, stations) if stations is not None else {}
        return f"<headrace-net>{draw(structure, load)}</headrace-net>"
    if list(player_nodes(playback.structure["page"])) != list(player_nodes(structure["page"])):
        raise ValueError("the playback is of another net: expected one of a run of this one")
    return frames_element(structure, frames_of(playback))


def frames_element(structure: Mapping[str, Any], frames: msgspec.Struct) -> str:
    """Return the element of a net with frames."""
    text = escape(json.dumps(to_document(frames), separators=(",", ":")), quote=False)
    picture = draw(structure, has_tokens=False)
    return f"<headrace-net>{picture}<data hidden>{text}</data></headrace-net>"


def net_page(name: str, element: str) -> str:
    """Return a page that shows a net and needs no other file."""
    return (
        '<!DOCTYPE html>\n<html lang="en" class="net-page"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(name)}</title><style>{PAGE_STYLE}</style></head>\n"
        f"<body><main><h1>{escape(name)}</h1>{element}</main>\n"
        f"<script>{STEPS_SCRIPT.read_text(encoding='utf-8')}</script>\n"
        f"<script>{SCRIPT.read_text(encoding='utf-8')}</script></body></html>\n"
    )


class PlayerNode(msgspec.Struct, frozen=True):
    """A node of the net for `player.js`."""

    id: str
    kind: str
    path: str
    servers: int | None
    copies: int


class PlayerFrames(msgspec.Struct, frozen=True):
    """Frames for `player.js`: columns by the place of a node in `nodes`."""

    time: list[float]
    nodes: list[PlayerNode]
    tokens: dict[str, list[Any]]
    queue: dict[str, list[Any]]
    busy: dict[str, list[Any]]


def frames_of(playback: "RecordedRun") -> PlayerFrames:
    """Return the frames for `player.js`: columns by node id, without those that are zero."""
    return PlayerFrames(
        time=[float(f"{time:.9g}") for time in playback.time_s],
        nodes=list(player_nodes(playback.structure["page"])),
        tokens=_columns(playback.tokens),
        queue=_columns(playback.queue),
        busy=_columns(playback.busy_mean.round(4)),
    )


def _columns(grid: "NDArray[np.generic]") -> dict[str, list[Any]]:
    return {str(at): column.tolist() for at, column in enumerate(grid.T) if column.any()}


def player_nodes(page: Mapping[str, Any]) -> Iterator[PlayerNode]:
    """Yield the nodes of a page and of those within."""
    for node in page["nodes"]:
        path = f"{page['path']}/{node['name']}"
        yield PlayerNode(node["id"], node["kind"], path, node["servers"], node["copies"])
    for inner in page["pages"]:
        yield from player_nodes(inner)
