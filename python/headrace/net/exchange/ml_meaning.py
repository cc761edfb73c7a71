"""From CPN ML to the expressions of nets.

Functions, values and lets of a file are put in where they are used; none is run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headrace.net.exchange.ml_syntax import Ml, MlError
from headrace.net.exchange.names import words_of
from headrace.net.expressions import (
    AND,
    ATOM,
    CHOICE,
    COMPARISON,
    NOT,
    OR,
    PRODUCT,
    SIGN,
    SUM,
)

RANDOM = words_of(
    """bernoulli binomial chisq discrete erlang exponential normal poisson rayleigh student
    uniform weibull weibull_of pareto_of beta gamma"""
)
"""Functions of random numbers."""

TIMES = ("time", "ModelTime.time", "intTime")

MOST_DRAWN = 30
"""Most values, other than whole numbers, of which one is drawn."""
MOST_NODES = 20_000
DEEPEST_CALL = 30

OPERATORS = {
    "orelse": ("or", OR),
    "andalso": ("and", AND),
    "=": ("==", COMPARISON),
    "<>": ("!=", COMPARISON),
    "<": ("<", COMPARISON),
    ">": (">", COMPARISON),
    "<=": ("<=", COMPARISON),
    ">=": (">=", COMPARISON),
    "+": ("+", SUM),
    "-": ("-", SUM),
    "*": ("*", PRODUCT),
    "/": ("/", PRODUCT),
    "div": ("//", PRODUCT),
    "mod": ("%", PRODUCT),
}

CALLS = {
    "abs": "abs",
    "Int.abs": "abs",
    "Real.abs": "abs",
    "floor": "floor",
    "Real.floor": "floor",
    "ceil": "ceil",
    "Real.ceil": "ceil",
    "round": "round",
    "Real.round": "round",
    "to_nearest": "round",
    "real": "to_real",
    "Real.fromInt": "to_real",
    "Math.sqrt": "sqrt",
    "Math.exp": "exp",
    "Math.ln": "log",
    "Int.max": "max",
    "Int.min": "min",
    "Real.max": "max",
    "Real.min": "min",
    "IntInf.max": "max",
    "IntInf.min": "min",
    "longer": "max",
    "shorter": "min",
    "uniform": "uniform",
    "discrete": "discrete",
    "weibull_of": "weibull",
    "pareto_of": "pareto",
}
"""Functions with the same meaning in both languages."""


KINDS = {
    "time": "time",
    "ModelTime.time": "time",
    "IntInf.fromInt": "time",
    "IntInf.toInt": "int",
    "intTime": "int",
    "real": "real",
    "Real.fromInt": "real",
    "Real.fromLargeInt": "real",
    "floor": "int",
    "ceil": "int",
    "round": "int",
    "trunc": "int",
    "discrete": "int",
    "bernoulli": "int",
    "Int.max": "int",
    "Int.min": "int",
}
"""Kinds of the values of functions, without those that have that of their argument."""


@dataclass
class Colour:
    """A colour set."""

    kind: str
    """Name of its colour in the document; "" if it is not read."""
    timed: bool = False
    domain: list[Ml] | None = None
    """Its values, if they are few."""
    why: str = ""
    """Why it is not read."""
    is_list: bool = False
    """True for lists of values of its kind; a place with one is a queue."""


@dataclass
class Meaning:
    """The declarations of a file."""

    colours: dict[str, Colour] = field(default_factory=dict)
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    """Fields of records and products, with their kinds."""
    products: set[str] = field(default_factory=set)
    members: dict[str, str] = field(default_factory=dict)
    """Members of enumerations, and other constants, with their expressions."""
    indices: set[str] = field(default_factory=set)
    """Constructors of index colour sets; they stand for whole numbers."""
    values: dict[str, Ml] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    """Values that the document has, with their names there."""
    functions: dict[str, Any] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    """Names whose declarations are not read, and why."""
    variables: dict[str, str] = field(default_factory=dict)
    """Colour sets of variables."""
    unit: str = "s"
    has_real_time: bool = False

    def kind_of(self, name: str) -> str | None:
        """Return the kind of a variable or number."""
        if name in self.variables:
            colour = self.colours.get(self.variables[name])
            return colour.kind if colour is not None else None
        tree = self.values.get(name)
        return tree[0] if tree is not None and tree[0] in ("int", "real") else None

    # --- putting in declarations --------------------------------------------------------------

    def expand(self, tree: Ml) -> Ml:
        """Return a tree without lets, cases, and functions and values of the file."""
        return _Expansion(self).expand(tree, {}, 0)

    # --- expressions --------------------------------------------------------------------------

    def text(self, tree: Ml, variables: dict[str, str], expected: str | None = None) -> str:
        """Return an expanded tree as an expression.

        Parameters:
            variables: Variables with their names or expressions in the document.
            expected: Kind of the value, for records.
        """
        return _Text(self, variables).of(tree, expected)[0]


class _Expansion:
    def __init__(self, meaning: Meaning) -> None:
        self.meaning, self.nodes = meaning, 0

    def expand(self, tree: Ml, env: dict[str, Ml], calls: int) -> Ml:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise MlError("this is too long when all functions and values are put in")
        if calls > DEEPEST_CALL:
            raise MlError("functions that call themselves are not read")
        meaning = self.meaning

        def inside(part: Ml) -> Ml:
            return self.expand(part, env, calls)

        match tree[0]:
            case "name":
                name = tree[1]
                if name in env:
                    return env[name]
                if name in meaning.values and name not in meaning.constants:
                    return self.expand(meaning.values[name], {}, calls + 1)
                return tree
            case "tuple" | "list":
                return (tree[0], [inside(part) for part in tree[1]])
            case "record":
                return ("record", [(label, inside(part)) for label, part in tree[1]])
            case "field":
                return _field(tree[1], inside(tree[2]))
            case "binary":
                return ("binary", tree[1], inside(tree[2]), inside(tree[3]))
            case "if":
                return ("if", *(inside(part) for part in tree[1:]))
            case "let":
                inner = dict(env)
                for number, (pattern, value) in enumerate(tree[1]):
                    value = self.expand(value, inner, calls)
                    bound = self.match(pattern, value, [])
                    later = [tree[2], *(it for _, it in tree[1][number + 1 :])]
                    if is_random(value) and any(
                        sum(uses(it, name) for it in later) > 1 for name in bound
                    ):
                        raise MlError("a random value that is used more than once is not read here")
                    inner |= bound
                return self.expand(tree[2], inner, calls)
            case "case":
                return self.cases(inside(tree[1]), tree[2], env, calls)
            case "apply":
                return self.apply(tree, env, calls)
            case "fn":
                raise MlError("functions as values are not read")
        return tree

    def apply(self, tree: Ml, env: dict[str, Ml], calls: int) -> Ml:
        arguments, function = [tree[2]], tree[1]
        while function[0] == "apply":
            arguments.insert(0, function[2])
            function = function[1]
        known = [self.expand(it, env, calls) for it in arguments]
        if function[0] == "fn" and len(known) == 1:
            return self.cases(known[0], function[1], env, calls)
        if function[0] != "name":
            raise MlError("functions as values are not read")
        name = function[1]
        if name in self.meaning.indices:
            return known[0]
        if name in self.meaning.functions and name not in CALLS and name not in RANDOM:
            clauses = []
            for patterns, body in self.meaning.functions[name]:
                if len(patterns) != len(known):
                    raise MlError(f"{name} is called with {len(known)} arguments")
                pattern = patterns[0] if len(patterns) == 1 else ("tuple", patterns)
                clauses.append((pattern, body))
            of = known[0] if len(known) == 1 else ("tuple", known)
            return self.cases(of, clauses, {}, calls + 1)
        result: Ml = function
        for argument in known:
            result = ("apply", result, argument)
        return result

    def cases(self, of: Ml, clauses: list[tuple[Ml, Ml]], env: dict[str, Ml], calls: int) -> Ml:
        results: list[tuple[list[Ml], Ml]] = []
        for pattern, body in clauses:
            tests: list[Ml] = []
            bound = self.match(pattern, of, tests)
            for name, value in bound.items():
                if is_random(value) and uses(body, name) != 1:
                    raise MlError("a random value that is used more than once is not read here")
            results.append((tests, self.expand(body, env | bound, calls)))
            if not tests:
                break
        if is_random(of) and len(results) > 1:
            raise MlError("cases of a random value are not read")
        tree = results[-1][1]
        for tests, result in reversed(results[:-1]):
            condition = tests[0]
            for test in tests[1:]:
                condition = ("binary", "andalso", condition, test)
            tree = ("if", condition, result, tree)
        return tree

    def match(self, pattern: Ml, value: Ml, tests: list[Ml]) -> dict[str, Ml]:
        """Return what a pattern binds; add the conditions under which it fits."""
        match pattern[0]:
            case "name" if pattern[1] == "_":
                return {}
            case "name" if pattern[1] not in self.meaning.members:
                return {pattern[1]: value}
            case "tuple":
                bound: dict[str, Ml] = {}
                parts = value[1] if value[0] == "tuple" else None
                if parts is not None and len(parts) != len(pattern[1]):
                    raise MlError("a pattern has another number of parts than its value")
                for number, part in enumerate(pattern[1]):
                    of = parts[number] if parts is not None else ("field", str(number + 1), value)
                    bound |= self.match(part, of, tests)
                return bound
            case "record":
                bound = {}
                for label, part in pattern[1]:
                    bound |= self.match(part, _field(label, value), tests)
                return bound
            case "apply" if pattern[1][0] == "name" and pattern[1][1] in self.meaning.indices:
                return self.match(pattern[2], value, tests)
            case "name" | "int" | "text":
                tests.append(("binary", "=", value, pattern))
                return {}
        raise MlError("this pattern is not read")


def _field(label: str, value: Ml) -> Ml:
    if value[0] == "tuple" and label.isdigit() and 0 < int(label) <= len(value[1]):
        component: Ml = value[1][int(label) - 1]
        return component
    if value[0] == "record":
        for name, part in value[1]:
            if name == label:
                found: Ml = part
                return found
    return ("field", label, value)


def parts_of(tree: Ml) -> Iterator[Ml]:
    """Yield the trees directly within one."""
    match tree[0]:
        case "tuple" | "list":
            yield from tree[1]
        case "record":
            yield from (part for _, part in tree[1])
        case "field":
            yield tree[2]
        case "binary":
            yield from tree[2:]
        case "if" | "apply":
            yield from tree[1:]
        case "let":
            yield from (value for _, value in tree[1])
            yield tree[2]
        case "case":
            yield tree[1]
            yield from (body for _, body in tree[2])
        case "fn":
            yield from (body for _, body in tree[1])


def walk(tree: Ml) -> Iterator[Ml]:
    """Yield a tree and all within it."""
    yield tree
    for part in parts_of(tree):
        yield from walk(part)


def is_random(tree: Ml) -> bool:
    """Return true if a tree has a function of random numbers."""
    names = (it[1] for it in walk(tree) if it[0] == "name")
    return any(name in RANDOM or name.endswith(".ran") for name in names)


def uses(tree: Ml, name: str) -> int:
    """Return how often a tree has a name."""
    return sum(it[0] == "name" and it[1] == name for it in walk(tree))


TRUE, FALSE = ("name", "true"), ("name", "false")


def is_constant(tree: Ml) -> bool:
    """Return true for numbers, texts and tuples of these."""
    return tree[0] in ("int", "text") or (
        tree[0] == "tuple" and all(is_constant(part) for part in tree[1])
    )


def reduced(tree: Ml) -> Ml:
    """Return an expanded tree with what is constant computed: whole numbers and conditions."""
    match tree[0]:
        case "tuple":
            return ("tuple", [reduced(part) for part in tree[1]])
        case "if":
            condition = reduced(tree[1])
            if condition in (TRUE, FALSE):
                return reduced(tree[2] if condition == TRUE else tree[3])
            return ("if", condition, reduced(tree[2]), reduced(tree[3]))
        case "apply" if tree[1] == ("name", "not"):
            of = reduced(tree[2])
            return {TRUE: FALSE, FALSE: TRUE}[of] if of in (TRUE, FALSE) else (*tree[:2], of)
        case "binary":
            return _reduced_binary(tree[1], reduced(tree[2]), reduced(tree[3]))
    return tree


def _reduced_binary(operator: str, a: Ml, b: Ml) -> Ml:
    tree = ("binary", operator, a, b)
    if operator in ("andalso", "orelse"):
        decides, other = (FALSE, TRUE) if operator == "andalso" else (TRUE, FALSE)
        if decides in (a, b):
            return decides
        return b if a == other else a if b == other else tree
    if not (is_constant(a) and is_constant(b)):
        return tree
    truth = None
    if operator in ("=", "<>"):
        truth = (a == b) == (operator == "=")
    elif a[0] == b[0] == "int":
        x, y = a[1], b[1]
        if operator in ("<", ">", "<=", ">="):
            truth = {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[operator]
        elif operator in ("+", "-", "*"):
            value = {"+": x + y, "-": x - y, "*": x * y}[operator]
            return ("int", value) if abs(value) < 2**62 else tree
        elif operator in ("div", "mod") and y:
            return ("int", x // y if operator == "div" else x % y)
    if truth is None:
        return tree
    return TRUE if truth else FALSE


Text = tuple[str, int]
"""An expression of a net, and how tightly it binds."""


class _Text:
    def __init__(self, meaning: Meaning, variables: dict[str, str]) -> None:
        self.meaning, self.variables = meaning, variables

    def at(self, tree: Ml, binds: int, expected: str | None = None) -> str:
        text, own = self.of(tree, expected)
        return text if own >= binds else f"({text})"

    def of(self, tree: Ml, expected: str | None = None) -> Text:
        """Return the expression of a tree; a whole number is one of units where a time stands."""
        if expected == "time" and self.kind(tree) == "int":
            if tree[0] == "int" and tree[1] >= 0:
                return f"{tree[1]} {self.meaning.unit}", ATOM
            return f"{self.at(tree, PRODUCT)} * {one(self.meaning.unit)}", PRODUCT
        match tree[0]:
            case "int":
                return str(tree[1]), SIGN if tree[1] < 0 else ATOM
            case "real":
                return repr(tree[1]), SIGN if tree[1] < 0 else ATOM
            case "text":
                if '"' in tree[1] or "\n" in tree[1]:
                    raise MlError("expected a text without quotation marks and line ends")
                return f'"{tree[1]}"', ATOM
            case "name":
                return self.name(tree[1])
            case "tuple":
                return self.tuple_of(tree[1], expected)
            case "record":
                return self.record_of(tree[1], expected)
            case "field":
                label = f"f{tree[1]}" if tree[1].isdigit() else plain_label(tree[1])
                return f"{self.at(tree[2], ATOM)}.{label}", ATOM
            case "if":
                condition, then, other = tree[1:]
                text = (
                    f"if {self.at(condition, OR)} then {self.at(then, OR, expected)}"
                    f" else {self.at(other, CHOICE, expected)}"
                )
                return text, CHOICE
            case "binary":
                return self.binary(tree)
            case "apply":
                return self.apply(tree)
            case "list":
                raise MlError("lists are not read")
        raise MlError("this is not read")

    def name(self, name: str) -> Text:
        if name in self.variables:
            return self.variables[name], ATOM
        if name in self.meaning.constants:
            return self.meaning.constants[name], ATOM
        if name in ("true", "false"):
            return name, ATOM
        if name in self.meaning.members:
            return self.meaning.members[name], ATOM
        if name in self.meaning.unread:
            raise MlError(f"{name} is declared, but not read: {self.meaning.unread[name]}")
        if name == "empty":
            raise MlError("empty stands only for tokens that are put")
        raise MlError(f"nothing is called {name}")

    def tuple_of(self, parts: list[Ml], expected: str | None) -> Text:
        if not parts:
            return "()", ATOM
        kinds: list[str | None] = [None] * len(parts)
        fields = self.meaning.records.get(expected or "", {})
        if len(fields) == len(parts):
            kinds = list(fields.values())
        texts = (self.at(part, CHOICE, kind) for part, kind in zip(parts, kinds, strict=True))
        return f"({', '.join(texts)})", ATOM

    def record_of(self, fields: list[tuple[str, Ml]], expected: str | None) -> Text:
        labels = {plain_label(label) for label, _ in fields}
        found = [
            name
            for name, known in self.meaning.records.items()
            if set(known) == labels and name not in self.meaning.products
        ]
        if expected in found:
            found = [expected]
        if len(found) != 1:
            raise MlError(f"expected the fields of one colour set, not {', '.join(sorted(labels))}")
        kinds = self.meaning.records[found[0]]
        entries = (
            f"{plain_label(label)} = {self.at(part, CHOICE, kinds[plain_label(label)])}"
            for label, part in fields
        )
        return f"{found[0]}({', '.join(entries)})", ATOM

    def binary(self, tree: Ml) -> Text:
        _, operator, a, b = tree
        if operator in ("=", "<>"):
            for draw, side in ((a, b), (b, a)):
                if called(draw) == "bernoulli" and side in (("int", 1), ("int", 0)):
                    chance = f"bernoulli({self.of(draw[2])[0]})"
                    if (side[1] == 1) == (operator == "="):
                        return chance, ATOM
                    return f"not {chance}", NOT
        if operator not in OPERATORS:
            what = "texts" if operator == "^" else "multisets and lists"
            raise MlError(f"{operator} of {what} is not read here")
        word, binds = OPERATORS[operator]
        first = binds + 1 if binds == COMPARISON else binds
        is_time = "time" in (self.kind(a), self.kind(b))
        if is_time and operator == "*":
            a, b = (it[2] if called(it) == "IntInf.fromInt" else it for it in (a, b))
        elif is_time:
            left, right = self.at(a, first, "time"), self.at(b, binds + 1, "time")
            if operator == "div":
                # A whole number here, and a time there.
                return f"({left} // {right}) * {one(self.meaning.unit)}", PRODUCT
            return f"{left} {word} {right}", binds
        return f"{self.at(a, first)} {word} {self.at(b, binds + 1)}", binds

    def kind(self, tree: Ml) -> str | None:
        """Return the kind of a value, if it matters: times are numbers in CPN ML."""
        match tree[0]:
            case "int" | "real" | "text":
                kind: str = tree[0]
                return kind
            case "name":
                return self.meaning.kind_of(tree[1])
            case "field":
                label = f"f{tree[1]}" if tree[1].isdigit() else plain_label(tree[1])
                return self.meaning.records.get(self.kind(tree[2]) or "", {}).get(label)
            case "if":
                return self.kind(tree[2]) or self.kind(tree[3])
            case "binary" if tree[1] in ("+", "-", "*", "div", "mod", "/"):
                kinds = [self.kind(part) for part in tree[2:]]
                return next((it for it in ("time", "real") if it in kinds), kinds[0])
            case "binary":
                return "bool"
        name = called(tree)
        if name in KINDS:
            return KINDS[name]
        if name in ("~", "abs", "IntInf.max", "IntInf.min"):
            parts = tree[2][1] if tree[2][0] == "tuple" else [tree[2]]
            kinds = [self.kind(part) for part in parts]
            return "time" if "time" in kinds else kinds[0] if kinds else None
        return None

    def apply(self, tree: Ml) -> Text:
        name = called(tree)
        if name is None:
            raise MlError("functions as values are not read")
        argument = tree[2]
        parts = argument[1] if argument[0] == "tuple" else [argument]
        match name, len(parts):
            case "not", 1:
                return f"not {self.at(argument, NOT)}", NOT
            case (("~" | "Int.~" | "Real.~"), 1):
                return f"-{self.at(argument, SIGN)}", SIGN
            case "Real.==", 2:
                return self.binary(("binary", "=", *parts))
            case "bernoulli", 1:
                return f"if bernoulli({self.of(argument)[0]}) then 1 else 0", CHOICE
            case "exponential", 1:
                return f"exponential({self.inverse(argument)})", ATOM
            case "normal", 2:
                return f"normal({self.of(parts[0])[0]}, {self.root(parts[1])})", ATOM
            case "erlang", 2:
                stages = self.at(parts[0], PRODUCT)
                rate = self.at(parts[1], SIGN)
                return f"erlang({self.of(parts[0])[0]}, {stages} / {rate})", ATOM
            case "weibull", 2:
                # Scale and shape in CPN Tools.
                return f"weibull({self.of(parts[1])[0]}, {self.of(parts[0])[0]})", ATOM
            case (("trunc" | "Real.trunc"), 1):
                of = self.of(argument)[0]
                if is_random(argument):
                    return f"floor({of})", ATOM
                return f"if {self.at(argument, SUM)} < 0.0 then ceil({of}) else floor({of})", CHOICE
            case (("floor_of" | "Real.realFloor"), 1):
                return f"{self.at(argument, PRODUCT)} // 1.0", PRODUCT
            case "Real.fromLargeInt", 1 if self.kind(argument) == "int":
                return f"to_real({self.of(argument)[0]})", ATOM
            case "Real.fromLargeInt", 1:
                return f"{self.at(argument, PRODUCT)} / {one(self.meaning.unit)}", PRODUCT
            case (("IntInf.fromInt" | "IntInf.toInt"), 1):
                return self.ticks(name, argument)
        if name in TIMES and not parts:
            return self.now(name)
        if name.endswith(".ran") and not parts:
            return self.any_of(name.removesuffix(".ran"))
        if name in CALLS:
            kind = "time" if "time" in map(self.kind, parts) else None
            texts = ", ".join(self.of(part, kind)[0] for part in parts)
            return f"{CALLS[name]}({texts})", ATOM
        if name in self.meaning.unread:
            raise MlError(f"{name} is declared, but not read: {self.meaning.unread[name]}")
        raise MlError(f"the function {name} is not read")

    def any_of(self, name: str) -> Text:
        """Return any value of a colour set, each with the same probability."""
        colour = self.meaning.colours.get(name)
        if colour is None or colour.domain is None:
            raise MlError(f"{name}.ran has too many values")
        values = colour.domain
        first, last = values[0][1], values[-1][1]
        if values[0][0] == "int" and values == [("int", it) for it in range(first, last + 1)]:
            return f"discrete({first}, {last})", ATOM
        if len(values) > MOST_DRAWN:
            raise MlError(f"{name}.ran has too many values")
        text = self.at(values[-1], CHOICE, colour.kind)
        for left, value in enumerate(reversed(values[:-1]), start=2):
            chance = f"bernoulli(1.0 / {left})"
            text = f"if {chance} then {self.at(value, OR, colour.kind)} else {text}"
        return text, CHOICE

    def now(self, name: str) -> Text:
        if self.meaning.has_real_time:
            return "in_seconds(now())", ATOM
        if name == "intTime":
            return f"now() // {one(self.meaning.unit)}", PRODUCT
        return "now()", ATOM

    def ticks(self, name: str, argument: Ml) -> Text:
        if name == "IntInf.fromInt":
            return f"{self.at(argument, PRODUCT)} * {one(self.meaning.unit)}", PRODUCT
        if argument[0] == "binary" and argument[1] == "div" and self.kind(argument) == "time":
            left, right = (self.at(part, SIGN, "time") for part in argument[2:])
            return f"{left} // {right}", PRODUCT
        if self.kind(argument) == "int":
            return self.of(argument)
        return f"{self.at(argument, PRODUCT)} // {one(self.meaning.unit)}", PRODUCT

    def inverse(self, rate: Ml) -> str:
        """Return 1 / rate."""
        if rate[0] == "binary" and rate[1] == "/" and rate[2] == ("real", 1.0):
            return self.of(rate[3])[0]
        return f"1.0 / {self.at(rate, SIGN)}"

    def root(self, variance: Ml) -> str:
        """Return the square root."""
        if variance[0] == "binary" and variance[1] == "*" and variance[2] == variance[3]:
            return self.of(variance[2])[0]
        return f"sqrt({self.of(variance)[0]})"


def called(tree: Ml) -> str | None:
    if tree[0] == "apply" and tree[1][0] == "name":
        name: str = tree[1][1]
        return name
    return None


def one(unit: str) -> str:
    """Return one unit of time as an expression."""
    return f"1 {unit}"


def plain_label(label: str) -> str:
    """Return the name of a field in the document."""
    return label.replace("'", "_")
