"""Texts and lists of files of CPN Tools as whole numbers, whose digits are their parts.

A number has 63 bits, and a digit 3, 7, 9 or 21 of them. One digit too many is an overflow, which
the kernel reports. A list has its first element in the lowest digit, a text its last part.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from headrace.net.exchange.ml_syntax import Ml, MlError
from headrace.net.exchange.ml_trees import FALSE, TRUE, called, reduced

if TYPE_CHECKING:
    from headrace.net.exchange.ml_meaning import Colour, Meaning

BITS = 63
MOST_WHOLE = 126
"""Largest element of a list of whole numbers without range; others end the run."""

Item = tuple[tuple[Ml, ...], Ml]
"""An element of a list, and the conditions under which it is there."""

TO_TOKENS = ("list_to_ms", "ms_to_list", "List.list_to_ms")
ON_LISTS = (
    "List.filter", "List.map", "map", "List.exists", "exists", "List.all", "List.length", "length",
    "List.null", "null", "List.hd", "hd", "List.tl", "tl", "List.rev", "rev", "mem",
    *TO_TOKENS,
)  # fmt: skip
"""Functions of lists that are read."""


def binary(operator: str, a: Ml, b: Ml) -> Ml:
    if operator == "*" and whole(0) in (a, b):
        return whole(0)
    neutral = {"+": 0, "*": 1}.get(operator)
    if neutral is not None and whole(neutral) in (a, b):
        return b if a == whole(neutral) else a
    return reduced(("binary", operator, a, b))


def choice(condition: Ml, a: Ml, b: Ml) -> Ml:
    return a if a == b else reduced(("if", condition, a, b))


def whole(number: int) -> Ml:
    return ("int", number)


# --- texts ----------------------------------------------------------------------------------------


def alphabet_of(texts: set[str]) -> tuple[str, ...]:
    """Return the parts of joined texts.

    Raises:
        MlError: A joined text may have several parts in two ways.
    """
    parts = sorted(texts - {""})
    for one, other in pairwise(parts):
        if other.startswith(one):
            raise MlError(f"^ is not read where a text begins with another: {other!r}, {one!r}")
    if len(parts) >= 2**9:
        raise MlError("^ is read for at most 511 different texts")
    return tuple(parts)


def text_bits(alphabet: tuple[str, ...]) -> int:
    return next(bits for bits in (3, 7, 9) if len(alphabet) < 2**bits)


def text_code(text: str, alphabet: tuple[str, ...]) -> Ml:
    """Return the number of a text."""
    code, rest, bits = 0, text, text_bits(alphabet)
    while rest:
        part = next((each for each in alphabet if rest.startswith(each)), None)
        if part is None or code.bit_length() > BITS - bits:
            raise MlError(f"the text {text!r} is not read beside joined texts")
        code, rest = (code << bits) + alphabet.index(part) + 1, rest[len(part) :]
    return whole(code)


def joined(a: Ml, b: Ml, alphabet: tuple[str, ...]) -> Ml:
    """Return the number of two texts in succession."""
    bits = text_bits(alphabet)
    last = 1 << (BITS - bits)
    factor = whole(last)
    for digits in reversed(range(BITS // bits - 1)):
        factor = choice(
            binary("<", b, whole(1 << digits * bits)), whole(1 << digits * bits), factor
        )
    if b[0] != "int" or b[1] >= last:
        a = binary("*", a, choice(binary("<", b, whole(last)), whole(1), whole(1 << bits)))
    return binary("+", binary("*", a, factor), b)


# --- elements of lists ----------------------------------------------------------------------------


def size(colour: "Colour") -> int:
    """Return the number of values of an element of a list.

    Raises:
        MlError: There are too many.
    """
    if colour.parts is not None:
        product = 1
        for _, part in colour.parts:
            product *= size(part)
        return product
    if colour.domain is not None:
        return len(colour.domain)
    if colour.kind == "int" and not colour.is_text:
        return MOST_WHOLE + 1
    raise MlError("lists are read of whole numbers and of colour sets with few values only")


def width(colour: "Colour") -> int:
    """Return the bits of an element of a list."""
    values = size(colour)
    for bits in (7, 9, 21):
        if values < 2**bits:
            return bits
    raise MlError(f"a list of elements with {values} values is too large")


def _first(colour: "Colour") -> int | None:
    """Return the first of consecutive whole numbers."""
    domain = colour.domain
    if domain is None or domain[0][0] != "int":
        return None
    first: int = domain[0][1]
    return first if domain == [whole(first + number) for number in range(len(domain))] else None


def index(colour: "Colour", value: Ml) -> Ml:
    """Return the number of a value, from 0."""
    if value[0] == "if":
        return choice(value[1], index(colour, value[2]), index(colour, value[3]))
    if colour.parts is not None:
        code = whole(0)
        for number, (label, part) in enumerate(colour.parts):
            if value[0] == "tuple":
                field = value[1][number]
            elif value[0] == "record":
                field = dict(value[1])[label]
            else:
                field = ("field", label, value)
            code = binary("+", binary("*", code, whole(size(part))), index(part, field))
        return code
    if colour.domain is None:
        outside = binary(
            "orelse", binary("<", value, whole(0)), binary(">", value, whole(MOST_WHOLE))
        )
        # Larger than any number: the run ends with an error.
        return choice(outside, binary("*", binary("*", value, whole(2**62)), whole(4)), value)
    first = _first(colour)
    if first is not None:
        return binary("-", value, whole(first))
    if value in colour.domain:
        return whole(colour.domain.index(value))
    code = whole(len(colour.domain) - 1)
    for number in reversed(range(len(colour.domain) - 1)):
        code = choice(binary("=", value, colour.domain[number]), whole(number), code)
    return code


def value_at(colour: "Colour", code: Ml) -> Ml:
    """Return the value of a number."""
    if colour.parts is not None:
        values: list[tuple[str, Ml]] = []
        stride = 1
        for label, part in reversed(colour.parts):
            digit = binary("div", code, whole(stride)) if stride > 1 else code
            stride *= size(part)
            if len(values) < len(colour.parts) - 1:
                digit = binary("mod", digit, whole(size(part)))
            values.insert(0, (label, value_at(part, digit)))
        return (
            ("tuple", [value for _, value in values]) if colour.is_product else ("record", values)
        )
    if colour.domain is None:
        return code
    first = _first(colour)
    if first is not None:
        return binary("+", code, whole(first)) if first else code
    value = colour.domain[-1]
    for number in reversed(range(len(colour.domain) - 1)):
        value = choice(binary("=", code, whole(number)), colour.domain[number], value)
    return value


# --- lists ----------------------------------------------------------------------------------------


def list_of(meaning: "Meaning", tree: Ml) -> "Colour | None":
    """Return the colour set of a variable that is a list."""
    if tree[0] != "name" or tree[1] not in meaning.variables:
        return None
    colour = meaning.colours.get(meaning.variables[tree[1]])
    return colour if colour is not None and colour.element is not None else None


def is_list(meaning: "Meaning", tree: Ml) -> bool:
    """Return true if an expanded tree is a list."""
    if tree[0] == "if":
        return is_list(meaning, tree[2]) or is_list(meaning, tree[3])
    if tree[0] == "binary":
        return tree[1] in ("::", "^^")
    return tree[0] in ("list", "items") or list_of(meaning, tree) is not None


def elements(meaning: "Meaning", tree: Ml) -> list[Item]:
    """Return the elements of a list, or tokens of a multiset of single tokens.

    Raises:
        MlError: They are not read.
    """
    match tree[0]:
        case "list":
            return [((), part) for part in tree[1]]
        case "items":
            items: list[Item] = tree[1]
            return items
        case "if":
            no = ("apply", ("name", "not"), tree[1])
            return [
                ((condition, *tests), value)
                for condition, branch in ((tree[1], tree[2]), (no, tree[3]))
                for tests, value in elements(meaning, branch)
            ]
        case "binary" if tree[1] == "::":
            return [((), tree[2]), *elements(meaning, tree[3])]
        case "binary" if tree[1] in ("^^", "++"):
            return elements(meaning, tree[2]) + elements(meaning, tree[3])
        case "binary" if tree[1] == "`" and tree[2][0] == "int" and 0 <= tree[2][1] < 1000:
            return [((), tree[3])] * tree[2][1]
    if tree == ("name", "empty"):
        return []
    name = called(tree) or ""
    domain = meaning.colours[name[:-4]].domain if name[:-4] in meaning.colours else None
    if name.endswith(".all") and domain is not None:
        return [((), value) for value in domain]
    colour = list_of(meaning, tree)
    if colour is None or colour.element is None:
        raise MlError("this list is not read")
    if not meaning.choices.is_coded(colour.own):
        meaning.choices.code(colour.own)
    bits = width(colour.element)
    digits: list[Item] = []
    for number in range(BITS // bits):
        shifted = binary("div", tree, whole(1 << number * bits)) if number else tree
        digit = binary("-", binary("mod", shifted, whole(1 << bits)), whole(1))
        test = ("binary", ">=", tree, whole(1 << number * bits))
        digits.append(((test,), value_at(colour.element, digit)))
    return digits


def packed(meaning: "Meaning", tree: Ml, element: "Colour") -> Ml:
    """Return the number of a list."""
    if list_of(meaning, tree) is not None:
        return tree
    base = whole(1 << width(element))
    if tree[0] == "if":
        return choice(tree[1], packed(meaning, tree[2], element), packed(meaning, tree[3], element))
    if tree[:2] == ("binary", "::"):
        rest = packed(meaning, tree[3], element)
        return binary("+", binary("*", rest, base), binary("+", index(element, tree[2]), whole(1)))
    code = whole(0)
    for tests, value in reversed(elements(meaning, tree)):
        digit, factor = binary("+", index(element, value), whole(1)), base
        if tests:
            condition = _all(tests)
            digit, factor = choice(condition, digit, whole(0)), choice(condition, base, whole(1))
        code = binary("+", binary("*", code, factor), digit)
    return code


def packed_tokens(meaning: "Meaning", tree: Ml, element: "Colour") -> Ml:
    """Return a multiset of lists as one of numbers."""
    if tree == ("name", "empty"):
        return tree
    if tree[0] == "binary" and tree[1] in ("`", "@+", "@++", "++"):
        a = packed_tokens(meaning, tree[2], element) if tree[1] != "`" else tree[2]
        b = tree[3] if tree[1] in ("@+", "@++") else packed_tokens(meaning, tree[3], element)
        return ("binary", tree[1], a, b)
    if tree[0] == "if":
        return ("if", tree[1], *(packed_tokens(meaning, part, element) for part in tree[2:]))
    return packed(meaning, tree, element)


def _all(tests: tuple[Ml, ...]) -> Ml:
    condition = TRUE
    for test in tests:
        condition = binary("andalso", condition, test)
    return condition


def length(items: list[Item]) -> Ml:
    """Return the number of elements."""
    total = whole(0)
    for tests, _ in items:
        total = binary("+", total, choice(_all(tests), whole(1), whole(0)))
    return total


def exists(items: list[Item]) -> Ml:
    """Return the condition that one of some elements is there."""
    condition = FALSE
    for tests, _ in items:
        condition = binary("orelse", condition, _all(tests))
    return condition


def is_empty(items: list[Item]) -> Ml:
    """Return the condition that a list has no element."""
    there = exists(items[:1] if _is_successive(items) else items)
    return reduced(("apply", ("name", "not"), there))


def first_and_rest(items: list[Item]) -> tuple[Ml, list[Item]]:
    """Return the first element of a list that has one, and the others."""
    if not items:
        raise MlError("an empty list has no first element")
    if not _is_successive(items):
        raise MlError("the first elements of a list that was filtered are not read")
    (_, first), *rest = items
    return first, rest


def _is_successive(items: list[Item]) -> bool:
    """Return true if each element is there only if those before it are."""
    ends = []
    for tests, _ in items:
        if len(tests) > 1 or (tests and tests[0][:2] != ("binary", ">=")):
            return False
        ends.append(tests[0][3][1] if tests else 0)
    return ends == sorted(ends)
