"""Multisets of CPN ML: the tokens of an inscription, each with its count, time and conditions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from headrace.net.exchange.digits import elements
from headrace.net.exchange.ml_meaning import Meaning
from headrace.net.exchange.ml_syntax import Ml, MlError
from headrace.net.exchange.ml_trees import called, reduced

ONE: Ml = ("int", 1)
MOST_TERMS = 2000
MOST_CASES = 4096
"""Most cases that are looked at; few of them may be possible."""


@dataclass(frozen=True)
class Term:
    """Some equal tokens of a multiset."""

    count: Ml
    token: Ml
    delay: Ml | None = None
    conditions: tuple[Ml, ...] = ()


Case = tuple[list[Ml], list[Term]]
"""Conditions, and the tokens that are there if they hold."""


def negated(condition: Ml) -> Ml:
    """Return the opposite of a condition."""
    if condition[0] == "binary" and condition[1] in ("=", "<>"):
        return ("binary", "<>" if condition[1] == "=" else "=", *condition[2:])
    return ("apply", ("name", "not"), condition)


def is_multiset(tree: Ml) -> bool:
    """Return true if an expanded tree is a multiset and no single token."""
    if tree == ("name", "empty"):
        return True
    if tree[0] == "binary":
        return tree[1] in ("++", "+++", "@+", "@++", "`", "--")
    if tree[0] == "if":
        return is_multiset(tree[2]) or is_multiset(tree[3])
    return (called(tree) or "").endswith((".all", ".mult"))


def single(tree: Ml) -> Ml:
    """Return the token of a multiset of one."""
    token: Ml = tree[3] if tree[:3] == ("binary", "`", ONE) else tree
    return token


def terms(meaning: Meaning, tree: Ml) -> list[Term]:
    """Return the tokens of an expanded multiset.

    Raises:
        MlError: It is not read.
    """
    summands = []
    for term in _terms(meaning, tree, ()):
        summands.append(term)
        if len(summands) > MOST_TERMS:
            raise MlError(f"expected at most {MOST_TERMS} tokens in an inscription")
    return summands


def _terms(meaning: Meaning, tree: Ml, conditions: tuple[Ml, ...]) -> Iterator[Term]:
    if tree == ("name", "empty"):
        return
    if tree[0] in ("items", "list"):
        # A list where tokens of its elements are expected.
        for tests, value in elements(meaning, tree):
            yield Term(ONE, value, None, (*conditions, *tests))
        return
    if tree[0] == "binary":
        operator, a, b = tree[1:]
        if operator in ("++", "+++"):
            yield from _terms(meaning, a, conditions)
            yield from _terms(meaning, b, conditions)
            return
        if operator in ("@+", "@++", "@"):
            for term in _terms(meaning, a, conditions):
                delay = b if term.delay is None else ("binary", "+", term.delay, b)
                yield replace(term, delay=delay)
            return
        if operator == "`":
            yield Term(a, b, None, conditions)
            return
        if operator == "--":
            yield from _difference(terms(meaning, a), terms(meaning, b), conditions)
            return
    if tree[0] == "if" and is_multiset(tree):
        yield from _terms(meaning, tree[2], (*conditions, tree[1]))
        yield from _terms(meaning, tree[3], (*conditions, negated(tree[1])))
        return
    name = called(tree) or ""
    if name.endswith(".all"):
        for value in _values(meaning, name):
            yield Term(ONE, value, None, conditions)
    elif name.endswith(".mult") and tree[2][0] == "tuple":
        for parts in product(*(terms(meaning, part) for part in tree[2][1])):
            if any(part.count != ONE for part in parts):
                raise MlError("products of multisets are read for single tokens only")
            tests = tuple(test for part in parts for test in part.conditions)
            yield Term(ONE, ("tuple", [part.token for part in parts]), None, conditions + tests)
    else:
        yield Term(ONE, tree, None, conditions)


def _values(meaning: Meaning, name: str) -> list[Ml]:
    colour = meaning.colours.get(name.removesuffix(".all"))
    if colour is None or colour.domain is None:
        raise MlError(f"{name} () has too many values")
    return colour.domain


def _difference(left: list[Term], right: list[Term], conditions: tuple[Ml, ...]) -> Iterator[Term]:
    """Yield different tokens without some; the values that are taken away must be among them."""
    tokens = [term.token for term in left]
    single = all(summand.count == ONE for summand in (*left, *right))
    certain = not any(summand.conditions for summand in right)
    if not (single and certain) or any(tokens.count(token) > 1 for token in tokens):
        raise MlError("a difference of multisets is read for different single tokens only")
    for term in left:
        tests = [reduced(("binary", "<>", term.token, other.token)) for other in right]
        if ("name", "false") not in tests:
            own = tuple(test for test in tests if test != ("name", "true"))
            yield replace(term, conditions=conditions + term.conditions + own)


def cases(meaning: Meaning, tree: Ml) -> list[Case]:
    """Return the cases of a multiset whose tokens have conditions.

    Raises:
        MlError: It is not read, or has too many cases.
    """
    results: list[Case] = [([], [])]
    for term in terms(meaning, tree):
        grown: list[Case] = []
        for conditions, tokens in results:
            # All its conditions hold, or the first that does not is one of them.
            plain = replace(term, conditions=())
            for number in range(len(term.conditions) + 1):
                held = list(term.conditions[:number])
                if number < len(term.conditions):
                    held.append(negated(term.conditions[number]))
                both = conditions + [condition for condition in held if condition not in conditions]
                if _possible(meaning, both):
                    there = number == len(term.conditions)
                    grown.append((both, [*tokens, plain] if there else tokens))
        results = grown
        if len(results) > MOST_CASES:
            raise MlError(f"expected at most {MOST_CASES} cases of conditions")
    return [case for case in results if not _exhausted(meaning, case[0])]


def _sides(condition: Ml) -> tuple[str, Ml, bool] | None:
    """Return variable and constant of x = c (true) or x <> c (false)."""
    if condition[0] != "binary" or condition[1] not in ("=", "<>"):
        return None
    for side, other in ((condition[2], condition[3]), (condition[3], condition[2])):
        if side[0] == "name" and other[0] in ("int", "text"):
            return side[1], other, condition[1] == "="
    return None


def _is_longer(condition: Ml, other: Ml) -> bool:
    """Return true if x >= 8, of the number of a list, implies another condition such as x >= 1."""
    return (
        condition[:2] == ("binary", ">=")
        and other[:3] == condition[:3]
        and condition[3][0] == other[3][0] == "int"
        and bool(other[3][1] <= condition[3][1])
    )


def _possible(meaning: Meaning, conditions: list[Ml]) -> bool:
    """Return false if conditions contradict each other."""
    values: dict[str, Ml] = {}
    for condition in conditions:
        if any(_is_longer(condition, other[2]) for other in conditions if called(other) == "not"):
            return False
        if negated(condition) in conditions:
            return False
        sides = _sides(condition)
        if sides is not None and sides[2] and values.setdefault(sides[0], sides[1]) != sides[1]:
            return False
    return True


def _exhausted(meaning: Meaning, conditions: list[Ml]) -> bool:
    """Return true if conditions leave no value of a variable."""
    refused: dict[str, list[Ml]] = {}
    for condition in conditions:
        sides = _sides(condition)
        if sides is not None and not sides[2]:
            refused.setdefault(sides[0], []).append(sides[1])
    for variable, values in refused.items():
        colour = meaning.colours.get(meaning.variables.get(variable, ""))
        domain = colour.domain if colour is not None else None
        if domain is not None and all(value in values for value in domain):
            return True
    return False
