"""Stations and places in order of arrival, as timed places and transitions of CPN Tools."""

import re

from headrace.net.exchange.cpn_colsets import ColourSets
from headrace.net.exchange.cpn_ml import APPLY, ATOM, LET, OR, PRODUCT, Clock, Ml, Scope, ml_int
from headrace.net.exchange.sheets import Arc, Place, Sheet, Transition
from headrace.net.exchange.structure import NetStructure, Node, Page, Tree, node_of, tree_of

DISCIPLINES = ("fcfs", "infinite", "delay", "priority", "barrier")
"""Disciplines of stations that have a translation."""


class Stations(ColourSets):
    """Adds queues and servers to the sheets of a net."""

    def __init__(self, net: NetStructure, clock: Clock) -> None:
        super().__init__(net, clock)
        self.sheets: dict[Page, Sheet] = {}
        self.entry: dict[Node, Place] = {}
        """Places that transitions put into."""
        self.exit: dict[Node, Place] = {}
        """Places that they take from."""
        self.lists: set[Node] = set()
        """Nodes whose exit is a list."""
        self.functions: list[str] = []
        self.high = 100
        """Priority of the transitions of stations."""

    def _takes_any(self, node: Node) -> bool:
        """Return true if the order of a node's tokens makes no difference to its transitions."""
        for transition in self.net.transitions():
            if not any(taken is node for taken, _ in transition.takes):
                continue
            ((_, arc), *others) = transition.takes
            if others or "when" in transition.table or arc.get("count", 1) != 1:
                return False
            if "token" in arc:
                kind, name = node_of(tree_of(arc["token"]))
                if kind != "Name" or not self._is_new(name, node.colour, Scope()):
                    return False
        return True

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
            if {side.kind for side in sides} == {"int", "time"}:
                texts = (
                    side if side.kind == "int" else Ml(side.text, "int", side.binds, side.value)
                    for side in sides
                )
                if all(side.kind == "int" or side.value is not None for side in sides):
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
        kind = self._kind(node.colour)
        urgency, insert = (
            self.names.new(f"{word}_{node.name}") for word in ("class_of", "insert_in")
        )
        scope = Scope({"token": Ml("x", node.colour)})
        rank = self.ml.compile(tree_of(node.table["class"]), scope, "int")
        self.functions += [
            f"fun {urgency} (x: {kind}) = Int.max (0, {rank.text});",
            f"fun {insert} (x: {kind}, [] : {kind} list) = [x] | {insert} (x, y :: rest) ="
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
