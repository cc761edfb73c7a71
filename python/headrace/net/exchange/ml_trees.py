"""Trees of CPN ML: their parts, what they call, and what is constant in them."""

from collections.abc import Iterator

from headrace.net.exchange.ml_syntax import Ml
from headrace.net.exchange.names import words_of

RANDOM = words_of(
    """bernoulli binomial chisq discrete erlang exponential normal poisson rayleigh student
    uniform weibull weibull_of pareto_of beta gamma"""
)
"""Functions of random numbers."""


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
        case "items":
            yield from (part for tests, value in tree[1] for part in (*tests, value))
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
    names = (node[1] for node in walk(tree) if node[0] == "name")
    return any(name in RANDOM or name.endswith(".ran") for name in names)


def uses(tree: Ml, name: str) -> int:
    """Return how often a tree has a name."""
    return sum(node[0] == "name" and node[1] == name for node in walk(tree))


def called(tree: Ml) -> str | None:
    if tree[0] == "apply" and tree[1][0] == "name":
        name: str = tree[1][1]
        return name
    return None


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


def component(label: str, value: Ml) -> Ml:
    """Return a field of a record, or a part of a tuple."""
    if value[0] == "tuple" and label.isdigit() and 0 < int(label) <= len(value[1]):
        part: Ml = value[1][int(label) - 1]
        return part
    fields: dict[str, Ml] = dict(value[1]) if value[0] == "record" else {}
    return fields.get(label, ("field", label, value))
