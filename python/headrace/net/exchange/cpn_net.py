"""A net as places, transitions and arcs of CPN Tools, with inscriptions in CPN ML.

A station becomes timed places and transitions that serve its queue; see
`docs/reference/net-exchange.md`. A folded page becomes one page whose tokens have a copy number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headrace.net.exchange.cpn_colsets import Colset, literal, type_of, value_of
from headrace.net.exchange.cpn_ml import (
    ATOM,
    COMPARISON,
    HELPERS,
    PRODUCT,
    SECOND,
    SUM,
    Clock,
    Ml,
    NeedsRealTime,
    RealClock,
    Scope,
    TickClock,
    Translator,
    ml_int,
    ml_string,
)
from headrace.net.exchange.cpn_stations import Stations
from headrace.net.exchange.sheets import Arc, Place, Sheet, Transition, add_ports
from headrace.net.exchange.structure import (
    NetStructure,
    Node,
    Page,
    Tree,
    as_list,
    as_text,
    node_of,
    table_of,
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
        name, unit = next((name, symbol) for name, symbol in UNITS if trial.seen % symbol == 0)
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


class _Exporter(Stations):
    def __init__(self, net: NetStructure, clock: Clock) -> None:
        super().__init__(net, clock)
        self.delayed = {node for it in net.transitions() for node, arc in it.puts if "delay" in arc}

    def export(self, unit: str = "ps") -> CpnNet:
        self._declare_colours()
        most = max((int(one.table.get("priority", 0)) for one in self.net.transitions()), default=0)
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
            f"val {one.text}{type_of(self.ml, one)} = {value_of(self.ml, one.kind, one.value)};"
            for one in self.ml.constants.values()
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

    def _notes(self) -> list[str]:
        others = []
        records = sum(len(as_list(each.table.get("record"))) for each in self.net.transitions())
        probes = sum(len(as_list(page.table.get("probes"))) for page in self.net.top.walk())
        if records or probes:
            others.append(f"{probes} probes and {records} records of figures in transitions")
        if self.net.settings:
            others.append(f"{self.net.settings} settings of runs")
        flags = sum(
            bool(node.table.get(flag))
            for node in self.net.nodes()
            for flag in ("sink", "rest", "conserve")
        )
        if flags:
            others.append(f"{flags} marks sink, rest or conserve; tokens stay in sinks")
        others += [f"{number} entries of {key}" for key, number in self.net.others.items()]
        return others

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
                    first_token
                    for entry in as_list(node.table.get("initial"))
                    for first_token in self._first_tokens(node, entry, scope)
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
                text = literal(self.ml, node.colour, self.ml.compile(trees[1], inner, node.colour))
            if number > MOST_TOKENS * 100:
                raise ValueError(f"{node.path}: more than {MOST_TOKENS * 100} tokens at the start")
            yield from [text] * number

    # --- transitions --------------------------------------------------------------------------

    def _transition(self, source: Source) -> None:
        transition = self.sheets[source.page].transition(source.name)
        if "weight" in source.table:
            raise ValueError("weight has no translation")
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
        for node, key, entry in source.holds:
            self._hold(source, node, key, entry)
            if key != "read":
                transition.arcs.append(Arc(self.exit[node], True, "", key))
                continue
            for token in self._take(source, node, table_of(entry), scope, used, guards):
                copy = self._copy_of(source, node, scope, used, guards)
                text = self._wrap(node, copy, token)
                transition.arcs += [Arc(self.exit[node], way, text) for way in (True, False)]
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

    def _hold(self, source: Source, node: Node, key: str, entry: Any) -> None:
        """Refuse arcs that CPN Tools has not: it tests for empty places, and returns tokens."""
        if node.is_station or node in self.lists or node in self.delayed:
            raise ValueError(f"{key} of {node.path}: expected a place without order and delays")
        if key == "read":
            if any(node is taken for taken, _ in source.takes):
                raise ValueError(f"read of {node.path}, which it takes from, has no translation")
            if any((node, "reset") == (other, way) for other, way, _ in source.holds):
                # A token that is returned would come after the reset.
                raise ValueError(f"read of {node.path}, which it resets, has no translation")
        elif self.total[node.page] > 1 or len(table_of(entry)) > 1:
            raise ValueError(
                f"{key} of {node.path}: expected a place without copies, and neither token nor"
                " count"
            )

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
        self, tree: Tree, kind: str, scope: Scope, used: set[str], guards: list[str], inside: bool
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
                record = records[kind][name]
                if name in named:
                    value = self._pattern(named[name], record, scope, used, guards, True)
                else:
                    value = self._fresh("any", self._kind(record), used)
                entries.append(f"{label} = {value}")
            return "{" + ", ".join(entries) + "}"
        value_ml = self.ml.compile(tree, scope, kind)
        bound = form == "Name" and parts in scope.variables
        literal = form in ("Int", "Text") or (form == "Name" and parts not in self.ml.constants)
        if not self.ml.has_reals(kind) and (bound or literal or not inside):
            return value_ml.at(SUM)
        # Standard ML matches no real numbers, and nothing that it would have to compute.
        name = self._fresh("same", self._kind(kind), used)
        guards.append(self.ml.equal("==", Ml(name, kind), value_ml, None).text)
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
        words = set(re.findall(r"\w+", " ".join(line.partition("=")[2] for line in lines)))
        inputs = [word for word in sorted(used) if word in words and word not in outputs]
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
    count: dict[tuple[Place, bool, str, str], int] = {}
    for arc in transition.arcs:
        key = (arc.place, arc.inward, arc.text, arc.kind)
        count[key] = count.get(key, 0) + 1
    arcs = []
    for (place, inward, text, kind), number in count.items():
        simple = re.fullmatch(r"[\w() ,]+", text) is not None
        if number > 1 and simple:
            arcs.append(Arc(place, inward, f"{number}`{text}"))
        else:
            arcs += [Arc(place, inward, text, kind) for _ in range(1 if kind else number)]
    for arc in arcs:
        if '"' not in arc.text:
            arc.text = "\n".join(map(_folded, arc.text.split("\n")))
    transition.arcs = arcs


def _folded(line: str) -> str:
    """Return a line of an inscription, in several lines if it is long."""
    return line if len(line) <= LONGEST_LINE else line.replace(", ", ",\n")
