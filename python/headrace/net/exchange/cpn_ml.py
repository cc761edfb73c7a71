"""Expressions of nets in CPN ML, the language of CPN Tools.

CPN ML is Standard ML with colour sets and multisets. The functions of random numbers are those of
CPN Tools: `exponential` takes a rate, `normal` a variance, `bernoulli` gives 0 or 1.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from headrace.net.exchange.names import ML_WORDS, words_of
from headrace.net.exchange.structure import NetStructure, Tree, node_of, tree_of

LET, OR, AND, COMPARISON, SUM, PRODUCT, APPLY, ATOM = range(8)
"""How tightly an expression binds."""

MOST_INT = 2**30 - 1
"""Largest int of CPN Tools, whose Standard ML has 31 bits."""

SECOND = 10**12
"""Picoseconds."""

RESERVED = ML_WORDS | words_of(
    """alias bool by colset empty enum globref index int intinf list ms output input action product
    real record ref string subset time timed tms union unit use var abs bernoulli binomial ceil
    chisq cf chr concat discrete div erlang exponential explode false floor foldl foldr hd ignore
    implode ln length map max min mod nil normal not null o ord pareto poisson print rev round size
    sqrt step str student substring tl true trunc uniform weibull
    INT BOOL UNIT REAL STRING TIME it"""
)
"""Names that inscriptions need, or that CPN Tools declares."""

HELPERS = {
    "to_nearest": "fun to_nearest (x: real) = if x < 0.0 then ~ (floor (~x + 0.5))"
    " else floor (x + 0.5);",
    "longer": "fun longer (x: real, y: real) = if x < y then y else x;",
    "shorter": "fun shorter (x: real, y: real) = if x < y then x else y;",
    "weibull_of": "fun weibull_of (shape: real, scale: real) ="
    " scale * Math.pow (~ (Math.ln (1.0 - uniform (0.0, 1.0))), 1.0 / shape);",
    "pareto_of": "fun pareto_of (shape: real, least: real) ="
    " least * Math.pow (1.0 - uniform (0.0, 1.0), ~1.0 / shape);",
    "floor_of": "fun floor_of (x: real) = Real.realFloor x;",
}
"""Functions that CPN Tools lacks, by name; a file has those that it uses."""


class NeedsRealTime(Exception):
    """Times of the net are no whole multiples of a unit."""


class Clock(Protocol):
    """How the model time of CPN Tools counts."""

    is_real: bool

    def constant(self, picoseconds: int) -> str:
        """Return a time as text."""


@dataclass
class RealClock:
    """Time stamps are real numbers of seconds."""

    is_real: bool = True

    def constant(self, picoseconds: int) -> str:
        """Return a time as text."""
        return ml_real(picoseconds / SECOND)


@dataclass
class TickClock:
    """Time stamps are whole numbers of a unit."""

    unit: int = 1
    is_real: bool = False
    seen: int = 0
    """Greatest common divisor of the times that were asked for."""
    largest: int = 0

    def constant(self, picoseconds: int) -> str:
        """Return a time as text."""
        self.seen = math.gcd(self.seen, picoseconds)
        self.largest = max(self.largest, abs(picoseconds))
        return ml_int(picoseconds // self.unit)


@dataclass(frozen=True)
class Ml:
    """An expression in CPN ML."""

    text: str
    kind: str
    binds: int = ATOM
    value: Any = None
    """Its value if it is constant: int (times in picoseconds), float, bool or str."""
    random: bool = False

    def at(self, binds: int) -> str:
        """Return its text as an operand, in parentheses if it binds less."""
        return self.text if self.binds >= binds else f"({self.text})"


@dataclass
class Scope:
    """Variables of a transition."""

    variables: dict[str, Ml] = field(default_factory=dict)
    copy: Ml | None = None
    """The copy of its folded page."""


class Names:
    """Names of Standard ML: letters, digits and _, each given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set(RESERVED) | set(HELPERS)

    def new(self, preferred: str) -> str:
        """Return a name like the one that is wanted."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", preferred).strip("_")
        base = base if base[:1].isalpha() else f"x{base}"
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}{number}"
        self._taken.add(name)
        return name


def ml_int(value: int) -> str:
    """Return a whole number in CPN ML."""
    return f"~{-value}" if value < 0 else str(value)


def ml_real(value: float) -> str:
    """Return a real number in CPN ML."""
    return repr(float(value)).replace("-", "~").replace("e+", "E").replace("e", "E")


def ml_string(text: str) -> str:
    """Return a text in CPN ML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if 32 <= ord(c) < 127 else f"\\u{ord(c):04x}" for c in escaped) + '"'


def real_of(ml: Ml) -> Ml:
    """Return a whole number as a real one."""
    if ml.kind != "int":
        return ml
    if ml.value is not None and ml.text == ml_int(ml.value):
        return Ml(ml_real(ml.value), "real", ATOM, float(ml.value))
    value = None if ml.value is None else float(ml.value)
    return Ml(f"Real.fromInt {ml.at(ATOM)}", "real", APPLY, value, ml.random)


class Translator:
    """Translates the expressions of a net."""

    def __init__(self, net: NetStructure, clock: Clock, names: Names) -> None:
        self.net, self.clock, self.names = net, clock, names
        self.helpers: set[str] = set()
        self.ordered: set[str] = set()
        """Enumerations whose members are compared."""
        self.colsets = {kind: f"{kind.upper()}" for kind in ("unit", "bool", "int", "real", "time")}
        self.colsets["text"] = "STRING"
        colours = net.colours
        for name in [*colours.enums, *colours.records]:
            self.colsets[name] = names.new(name)
        self.members: dict[tuple[str, str], str] = {}
        for name, members in colours.enums.items():
            for member in members:
                once = sum(member in others for others in colours.enums.values()) == 1
                joined = member if once else f"{name}_{member}"
                self.members[name, member] = names.new(joined)
        self.fields = {
            (name, kind): label
            for name, fields in colours.records.items()
            for kind, label in zip(fields, _labels(fields), strict=True)
        }
        self.constants: dict[str, Ml] = {}
        for name, text in net.values.items():
            value = self.infer(tree_of(text), Scope())
            self.constants[name] = replace(value, text=names.new(name), binds=ATOM)

    def ord_of(self, enum: str) -> str:
        """Return the name of the function that gives the position of a member."""
        self.ordered.add(enum)
        return f"position_of_{self.colsets[enum]}"

    def helper(self, name: str) -> str:
        """Return the name of a function of `HELPERS`, and note that it is used."""
        self.helpers.add(name)
        return name

    # --- types --------------------------------------------------------------------------------

    def compile(self, tree: Tree, scope: Scope, kind: str) -> Ml:
        """Return an expression as a value of this kind."""
        return self.convert(self.infer(tree, scope, kind), kind)

    def convert(self, ml: Ml, kind: str) -> Ml:
        """Return a value as one of another kind, as numbers are where times are expected."""
        if ml.kind == kind:
            return ml
        if kind == "real":
            return real_of(ml)
        if kind == "time" and ml.kind in ("int", "real"):
            if ml.value is not None:
                return self.time(round(ml.value * SECOND))
            if self.clock.is_real:
                return replace(real_of(ml), kind="time")
            if ml.kind == "int":
                second = self.clock.constant(SECOND)
                return Ml(
                    f"IntInf.fromInt {ml.at(ATOM)} * {second}", "time", PRODUCT, None, ml.random
                )
            raise NeedsRealTime
        raise ValueError(f"{ml.text}: expected {kind}, not {ml.kind}")

    def time(self, picoseconds: int) -> Ml:
        """Return a constant time."""
        return Ml(self.clock.constant(picoseconds), "time", ATOM, picoseconds)

    def _alike(self, left: Ml, right: Ml) -> tuple[Ml, Ml]:
        kinds = {left.kind, right.kind}
        kind = left.kind
        if "time" in kinds:
            kind = "time"
        elif "real" in kinds:
            kind = "real"
        return self.convert(left, kind), self.convert(right, kind)

    def infer(self, tree: Tree, scope: Scope, expected: str | None = None) -> Ml:
        """Return an expression; `expected` chooses among members of enumerations."""
        kind, parts = node_of(tree)
        match kind:
            case "Int":
                if abs(parts) > MOST_INT:
                    raise ValueError(f"{parts}: whole numbers of CPN Tools go to {MOST_INT}")
                return Ml(ml_int(parts), "int", ATOM, parts)
            case "Real":
                return Ml(ml_real(parts), "real", ATOM, parts)
            case "Time":
                return self.time(parts)
            case "Text":
                return Ml(ml_string(parts), "text", ATOM, parts)
            case "Name":
                return self._name(parts, scope, expected)
            case "Field":
                return self._field(parts, scope)
            case "Call":
                return self._call(parts, scope, expected)
            case "Tuple":
                if not parts or expected is None:
                    return Ml("()", "unit", ATOM, ())
                return self._record(expected, [(None, part) for part in parts], scope)
            case "Unary":
                return self._unary(parts, scope, expected)
            case "Binary":
                return self._binary(parts, scope)
            case "If":
                return self._choice(parts, scope, expected)
            case "With":
                return self._with(parts, scope, expected)
        raise ValueError(f"{kind} expressions have no translation")

    def _name(self, name: str, scope: Scope, expected: str | None) -> Ml:
        if name in scope.variables:
            return scope.variables[name]
        if name in self.constants:
            return self.constants[name]
        if name in ("true", "false"):
            return Ml(name, "bool", ATOM, name == "true")
        for enum, members in self.net.colours.enums.items():
            if name in members and (expected not in self.net.colours.enums or enum == expected):
                return Ml(self.members[enum, name], enum, ATOM, name)
        raise ValueError(f"nothing is called {name}")

    def _field(self, parts: Any, scope: Scope) -> Ml:
        record, name = parts
        kind, inner = node_of(record)
        enums = self.net.colours.enums
        if kind == "Name" and inner not in scope.variables and inner in enums:
            return Ml(self.members[inner, name], inner, ATOM, name)
        ml = self.infer(record, scope)
        text = ml.text if ml.binds == ATOM and re.fullmatch(r"\w+", ml.text) else None
        inside = text or f"({ml.text} : {self.colsets[ml.kind]})"
        field_kind = self.net.colours.records[ml.kind][name]
        return Ml(f"#{self.fields[ml.kind, name]} {inside}", field_kind, APPLY, None, ml.random)

    def _record(self, record: str, arguments: list[Any], scope: Scope) -> Ml:
        fields = self.net.colours.records[record]
        names = list(fields)
        given: dict[str, Ml] = {}
        for position, (name, argument) in enumerate(arguments):
            name = names[position] if name is None else name
            given[name] = self.compile(argument, scope, fields[name])
        entries = [f"{self.fields[record, name]} = {given[name].text}" for name in names]
        random = any(given_ml.random for given_ml in given.values())
        constant = {name: ml.value for name, ml in given.items()}
        value = None if None in constant.values() else constant
        return Ml("{" + ", ".join(entries) + "}", record, ATOM, value, random)

    def _with(self, parts: Any, scope: Scope, expected: str | None) -> Ml:
        record, changes = parts
        ml = self.infer(record, scope, expected)
        fields = self.net.colours.records[ml.kind]
        given = {name: self.compile(value, scope, fields[name]) for name, value in changes}
        simple = re.fullmatch(r"\w+", ml.text) is not None
        inside = ml.text if simple else "whole"
        entries = [
            f"{self.fields[ml.kind, name]} = "
            + (given[name].text if name in given else f"#{self.fields[ml.kind, name]} {inside}")
            for name in fields
        ]
        random = ml.random or any(argument.random for argument in given.values())
        text = "{" + ", ".join(entries) + "}"
        if simple:
            return Ml(text, ml.kind, ATOM, None, random)
        text = f"let val whole : {self.colsets[ml.kind]} = {ml.text} in {text} end"
        return Ml(text, ml.kind, APPLY, None, random)

    # --- operators ----------------------------------------------------------------------------

    def _unary(self, parts: Any, scope: Scope, expected: str | None) -> Ml:
        operator, operand = parts
        if operator == "not":
            operand_ml = self.compile(operand, scope, "bool")
            value = None if operand_ml.value is None else not operand_ml.value
            return Ml(f"not {operand_ml.at(ATOM)}", "bool", APPLY, value, operand_ml.random)
        operand_ml = self.infer(operand, scope, expected)
        if operand_ml.value is not None and operand_ml.kind == "time":
            return self.time(-operand_ml.value)
        value = None if operand_ml.value is None else -operand_ml.value
        return Ml(f"~ {operand_ml.at(ATOM)}", operand_ml.kind, APPLY, value, operand_ml.random)

    def _choice(self, parts: Any, scope: Scope, expected: str | None) -> Ml:
        condition = self.compile(parts[0], scope, "bool")
        then = self.infer(parts[1], scope, expected)
        other = self.infer(parts[2], scope, expected or then.kind)
        if then.kind != other.kind:
            then, other = self._alike(then, other)
        random = condition.random or then.random or other.random
        value = None
        if condition.value is not None:
            value = then.value if condition.value else other.value
        text = f"if {condition.text} then {then.at(OR)} else {other.text}"
        return Ml(text, then.kind, LET, value, random)

    def _binary(self, parts: Any, scope: Scope) -> Ml:
        operator, a, b = parts
        if operator in ("and", "or"):
            left, right = (self.compile(side, scope, "bool") for side in (a, b))
            word, binds = ("andalso", AND) if operator == "and" else ("orelse", OR)
            value = None
            if left.value is not None and right.value is not None:
                value = (
                    left.value and right.value if operator == "and" else left.value or (right.value)
                )
            text = f"{left.at(binds)} {word} {right.at(binds + 1)}"
            return Ml(text, "bool", binds, value, left.random or right.random)
        left = self._first(a, b, scope)
        right = self.infer(b, scope, left.kind)
        if operator in ("*", "/"):
            return self._product(operator, left, right)
        left, right = self._alike(left, right)
        random = left.random or right.random
        value = _folded(operator, left.value, right.value)
        if operator in ("==", "!="):
            return self.equal(operator, left, right, value)
        if operator in ("<", "<=", ">", ">="):
            if left.kind in self.net.colours.enums:
                ordinal = self.ord_of(left.kind)
                left, right = (Ml(f"{ordinal} {ml.at(ATOM)}", "int", APPLY) for ml in (left, right))
            text = f"{left.at(SUM)} {operator} {right.at(SUM)}"
            return Ml(text, "bool", COMPARISON, value, random)
        return self._sum(operator, left, right, value)

    def _first(self, a: Tree, b: Tree, scope: Scope) -> Ml:
        """Return the first operand; the second can say which enumeration is meant."""
        kind, name = node_of(a)
        if kind == "Name" and name not in scope.variables and name not in self.constants:
            owners = [enum for enum, members in self.net.colours.enums.items() if name in members]
            if len(owners) > 1:
                return self.infer(a, scope, self.infer(b, scope).kind)
        return self.infer(a, scope)

    def _sum(self, operator: str, left: Ml, right: Ml, value: Any) -> Ml:
        kind, random = left.kind, left.random or right.random
        if kind == "time" and value is not None and operator != "//":
            return self.time(value)
        if operator in ("+", "-"):
            text = f"{left.at(SUM)} {operator} {right.at(PRODUCT)}"
            return Ml(text, kind, SUM, value, random)
        is_whole = kind == "int" or (kind == "time" and not self.clock.is_real)
        if is_whole:
            word = "div" if operator == "//" else "mod"
            text = f"{left.at(PRODUCT)} {word} {right.at(APPLY)}"
            if kind == "time" and operator == "//":
                return Ml(f"IntInf.toInt ({text})", "int", APPLY, value, random)
            return Ml(text, kind, PRODUCT, value, random)
        quotient = f"{left.at(PRODUCT)} / {right.at(APPLY)}"
        if operator == "//" and kind == "time":
            return Ml(f"floor ({quotient})", "int", APPLY, value, random)
        floor = f"{self.helper('floor_of')} ({quotient})"
        if operator == "//":
            return Ml(floor, kind, APPLY, value, random)
        return Ml(f"{left.at(SUM)} - {right.at(PRODUCT)} * {floor}", kind, SUM, value, random)

    def _product(self, operator: str, left: Ml, right: Ml) -> Ml:
        random = left.random or right.random
        times = (left.kind == "time", right.kind == "time")
        if operator == "*" and not any(times):
            left, right = self._alike(left, right)
            value = _folded("*", left.value, right.value)
            text = f"{left.at(PRODUCT)} * {right.at(APPLY)}"
            return Ml(text, left.kind, PRODUCT, value, random)
        if left.value is not None and right.value is not None and any(times):
            # A time and a number, or a ratio of times.
            value = _folded(operator, left.value, right.value)
            if times == (True, True):
                return Ml(ml_real(value), "real", ATOM, value)
            return self.time(round(value))
        if operator == "*" and not self.clock.is_real and "int" in (left.kind, right.kind):
            left, right = (
                Ml(f"IntInf.fromInt {side.at(ATOM)}", "time", APPLY) if side.kind == "int" else side
                for side in (left, right)
            )
            return Ml(f"{left.at(PRODUCT)} * {right.at(APPLY)}", "time", PRODUCT, None, random)
        if times == (True, True) and not self.clock.is_real:
            left, right = (
                Ml(f"Real.fromLargeInt {side.at(ATOM)}", "real", APPLY) for side in (left, right)
            )
            times = (False, False)
        if any(times) and not self.clock.is_real:
            raise NeedsRealTime
        left, right = real_of(left), real_of(right)
        kind = "time" if any(times) and times != (True, True) else "real"
        value = _folded(operator, left.value, right.value)
        text = f"{left.at(PRODUCT)} {operator} {right.at(APPLY)}"
        return Ml(text, kind, PRODUCT, value, random)

    def equal(self, operator: str, left: Ml, right: Ml, value: Any) -> Ml:
        """Return `==` or `!=` of two values of one kind; `value` is its own if it is known."""
        random = left.random or right.random
        if not self.has_reals(left.kind):
            sign = "=" if operator == "==" else "<>"
            text = f"{left.at(SUM)} {sign} {right.at(SUM)}"
            return Ml(text, "bool", COMPARISON, value, random)
        # Standard ML has no = for real numbers.
        conditions = " andalso ".join(self._equal_parts(left, right))
        if operator == "==":
            binds = AND if " andalso " in conditions else APPLY
            return Ml(conditions, "bool", binds, value, random)
        return Ml(f"not ({conditions})", "bool", APPLY, value, random)

    def has_reals(self, kind: str) -> bool:
        """Return true if values of a kind have no = in Standard ML."""
        colours = self.net.colours
        return colours.contains(kind, "real") or (
            self.clock.is_real and colours.contains(kind, "time")
        )

    def _equal_parts(self, left: Ml, right: Ml) -> Iterator[str]:
        if left.kind not in self.net.colours.records:
            if self.has_reals(left.kind):
                yield f"Real.== ({left.text}, {right.text})"
            else:
                yield f"{left.at(SUM)} = {right.at(SUM)}"
            return
        colset = self.colsets[left.kind]
        for name, kind in self.net.colours.records[left.kind].items():
            pair = (
                Ml(f"#{self.fields[left.kind, name]} ({side.text} : {colset})", kind, APPLY)
                for side in (left, right)
            )
            yield from self._equal_parts(*pair)

    # --- functions ----------------------------------------------------------------------------

    def _call(self, parts: Any, scope: Scope, expected: str | None) -> Ml:
        name, arguments = parts
        if name in self.net.colours.records:
            return self._record(name, arguments, scope)
        values = [argument for _, argument in arguments]
        match name:
            case "now":
                return Ml("time ()", "time", APPLY)
            case "copy":
                return scope.copy or Ml("0", "int", ATOM, 0)
            case "seconds":
                return self.compile(values[0], scope, "time")
            case "in_seconds":
                return self._in_seconds(self.compile(values[0], scope, "time"))
            case "to_real":
                return self.compile(values[0], scope, "real")
            case "bernoulli":
                return self._apply("bernoulli", [self.compile(values[0], scope, "real")], "bool")
            case "below":
                bound = self.compile(values[0], scope, "int")
                last = (
                    ml_int(bound.value - 1) if bound.value is not None else (f"{bound.at(SUM)} - 1")
                )
                return Ml(f"discrete (0, {last})", "int", APPLY, None, True)
            case "discrete":
                bounds = [self.compile(element, scope, "int") for element in values]
                return self._apply("discrete", bounds, "int")
            case "min" | "max":
                return self._extreme(name, values, scope, expected)
            case "abs":
                first = self.infer(values[0], scope, expected)
                value = None if first.value is None else abs(first.value)
                return Ml(f"abs {first.at(ATOM)}", first.kind, APPLY, value, first.random)
            case "floor" | "ceil" | "round":
                return self._whole(name, self.compile(values[0], scope, "real"))
            case "sqrt" | "exp" | "log":
                word = {"sqrt": "Math.sqrt", "exp": "Math.exp", "log": "Math.ln"}[name]
                first = self.compile(values[0], scope, "real")
                value = _of_real(name, first.value)
                return Ml(f"{word} {first.at(ATOM)}", "real", APPLY, value, first.random)
        return self._distribution(name, values, scope, expected)

    def _apply(self, name: str, arguments: list[Ml], kind: str) -> Ml:
        text = f"{name} ({', '.join(argument.text for argument in arguments)})"
        if name == "bernoulli":
            return Ml(f"{text} = 1", "bool", COMPARISON, None, True)
        return Ml(text, kind, APPLY, None, True)

    def _in_seconds(self, ml: Ml) -> Ml:
        if ml.value is not None:
            return Ml(ml_real(ml.value / SECOND), "real", ATOM, ml.value / SECOND)
        if self.clock.is_real:
            return replace(ml, kind="real")
        second = self.clock.constant(SECOND)
        return Ml(f"Real.fromLargeInt {ml.at(ATOM)} / {second}.0", "real", PRODUCT, None, ml.random)

    def _whole(self, name: str, number: Ml) -> Ml:
        value = None
        if number.value is not None:
            rounded = {"floor": math.floor, "ceil": math.ceil}.get(name)
            value = (
                rounded(number.value)
                if rounded is not None
                else int(math.copysign(math.floor(abs(number.value) + 0.5), number.value))
            )
        word = self.helper("to_nearest") if name == "round" else name
        return Ml(f"{word} {number.at(ATOM)}", "int", APPLY, value, number.random)

    def _extreme(self, name: str, values: list[Tree], scope: Scope, expected: str | None) -> Ml:
        left, right = self._alike(*(self.infer(element, scope, expected) for element in values))
        value = None
        if left.value is not None and right.value is not None:
            value = min(left.value, right.value) if name == "min" else max(left.value, right.value)
            if left.kind == "time":
                return self.time(value)
        if left.kind == "int":
            word = f"Int.{name}"
        elif left.kind == "time" and not self.clock.is_real:
            word = f"IntInf.{name}"
        else:
            word = self.helper("shorter" if name == "min" else "longer")
        text = f"{word} ({left.text}, {right.text})"
        return Ml(text, left.kind, APPLY, value, left.random or right.random)

    def _distribution(
        self, name: str, values: list[Tree], scope: Scope, expected: str | None
    ) -> Ml:
        plain = {"erlang": 1, "lognormal": 2, "weibull": 1, "pareto": 1}.get(name, 0)
        typed = [self.infer(element, scope, expected) for element in values]
        is_time = any(term.kind == "time" for term in typed[plain:])
        if is_time and not self.clock.is_real:
            raise NeedsRealTime
        args = [
            self.convert(term, "time" if is_time and position >= plain else "real")
            for position, term in enumerate(typed)
        ]
        match name:
            case "exponential":
                text, binds = f"exponential (1.0 / {args[0].at(APPLY)})", APPLY
            case "uniform":
                text, binds = f"uniform ({args[0].text}, {args[1].text})", APPLY
            case "erlang":
                stages = (
                    ml_int(max(1, int(args[0].value)))
                    if args[0].value is not None
                    else f"Int.max (1, trunc {args[0].at(ATOM)})"
                )
                rate = f"{args[0].at(PRODUCT)} / {args[1].at(APPLY)}"
                text, binds = f"erlang ({stages}, {rate})", APPLY
            case "normal":
                deviation = args[1].at(APPLY)
                text, binds = f"normal ({args[0].text}, {deviation} * {deviation})", APPLY
            case "lognormal":
                sigma = args[1].at(APPLY)
                text = f"Math.exp (normal ({args[0].text}, {sigma} * {sigma}))"
                binds = APPLY
            case "weibull" | "pareto":
                text = f"{self.helper(name + '_of')} ({args[0].text}, {args[1].text})"
                binds = APPLY
            case _:
                raise ValueError(f"the function {name} has no translation")
        return Ml(text, "time" if is_time else "real", binds, None, True)


def _labels(fields: Mapping[str, str]) -> list[str]:
    """Return labels of Standard ML for the fields of a record."""
    taken: set[str] = set()
    labels = []
    for name in fields:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name)
        base = base if base[:1].isalpha() and base not in ML_WORDS else f"f_{base}"
        while base in taken:
            base += "_"
        taken.add(base)
        labels.append(base)
    return labels


def _folded(operator: str, a: Any, b: Any) -> Any:
    """Return the value of an operation with constants; None if there is none."""
    if a is None or b is None:
        return None
    try:
        match operator:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a / b
            case "//":
                return a // b
            case "%":
                return a % b
            case "==":
                return a == b
            case "!=":
                return a != b
    except (ArithmeticError, TypeError):
        return None
    if isinstance(a, str):
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def _of_real(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        return {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}[name](value)
    except (ValueError, OverflowError):
        return None
