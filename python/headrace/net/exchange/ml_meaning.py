"""Declarations of a file in CPN ML, and the meaning of its expressions.

Functions, values and lets of a file are put in where they are used; none is run.
"""

from dataclasses import dataclass, field
from typing import Any

from headrace.net.exchange.digits import (
    ON_LISTS,
    elements,
    exists,
    first_and_rest,
    is_empty,
    is_list,
    length,
)
from headrace.net.exchange.ml_syntax import Ml, MlError
from headrace.net.exchange.ml_text import CALLS, ExpressionText
from headrace.net.exchange.ml_trees import FALSE, RANDOM, TRUE, component, is_random, reduced, uses

MOST_NODES = 20_000
DEEPEST_CALL = 30


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
    element: "Colour | None" = None
    """The colour set of the elements of a list."""
    parts: "list[tuple[str, Colour]] | None" = None
    """The colour sets of the fields of a product or record."""
    is_product: bool = False
    is_text: bool = False
    own: str = ""
    """Its name in the file."""


class ReadAgain(Exception):
    """The file has to be read with other choices."""


@dataclass
class Choices:
    """Texts and lists of the file that are numbers in the document.

    The first reading of a file shows what needs it.
    """

    alphabet: tuple[str, ...] | None = None
    """Parts of joined texts; texts are numbers then."""
    lists: set[str] = field(default_factory=set)
    """Colour sets of lists."""

    def is_coded(self, colour_set: str) -> bool:
        """Return true if the lists of a colour set are numbers."""
        return colour_set in self.lists

    def code(self, colour_set: str) -> None:
        """Make the lists of a colour set numbers."""
        self.lists.add(colour_set)
        raise ReadAgain


@dataclass
class Union:
    """A colour set whose values have one of several forms."""

    record: str
    """Its record in the document: the form, and a field for each argument."""
    tags: dict[str, str]
    """Constructors, with the members of the enumeration of forms."""
    fields: dict[str, str]
    """Fields of the arguments, by constructor."""
    unset: dict[str, str]
    """Expressions of the fields that a value does not use."""


@dataclass
class Meaning:
    """The declarations of a file."""

    choices: Choices = field(default_factory=Choices)
    texts: set[str] = field(default_factory=set)
    """Texts of the file that are used."""
    has_joined_texts: bool = False
    constructors: dict[str, Union] = field(default_factory=dict)
    references: dict[str, Ml] = field(default_factory=dict)
    """First values of references; they keep them, as nothing that is read assigns."""
    has_read_reference: bool = False

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

    def match(self, pattern: Ml, value: Ml, tests: list[Ml]) -> dict[str, Ml]:
        """Return what a pattern binds; add the conditions under which a value fits."""
        return _Expansion(self).match(pattern, value, tests)

    # --- expressions --------------------------------------------------------------------------

    def text(self, tree: Ml, variables: dict[str, str], expected: str | None = None) -> str:
        """Return an expanded tree as an expression.

        Parameters:
            variables: Variables with their names or expressions in the document.
            expected: Kind of the value, for records.
        """
        return ExpressionText(self, variables).of(tree, expected)[0]


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
                return component(tree[1], inside(tree[2]))
            case "binary":
                left, right = inside(tree[2]), inside(tree[3])
                if tree[1] in ("=", "<>") and ("list", []) in (left, right):
                    empty = is_empty(elements(meaning, right if left == ("list", []) else left))
                    return empty if tree[1] == "=" else reduced(("apply", ("name", "not"), empty))
                return ("binary", tree[1], left, right)
            case "if":
                condition = reduced(inside(tree[1]))
                if condition in (TRUE, FALSE):
                    return inside(tree[2] if condition == TRUE else tree[3])
                return ("if", condition, inside(tree[2]), inside(tree[3]))
            case "let":
                inner = dict(env)
                for number, (pattern, value) in enumerate(tree[1]):
                    value = self.expand(value, inner, calls)
                    bound = self.match(pattern, value, [])
                    later = [tree[2], *(declaration for _, declaration in tree[1][number + 1 :])]
                    if is_random(value) and any(
                        sum(uses(declaration, name) for declaration in later) > 1 for name in bound
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
        is_own = function[0] == "name" and function[1] in self.meaning.functions
        if function[0] == "name" and function[1] in ON_LISTS and not is_own:
            return self.on_list(function[1], arguments, env, calls)
        known = [self.expand(each, env, calls) for each in arguments]
        if function[0] == "fn" and len(known) == 1:
            return self.cases(known[0], function[1], env, calls)
        if function[0] != "name":
            raise MlError("functions as values are not read")
        name = function[1]
        if name in self.meaning.indices:
            return known[0]
        if name == "!" and known[0][0] == "name" and known[0][1] in self.meaning.references:
            self.meaning.has_read_reference = True
            return self.expand(self.meaning.references[known[0][1]], {}, calls + 1)
        if name in self.meaning.functions and name not in CALLS and name not in RANDOM:
            clauses = []
            for patterns, body in self.meaning.functions[name]:
                if len(patterns) != len(known):
                    raise MlError(f"{name} is called with {len(known)} arguments")
                pattern = patterns[0] if len(patterns) == 1 else ("tuple", patterns)
                clauses.append((pattern, body))
            record = known[0] if len(known) == 1 else ("tuple", known)
            return self.cases(record, clauses, {}, calls + 1)
        result: Ml = function
        for argument in known:
            result = ("apply", result, argument)
        return result

    def on_list(self, name: str, arguments: list[Ml], env: dict[str, Ml], calls: int) -> Ml:
        """Apply a function of lists."""
        name = name.removeprefix("List.")
        takes_function = name in ("filter", "map", "exists", "all")
        if len(arguments) != 1 + (takes_function or name == "mem"):
            raise MlError(f"{name} is read with all its arguments only")
        values = arguments[-1]
        if name == "mem":
            values = arguments[0]
        items = elements(self.meaning, self.expand(values, env, calls))
        if takes_function:
            function = arguments[0]
            results = [(tests, self.call(function, value, env, calls)) for tests, value in items]
            if name == "map":
                return ("items", results)
            kept = [
                ((*tests, truth), value)
                for (tests, truth), (_, value) in zip(results, items, strict=True)
                if truth != FALSE
            ]
            if name == "filter":
                return ("items", kept)
            if name == "exists":
                return exists(kept)
            refused = [
                ((*tests, reduced(("apply", ("name", "not"), truth))), truth)
                for tests, truth in results
            ]
            return reduced(("apply", ("name", "not"), exists(refused)))
        match name:
            case "mem":
                tested = self.expand(arguments[1], env, calls)
                return exists(
                    [((*tests, ("binary", "=", value, tested)), value) for tests, value in items]
                )
            case "length":
                return length(items)
            case "null":
                return is_empty(items)
            case "hd":
                return first_and_rest(items)[0]
            case "tl":
                return ("items", first_and_rest(items)[1])
            case "rev":
                return ("items", items[::-1])
        return ("items", items)

    def call(self, function: Ml, value: Ml, env: dict[str, Ml], calls: int) -> Ml:
        """Apply a function of the file to an expanded value."""
        hidden = "the argument"
        return self.expand(("apply", function, ("name", hidden)), env | {hidden: value}, calls)

    def cases(self, tested: Ml, clauses: list[tuple[Ml, Ml]], env: dict[str, Ml], calls: int) -> Ml:
        results: list[tuple[list[Ml], Ml]] = []
        for pattern, body in clauses:
            tests: list[Ml] = []
            bound = self.match(pattern, tested, tests)
            tests = [test for test in map(reduced, tests) if test != TRUE]
            if FALSE in tests:
                continue
            for name, value in bound.items():
                if is_random(value) and uses(body, name) != 1:
                    raise MlError("a random value that is used more than once is not read here")
            results.append((tests, self.expand(body, env | bound, calls)))
            if not tests:
                break
        if is_random(tested) and len(results) > 1:
            raise MlError("cases of a random value are not read")
        if not results:
            raise MlError("no case fits this value")
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
            case "name" if pattern[1] in self.meaning.constructors:
                return self.match(("apply", pattern, ("tuple", [])), value, tests)
            case "name" if pattern[1] not in self.meaning.members:
                return {pattern[1]: value}
            case "apply" if pattern[1][0] == "name" and pattern[1][1] in self.meaning.constructors:
                return self.match_form(pattern[1][1], pattern[2], value, tests)
            case "list" | "binary" if is_list(self.meaning, pattern):
                return self.match_list(pattern, value, tests)
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
                    bound |= self.match(part, component(label, value), tests)
                return bound
            case "apply" if pattern[1][0] == "name" and pattern[1][1] in self.meaning.indices:
                return self.match(pattern[2], value, tests)
            case "name" | "int" | "text":
                tests.append(("binary", "=", value, pattern))
                return {}
        raise MlError("this pattern is not read")

    def match_form(self, name: str, pattern: Ml, value: Ml, tests: list[Ml]) -> dict[str, Ml]:
        """Match a value of a union with a constructor."""
        other, argument = value, None
        if value[0] == "apply" and value[1][0] == "name":
            other, argument = value[1], value[2]
        if other[0] == "name" and other[1] in self.meaning.constructors:
            if other[1] != name:
                tests.append(FALSE)
            return (
                {} if argument is None or other[1] != name else self.match(pattern, argument, tests)
            )
        union = self.meaning.constructors[name]
        tests.append(("binary", "=", ("field", "form", value), ("name", f"{name} form")))
        if name not in union.fields:
            return {}
        return self.match(pattern, ("field", union.fields[name], value), tests)

    def match_list(self, pattern: Ml, value: Ml, tests: list[Ml]) -> dict[str, Ml]:
        """Match a list with its first elements, or with none."""
        items = elements(self.meaning, value)
        bound: dict[str, Ml] = {}
        parts = list(pattern[1]) if pattern[0] == "list" else []
        while pattern[:2] == ("binary", "::"):
            parts.append(pattern[2])
            pattern = pattern[3]
        for part in parts:
            if not items:
                tests.append(FALSE)
                return {}
            tests.append(reduced(("apply", ("name", "not"), is_empty(items))))
            first, items = first_and_rest(items)
            bound |= self.match(part, first, tests)
        if pattern[0] == "list":
            tests.append(is_empty(items))
            return bound
        return bound | self.match(pattern, ("items", items), tests)
