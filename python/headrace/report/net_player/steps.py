"""A play of a net as a drawing in which tokens move, firing by firing."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headrace.files import atomic_file
from headrace.report.net_player import PlayerNode, frames_element, net_page, player_nodes

if TYPE_CHECKING:
    from headrace.net.play import Fired, Play, Tokens

MOST_STEPS = 10_000
"""Most firings of an animation."""
MOST_TEXT = 200
"""Longest text of a place's tokens."""
MOST_MOVING = 12
"""Most tokens that move along the arcs of a side at once."""
NOTEBOOK_HEIGHT = 620
"""Height in a notebook, in pixels."""


class Move(msgspec.Struct, frozen=True):
    """Tokens of one value that move between a node and the transition."""

    node: int
    text: str
    count: int
    """Their number."""


class Step(msgspec.Struct, frozen=True):
    """A firing for `steps.js`."""

    transition: str
    text: str
    taken: list[Move]
    put: list[Move]


class StepFrames(msgspec.Struct, frozen=True):
    """Frames for `player.js` and `steps.js`: frame n is the marking after n firings."""

    time: list[float]
    nodes: list[PlayerNode]
    tokens: dict[str, list[int]]
    queue: dict[str, list[int]]
    busy: dict[str, list[int]]
    steps: list[Step]
    marking: dict[str, list[tuple[int, str]]]
    """Tokens of a node in words: the frame from which on, and the words."""
    end: str
    """Why there are no more firings; empty if there may be."""


ENDS = {
    "quiet": "Nothing can happen any more.",
    "deadlock": "Nothing can happen any more, and tokens are where they may not remain.",
}


def step_frames(
    play: "Play", steps: int, progress: Callable[[float], object] | None = None
) -> StepFrames:
    """Play on for a number of firings at most, and record them.

    Parameters:
        progress: Called with the simulated time, in seconds.

    Raises:
        ValueError: The number of steps is out of range.
        RunError: The net fails.
    """
    if not 0 <= steps <= MOST_STEPS:
        raise ValueError(f"steps = {steps}: expected from 0 to {MOST_STEPS} firings")
    nodes = list(player_nodes(play.structure["page"]))
    ids = {node.path: int(node.id) for node in nodes}
    times, counts = [play.time], [play.counts()]
    fired: list[Step] = []
    marking: dict[int, list[tuple[int, str]]] = {id: [] for id in ids.values()}
    _note(marking, ids, play.marking, 0)
    while len(fired) < steps:
        firing = play.step()
        if firing is None:
            break
        fired.append(_step(firing, ids))
        times.append(firing.time)
        if progress is not None:
            progress(firing.time)
        counts.append(play.counts())
        _note(marking, ids, play.marking, len(fired))
    columns = [
        {str(id): [it[id][kind] for it in counts] for id in ids.values()} for kind in range(3)
    ]
    tokens, queue, busy = ({id: it for id, it in of.items() if any(it)} for of in columns)
    return StepFrames(
        time=times,
        nodes=[msgspec.structs.replace(node, servers=None) for node in nodes],
        tokens=tokens,
        queue=queue,
        busy=busy,
        steps=fired,
        marking={str(id): it for id, it in marking.items() if it != [(0, "")]},
        end=ENDS.get(play.stop or "", ""),
    )


def _note(
    marking: dict[int, list[tuple[int, str]]],
    ids: Mapping[str, int],
    tokens: "Iterable[Tokens]",
    frame: int,
) -> None:
    """Note the tokens of each node where they have changed."""
    from headrace.quantities import written_time

    words: dict[int, list[str]] = {}
    for it in tokens:
        number = f"{it.count} \N{MULTIPLICATION SIGN} " if it.count != 1 else ""
        copy = "" if it.copy is None else f"[{it.copy}] "
        state = "" if it.arrives is None else f" at {written_time(it.arrives)}"
        words.setdefault(ids[it.place], []).append(f"{copy}{number}{it.text}{state}")
    for id, noted in marking.items():
        text = ", ".join(words.get(id, ()))
        if len(text) > MOST_TEXT:
            text = text[: MOST_TEXT - 1] + "…"
        if not noted or noted[-1][1] != text:
            noted.append((frame, text))


def _step(firing: "Fired", ids: Mapping[str, int]) -> Step:
    return Step(
        firing.transition,
        str(firing),
        _moves(firing.taken, ids),
        _moves(firing.put, ids),
    )


def _moves(tokens: "Iterable[Tokens]", ids: Mapping[str, int]) -> list[Move]:
    moves: dict[tuple[int, str], int] = {}
    for it in tokens:
        key = ids[it.place], it.text if len(it.text) <= 24 else it.text[:23] + "…"
        moves[key] = moves.get(key, 0) + it.count
    return [Move(node, text, count) for (node, text), count in moves.items()][:MOST_MOVING]


class Animation:
    """A play as a drawing in which tokens move. Notebooks show it."""

    def __init__(self, name: str, structure: Mapping[str, Any], frames: StepFrames) -> None:
        self.name, self.structure, self.frames = name, structure, frames

    @property
    def element(self) -> str:
        """The element of the drawing as HTML; `player.js` and `steps.js` move it."""
        return frames_element(self.structure, self.frames)

    @property
    def page(self) -> str:
        """A page for a browser that needs no other file."""
        return net_page(self.name, self.element)

    def save(self, path: str | Path) -> None:
        """Write the page to a file whose name ends in .html."""
        path = Path(path)
        if path.suffix.lower() != ".html":
            raise ValueError(f"{path}: expected a name that ends in .html")
        with atomic_file(path) as partial:
            partial.write_text(self.page, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame of its own: notebooks treat scripts differently.
        return (
            f'<iframe srcdoc="{escape(self.page)}" sandbox="allow-scripts"'
            f' title="{escape(self.name)}"'
            f' style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<animation of {self.name}, {len(self.frames.steps)} firings>"
