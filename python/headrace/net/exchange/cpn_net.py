"""A net as places, transitions and arcs of CPN Tools, with inscriptions in CPN ML.

A station becomes timed places and transitions that serve its queue; see
`docs/how-to/exchange-nets.md`. A folded page becomes one page whose tokens have a copy number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from headrace.net.exchange.cpn_ml import (
    APPLY,
    ATOM,
    COMPARISON,
    HELPERS,
    LET,
    OR,
    PRODUCT,
    SECOND,
    SUM,
    Clock,
    Ml,
    Names,
    NeedsRealTime,
    RealClock,
    Scope,
    TickClock,
    Translator,
    ml_int,
    ml_real,
    ml_string,
)
from headrace.net.exchange.sheets import Arc, Place, Sheet, Transition, add_ports
from headrace.net.exchange.structure import (
    NetStructure,
    Node,
    Page,
    Tree,
    as_list,
    as_text,
    node_of,
    tree_of,
)
from headrace.net.exchange.structure import Transition as Source

MOST_TOKENS = 10_000
"""Most different tokens in an initial marking."""
LONGEST_LINE = 40
"""Longest line of an inscription, in letters."""
MOST_DRAWN = 99
"""Most values of a variable that CPN Tools binds by trial."""
UNITS = (("s", SECOND), ("ms", 10**9), ("us", 10**6), ("ns", 1000), ("ps", 1))
MOST_TICKS = 2**30 - 1

DISCIPLINES = ("fcfs", "infinite", "delay", "priority", "barrier")
"""Disciplines of stations that have a translation."""


@dataclass
class Colset:
    """The declaration of a colour set."""

    name: str
    form: str
    """unit, bool, int, real, string, time, enum, record, product, list, range or alias."""
    parts: list[Any] = field(default_factory=list)
    timed: bool = False


@dataclass
class CpnNet:
    """All that a file of CPN Tools says of a net."""

    top: Sheet
    colsets: list[Colset]
    variables: list[tuple[str, str]]
    """Names with their colour sets."""
    code: list[str]
    """Constants and functions."""
    is_timed: bool
    has_real_time: bool
    unit: str
    """Unit of the model time."""
    notes: list[str]
    """What is left out."""


def cpn_net(net: NetStructure) -> CpnNet:
    """Translate a net.

    Raises:
        ValueError: It has parts that CPN Tools cannot express.
    """
    clock: Clock = TickClock()
    try:
        trial = TickClock()
        _Exporter(net, trial).export()
        name, unit = next((name, it) for name, it in UNITS if trial.seen % it == 0)
        if trial.largest // unit > MOST_TICKS:
            raise NeedsRealTime
        clock = TickClock(unit)
    except NeedsRealTime:
        name, clock = "s", RealClock()
    return _Exporter(net, clock).export(name)


def weights(net: NetStructure) -> tuple[dict[Node, int], Translator]:
    """Return the numbers of first tokens of nodes in all copies, and a translator for the rest."""
    exporter = _Exporter(net, RealClock())
    exporter._page(net.top, None)
    return {node: sum(map(len, exporter._initial(node))) for node in net.nodes()}, exporter.ml


class _Exporter:
    def __init__(self, net: NetStructure, clock: Clock) -> None:
        self.net, self.clock = net, clock
        self.names = Names()
        self.ml = Translator(net, clock, self.names)
        self.colsets: dict[tuple[Any, ...], Colset] = {}
        self.variables: dict[tuple[str, str], str] = {}
        self.sheets: dict[Page, Sheet] = {}
        self.total: dict[Page, int] = {}
        self.entry: dict[Node, Place] = {}
        self.exit: dict[Node, Place] = {}
        self.lists: set[Node] = set()
        self.is_timed = False
        self.delayed = {node for it in net.transitions() for node, arc in it.puts if "delay" in arc}
        self.high = 100
        self.functions: list[str] = []

    def export(self, unit: str = "ps") -> CpnNet:
        self._declare_colours()
        most = max((int(it.table.get("priority", 0)) for it in self.net.transitions()), default=0)
        self.high = min(100, 999 - most)
        top = self._page(self.net.top, None)
        for node in self.net.nodes():
            self._node(node)
        for transition in self.net.transitions():
            try:
                self._transition(transition)
            except ValueError as error:
                raise ValueError(f"transition {transition.path}: {error}") from None
        add_ports(top)
        code = [
            f"val {it.text}{_type_of(self.ml, it)} = {_value(self.ml, it.kind, it.value)};"
            for it in self.ml.constants.values()
        ]
        code += [HELPERS[name] for name in HELPERS if name in self.ml.helpers]
        code += [self._positions(enum) for enum in sorted(self.ml.ordered)]
        code += self.functions
        if self.is_timed:
            # The reader of nets knows the unit by it.
            code.append(f"val unit_of_time = {ml_string(unit)};")
        return CpnNet(
            top,
            list(self.colsets.values()),
            [(name, colset) for (_, colset), name in self.variables.items()],
            code,
            self.is_timed,
            self.clock.is_real,
            unit,
            self._notes(),
        )

    def _positions(self, enum: str) -> str:
        members = self.net.colours.enums[enum]
        of = self.ml.ord_of(enum)
        clauses = (
            f"{of} {self.ml.members[enum, member]} = {number}"
            for number, member in enumerate(members)
        )
        return "fun " + " | ".join(clauses) + ";"

    def _notes(self) -> list[str]:
        found = []
        records = sum(len(as_list(it.table.get("record"))) for it in self.net.transitions())
        probes = sum(len(as_list(page.table.get("probes"))) for page in self.net.top.walk())
        if records or probes:
            found.append(f"{probes} probes and {records} records of figures in transitions")
        if self.net.settings:
            found.append(f"{self.net.settings} settings of runs")
        flags = sum(
            bool(node.table.get(flag))
            for node in self.net.nodes()
            for flag in ("sink", "rest", "conserve")
        )
        if flags:
            found.append(f"{flags} marks sink, rest or conserve; tokens stay in sinks")
        return found

    # --- colour sets and variables ------------------------------------------------------------

    def _declare_colours(self) -> None:
        of = self.ml.colsets
        for kind in ("unit", "bool", "int", "text", "real", "time"):
            form = {"text": "string"}.get(kind, kind)
            used = kind in ("unit", "bool", "int", "text") or any(
                self.net.colours.contains(node.colour, kind) for node in self.net.nodes()
            )
            if used:
                self._base(kind, form)
        for name, members in self.net.colours.enums.items():
            parts = [self.ml.members[name, member] for member in members]
            self.colsets["kind", name] = Colset(of[name], "enum", parts)
        waiting = dict(self.net.colours.records)
        while waiting:
            for name, fields in list(waiting.items()):
                if not any(kind in waiting for kind in fields.values()):
                    for kind in fields.values():
                        if kind in ("real", "time"):
                            self._base(kind, kind)
                    labels = [(self.ml.fields[name, it], of[kind]) for it, kind in fields.items()]
                    self.colsets["kind", name] = Colset(of[name], "record", labels)
                    del waiting[name]

    def _base(self, kind: str, form: str) -> None:
        if form == "time" and self.clock.is_real:
            form = "real"
        self.colsets.setdefault(("kind", kind), Colset(self.ml.colsets[kind], form))

    def _kind(self, kind: str) -> str:
        if ("kind", kind) not in self.colsets:
            self._base(kind, kind)
        return self.ml.colsets[kind]

    def _derived(self, key: tuple[Any, ...], name: str, form: str, parts: list[Any]) -> str:
        if key not in self.colsets:
            self.colsets[key] = Colset(self.names.new(name), form, parts)
        return self.colsets[key].name

    def _range(self, first: int, last: int) -> str:
        name = f"FROM_{first}_TO_{last}".replace("-", "M")
        return self._derived(("range", first, last), name, "range", [first, last])

    def _copies(self, page: Page) -> str:
        total = self.total[page]
        return self._derived(("copies", total), f"COPY_OF_{total}", "range", [0, total - 1])

    def _list(self, kind: str) -> str:
        of = self._kind(kind)
        return self._derived(("list", kind), f"{of}_list", "list", [of])

    def _colset(self, node: Node, of: str, *, timed: bool = False) -> str:
        """Return the colour set of a node's tokens; `of` is that without copies."""
        colset = of
        if self.total[node.page] > 1:
            colset = self._copies(node.page)
            if of != "UNIT":
                product = ("product", colset, of)
                colset = self._derived(product, f"{colset}_{of}", "product", [colset, of])
        if timed:
            self.is_timed = True
            key = ("timed", colset)
            if key not in self.colsets:
                name = self.names.new(f"{colset}_timed")
                self.colsets[key] = Colset(name, "alias", [colset], True)
            colset = self.colsets[key].name
        return colset

    def _variable(self, wanted: str, colset: str) -> str:
        key = (wanted, colset)
        if key not in self.variables:
            self.variables[key] = self.names.new(wanted)
        return self.variables[key]

    def _fresh(self, wanted: str, colset: str, used: set[str]) -> str:
        """Return a variable that a transition does not use yet."""
        number = 1
        while (name := self._variable(wanted if number == 1 else f"{wanted}{number}", colset)) in (
            used
        ):
            number += 1
        used.add(name)
        return name

    # --- pages and nodes ----------------------------------------------------------------------

    def _page(self, page: Page, around: Sheet | None) -> Sheet:
        copies = page.table.get("copies") if page.parent else None
        number = 1
        if copies is not None:
            value = self.ml.compile(tree_of(copies), Scope(), "int").value
            number = int(value)
        self.total[page] = number * (self.total[page.parent] if page.parent else 1)
        sheet = Sheet(page.name) if around is None else around.child(page.name)
        self.sheets[page] = sheet
        for inner in page.pages.values():
            self._page(inner, sheet)
        return sheet

    def _node(self, node: Node) -> None:
        sheet, kind = self.sheets[node.page], self._kind(node.colour)
        tokens = self._initial(node)
        delayed = node in self.delayed
        if not node.is_station and node.table.get("order") != "fifo":
            colset = self._colset(node, kind, timed=delayed)
            place = sheet.place(node.name, colset, self._bag(node, tokens))
            self.entry[node] = self.exit[node] = place
            return
        out = sheet.place(node.name)
        colset = self._colset(node, kind, timed=delayed)
        if not node.is_station:
            arrivals = sheet.place(f"{node.name} arrivals", colset)
            self._queue(node, arrivals, out, tokens)
            self.entry[node], self.exit[node] = arrivals, out
            return
        arrivals = sheet.place(f"{node.name} arrivals", colset, self._bag(node, tokens))
        self.entry[node], self.exit[node] = arrivals, out
        served = out
        if not self._takes_any(node):
            served = sheet.place(f"{node.name} served")
            self._queue(node, served, out, [[] for _ in tokens])
        else:
            out.colour = self._colset(node, kind, timed=True)
        if served is not out:
            served.colour = self._colset(node, kind, timed=True)
        try:
            self._station(node, arrivals, served)
        except ValueError as error:
            raise ValueError(f"station {node.path}: {error}") from None

    def _takes_any(self, node: Node) -> bool:
        """Return true if the order of a node's tokens makes no difference to its transitions."""
        for transition in self.net.transitions():
            if not any(of is node for of, _ in transition.takes):
                continue
            ((_, arc), *others) = transition.takes
            if others or "when" in transition.table or arc.get("count", 1) != 1:
                return False
            if "token" in arc:
                kind, name = node_of(tree_of(arc["token"]))
                if kind != "Name" or not self._is_new(name, node.colour, Scope()):
                    return False
        return True

    def _wrap(self, node: Node, copy: str, token: str) -> str:
        """Return a token with its copy."""
        if self.total[node.page] == 1:
            return token
        return copy if node.colour == "unit" and not token.startswith("[") else f"({copy}, {token})"

    def _bag(self, node: Node, tokens: list[list[str]]) -> str:
        count: dict[str, int] = {}
        for copy, each in enumerate(tokens):
            for token in each:
                text = self._wrap(node, str(copy), token)
                count[text] = count.get(text, 0) + 1
        if len(count) > MOST_TOKENS:
            raise ValueError(f"{node.path}: more than {MOST_TOKENS} different tokens at the start")
        return " ++\n".join(f"{number}`{token}" for token, number in count.items())

    def _initial(self, node: Node) -> list[list[str]]:
        """Return the first tokens of each copy of a node."""
        tokens = []
        for copy in range(self.total[node.page]):
            scope = Scope(copy=Ml(str(copy), "int", ATOM, copy))
            tokens.append(
                [
                    it
                    for entry in as_list(node.table.get("initial"))
                    for it in self._first_tokens(node, entry, scope)
                ]
            )
        return tokens

    def _first_tokens(self, node: Node, entry: Any, scope: Scope) -> Iterator[str]:
        table = entry if isinstance(entry, Mapping) else {"token": entry}
        token, count = table.get("token"), table.get("count", 1)
        if node.colour == "unit" and token is not None and as_text(token).strip().isdigit():
            token, count = None, token
        values: Any = [None]
        if "each" in table:
            first, last = (
                int(self.ml.compile(tree_of(table[key]), scope, "int").value)
                for key in ("from", "to")
            )
            values = range(first, last + 1)
        if len(values) > MOST_TOKENS:
            raise ValueError(f"{node.path}: more than {MOST_TOKENS} different tokens at the start")
        trees = tree_of(count), None if token is None else tree_of(token)
        for value in values:
            inner = Scope(dict(scope.variables), scope.copy)
            if value is not None:
                inner.variables[table["each"]] = Ml(ml_int(value), "int", ATOM, value)
            number = int(self.ml.compile(trees[0], inner, "int").value)
            text = "()"
            if trees[1] is not None:
                text = _literal(self.ml, node.colour, self.ml.compile(trees[1], inner, node.colour))
            if number > MOST_TOKENS * 100:
                raise ValueError(f"{node.path}: more than {MOST_TOKENS * 100} tokens at the start")
            yield from [text] * number

    # --- queues and stations ------------------------------------------------------------------

    def _own_copy(self, node: Node, used: set[str]) -> str:
        if self.total[node.page] == 1:
            return ""
        return self._fresh("copy", self._copies(node.page), used)

    def _serving(self, node: Node, name: str) -> Transition:
        transition = self.sheets[node.page].transition(f"{node.name} {name}")
        transition.priority = "P_HIGH" if self.high == 100 else ml_int(self.high)
        return transition

    def _queue(self, node: Node, source: Place, queue: Place, tokens: list[list[str]]) -> None:
        """Make a place a queue of tokens that come from another; the first leaves first."""
        listed = self._list(node.colour)
        queue.colour = self._colset(node, listed)
        queue.initial = self._lists(node, tokens)
        self.lists.add(node)
        self._arrive(node, source, queue, "{q} ^^ [{x}]")

    def _lists(self, node: Node, tokens: list[list[str]]) -> str:
        return " ++\n".join(
            f"1`{self._wrap(node, str(copy), '[' + ', '.join(each) + ']')}"
            for copy, each in enumerate(tokens)
        )

    def _arrive(self, node: Node, source: Place, queue: Place, joined: str) -> None:
        used: set[str] = set()
        transition = self._serving(node, "arrive" if source is self.entry.get(node) else "leave")
        copy = self._own_copy(node, used)
        x = self._fresh("x", self._kind(node.colour), used)
        q = self._fresh("q", self._list(node.colour), used)
        transition.arcs += [
            Arc(source, True, self._wrap(node, copy, "()" if node.colour == "unit" else x)),
            Arc(queue, True, self._in_list(node, copy, q)),
            Arc(
                queue,
                False,
                self._in_list(
                    node, copy, joined.format(q=q, x="()" if node.colour == "unit" else x)
                ),
            ),
        ]

    def _in_list(self, node: Node, copy: str, text: str) -> str:
        return text if self.total[node.page] == 1 else f"({copy}, {text})"

    def _station(self, node: Node, arrivals: Place, served: Place) -> None:
        discipline = str(node.table.get("discipline", "fcfs"))
        if discipline not in DISCIPLINES:
            raise ValueError(
                f"the discipline {discipline} has no translation into timed places; expected one"
                f" of {', '.join(DISCIPLINES)}"
            )
        if discipline in ("infinite", "delay"):
            used: set[str] = set()
            begin = self._serving(node, "begin")
            copy = self._own_copy(node, used)
            x = "()" if node.colour == "unit" else self._fresh("x", self._kind(node.colour), used)
            token = self._wrap(node, copy, x)
            begin.arcs += [
                Arc(arrivals, True, token),
                Arc(served, False, token + self._after(self._service(node, x))),
            ]
            return
        sheet = self.sheets[node.page]
        listed = self._colset(node, self._list(node.colour))
        queue = sheet.place(
            f"{node.name} queue", listed, self._lists(node, [[]] * self.total[node.page])
        )
        if discipline == "barrier":
            self._arrive(node, arrivals, queue, "{q} ^^ [{x}]")
            self._release(node, queue, served)
            return
        joined = "{q} ^^ [{x}]"
        if discipline == "priority":
            joined = f"{self._insertion(node)} ({{x}}, {{q}})"
        self._arrive(node, arrivals, queue, joined)
        self._serve(node, queue, served)

    def _service(self, node: Node, x: str) -> Ml:
        scope = Scope({"token": Ml(x, node.colour)})
        return self._span(tree_of(node.table["service"]), scope)

    def _span(self, tree: Tree, scope: Scope) -> Ml:
        """Return a delay: real seconds, or a whole number of units. A negative one counts as 0."""
        if not self.clock.is_real:
            span = self._ticks(tree, scope)
            if span.value is None and re.search(r" - |~", span.text):
                return Ml(f"Int.max (0, {span.text})", "int", APPLY, None, span.random)
            return span
        span = self.ml.compile(tree, scope, "time")
        if span.value is None and re.search(r"normal|uniform| - |~", span.text):
            text = f"{self.ml.helper('longer')} (0.0, {span.text})"
            return Ml(text, "time", APPLY, None, span.random)
        return span

    def _ticks(self, tree: Tree, scope: Scope) -> Ml:
        """Return a time as an int, which is what delays are."""
        form, parts = node_of(tree)
        if form == "If":
            test = self.ml.compile(parts[0], scope, "bool")
            then, other = (self._ticks(part, scope) for part in parts[1:])
            text = f"if {test.text} then {then.at(OR)} else {other.text}"
            return Ml(text, "int", LET, None, test.random or then.random or other.random)
        span = self.ml.compile(tree, scope, "time")
        if span.value is not None:
            return Ml(span.text, "int", ATOM, span.value)
        if form == "Binary" and parts[0] == "*":
            sides = [self.ml.infer(part, scope) for part in parts[1:]]
            if {it.kind for it in sides} == {"int", "time"}:
                texts = (
                    it if it.kind == "int" else Ml(it.text, "int", it.binds, it.value)
                    for it in sides
                )
                if all(it.kind == "int" or it.value is not None for it in sides):
                    left, right = texts
                    text = f"{left.at(PRODUCT)} * {right.at(APPLY)}"
                    return Ml(text, "int", PRODUCT, None, span.random)
        return Ml(f"IntInf.toInt {span.at(ATOM)}", "int", APPLY, None, span.random)

    def _after(self, delay: Ml) -> str:
        """Return the delay of a token that is put."""
        self.is_timed = True
        return f"{'@++' if self.clock.is_real else '@+'}{delay.at(ATOM)}"

    def _serve(self, node: Node, queue: Place, served: Place) -> None:
        """Add servers: each takes the first of the queue and is free when it is served."""
        sheet = self.sheets[node.page]
        servers = node.table.get("servers", 1)
        number = int(self.ml.compile(tree_of(servers), Scope(), "int").value)
        colset = self._colset(node, "UNIT", timed=True)
        free = " ++\n".join(
            f"{number}`{str(copy) if self.total[node.page] > 1 else '()'}"
            for copy in range(self.total[node.page])
        )
        idle = sheet.place(f"{node.name} servers", colset, free)
        used: set[str] = set()
        begin = self._serving(node, "begin")
        copy = self._own_copy(node, used)
        x = self._fresh("x", self._kind(node.colour), used)
        q = self._fresh("q", self._list(node.colour), used)
        service = self._service(node, x)
        if service.random:
            span = self._fresh("span", self._kind(service.kind), used)
            begin.code = f"output ({span});\naction ({service.text});"
            if re.search(rf"\b{x}\b", service.text):
                begin.code = f"input ({x});\n{begin.code}"
            service = Ml(span, service.kind)
        after = self._after(service)
        server = copy if copy else "()"
        begin.arcs += [
            Arc(queue, True, self._in_list(node, copy, f"{x} :: {q}")),
            Arc(queue, False, self._in_list(node, copy, q)),
            Arc(idle, True, server),
            Arc(idle, False, server + after),
            Arc(
                served, False, self._wrap(node, copy, x if node.colour != "unit" else "()") + after
            ),
        ]

    def _insertion(self, node: Node) -> str:
        """Return the name of a function that inserts a token behind those of its class."""
        of = self._kind(node.colour)
        urgency, insert = (
            self.names.new(f"{word}_{node.name}") for word in ("class_of", "insert_in")
        )
        scope = Scope({"token": Ml("x", node.colour)})
        rank = self.ml.compile(tree_of(node.table["class"]), scope, "int")
        self.functions += [
            f"fun {urgency} (x: {of}) = Int.max (0, {rank.text});",
            f"fun {insert} (x: {of}, [] : {of} list) = [x] | {insert} (x, y :: rest) ="
            f" if {urgency} x < {urgency} y then x :: y :: rest else y :: {insert} (x, rest);",
        ]
        return insert

    def _release(self, node: Node, queue: Place, served: Place) -> None:
        """Release all tokens of a queue when there are enough."""
        number = int(self.ml.compile(tree_of(node.table["number"]), Scope(), "int").value)
        used: set[str] = set()
        release = self._serving(node, "release")
        copy = self._own_copy(node, used)
        q = self._fresh("q", self._list(node.colour), used)
        tokens = q
        if self.total[node.page] > 1:
            x = "_" if node.colour == "unit" else "x"
            tokens = f"List.map (fn {x} => {self._wrap(node, copy, x)}) {q}"
        release.guard = f"[length {q} >= {number}]"
        release.arcs += [
            Arc(queue, True, self._in_list(node, copy, q)),
            Arc(queue, False, self._in_list(node, copy, "[]")),
            Arc(served, False, tokens),
        ]

    # --- transitions --------------------------------------------------------------------------

    def _is_new(self, name: str, kind: str, scope: Scope) -> bool:
        members = self.net.colours.enums.get(kind, [])
        known = name in scope.variables or name in self.ml.constants
        return not known and name not in ("true", "false") and name not in members

    def _transition(self, source: Source) -> None:
        transition = self.sheets[source.page].transition(source.name)
        priority = int(source.table.get("priority", 0))
        if priority:
            transition.priority = ml_int(1000 - priority)
        used: set[str] = set()
        scope = Scope()
        if self.total[source.page] > 1:
            copy = self._fresh("copy", self._copies(source.page), used)
            scope.copy = Ml(copy, "int")
            own = any(self.total[node.page] == self.total[source.page] for node, _ in source.takes)
            if not own and self.total[source.page] > MOST_DRAWN:
                raise ValueError(
                    f"takes nothing from its own page, which has more than {MOST_DRAWN} copies:"
                    " CPN Tools cannot find its copy"
                )
        guards: list[str] = []
        rests: dict[Node, list[str]] = {}
        for node, arc in source.takes:
            for token in self._take(source, node, arc, scope, used, guards):
                if node in self.lists:
                    rests.setdefault(node, []).append(token)
                else:
                    copy = self._copy_of(source, node, scope, used, guards)
                    inward = Arc(self.exit[node], True, self._wrap(node, copy, token))
                    transition.arcs.append(inward)
        for node, tokens in rests.items():
            rest = self._fresh("rest", self._list(node.colour), used)
            copy = self._copy_of(source, node, scope, used, guards)
            head = " :: ".join([*tokens, rest])
            transition.arcs += [
                Arc(self.exit[node], True, self._in_list(node, copy, head)),
                Arc(self.exit[node], False, self._in_list(node, copy, rest)),
            ]
        for when in as_list(source.table.get("when")):
            guards.append(self.ml.compile(tree_of(when), scope, "bool").text)
        if guards:
            transition.guard = "[" + ",\n".join(guards) + "]"
        self._lets(source, transition, scope, used)
        for node, arc in source.puts:
            text = self._put(source, node, arc, scope)
            transition.arcs.append(Arc(self.entry[node], False, text))
        _merge(transition)

    def _copy_of(
        self, source: Source, node: Node, scope: Scope, used: set[str], guards: list[str]
    ) -> str:
        """Return the copy of a node around a transition."""
        total = self.total[node.page]
        if total == 1 or scope.copy is None:
            return ""
        ratio = self.total[source.page] // total
        if ratio == 1:
            return scope.copy.text
        around = self._fresh("around", self._copies(node.page), used)
        guards.append(f"{around} = {scope.copy.text} div {ratio}")
        return around

    def _take(
        self,
        source: Source,
        node: Node,
        arc: Mapping[str, Any],
        scope: Scope,
        used: set[str],
        guards: list[str],
    ) -> list[str]:
        """Return the tokens that an arc takes, as patterns."""
        number = int(self.ml.compile(tree_of(arc.get("count", 1)), Scope(), "int").value)
        if "token" not in arc:
            if node.colour == "unit":
                return ["()"] * number
            colset = self._kind(node.colour)
            return [self._fresh("any", colset, used) for _ in range(number)]
        tree = tree_of(arc["token"])
        return [self._pattern(tree, node.colour, scope, used, guards, False) for _ in range(number)]

    def _pattern(
        self,
        tree: Tree,
        kind: str,
        scope: Scope,
        used: set[str],
        guards: list[str],
        inside: bool,
    ) -> str:
        form, parts = node_of(tree)
        records = self.net.colours.records
        if form == "Name" and parts == "_":
            return "()" if kind == "unit" else self._fresh("any", self._kind(kind), used)
        if form == "Name" and self._is_new(parts, kind, scope):
            if kind == "unit":
                scope.variables[parts] = Ml("()", "unit", ATOM, ())
                return "()"
            name = self._fresh(parts, self._kind(kind), used)
            scope.variables[parts] = Ml(name, kind)
            return name
        if kind in records and (
            (form == "Tuple" and parts) or (form == "Call" and parts[0] == kind)
        ):
            given = [(None, part) for part in parts] if form == "Tuple" else parts[1]
            fields = list(records[kind])
            named = {
                fields[position] if name is None else name: argument
                for position, (name, argument) in enumerate(given)
            }
            entries = []
            for name in fields:
                label = self.ml.fields[kind, name]
                of = records[kind][name]
                if name in named:
                    value = self._pattern(named[name], of, scope, used, guards, True)
                else:
                    value = self._fresh("any", self._kind(of), used)
                entries.append(f"{label} = {value}")
            return "{" + ", ".join(entries) + "}"
        value_ml = self.ml.compile(tree, scope, kind)
        bound = form == "Name" and parts in scope.variables
        literal = form in ("Int", "Text") or (form == "Name" and parts not in self.ml.constants)
        if not self.ml.has_reals(kind) and (bound or literal or not inside):
            return value_ml.at(SUM)
        # Standard ML matches no real numbers, and nothing that it would have to compute.
        name = self._fresh("same", self._kind(kind), used)
        guards.append(self.ml._equal("==", Ml(name, kind), value_ml, None).text)
        return name

    def _lets(self, source: Source, transition: Transition, scope: Scope, used: set[str]) -> None:
        """Compute values: random ones by a variable without arc, or a code segment."""
        outputs: list[str] = []
        lines: list[str] = []
        for let in as_list(source.table.get("let")):
            name, text = str(let).split("=", 1)
            name = name.strip()
            tree = tree_of(text)
            drawn = self._drawn(tree, scope, used)
            if drawn is not None:
                scope.variables[name] = drawn
                continue
            value = self.ml.infer(tree, scope)
            if value.random:
                variable = self._fresh(name, self._kind(value.kind), used)
                outputs.append(variable)
                lines.append(f"val {variable} = {value.text}")
                value = Ml(variable, value.kind)
            scope.variables[name] = value
        if not outputs:
            return
        words = set(re.findall(r"\w+", " ".join(it.partition("=")[2] for it in lines)))
        inputs = [it for it in sorted(used) if it in words and it not in outputs]
        head = f"input ({', '.join(inputs)});\n" if inputs else ""
        if len(lines) == 1:
            action = f"action ({lines[0].partition('=')[2].strip()});"
        else:
            body = "\n".join(f"  {line}" for line in lines)
            action = f"action\nlet\n{body}\nin ({', '.join(outputs)}) end;"
        transition.code = f"{head}output ({', '.join(outputs)});\n{action}"

    def _drawn(self, tree: Tree, scope: Scope, used: set[str]) -> Ml | None:
        """Return a random choice with few outcomes as a variable that no arc binds.

        CPN Tools gives it each value with the same probability, and state spaces have them all.
        """
        form, parts = node_of(tree)
        if form != "Call" or parts[0] not in ("bernoulli", "below", "discrete"):
            return None
        try:
            values = [self.ml.infer(argument, Scope()).value for _, argument in parts[1]]
        except ValueError:
            return None
        if any(value is None for value in values):
            return None
        if parts[0] == "bernoulli":
            chance = Fraction(values[0]).limit_denominator(MOST_DRAWN)
            exact = abs(chance - Fraction(values[0])) < Fraction(1, 10**12)
            if not exact or not 0 < chance < 1:
                return None
            drawn = self._fresh("drawn", self._range(1, chance.denominator), used)
            return Ml(f"{drawn} <= {chance.numerator}", "bool", COMPARISON)
        first, last = (0, values[0] - 1) if parts[0] == "below" else values
        if not 0 <= last - first < MOST_DRAWN:
            return None
        return Ml(self._fresh("drawn", self._range(first, last), used), "int")

    def _put(self, source: Source, node: Node, arc: Mapping[str, Any], scope: Scope) -> str:
        copy = self._target_copy(source, node, arc, scope)
        delay = ""
        if "delay" in arc:
            delay = self._after(self._span(tree_of(arc["delay"]), scope))
        count = None
        if "count" in arc:
            count = self.ml.compile(tree_of(arc["count"]), scope, "int").at(ATOM)

        def leaf(token: str, plain: bool) -> str:
            text = self._wrap(node, copy, token)
            return text if plain and count is None else f"{count or 1}`{text}"

        def tokens(tree: Tree, plain: bool) -> str:
            form, parts = node_of(tree)
            if form == "Name" and parts == "empty":
                return "empty"
            if form == "If" and has_empty(tree):
                test = self.ml.compile(parts[0], scope, "bool").text
                then, other = (tokens(part, False) for part in parts[1:])
                return f"if {test}\nthen {_enclosed(then)}\nelse {other}"
            return leaf(self.ml.compile(tree, scope, node.colour).at(ATOM), plain)

        when = arc.get("when")
        condition = None if when is None else self.ml.compile(tree_of(when), scope, "bool")
        text = tokens(tree_of(arc.get("token", "()")), condition is None)
        if condition is not None and condition.value is not True:
            text = f"if {condition.text}\nthen {_enclosed(text)}\nelse empty"
        # CPN Tools adds the time after the first @+ to all that stands before it.
        return _enclosed(text) + delay if delay else text

    def _target_copy(self, source: Source, node: Node, arc: Mapping[str, Any], scope: Scope) -> str:
        """Return the copy of a node that a transition puts into."""
        total = self.total[node.page]
        if total == 1:
            return ""
        around = list(source.page.around())
        inward = [page for page in node.page.around() if page not in around]
        shared = inward[-1].parent if inward else node.page
        assert shared is not None
        ratio = self.total[source.page] // self.total[shared]
        copy = scope.copy or Ml("0", "int", ATOM, 0)
        to = copy if ratio == 1 else Ml(f"{copy.at(ATOM)} div {ratio}", "int", PRODUCT)
        if self.total[shared] == 1:
            to = Ml("0", "int", ATOM, 0)
        chosen = as_list(arc.get("copy"))
        folded = [page for page in reversed(inward) if page.table.get("copies") is not None]
        for page, text in zip(folded, chosen, strict=True):
            assert page.parent is not None
            copies = self.total[page] // self.total[page.parent]
            ml = self.ml.compile(tree_of(text), scope, "int")
            within = Ml(f"{to.at(PRODUCT)} * {copies} + {ml.at(PRODUCT)}", "int", SUM)
            to = ml if to.value == 0 else within
        return to.text


def _enclosed(text: str) -> str:
    return f"({text})" if text.startswith("if ") else text


def has_empty(tree: Tree) -> bool:
    """Return true if a token that is put may be none."""
    form, parts = node_of(tree)
    if form == "Name":
        return bool(parts == "empty")
    return form == "If" and any(has_empty(part) for part in parts[1:])


def _merge(transition: Transition) -> None:
    """Join equal arcs, such as those of several tokens without data."""
    count: dict[tuple[Place, bool, str], int] = {}
    for arc in transition.arcs:
        key = (arc.place, arc.inward, arc.text)
        count[key] = count.get(key, 0) + 1
    arcs = []
    for (place, inward, text), number in count.items():
        simple = re.fullmatch(r"[\w() ,]+", text) is not None
        if number > 1 and simple:
            arcs.append(Arc(place, inward, f"{number}`{text}"))
        else:
            arcs += [Arc(place, inward, text) for _ in range(number)]
    for arc in arcs:
        if '"' not in arc.text:
            arc.text = "\n".join(map(_folded, arc.text.split("\n")))
    transition.arcs = arcs


def _folded(line: str) -> str:
    """Return a line of an inscription, in several lines if it is long."""
    return line if len(line) <= LONGEST_LINE else line.replace(", ", ",\n")


def _literal(ml: Translator, kind: str, of: Ml) -> str:
    """Return a constant by its value, or by its text if that is not known."""
    if of.value is None:
        return of.at(ATOM)
    return _value(ml, kind, of.value)


def _value(ml: Translator, kind: str, value: Any) -> str:
    if kind in ml.net.colours.records:
        fields = ml.net.colours.records[kind]
        entries = (
            f"{ml.fields[kind, name]} = {_value(ml, fields[name], value[name])}" for name in fields
        )
        return "{" + ", ".join(entries) + "}"
    if kind in ml.net.colours.enums:
        return ml.members[kind, value]
    match kind:
        case "unit":
            return "()"
        case "bool":
            return "true" if value else "false"
        case "int":
            return ml_int(value)
        case "real":
            return ml_real(value)
        case "time":
            return ml.clock.constant(value)
    return ml_string(value)


def _type_of(ml: Translator, of: Ml) -> str:
    return " : IntInf.int" if of.kind == "time" and not ml.clock.is_real else ""
