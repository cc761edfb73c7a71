"""Nets written in Python: places, stations, transitions and pages."""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from headrace.net.expressions import Expression, field_types, owner_of, shown, text_of
from headrace.net.functions import NetFunction, arguments, is_function, refusal
from headrace.net.model import NetModel, check_ending, encode, from_document
from headrace.net.monitors import Monitor, OwnFunction, OwnMonitor, path_of
from headrace.net.outline import escaped
from headrace.net.results import NetResult, NetSolution, StateSpace

if TYPE_CHECKING:
    from headrace.net.play import Play

Element = TypeVar("Element")

SHORT = 8
"""Arrays with more equal elements are written as their length and one value."""

BUILT_IN = {int: "int", float: "real", bool: "bool", str: "text"}


class Time:
    """The colour of times. Numbers are seconds.

    Examples:
        >>> net = hr.net.Net("timeout")
        >>> net.place("deadlines", hr.net.Time, initial=[0.5, 1]).table
        {'colour': 'time', 'initial': ['0.5', '1']}
    """


class Node:
    """A place or a station of a net.

    Examples:
        >>> disk = hr.net.Net("server").station("disk", service=hr.net.exponential(0.008))
        >>> disk.name, disk.page, disk.table["service"]
        ('disk', <Net 'server'>, 'exponential(0.008)')
    """

    def __init__(self, page: "Page", name: str, colour: Any, table: dict[str, Any]) -> None:
        self.page, self.name, self.colour, self.table = page, name, colour, table


class Store:
    """A store of a net: state that transitions read and set. Its fields are expressions.

    Examples:
        >>> cache = hr.net.Net("cache").store("lru", {"hits": 0, "tags": [-1] * 4})
        >>> cache.hits + 1, cache.tags[0]
        (<expression lru.hits + 1>, <expression lru.tags[0]>)
    """

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self._name, self._fields = name, fields

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._fields:
            known = ", ".join(self._fields)
            raise AttributeError(f"{self._name} has no field {name!r}; its fields are: {known}")
        value = self._fields[name]
        first = value[0] if isinstance(value, list | tuple) and value else value
        fields = None if isinstance(first, Expression) else field_types(type(first))
        return Expression(f"{self._name}.{name}", fields=fields)


class Port:
    """A way into a page or out of it.

    Examples:
        >>> net = hr.net.Net("cluster")
        >>> with net.page("server", copies=4) as server:
        ...     port = server.output("done")
        >>> port.name, port.page.path
        ('done', 'cluster/server')
    """

    def __init__(self, page: "Page", name: str, colour: Any) -> None:
        self.page, self.name, self.colour = page, name, colour


class Transition:
    """A transition of a net, between the lines of `with net.transition(...) as t`.

    Examples:
        >>> net = hr.net.Net("page cache")
        >>> reads = net.place("reads", int, initial=[7, 8])
        >>> disk = net.station("disk", int, service=0.008)
        >>> stats, sizes = net.store("stats", {"misses": 0}), net.probe("sizes")
        >>> with net.transition("miss") as miss:
        ...     page = miss.take(reads)
        ...     miss.when(page >= 0)
        ...     miss.inhibit(disk)
        ...     miss.set(stats.misses, stats.misses + 1)
        ...     miss.record(sizes, miss.let("bytes", page * 4096))
        ...     miss.put(disk, page)
        >>> with net.transition("finish") as finish:
        ...     page = finish.take(disk)
        ...     finish.action(lambda disk: print("page", disk))
        >>> result = net.run()
        page 7
        page 8
        >>> result["sizes"]["mean"], result.stores["value"].to_list()
        (30720.0, ['2'])
    """

    def __init__(self, page: "Page", name: str, table: dict[str, Any]) -> None:
        self.page, self.name, self._table = page, name, table
        self._variables: set[str] = set()

    def _variable(self, preferred: str) -> str:
        base = re.sub(r"\W", "_", preferred)
        base = base if base[:1].isalpha() else f"_{base}"
        name, number = base, 1
        taken = self._variables | RESERVED | self.page.net._reserved() | self.page._store_names()
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        self._variables.add(name)
        return name

    def take(
        self, node: Node, pattern: Any = None, *, name: str | None = None, count: int = 1
    ) -> Expression:
        """Take a token of a place or station in each firing.

        Parameters:
            pattern: Take a token of this value only. An expression names values of tokens taken
                before.
            name: Name of the token in drawings and documents; by default that of the place.
            count: Number of equal tokens.

        Returns:
            The token.
        """
        return self._input("take", node, pattern, name, count)

    def read(
        self, node: Node, pattern: Any = None, *, name: str | None = None, count: int = 1
    ) -> Expression:
        """Need a token of a place or station, which stays there (a test or read arc).

        Parameters and the result are those of `take`. A token may be taken and read.

        Examples:
            >>> net = hr.net.Net("lock")
            >>> writes = net.place("writes", initial=3)
            >>> lock = net.place("lock", initial=1, rest=True)
            >>> with net.transition("write") as write:
            ...     held, job = write.read(lock), write.take(writes)
            >>> net.run()["lock"]["inside"]
            1
        """
        return self._input("read", node, pattern, name, count)

    def inhibit(self, node: Node, pattern: Any = None, *, count: int = 1) -> None:
        """Fire only while a place or station has fewer tokens inside (an inhibitor arc).

        Parameters:
            pattern: Of a place: count tokens of this value only.
            count: Number of tokens that inhibits.
        """
        check_reference(node, (Node,), f"{self._path}: inhibit", "a place or station")
        entry: dict[str, Any] = {"place": self.page._path_to(node)}
        if pattern is not None:
            entry["token"] = self._text(pattern)
        if count != 1:
            entry["count"] = count
        self._table.setdefault("inhibit", []).append(entry)

    def reset(self, place: Node) -> None:
        """Remove all tokens of a place in each firing, before tokens are put (a reset arc).

        Examples:
            >>> net = hr.net.Net("crash")
            >>> power, dirty = net.place("power", initial=1), net.place("dirty pages", initial=1000)
            >>> with net.transition("fail") as fail:
            ...     supply = fail.take(power)
            ...     fail.reset(dirty)
            >>> net.run()["dirty pages"]["inside"]
            0
        """
        check_reference(place, (Node,), f"{self._path}: reset", "a place")
        self._table.setdefault("reset", []).append(self.page._path_to(place))

    def timed(
        self, *, rate: Any = None, delay: Any = None, servers: int | str | None = None
    ) -> None:
        """Fire after an exponential time, in a race with the other timed transitions.

        Transitions without a time fire first. Each different choice of tokens races by itself.

        Parameters:
            rate: Firings per second; a number, or an expression on tokens taken before.
            delay: Or the time itself: `exponential(mean)`, in seconds.
            servers: Firings that it times at once: a number (by default 1), or "infinite".

        Examples:
            >>> net = hr.net.Net("mirror")
            >>> good, failed = net.place("good", initial=2), net.place("failed")
            >>> with net.transition("fail") as fail:
            ...     disk = fail.take(good)
            ...     fail.timed(rate=1 / 3.6e9, servers="infinite")
            ...     fail.put(failed)
            >>> with net.transition("rebuild") as rebuild:
            ...     disk = rebuild.take(failed)
            ...     rebuild.timed(delay=hr.net.exponential(36000))
            ...     rebuild.put(good)
            >>> f"{net.solve(conditions=['failed == 2'])['failed == 2']['probability']:.2e}"
            '2.00e-10'
        """
        for key, value in (("rate", rate), ("delay", delay)):
            if value is not None:
                refuse_text(value, f"{self._path}: timed({key})")
                self._table[key] = value if isinstance(value, int | float) else self._text(value)
        if servers is not None:
            self._table["servers"] = servers

    def _input(
        self, key: str, node: Node, pattern: Any, name: str | None, count: int
    ) -> Expression:
        check_reference(node, (Node,), f"{self._path}: {key}", "a place or station")
        entry: dict[str, Any] = {"place": self.page._path_to(node)}
        token = Expression("()")
        if pattern is not None:
            entry["token"] = self._text(pattern)
            token = (
                pattern
                if isinstance(pattern, Expression)
                else Expression(entry["token"], owner=owner_of(pattern))
            )
        elif node.colour is not None:
            variable = self._variable(name or node.name)
            entry["token"] = variable
            token = Expression(variable, fields=field_types(node.colour), owner=self)
        if count != 1:
            entry["count"] = count
        self._table.setdefault(key, []).append(entry)
        return token

    def when(self, condition: Any) -> None:
        """Fire only if a condition holds; several must all hold.

        Parameters:
            condition: An expression, or a function that returns a truth. The names of its
                parameters are those of tokens taken before. It must depend on them only.
        """
        if is_function(condition):
            condition = self._call("guard", condition, "bool")
        refuse_text(condition, f"{self._path}: when")
        self._table.setdefault("when", []).append(self._text(condition))

    def let(self, name: str, value: Any, colour: Any = None) -> Expression:
        """Compute a value once for each firing, such as a random choice, and give it a name.

        Parameters:
            value: An expression, or a function. The names of its parameters are those of tokens
                and values before. `now` is the simulated time in seconds, `copy` that of the
                folded page, and `random` a `random.Random` that the run's seed seeds.
            colour: Type of the value; for a function it is needed.
        """
        fields = None if colour is None else field_types(colour)
        if is_function(value):
            if colour is None:
                raise TypeError(f"{self._path}: let({name!r}, …) of a function needs its colour")
            value = self._call("let", value, self.page.net._colour(colour))
        self._variables.add(name)
        self._table.setdefault("let", []).append(f"{name} = {self._text(value)}")
        return Expression(name, fields=fields, owner=self)

    def action(self, function: Any) -> None:
        """Call a function in each firing, with parameters as in `let`, and ignore its result."""
        value = self._call("action", function, "bool", ignored=True)
        name = self._variable("action")
        self._table.setdefault("let", []).append(f"{name} = {self._text(value)}")

    def _text(self, value: Any) -> str:
        owner = owner_of(value)
        if owner is not None and owner is not self:
            raise ValueError(
                f"{self._path}: {text_of(value)} is a value of the transition {owner.name}:"
                " take a token here, or put it into a place first"
            )
        return text_of(value)

    @property
    def _path(self) -> str:
        return f"{self.page.path}/{self.name}"

    def _call(self, role: str, function: Any, colour: str, ignored: bool = False) -> Expression:
        guard = "a guard depends on tokens only, use a let" if role == "guard" else None
        known = self._variables | (set() if guard else {"now", "copy"})
        given, generator_at = arguments(function, self._path, known, guard)
        net = self.page.net
        name = net._add_function(function, colour, ignored, generator_at, self._path, role)
        return Expression(f"{name}({', '.join(given)})")

    def set(self, target: Expression, value: Any) -> None:
        """Set a field of a store, or an element of an array there.

        All expressions of a firing see the values before it.
        """
        self._table.setdefault("set", []).append(f"{self._text(target)} = {self._text(value)}")

    def put(
        self,
        target: Node | Port,
        token: Any = None,
        *,
        when: Any = None,
        count: Any = None,
        delay: Any = None,
        copy: Any = None,
    ) -> None:
        """Put tokens into a place, station or port.

        Parameters:
            token: Its value; nothing for tokens without data.
            when: Condition; without it, always.
            count: Number of tokens; by default one.
            delay: Time until it arrives, in seconds.
            copy: Copy of the folded page on the way, from 0; a list for several pages.
        """
        kinds = "a place, station or port"
        check_reference(target, (Node, Port), f"{self._path}: put", kinds)
        entry: dict[str, Any] = {"place": self.page._path_to(target)}
        if token is not None:
            entry["token"] = self._text(token)
        for key, value in (("when", when), ("count", count), ("delay", delay)):
            if value is not None:
                refuse_text(value, f"{self._path}: put(…, {key})")
                entry[key] = value if isinstance(value, int | float) else self._text(value)
        if copy is not None:
            copies = copy if isinstance(copy, list | tuple) else [copy]
            entry["copy"] = [self._text(item) for item in copies]
        self._table.setdefault("put", []).append(entry)

    def record(self, probe: str, value: Any, *, when: Any = None) -> None:
        """Record a figure in a probe."""
        entry = {"probe": probe, "value": self._text(value)}
        if when is not None:
            entry["when"] = self._text(when)
        self._table.setdefault("record", []).append(entry)


def check_reference(value: Any, kinds: tuple[type, ...], call: str, expected: str) -> None:
    """Check an argument that is an element of a net.

    Raises:
        TypeError: It is a name or another value.
    """
    if isinstance(value, kinds):
        return
    if isinstance(value, str):
        raise TypeError(
            f"{call}: {value!r} is a name: expected {expected}; write the variable of the element,"
            f" as in x = net.place({value!r})"
        )
    raise TypeError(f"{call}: expected {expected}, not {shown(value)}")


def refuse_text(value: Any, argument: str, *, token: bool = False) -> None:
    """Check that an argument is no text: a text is a value of the colour `str`.

    Raises:
        TypeError: It is a text. The message has what to write instead.
    """
    if isinstance(value, str):
        of_token = "net.token(colour) for the token that is served, or " if token else ""
        raise TypeError(
            f"{argument}: {value!r} is a text: expected a number or an expression; write {of_token}"
            "operators on the values that take returns, and functions of headrace.net such as"
            " exponential(1.0)"
        )


class Block(Generic[Element]):
    """The elements of a transition or page, written between the lines of a `with`."""

    def __init__(self, element: Element, call: str, kind: str, add: Callable[[], None]) -> None:
        self._element, self._call, self._kind, self._add = element, call, kind, add
        self.is_entered = False

    def __enter__(self) -> Element:
        self.is_entered = True
        return self._element

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._add()

    def __repr__(self) -> str:
        return f"<block of {self._call}>"

    def hint(self) -> str:
        """Return how to write it."""
        return f"{self._call} begins a block: write with {self._call} as {self._kind[0]}: …"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"{self.hint()}, and call {self._kind[0]}.{name} in it")


RESERVED = frozenset(
    ("if", "then", "else", "and", "or", "not", "with", "true", "false", "empty", "_")
)


class Page:
    """A page of a net.

    Examples:
        >>> net = hr.net.Net("cluster")
        >>> requests, done = net.place("requests", initial=100), net.place("done", sink=True)
        >>> with net.page("server", copies=2) as server:
        ...     disk, port = server.station("disk", service=0.008), server.output("end")
        ...     entry = server.input("entry", disk)
        ...     work, waits = server.store("work", {"requests": 0}), server.probe("waits")
        ...     with server.transition("finish") as finish:
        ...         job = finish.take(disk)
        ...         finish.put(port)
        >>> net.connect(port, done)
        >>> with net.transition("send") as send:
        ...     job = send.take(requests)
        ...     send.put(entry, copy=hr.net.below(2))
        >>> server.path, net.run(seed=1)["done"]["arrivals"]
        ('cluster/server', 100)
    """

    def __init__(self, net: "Net", parent: "Page | None", name: str, table: dict[str, Any]) -> None:
        self.net, self.parent, self.name, self.table = net, parent, name, table
        self._names: set[str] = set()
        self._stores: set[str] = set()

    @property
    def path(self) -> str:
        """Its name, after those of the pages around it."""
        return "/".join(page.name for page in reversed(self._around()))

    def _claim(self, name: str) -> str:
        if name in self._names:
            raise ValueError(f"the page {self.name} has two elements called {name!r}; rename one")
        self._names.add(name)
        return name

    def _around(self) -> "list[Page]":
        pages, page = [], self
        while page is not None:
            pages.append(page)
            page = page.parent  # type: ignore[assignment]
        return pages

    def _path_to(self, target: Node | Port) -> str:
        """Return the name of a node or port as transitions of this page write it."""
        around = self._around()
        names = [target.name]
        page = target.page
        while page not in around:
            names.append(page.name)
            if page.parent is None:
                raise ValueError(f"{target.name} is in another net")
            page = page.parent
        first = names[-1]
        for inner in around[: around.index(page)]:
            if first in inner._names:
                raise ValueError(
                    f"{first} of page {page.name} is hidden by an element of page {inner.name};"
                    " rename one"
                )
        return "/".join(escaped(name) for name in reversed(names))

    def _node(self, kind: str, name: str, colour: Any, table: dict[str, Any], initial: Any) -> Node:
        self._claim(name)
        if colour is not None:
            table = {"colour": self.net._colour(colour), **table}
        if isinstance(initial, int) and colour is None:
            table["initial"] = initial
        elif initial is not None:
            if not isinstance(initial, Sequence) or isinstance(initial, str):
                initial = [initial]
            if initial:
                table["initial"] = [
                    item if isinstance(item, dict) else text_of(item) for item in initial
                ]
        self.table.setdefault(kind, {})[name] = table
        return Node(self, name, colour, table)

    def place(
        self,
        name: str,
        colour: Any = None,
        *,
        initial: Any = None,
        order: str = "any",
        sink: bool = False,
        rest: bool = False,
        conserve: bool = False,
    ) -> Node:
        """Add a place.

        Parameters:
            colour: Type of its tokens: a dataclass of numbers and enumerations, an enumeration,
                `int`, `float`, `bool`, `str` or `Time`; None for tokens without data.
            initial: Its first tokens; a number of tokens without data.
            order: "any", or "fifo" if tokens leave in the order of their arrival.
            sink: Tokens end here.
            rest: Tokens may remain here when nothing else happens.
            conserve: Tokens are neither lost nor created here.
        """
        table: dict[str, Any] = {} if order == "any" else {"order": order}
        table |= _flags(sink=sink, rest=rest, conserve=conserve)
        return self._node("places", name, colour, table, initial)

    def station(
        self,
        name: str,
        colour: Any = None,
        *,
        discipline: str = "fcfs",
        servers: int | None = None,
        service: Any = None,
        class_: Any = None,
        number: int | None = None,
        work: Any = None,
        rates: Sequence[float] | None = None,
        links: Sequence[Any] | None = None,
        initial: Any = None,
        sink: bool = False,
        rest: bool = False,
        conserve: bool = False,
    ) -> Node:
        """Add a station: a queue with servers.

        Parameters:
            discipline: "fcfs", "infinite", "delay", "sharing", "priority", "preemptive",
                "barrier", "load_sharing" or "flows"; the kernel's page describes them.
            service: Service time in seconds; `self.token(colour)` is the token that is served.
                Or a function that returns it: its parameters are `token` and `random`.
            class_: Class of a token for priorities, the most urgent 0.
            number: Tokens that a barrier waits for.
            work: Work of a token that shares rates, in a unit such as bytes.
            rates: Work per second: of all tokens together while 1, 2, … are present
                ("load_sharing"; the last holds for more), or of each link ("flows").
            links: Numbers of the links that a token uses, from 0; less than 0 is none.
        """
        table: dict[str, Any] = {"discipline": discipline}
        if is_function(service):
            path = f"{self.path}/{name}"
            asked, generator_at = arguments(service, path, {"token"})
            called = self.net._add_function(
                service, "time", False, generator_at, path, "service time"
            )
            service = Expression(f"{called}({', '.join(asked)})")
        given = {"servers": servers, "service": service, "class": class_, "number": number}
        given["work"] = work
        for key, value in given.items():
            if value is not None:
                argument = {"class": "class_"}.get(key, key)
                refuse_text(value, f"{self.path}/{name}: station(…, {argument})", token=True)
                table[key] = value if isinstance(value, int | float) else text_of(value)
        for key, values in (("rates", rates), ("links", links)):
            if values is not None:
                for value in values:
                    refuse_text(value, f"{self.path}/{name}: station(…, {key})", token=True)
                table[key] = [text_of(value) for value in values]
        table |= _flags(sink=sink, rest=rest, conserve=conserve)
        return self._node("stations", name, colour, table, initial)

    def transition(self, name: str, *, priority: int = 0, weight: float = 1.0) -> Block[Transition]:
        """Add a transition, whose arcs are written within a block: `with net.transition(…) as t`.

        Parameters:
            priority: Higher fires first.
            weight: Its weight in nets whose `choice` is random.
        """
        self._claim(name)
        table: dict[str, Any] = {"priority": priority} if priority else {}
        if weight != 1.0:
            table["weight"] = weight
        return self._block("transition", Transition(self, name, table), table)

    def page(self, name: str, *, copies: int | None = None) -> "Block[Page]":
        """Add a page within this one: `with net.page(…) as page`; with `copies` it is folded."""
        self._claim(name)
        table: dict[str, Any] = {} if copies is None else {"copies": copies}
        return self._block("page", Page(self.net, self, name, table), table)

    def _block(self, kind: str, element: Element, table: dict[str, Any]) -> Block[Element]:
        name: str = element.name  # type: ignore[attr-defined]

        def add() -> None:
            self.table.setdefault(f"{kind}s", {})[name] = table

        room = "net" if self.parent is None else "page"
        block = Block(element, f"{room}.{kind}({name!r})", kind, add)
        self.net.blocks.append(block)
        return block

    def store(self, name: str, fields: Mapping[str, Any]) -> Store:
        """Add a store: state that transitions of this page and those within it read and set.

        Parameters:
            fields: First value of each field: a value of a colour, an expression, or a list of
                these for an array. A number is whole or real as it is written: 0 or 0.0.

        Returns:
            The store; `store.hits` is a field, `store.tags[i]` an element of an array.
        """
        self._claim(name)
        table = {field: self._first_value(value) for field, value in fields.items()}
        self.table.setdefault("stores", {})[name] = table
        self._stores.add(name)
        return Store(name, dict(fields))

    def _first_value(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            items = [self._first_value(item) for item in value]
            if len(items) > SHORT and all(item == items[0] for item in items):
                return {"length": len(items), "initial": items[0]}
            return items
        if isinstance(value, Enum) or dataclasses.is_dataclass(value):
            self.net._colour(type(value))
        return value if isinstance(value, bool | int | float) else text_of(value)

    def _store_names(self) -> set[str]:
        """Return the names of stores of this page and those around it."""
        return {name for page in self._around() for name in page._stores}

    def probe(self, name: str) -> str:
        """Add a probe that transitions record figures in; return its name."""
        self.table.setdefault("probes", []).append(self._claim(name))
        return name

    def input(self, name: str, node: Node) -> Port:
        """Add a way into this page that leads to a node."""
        check_reference(node, (Node,), f"{self.path}: input({name!r}, …)", "a place or station")
        self._claim(name)
        port = {"direction": "in", "place": self._path_to(node)}
        self.table.setdefault("ports", {})[name] = port
        return Port(self, name, node.colour)

    def output(self, name: str, colour: Any = None) -> Port:
        """Add a way out of this page; the page around it connects it."""
        self._claim(name)
        self.table.setdefault("ports", {})[name] = {"direction": "out"}
        return Port(self, name, colour)

    def connect(self, port: Port, target: Node | Port) -> None:
        """Connect an output of a page within this one."""
        check_reference(port, (Port,), f"{self.path}: connect", "a port")
        kinds = "a place, station or port"
        check_reference(target, (Node, Port), f"{self.path}: connect", kinds)
        if port.page.parent is not self:
            raise ValueError(f"{port.name} is no port of a page in {self.name}")
        port.page.table.setdefault("connect", {})[port.name] = self._path_to(target)


def _flags(**flags: bool) -> dict[str, Any]:
    return {name: True for name, value in flags.items() if value}


class Net(Page):
    """A net: its outermost page, its colours, and what can be done with it.

    Examples:
        >>> net = hr.net.Net("machine repair")
        >>> exponential = hr.net.exponential
        >>> up = net.station("up", discipline="infinite", service=exponential(600), initial=5)
        >>> down = net.station("down", service=exponential(60))
        >>> for name, before, after in (("fail", up, down), ("repair", down, up)):
        ...     with net.transition(name) as step:
        ...         machine = step.take(before)
        ...         step.put(after)
        >>> net.check()["places"]
        {'machine repair/up + machine repair/down': 5}
        >>> net.monitor("machines down", hr.net.marking(down))
        >>> round(net.run(3.6e6, seed=1)["machines down"]["mean"], 2)
        0.64
        >>> round(net.solve()["down"]["mean_inside"], 2)
        0.64
        >>> net.state_space(), net.symbolic_space(reach="up == 0").having
        (<machine repair: 6 markings, 10 arcs, complete>, 1)
        >>> net.play(seed=1).step().transition
        'machine repair/fail'
        >>> net.save("repair.toml")
        >>> net.model(), net.document()["monitors"], net.svg()
        (<headrace...NetModel ...>, {'machines down': {...}}, '<svg ...')
    """

    def __init__(self, name: str, description: str = "", *, choice: str = "first") -> None:
        """Begin a net.

        Parameters:
            choice: Which of several enabled transitions of one priority fires: the "first" that
                was written, or a "random" one by its weight. With "bindings", the tokens that it
                takes are random, too.
        """
        super().__init__(self, None, name, {})
        self.description = description
        self._monitors: dict[str, Any] = {}
        self._own: dict[str, OwnMonitor] = {}
        self.choice = choice
        self._colours: dict[str, Any] = {}
        self._types: dict[str, Any] = {}
        self._functions: list[NetFunction] = []
        self.blocks: list[Block[Any]] = []
        """All transitions and pages."""

    def __repr__(self) -> str:
        return f"<Net {self.name!r}>"

    def _reserved(self) -> set[str]:
        """Return names that variables must not have: members of enumerations."""
        return {member for it in self._colours.values() if isinstance(it, list) for member in it}

    def _colour(self, colour: Any) -> str:
        """Return the name of a colour, and declare it if it is new.

        Raises:
            TypeError: It is no colour.
        """
        if colour in BUILT_IN:
            return BUILT_IN[colour]
        if colour is Time:
            return "time"
        name: str | None = getattr(colour, "__name__", None)
        if name is None:
            raise TypeError(
                f"{shown(colour)} is no colour: expected a type such as int or a dataclass"
            )
        if self._types.setdefault(name, colour) is not colour:
            raise ValueError(f"two colours are called {name}; rename one")
        if name not in self._colours:
            if isinstance(colour, type) and issubclass(colour, Enum):
                self._colours[name] = [member.name for member in colour]
            elif isinstance(colour, type) and dataclasses.is_dataclass(colour):
                self._colours[name] = {}
                fields = field_types(colour) or {}
                self._colours[name] = {field: self._colour(kind) for field, kind in fields.items()}
            else:
                raise TypeError(
                    f"{colour!r} is no colour: expected int, float, bool, str, Time, an"
                    " enumeration or a dataclass of these"
                )
        return name

    @staticmethod
    def token(colour: Any = None) -> Expression:
        """Return the token that a station serves, for its service time and class.

        Examples:
            >>> from dataclasses import make_dataclass
            >>> Request = make_dataclass("Request", [("size", int)])
            >>> net = hr.net.Net("server")
            >>> disk = net.station("disk", Request, service=net.token(Request).size / 100e6)
            >>> disk.table["service"]
            'token.size / 100000000.0'
        """
        return Expression("token", fields=None if colour is None else field_types(colour))

    def _add_function(
        self,
        function: Any,
        colour: str,
        ignored: bool,
        generator_at: int | None,
        path: str,
        role: str,
    ) -> str:
        """Add a function that expressions call; return its name there."""
        name = f"python_{len(self._functions)}"
        self._functions.append(
            NetFunction(name, function, colour, ignored, generator_at, path, role)
        )
        return name

    def document(self) -> dict[str, Any]:
        """Return the net as a document.

        Raises:
            ValueError: It calls functions in Python.
        """
        if self._functions:
            raise ValueError(f"{self.name}: {refusal(self._functions, 'a document has no')}")
        return self._document()

    def _document(self) -> dict[str, Any]:
        for block in self.blocks:
            if not block.is_entered:
                raise ValueError(f"net {self.name}: {block.hint()}")
        head: dict[str, Any] = {"name": self.name}
        if self.description:
            head["description"] = self.description
        if self.choice != "first":
            head["run"] = {"choice": self.choice}
        if self._colours:
            head["colours"] = self._colours
        return head | self.table | ({"monitors": self._monitors} if self._monitors else {})

    def model(self) -> NetModel:
        """Check the net and compile it.

        Raises:
            ScenarioError: All that is wrong with it.
        """
        model = from_document(self._document(), self.name, self._functions, self._types)
        for name, it in self._own.items():
            model.monitor(name, it.function, transition=it.transition, with_marking=it.with_marking)
        return model

    def monitor(
        self,
        name: str,
        monitor: Monitor | OwnFunction,
        *,
        transition: str | Transition | None = None,
        with_marking: bool = False,
    ) -> None:
        """Add a monitor, which observes runs and changes nothing of them.

        Parameters:
            monitor: `counter(…)`, `marking(…)`, `observation(…)`, `collector(…)` or
                `breakpoint_when(…)`; or a function of your own, see `NetModel.monitor`.
            transition: Of a function: the transition whose firings it gets; None for all.
            with_marking: Of a function: give it the marking after each firing.
        """
        if name in self._monitors or name in self._own:
            raise ValueError(f"two monitors are called {name!r}; rename one")
        if not isinstance(monitor, Monitor):
            path = None if transition is None else path_of(transition)
            self._own[name] = OwnMonitor(monitor, path, with_marking)
        elif transition is None and not with_marking:
            self._monitors[name] = dict(monitor.table)
        else:
            raise TypeError(f"monitor {name!r}: transition and with_marking are for functions")

    def check(self) -> dict[str, Any]:
        """Check the net; return its invariants, as `NetModel.invariants` does.

        Raises:
            ScenarioError: All that is wrong with it.
        """
        return self.model().invariants()

    def svg(self) -> str:
        """Return a drawing of the net as SVG; notebooks show it."""
        return self.model().svg()

    _repr_svg_ = svg

    def save(self, path: str | Path) -> None:
        """Write the net to a file: .toml or .json, .cpn for CPN Tools, or .pnml.

        Warnings of the class `LeftOutWarning` say what the format leaves out.

        Raises:
            ValueError: The ending is unknown, or the format cannot express the net.
        """
        path = Path(path)
        if self._own:
            names = ", ".join(self._own)
            raise ValueError(f"no document has functions of Python; leave out the monitors {names}")
        check_ending(path)
        document = self.document()
        if path.suffix.lower() != ".toml":
            self.model()
        path.write_bytes(encode(document, path))

    def run(
        self,
        until: float | None = None,
        *,
        warmup: float = 0.0,
        seed: int = 1,
        replications: int = 1,
        playback: int | None = None,
    ) -> NetResult:
        """Run the net; see `NetModel.run`."""
        return self.model().run(
            until, warmup=warmup, seed=seed, replications=replications, playback=playback
        )

    def play(self, *, seed: int = 1) -> "Play":
        """Play the net, firing by firing; see `NetModel.play`."""
        return self.model().play(seed=seed)

    def state_space(
        self,
        limit: int = 1_000_000,
        *,
        timed: bool = False,
        reach: str | Expression | None = None,
        holds: Sequence[str] = (),
        deadlock: bool = False,
        reduced: bool = False,
    ) -> StateSpace:
        """Explore the net's markings; see `NetModel.state_space`."""
        return self.model().state_space(
            limit, timed=timed, reach=reach, holds=holds, deadlock=deadlock, reduced=reduced
        )

    def symbolic_space(self, *, reach: str | Expression | None = None) -> StateSpace:
        """Explore the net's markings by decision diagrams; see `NetModel.symbolic_space`."""
        return self.model().symbolic_space(reach=reach)

    def solve(
        self, at: Sequence[float] = (), *, conditions: Sequence[str] = (), limit: int = 200_000
    ) -> NetSolution:
        """Compute the steady state, and the state at times; see `NetModel.solve`."""
        return self.model().solve(at, conditions=conditions, limit=limit)
