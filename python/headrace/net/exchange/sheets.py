"""Pages of an exported net as they are drawn: places, transitions, arcs and ports.

A transition may use places of other pages. On its own page such a place is a port, joined to the
place of the page around it through each page on the way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(eq=False)
class Place:
    """A place, drawn on its sheet or on one around it."""

    name: str
    sheet: "Sheet"
    colour: str = ""
    initial: str = ""
    outline: Mapping[str, str] = field(default_factory=dict)
    """Its id and label in the file that it was read from."""


@dataclass(eq=False)
class Arc:
    """An arc of a transition."""

    place: Place
    inward: bool
    """True if tokens go into the transition."""
    text: str = ""
    kind: str = ""
    """Key of the document for arcs that read, inhibit or reset; they are inward."""


@dataclass(eq=False)
class Transition:
    """A transition."""

    name: str
    sheet: "Sheet"
    guard: str = ""
    code: str = ""
    priority: str = ""
    outline: Mapping[str, str] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)


@dataclass(eq=False)
class Shown:
    """A place as one sheet shows it."""

    place: Place
    socket: "Shown | None" = None
    """The same place on the sheet around; none where the place itself is."""
    inward: bool = False
    """True if transitions of this sheet or within take tokens."""
    outward: bool = False
    """True if they put tokens."""


@dataclass(eq=False)
class Sheet:
    """A page."""

    name: str
    parent: "Sheet | None" = None
    places: list[Place] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    children: "list[Sheet]" = field(default_factory=list)
    shown: dict[Place, Shown] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """Names of its places and transitions."""

    def child(self, name: str) -> "Sheet":
        """Add a sheet within this one."""
        sheet = Sheet(name, self)
        self.children.append(sheet)
        return sheet

    def place(self, name: str, colour: str = "", initial: str = "") -> Place:
        """Add a place."""
        place = Place(self._free(name), self, colour, initial)
        self.places.append(place)
        return place

    def transition(self, name: str) -> Transition:
        """Add a transition."""
        transition = Transition(self._free(name), self)
        self.transitions.append(transition)
        return transition

    def _free(self, preferred: str) -> str:
        name, number = preferred, 1
        while name in self.names:
            number += 1
            name = f"{preferred} {number}"
        self.names.add(name)
        return name

    def around(self) -> "Iterator[Sheet]":
        """Yield this sheet and those around it."""
        sheet: Sheet | None = self
        while sheet is not None:
            yield sheet
            sheet = sheet.parent

    def walk(self) -> "Iterator[Sheet]":
        """Yield this sheet and all within it, the outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()


def add_ports(top: Sheet) -> None:
    """Find the sheets that show each place."""
    users: dict[Place, list[Sheet]] = {}
    for sheet in top.walk():
        for place in sheet.places:
            users.setdefault(place, []).append(sheet)
        for transition in sheet.transitions:
            for arc in transition.arcs:
                users.setdefault(arc.place, []).append(sheet)
    for place, sheets in users.items():
        common = list(sheets[0].around())
        for sheet in sheets[1:]:
            around = set(sheet.around())
            common = [node for node in common if node in around]
        for sheet in sheets:
            _show(place, sheet, common[0])
    for sheet in top.walk():
        for transition in sheet.transitions:
            for arc in transition.arcs:
                shown: Shown | None = sheet.shown[arc.place]
                while shown is not None:
                    shown.inward |= arc.inward
                    shown.outward |= not arc.inward
                    shown = shown.socket


def _show(place: Place, sheet: Sheet, top: Sheet) -> Shown:
    if place not in sheet.shown:
        socket = None
        if sheet is not top:
            assert sheet.parent is not None
            socket = _show(place, sheet.parent, top)
        sheet.shown[place] = Shown(place, socket)
    return sheet.shown[place]
