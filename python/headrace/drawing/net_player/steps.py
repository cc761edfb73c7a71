"""A play of a net as a drawing in which tokens move, firing by firing."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from headrace.drawing.net_player import PlayerNode, frames_element, net_page, player_nodes
from headrace.files import atomic_file

Moved: TypeAlias = tuple[str, str, int]
"""Path of a node, and value and number of tokens."""

MOST_TEXT = 200
"""Longest text of a place's tokens."""
MOST_MOVING_TEXT = 24
"""Longest text of tokens that move."""
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


class Recorder:
    """Frames of a play, added one by one. Nodes are given by their paths."""

    def __init__(self, structure: Mapping[str, Any]) -> None:
        self._nodes = list(player_nodes(structure["page"]))
        self._ids = {node.path: int(node.id) for node in self._nodes}
        self._times: list[float] = []
        self._counts: list[Sequence[Sequence[int]]] = []
        self._steps: list[Step] = []
        self._marking: dict[int, list[tuple[int, str]]] = {id: [] for id in self._ids.values()}

    def add_frame(
        self, time: float, counts: Sequence[Sequence[int]], tokens: Iterable[tuple[str, str]]
    ) -> None:
        """Add a marking: tokens inside, waiting and in service by node, and in words by path."""
        words: dict[int, list[str]] = {}
        for path, word in tokens:
            words.setdefault(self._ids[path], []).append(word)
        for node, noted in self._marking.items():
            text = _shortened(", ".join(words.get(node, ())), MOST_TEXT)
            if not noted or noted[-1][1] != text:
                noted.append((len(self._times), text))
        self._times.append(time)
        self._counts.append(counts)

    def add_step(
        self, transition: str, text: str, taken: Iterable[Moved], put: Iterable[Moved]
    ) -> None:
        """Add a firing, whose marking is the next frame."""
        self._steps.append(Step(transition, text, self._moves(taken), self._moves(put)))

    def _moves(self, tokens: Iterable[Moved]) -> list[Move]:
        moves: dict[tuple[int, str], int] = {}
        for path, text, count in tokens:
            key = self._ids[path], _shortened(text, MOST_MOVING_TEXT)
            moves[key] = moves.get(key, 0) + count
        return [Move(node, text, count) for (node, text), count in moves.items()][:MOST_MOVING]

    def frames(self, stop: str | None) -> StepFrames:
        """Return all frames of a play that stopped for a reason of `ENDS`, or has not."""
        tokens, queue, busy = (
            {
                str(node): column
                for node in self._ids.values()
                if any(column := [count[node][kind] for count in self._counts])
            }
            for kind in range(3)
        )
        return StepFrames(
            time=self._times,
            nodes=[msgspec.structs.replace(node, servers=None) for node in self._nodes],
            tokens=tokens,
            queue=queue,
            busy=busy,
            steps=self._steps,
            marking={str(id): noted for id, noted in self._marking.items() if noted != [(0, "")]},
            end=ENDS.get(stop or "", ""),
        )


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


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
