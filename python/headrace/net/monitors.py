"""Monitors of nets: what is observed of a run. They change nothing of it."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from headrace.net.expressions import Expression, text_of

if TYPE_CHECKING:
    from headrace.net.play import Tokens
    from headrace.net.written import Node, Transition


@dataclass(frozen=True)
class Monitor:
    """A monitor, as the table that a document has of it.

    Examples:
        >>> hr.net.counter("fail").table
        {'kind': 'counter', 'transition': 'fail'}
    """

    table: Mapping[str, Any]


def path_of(element: "str | Node | Transition") -> str:
    """Return the path of a place, station or transition within its net, such as "server/disk"."""
    if isinstance(element, str):
        return element
    names = [element.name]
    page = element.page
    while page.parent is not None:
        names.append(page.name)
        page = page.parent
    return "/".join(reversed(names))


def tokens(node: "str | Node", pattern: Any = None) -> Expression:
    """Return the number of tokens in a place or station, for monitors and conditions.

    Parameters:
        pattern: Count tokens of this value only.

    Examples:
        >>> str(hr.net.tokens("repair") + hr.net.tokens("running"))
        'tokens("repair") + tokens("running")'
    """
    known = text_of(path_of(node))
    return Expression(f"tokens({known})" if pattern is None else f"tokens({known}, {pattern})")


def _table(kind: str, **keys: Any) -> Monitor:
    return Monitor({"kind": kind} | {name: v for name, v in keys.items() if v is not None})


def _text(value: Any) -> str | None:
    """Return an expression's text. A text is one already; a place stands for its tokens."""
    if not isinstance(value, Expression) and hasattr(value, "page"):
        value = tokens(value)
    return value if value is None or isinstance(value, str) else text_of(value)


def counter(transition: "str | Transition", *, when: Any = None) -> Monitor:
    """Count firings of a transition.

    Parameters:
        when: Condition on the values that the firing bound, and on the marking after it.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("last one fails", hr.net.counter("fail", when="running == 0"))
        >>> model.run(3.6e6)["last one fails"]["count"]
        43
    """
    return _table("counter", transition=path_of(transition), when=_text(when))


def marking(value: Any) -> Monitor:
    """Observe a value of the marking over time, such as `"desk"` or `tokens(desk) + tokens(line)`.

    Its mean is weighted by the time that each value lasts.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("down", hr.net.marking(hr.net.tokens("repair")))
        >>> round(model.run(3.6e6)["down"]["mean"], 2)
        0.65
    """
    return _table("marking", value=_text(value))


def observation(transition: "str | Transition", value: Any, *, when: Any = None) -> Monitor:
    """Observe a value of each firing of a transition; all count the same.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("others", hr.net.observation("fail", hr.net.tokens("running")))
        >>> round(model.run(3.6e6)["others"]["mean"], 2)
        3.52
    """
    keys = {"transition": path_of(transition), "value": _text(value), "when": _text(when)}
    return _table("observation", **keys)


def collector(
    transition: "str | Transition",
    columns: Mapping[str, Any],
    *,
    when: Any = None,
    limit: int | None = None,
) -> Monitor:
    """Collect a row for each firing of a transition: its time, and values by their names.

    Parameters:
        limit: Most rows, by default 100,000; those beyond are counted.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("failures", hr.net.collector("fail", {"running": "running"}))
        >>> model.run(3600).collected("failures")["running"].to_list()[:5]
        [4, 4, 4, 4, 4]
    """
    texts = {name: _text(value) for name, value in columns.items()}
    path = path_of(transition)
    return _table("collector", transition=path, columns=texts, when=_text(when), limit=limit)


def breakpoint_when(
    condition: Any = None, *, transition: "str | Transition | None" = None, count: int | None = None
) -> Monitor:
    """End the run when a condition on the marking becomes true, or at a firing.

    Parameters:
        condition: Condition on the marking, and on the values of the firing if there is one.
        transition: The run ends at a firing of this transition.
        count: The number of times that it must happen, by default one.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("all are down", hr.net.breakpoint_when("running == 0"))
        >>> model.run().stop
        'breakpoint'
    """
    path = None if transition is None else path_of(transition)
    return _table("breakpoint", when=_text(condition), transition=path, count=count)


class Firing:
    """A firing, as monitors of one's own see it.

    Examples:
        >>> def watch(firing: hr.net.Firing) -> float:
        ...     if firing.tokens("running") == 0:
        ...         print(f"{firing.time / 3600:.1f} h:", *map(str, firing.marking))
        ...         firing.stop()
        ...     return firing.tokens("repair")
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.monitor("down", watch, transition="fail", with_marking=True)
        >>> model.run().stop
        25.7 h: machine repair/repair: 5 ... () (not ready)
        'breakpoint'
    """

    __slots__ = (
        "_counts",
        "_marking",
        "_places",
        "_stopped",
        "binding",
        "copy",
        "time",
        "transition",
    )

    def __init__(
        self,
        places: Mapping[str, int],
        transition: str,
        copy: int,
        time: float,
        binding: dict[str, Any],
        counts: Sequence[int],
        marking: str | None,
    ) -> None:
        self.transition = transition
        """Path of the transition."""
        self.copy = copy
        """Copy of its page, from 0."""
        self.time = time
        """Simulated time, in seconds."""
        self.binding = binding
        """Values of its variables; those of records are mappings, times are in seconds."""
        self._places, self._counts, self._marking = places, counts, marking
        self._stopped = False

    def tokens(self, place: str) -> int:
        """Return the number of tokens in a place or station after the firing.

        Raises:
            KeyError: There is no such place.
        """
        return self._counts[self._places[place]]

    @property
    def marking(self) -> "list[Tokens]":
        """The tokens in each place and station after the firing.

        Raises:
            ValueError: The monitor was not added with `with_marking=True`.
        """
        from headrace.net.play import Tokens

        if self._marking is None:
            raise ValueError("the marking is not known: add the monitor with with_marking=True")
        return [Tokens(**entry) for entry in json.loads(self._marking)]

    def stop(self) -> None:
        """End the run."""
        self._stopped = True


OwnFunction: TypeAlias = Callable[[Firing], float | None]
"""A monitor of one's own: it gets a firing, and returns a number to record or None."""


@dataclass(frozen=True)
class OwnMonitor:
    """A monitor of one's own."""

    function: OwnFunction
    transition: str | None
    """Path of the transition whose firings it gets; None for all."""
    with_marking: bool
    """Whether its firings have the marking."""


def caller(function: OwnFunction, paths: Sequence[str]) -> Callable[..., float | str | None]:
    """Return what the kernel calls for a monitor of one's own.

    Parameters:
        paths: Paths of all places and stations.
    """
    places = {path: number for number, path in enumerate(paths)}
    places |= {path.partition("/")[2]: number for path, number in places.items()}

    def call(*of_firing: Any) -> float | str | None:
        firing = Firing(places, *of_firing)
        value = function(firing)
        if firing._stopped:
            return "stop"
        if value is None or (isinstance(value, int | float) and math.isfinite(value)):
            return value
        raise TypeError(f"a monitor returned {value!r}: expected a number or None")

    return call
