"""Reads transitions of files of CPN Tools: arcs, guards, code segments, times and priorities."""

import re
from dataclasses import dataclass, field
from typing import Any

from headrace.net.exchange.cpn_declarations import Declarations
from headrace.net.exchange.digits import elements, packed_tokens, width
from headrace.net.exchange.ml_meaning import Choices, Colour
from headrace.net.exchange.ml_syntax import Ml, MlError, parse_ml
from headrace.net.exchange.ml_text import one
from headrace.net.exchange.ml_trees import FALSE, TRUE, called, is_random, reduced, walk
from headrace.net.exchange.multisets import ONE, Term, cases, single, terms
from headrace.net.exchange.names import PlainNames
from headrace.net.exchange.safe_xml import Source, Xml

NORMAL_PRIORITY = 1000
MOST_VARIANTS = 32
"""Most cases of conditions on arcs from places."""
Table = dict[str, Any]
"""A table of the document."""
HOLDS = {"inhibitor": "inhibit", "reset": "reset"}
"""Kinds of arcs that have no tokens, and their keys in a document."""
MOST_TABLES = 200
"""Most transitions for the values of variables that only a guard has."""


@dataclass
class Target:
    """The node that a place of an instance of a page is."""

    name: str
    """As transitions of this page and those within write it."""
    colour: Colour
    table: Table


@dataclass
class Firing:
    """A transition that is being read."""

    table: Table
    names: PlainNames
    variables: dict[str, str] = field(default_factory=dict)
    """Variables with their names or expressions."""
    guards: list[Ml] = field(default_factory=list)
    chances: dict[str, str] = field(default_factory=dict)
    """Conditions on variables without arc, with the names of their values."""

    def let(self, preferred: str, text: str) -> str:
        """Compute a value in each firing; return its name."""
        name = self.names.new(preferred, "value")
        self.table.setdefault("let", []).append(f"{name} = {text}")
        return name


class FreeVariable(Exception):
    """A guard has a variable that no arc from a place gives a value."""


Input = tuple[Xml, Target, Term]
Arm = tuple[list[Ml], list[Input]]
"""A case of arcs from places: its conditions, and the tokens that are taken."""
Flow = tuple[Xml, Target, Ml]
"""An arc to a place."""


class Transitions:
    """Reads the transitions of a file whose declarations are known."""

    def __init__(self, source: Source, choices: Choices) -> None:
        self.source = source
        self.declared = Declarations(source, choices)
        self.meaning = self.declared.meaning
        self.left_out: dict[str, int] = {}

    def count(self, label: str, number: int = 1) -> None:
        """Count what is left out."""
        if number:
            self.left_out[label] = self.left_out.get(label, 0) + number

    def within(self, at: Xml, label: str, function: Any, *arguments: Any) -> Any:
        """Call a function; its errors get the line of an element."""
        try:
            return function(*arguments)
        except MlError as error:
            raise self.source.error(at.line, f"{label}: {error}") from None

    def transitions(
        self, transition: Xml, arcs: list[Xml], targets: dict[str, Target]
    ) -> list[Table]:
        """Return the tables of a transition.

        Conditions on arcs from places have a table for each case. A variable that only a guard
        has has one for each of its values.
        """
        try:
            return self._tables(transition, arcs, targets)
        except FreeVariable as free:
            variable = str(free)
        kind = self.declared.variables.pop(variable)
        groups: list[list[Table]] = []
        for value in self.meaning.colours[kind].domain or ():
            self.meaning.values[variable] = value
            groups += filter(None, [self.transitions(transition, arcs, targets)])
            if sum(map(len, groups)) > MOST_TABLES:
                raise self.source.error(
                    transition.line,
                    f"{variable} is on no arc from a place: expected at most {MOST_TABLES} cases",
                )
        del self.meaning.values[variable]
        self.declared.variables[variable] = kind
        tables = [table for group in groups for table in group]
        for table in tables:
            # Together they are as likely as one transition.
            table["weight"] = table.get("weight", 1.0) / len(groups)
        return tables

    def _tables(self, transition: Xml, arcs: list[Xml], targets: dict[str, Target]) -> list[Table]:
        name = " ".join(transition.text_at("text").split()) or "transition"
        inward: list[list[Arm]] = []
        outward: list[Flow] = []
        queues: dict[str, list[tuple[str, Flow]]] = {}
        holds: dict[str, list[str]] = {}
        for arc in arcs:
            place = arc.find("placeend")
            target = targets.get(place.get("idref") if place is not None else "")
            if target is None:
                raise self.source.error(arc.line, f"transition {name}: this arc has no place")
            orientation = arc.get("orientation").lower()
            if orientation in HOLDS:
                self.within(arc, f"transition {name}", self._hold, orientation, target, holds)
                continue
            tree = self.within(arc, f"transition {name}", self._inscription, arc, target)
            if orientation not in ("ptot", "ttop", "bothdir"):
                raise self.source.error(
                    arc.line,
                    f"transition {name}: arcs of the kind {orientation or 'without arrows'} are"
                    " not read",
                )
            if target.colour.is_list:
                queues.setdefault(target.name, []).append((orientation, (arc, target, tree)))
                continue
            if orientation in ("ptot", "bothdir"):
                inward.append(self.within(arc, f"transition {name}", self._arms, arc, target, tree))
            if orientation in ("ttop", "bothdir"):
                coded = self.within(arc, f"transition {name}", self._coded, target, tree)
                outward.append((arc, target, coded))
        for queue in queues.values():
            at, target, _ = queue[0][1]
            joined = self.within(at, f"transition {name}", self._queue, queue)
            if joined is None:
                self.meaning.choices.code(target.colour.own)
            taken, put = joined
            inward.append([([], taken)])
            outward += put
        variants: list[Arm] = [([], [])]
        for arms in inward:
            variants = [
                (before[0] + arm[0], before[1] + arm[1]) for before in variants for arm in arms
            ]
            if len(variants) > MOST_VARIANTS:
                raise self.source.error(
                    transition.line,
                    f"transition {name}: expected at most {MOST_VARIANTS} cases of conditions on"
                    " arcs from places",
                )
        tables = (
            self.transition(transition, name, inputs, conditions, outward)
            for conditions, inputs in variants
        )
        return [table | holds for table in tables if table is not None]

    def _hold(self, orientation: str, target: Target, holds: dict[str, list[str]]) -> None:
        """Add an arc of a place that must be empty, or is emptied, which has no inscription."""
        if target.colour.is_list:
            # The place has one token: the list.
            self.meaning.choices.code(target.colour.own)
        if target.colour.timed:
            raise MlError(
                f"{orientation} arcs of places whose colour set is timed are not read: expected"
                " one without times"
            )
        holds.setdefault(HOLDS[orientation], []).append(target.name)

    def _queue(self, arcs: list[tuple[str, Flow]]) -> tuple[list[Input], list[Flow]] | None:
        """Return the tokens that arcs of a place with a list take from its front, and append.

        The arcs have the forms `x :: q` and `q ^^ [y]`, where either may be `q` alone. Return
        None if they have others.
        """
        inward = [flow for way, flow in arcs if way in ("ptot", "bothdir")]
        outward = [flow for way, flow in arcs if way in ("ttop", "bothdir")]
        if len(inward) != 1 or len(outward) != 1:
            return None
        arc, target, front = inward[0]
        front, back = (single(tree) for tree in (front, outward[0][2]))
        heads: list[Ml] = []
        while front[:2] == ("binary", "::"):
            heads.append(front[2])
            front = front[3]
        tails = _appended(back, front)
        if tails is None or front[0] != "name" or front[1] not in self.meaning.variables:
            return None
        taken = [(arc, target, Term(ONE, head)) for head in heads]
        return taken, [(outward[0][0], target, tail) for tail in tails]

    def _inscription(self, arc: Xml, target: Target) -> Ml:
        text = arc.text_at("annot", "text")
        if target.colour.kind == "unit" and (not text or (text.isascii() and text.isdigit())):
            # Nets without colours have numbers of tokens, or nothing.
            return ("binary", "`", ("int", int(text[:9] or 1)), ("tuple", []))
        if not text:
            raise MlError("this arc has no inscription")
        return self.meaning.expand(parse_ml(text))

    def _coded(self, target: Target, tree: Ml) -> Ml:
        """Return a multiset with its lists as numbers, if the place has lists."""
        if target.colour.element is None or target.colour.is_list:
            return tree
        return packed_tokens(self.meaning, tree, target.colour.element)

    def _heads(self, target: Target, tree: Ml) -> tuple[list[Ml], Ml]:
        """Return the conditions of x :: q, on an arc from a place with lists, and the list."""
        element, name = target.colour.element, f"list {target.name}"
        whole: Ml = ("name", name)
        if element is None or target.colour.is_list or tree[:2] != ("binary", "::"):
            return [], self._coded(target, tree)
        self.declared.variables[name] = target.colour.own
        conditions: list[Ml] = []
        for (test,), value in elements(self.meaning, whole):
            if tree[:2] != ("binary", "::"):
                break
            equal = self.meaning.match(tree[2], value, conditions)
            conditions += [test, *(("binary", "=", ("name", key), equal[key]) for key in equal)]
            whole = ("binary", "div", whole, ("int", 1 << width(element)))
            tree = tree[3]
        return [*conditions, ("binary", "=", self._coded(target, tree), whole)], ("name", name)

    def _arms(self, arc: Xml, target: Target, tree: Ml) -> list[Arm]:
        """Return the cases of an arc from a place: conditions, and tokens that are taken."""
        heads, tree = self._heads(target, single(tree))
        return [
            (heads + conditions, [(arc, target, term) for term in group])
            for conditions, group in cases(self.meaning, tree)
        ]

    def transition(
        self,
        transition: Xml,
        name: str,
        inputs: list[Input],
        conditions: list[Ml],
        outward: list[Flow],
    ) -> Table | None:
        """Return the table of one case of a transition; None if its guard never holds."""
        firing = Firing({}, PlainNames(self.declared.names.taken))
        priority = self._priority(transition, name)
        if priority:
            firing.table["priority"] = priority
        channel = transition.find("channel")
        if channel is not None and transition.text_at("channel", "text"):
            raise self.source.error(channel.line, f"transition {name}: channels are not read")
        guard = transition.find("cond")
        text = transition.text_at("cond", "text")
        if text and guard is not None:
            firing.guards = self.within(guard, f"transition {name}", self._guards, text)
        firing.guards += conditions
        if FALSE in firing.guards:
            return None
        self._takes(inputs, firing, name)
        self._guard(guard or transition, firing, name)
        self._code(transition, firing, name)
        outputs = [
            (arc, target, term)
            for arc, target, tree in outward
            for term in self.within(
                arc, f"transition {name}", terms, self.meaning, self._with_chances(tree, firing)
            )
        ]
        delay = None
        timing = transition.text_at("time", "text")
        at = transition.find("time")
        if timing and at is not None:
            delay = self.within(at, f"transition {name}", self._time, timing)
        self._puts(outputs, firing, name, delay)
        return firing.table

    def _with_chances(self, tree: Ml, firing: Firing) -> Ml:
        """Replace x <= k, of an x without arc that is from 1 to n, by a truth of chance k / n."""
        if tree[0] == "binary" and tree[1] == "<=" and tree[2][0] == "name" and tree[3][0] == "int":
            variable, most = tree[2][1], tree[3][1]
            colour = self.meaning.colours.get(self.declared.variables.get(variable, ""))
            domain = colour.domain if colour is not None else None
            if variable in firing.variables or domain is None or domain[0] != ("int", 1):
                return tree
            if not 0 < most < len(domain):
                return tree
            name = f"{variable} <= {most}"
            if name not in firing.chances:
                chance = most / len(domain)
                firing.chances[name] = firing.let(variable, f"bernoulli({chance!r})")
                firing.variables[name] = firing.chances[name]
            return ("name", name)
        match tree[0]:
            case "tuple" | "list":
                return (tree[0], [self._with_chances(branch, firing) for branch in tree[1]])
            case "record":
                return ("record", [(test, self._with_chances(it, firing)) for test, it in tree[1]])
            case "if":
                return ("if", *(self._with_chances(branch, firing) for branch in tree[1:]))
            case "binary":
                return ("binary", tree[1], *(self._with_chances(part, firing) for part in tree[2:]))
            case "apply":
                return ("apply", tree[1], self._with_chances(tree[2], firing))
        return tree

    def _priority(self, transition: Xml, name: str) -> int:
        text = transition.text_at("priority", "text")
        element = transition.find("priority")
        if not text or element is None:
            return 0
        value = self.within(element, f"transition {name}", self.declared.whole, text)
        return int(NORMAL_PRIORITY - value)

    def _guards(self, text: str) -> list[Ml]:
        tree = self.meaning.expand(parse_ml(text))
        parts: list[Ml] = list(tree[1]) if tree[0] == "list" else [tree]
        guards: list[Ml] = []
        while parts:
            part = reduced(parts.pop(0))
            if part[0] == "binary" and part[1] == "andalso":
                parts[:0] = [part[2], part[3]]
            elif part != ("name", "true"):
                guards.append(part)
        return guards

    def _time(self, text: str) -> Ml:
        match = re.fullmatch(r"\s*@\+\+?(.*)", text, re.DOTALL)
        if match is None:
            raise MlError(f"expected a time such as @+5, not {text[:40]}")
        return self.meaning.expand(parse_ml(match[1]))

    # --- inputs -------------------------------------------------------------------------------

    def _variables(self, tree: Ml) -> set[str]:
        return {it[1] for it in walk(tree) if it[0] == "name" and it[1] in self.declared.variables}

    def _computed(self, tree: Ml) -> set[str]:
        """Return the variables that must be known before a pattern can be matched."""
        match tree[0]:
            case "name":
                return set()
            case "tuple":
                return set().union(*map(self._computed, tree[1]))
            case "record":
                return set().union(*(self._computed(part) for _, part in tree[1]))
            case "apply" if called(tree) in self.meaning.constructors:
                return self._computed(tree[2])
        return self._variables(tree)

    def _takes(self, inputs: list[Input], firing: Firing, name: str) -> None:
        """Take tokens in an order in which all variables are known in time."""
        waiting = list(inputs)
        while waiting:
            ready = [it for it in waiting if self._computed(it[2].token) <= set(firing.variables)]
            if not ready and not self._solve(firing):
                arc, _, term = waiting[0]
                missing = sorted(self._computed(term.token) - set(firing.variables))
                raise self.source.error(
                    arc.line,
                    f"transition {name}: {', '.join(missing)} must be on an arc from a place first",
                )
            for entry in ready[:1]:
                waiting.remove(entry)
                self.within(entry[0], f"transition {name}", self._take, entry[1], entry[2], firing)

    def _take(self, target: Target, term: Term, firing: Firing) -> None:
        if term.conditions:
            raise MlError("conditions on arcs into a transition are not read")
        if term.delay is not None:
            raise MlError("times on arcs into a transition are not read")
        entry: Table = {"place": target.name}
        if target.colour.kind != "unit":
            for variable in sorted(self._variables(term.token)):
                if variable not in firing.variables:
                    firing.variables[variable] = firing.names.new(variable, "v")
            entry["token"] = self.meaning.text(term.token, firing.variables, target.colour.kind)
        else:
            for variable in self._variables(term.token):
                firing.variables[variable] = "()"
        count = self.meaning.text(term.count, {})
        if count == "0":
            return
        if count != "1":
            entry["count"] = int(count) if count.isdigit() else count
        firing.table.setdefault("take", []).append(entry if len(entry) > 1 else target.name)

    def _solve(self, firing: Firing) -> bool:
        """Give a variable its value by a guard such as x = y + 1."""
        for guard in firing.guards:
            if guard[0] != "binary" or guard[1] != "=":
                continue
            for side, other in ((guard[2], guard[3]), (guard[3], guard[2])):
                if side[0] != "name" or side[1] not in self.declared.variables:
                    continue
                if side[1] in firing.variables:
                    continue
                if self._variables(other) <= set(firing.variables) and not is_random(other):
                    kind = self._kind(side[1])
                    text = self.meaning.text(other, firing.variables, kind)
                    firing.variables[side[1]] = f"({text})"
                    firing.guards.remove(guard)
                    return True
        return False

    def _kind(self, variable: str) -> str | None:
        colour = self.meaning.colours.get(self.declared.variables[variable])
        return colour.kind if colour is not None else None

    def _guard(self, at: Xml, firing: Firing, name: str) -> None:
        while self._solve(firing):
            pass
        for guard in firing.guards:
            missing = sorted(self._variables(guard) - set(firing.variables))
            if missing:
                colour = self.meaning.colours.get(self.declared.variables[missing[0]])
                if colour is not None and colour.domain is not None:
                    raise FreeVariable(missing[0])
                raise self.source.error(
                    at.line,
                    f"transition {name}: {', '.join(missing)} of the guard must be on an arc from"
                    " a place",
                )
            text = self.within(at, f"transition {name}", self.meaning.text, guard, firing.variables)
            firing.table.setdefault("when", []).append(text)

    # --- actions ------------------------------------------------------------------------------

    def _code(self, transition: Xml, firing: Firing, name: str) -> None:
        code = transition.find("code")
        text = transition.text_at("code", "text")
        if not text or code is None:
            return
        self.within(code, f"transition {name}", self._action, text, firing)

    def _action(self, text: str, firing: Firing) -> None:
        match = re.fullmatch(
            r"\s*(?:input\s*(?P<input>\([^)]*\)|\w+)?\s*;)?"
            r"\s*(?:output\s*(?P<output>\([^)]*\)|\w+)?\s*;)?"
            r"\s*(?:action\b(?P<action>.*))?",
            text,
            re.DOTALL,
        )
        if match is None:
            raise MlError("expected input (…); output (…); action …;")
        names = re.findall(r"[\w']+", match["output"] or "")
        action = (match["action"] or "").strip().rstrip(";").strip()
        if not names:
            if action and action != "()":
                self.count("code segments without outputs")
            return
        tree = parse_ml(action)
        local: dict[str, str] = {}
        while tree[0] == "let":
            for pattern, value in tree[1]:
                if pattern[0] != "name":
                    raise MlError("expected val NAME = … in a code segment")
                expanded = self.meaning.expand(value)
                text = self._bound(expanded, firing, local)
                local[pattern[1]] = firing.let(pattern[1], text)
            tree = tree[2]
        parts = tree[1] if tree[0] == "tuple" and len(names) > 1 else [tree]
        if len(parts) != len(names):
            raise MlError(f"expected {len(names)} values of the code segment")
        bound_ = {}
        for name, part in zip(names, parts, strict=True):
            if part[0] == "name" and part[1] in local:
                bound_[name] = local[part[1]]
                continue
            value = self._bound(self.meaning.expand(part), firing, local, self._kind_of(name))
            bound_[name] = firing.let(name, value)
        firing.variables |= bound_

    def _kind_of(self, name: str) -> str | None:
        return self._kind(name) if name in self.declared.variables else None

    def _bound(
        self, tree: Ml, firing: Firing, local: dict[str, str], kind: str | None = None
    ) -> str:
        for variable in sorted(self._variables(tree) - set(local)):
            if variable not in firing.variables:
                self._draw(variable, firing)
        return self.meaning.text(tree, firing.variables | local, kind)

    def _draw(self, variable: str, firing: Firing) -> None:
        """Give a variable without an arc any of its values, each with the same probability."""
        kind = self.declared.variables[variable]
        colour = self.meaning.colours.get(kind)
        domain = colour.domain if colour is not None else None
        if colour is None or domain is None:
            raise MlError(f"{variable} is on no arc from a place, and {kind} has too many values")
        texts = [self.meaning.text(value, {}, colour.kind) for value in domain]
        first = domain[0][1]
        if domain == [FALSE, TRUE]:
            text = "bernoulli(0.5)"
        elif domain[0][0] == "int" and domain == [
            ("int", first + number) for number in range(len(domain))
        ]:
            text = f"discrete({texts[0]}, {texts[-1]})"
        else:
            draw = firing.let(f"{variable}_number", f"below({len(domain)})")
            text = texts[-1]
            for number in reversed(range(len(domain) - 1)):
                text = f"if {draw} == {number} then {texts[number]} else {text}"
        firing.variables[variable] = firing.let(variable, text)

    def _puts(self, outputs: list[Input], firing: Firing, name: str, delay: Ml | None) -> None:
        drawn: dict[int, tuple[Ml, str]] = {}
        for arc, target, term in outputs:
            self.within(arc, f"transition {name}", self._put, target, term, firing, delay, drawn)

    def _put(
        self,
        target: Target,
        term: Term,
        firing: Firing,
        delay: Ml | None,
        drawn: dict[int, tuple[Ml, str]],
    ) -> None:
        entry: Table = {"place": target.name}
        kind = target.colour.kind
        if kind != "unit":
            entry["token"] = self._bound(term.token, firing, {}, kind)
        conditions = []
        for condition in term.conditions:
            negated = called(condition) == "not"
            inner = condition[2] if negated else condition
            if is_random(inner):
                # Once for both branches.
                _, variable = drawn.get(id(inner), (inner, ""))
                if not variable:
                    variable = firing.let("chance", self._bound(inner, firing, {}))
                    drawn[id(inner)] = (inner, variable)
                conditions.append(f"not {variable}" if negated else variable)
            else:
                text = self._bound(condition, firing, {})
                conditions.append(f"({text})" if len(term.conditions) > 1 else text)
        if conditions:
            entry["when"] = " and ".join(conditions)
        count = self._bound(term.count, firing, {})
        if count == "0":
            return
        if count != "1":
            entry["count"] = int(count) if count.isdigit() else count
        if target.colour.timed:
            spans = [span for span in (term.delay, delay) if span is not None]
            text = " + ".join(self._span(span, firing) for span in spans)
            if text and text != "0 s":
                entry["delay"] = text
        elif term.delay is not None:
            raise MlError("a time on an arc to a place whose colour set is not timed")
        firing.table.setdefault("put", []).append(entry if len(entry) > 1 else target.name)

    def _span(self, span: Ml, firing: Firing) -> str:
        unit = "s" if self.meaning.has_real_time else self.meaning.unit
        if called(span) == "IntInf.toInt" and not self.meaning.has_real_time:
            # Of a time, as files of Headrace have it.
            return self._bound(span[2], firing, {})
        if span[0] in ("int", "real") and span[1] >= 0:
            return f"{span[1]} {unit}" if span[1] else "0 s"
        text = self._bound(span, firing, {})
        return f"({text}) * {one(unit)}"


def _appended(tree: Ml, queue: Ml) -> list[Ml] | None:
    """Return the tokens that a list has behind those of a queue; None if it has another form."""
    tree = single(tree)
    if tree == queue:
        return []
    if tree[0] == "if":
        then, other = (_appended(part, queue) for part in tree[2:])
        if then is None or other is None:
            return None
        empty = ("name", "empty")
        return [("if", tree[1], tail, empty) for tail in then] + [
            ("if", tree[1], empty, tail) for tail in other
        ]
    if tree[:2] == ("binary", "^^") and tree[3][0] == "list":
        before = _appended(tree[2], queue)
        return None if before is None else [*before, *tree[3][1]]
    return None
