"""Expressions of nets from trees of CPN ML without functions and values of the file."""

from typing import TYPE_CHECKING

from headrace.net.exchange.digits import joined, text_code
from headrace.net.exchange.ml_syntax import Ml, MlError
from headrace.net.exchange.ml_trees import called, component, is_random, walk
from headrace.net.expressions import AND, ATOM, CHOICE, COMPARISON, NOT, OR, PRODUCT, SIGN, SUM

if TYPE_CHECKING:
    from headrace.net.exchange.ml_meaning import Meaning

TIMES = ("time", "ModelTime.time", "intTime")
MOST_DRAWN = 30
"""Most values, other than whole numbers, of which one is drawn."""

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

Text = tuple[str, int]
"""An expression of a net, and how tightly it binds."""


class ExpressionText:
    """Writes expressions with the names of one transition."""

    def __init__(self, meaning: "Meaning", variables: dict[str, str]) -> None:
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
                self.meaning.texts.add(tree[1])
                if self.meaning.choices.alphabet is not None:
                    return str(text_code(tree[1], self.meaning.choices.alphabet)[1]), ATOM
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
            self.meaning.texts |= {
                part[1] for part in walk(self.meaning.values[name]) if part[0] == "text"
            }
            return self.meaning.constants[name], ATOM
        if name in ("true", "false"):
            return name, ATOM
        if name in self.meaning.constructors:
            return self.form_of(name, None)
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
        records = [
            name
            for name, known in self.meaning.records.items()
            if set(known) == labels and name not in self.meaning.products
        ]
        if expected in records:
            records = [expected]
        if len(records) != 1:
            raise MlError(f"expected the fields of one colour set, not {', '.join(sorted(labels))}")
        kinds = self.meaning.records[records[0]]
        entries = (
            f"{plain_label(label)} = {self.at(part, CHOICE, kinds[plain_label(label)])}"
            for label, part in fields
        )
        return f"{records[0]}({', '.join(entries)})", ATOM

    def form_of(self, constructor: str, argument: Ml | None) -> Text:
        """Return a value of a union: its form, its argument, and fields that it does not use."""
        union = self.meaning.constructors[constructor]
        values = dict(union.unset)
        if (argument is None) == (constructor in union.fields):
            raise MlError(f"{constructor} is read with its argument only")
        if argument is not None:
            field = union.fields[constructor]
            values[field] = self.of(argument, self.meaning.records[union.record][field])[0]
        texts = ", ".join([union.tags[constructor], *values.values()])
        return f"{union.record}({texts})", ATOM

    def binary(self, tree: Ml) -> Text:
        _, operator, a, b = tree
        if operator == "^":
            return self.joined(a, b)
        if operator in ("=", "<>"):
            for draw, side in ((a, b), (b, a)):
                if called(draw) == "bernoulli" and side in (("int", 1), ("int", 0)):
                    chance = f"bernoulli({self.of(draw[2])[0]})"
                    if (side[1] == 1) == (operator == "="):
                        return chance, ATOM
                    return f"not {chance}", NOT
            sizes = [len(side[1]) for side in (a, b) if side[0] == "tuple"]
            if any(sizes):
                numbers = map(str, range(1, sizes[0] + 1))
                tests = [(*tree[:2], component(each, a), component(each, b)) for each in numbers]
                word, binds = OPERATORS["andalso" if operator == "=" else "orelse"]
                return f" {word} ".join(self.at(test, binds + 1) for test in tests), binds
        if operator not in OPERATORS:
            raise MlError(f"{operator} of multisets and lists is not read here")
        word, binds = OPERATORS[operator]
        first = binds + 1 if binds == COMPARISON else binds
        is_time = "time" in (self.kind(a), self.kind(b))
        if is_time and operator == "*":
            a, b = (ml[2] if called(ml) == "IntInf.fromInt" else ml for ml in (a, b))
        elif is_time:
            left, right = self.at(a, first, "time"), self.at(b, binds + 1, "time")
            if operator == "div":
                # A whole number here, and a time there.
                return f"({left} // {right}) * {one(self.meaning.unit)}", PRODUCT
            return f"{left} {word} {right}", binds
        return f"{self.at(a, first)} {word} {self.at(b, binds + 1)}", binds

    def joined(self, a: Ml, b: Ml) -> Text:
        alphabet = self.meaning.choices.alphabet
        if alphabet is None:
            # The file is read again when all its texts are known.
            self.meaning.has_joined_texts = True
            for part in (a, b):
                self.of(part)
            return '""', ATOM
        a, b = (("int", int(self.of(part)[0])) if part[0] == "text" else part for part in (a, b))
        return self.of(joined(a, b, alphabet))

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
                return next((type_ for type_ in ("time", "real") if type_ in kinds), kinds[0])
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
        if name in self.meaning.constructors:
            return self.form_of(name, argument)
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
        if values[0][0] == "int" and values == [("int", count) for count in range(first, last + 1)]:
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


def one(unit: str) -> str:
    """Return one unit of time as an expression."""
    return f"1 {unit}"


def plain_label(label: str) -> str:
    """Return the name of a field in the document."""
    return label.replace("'", "_")
