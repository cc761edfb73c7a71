"""Symbolic expressions of nets: operators on them build the text that a document has."""

import dataclasses
import json
import math
import reprlib
from collections.abc import Iterator
from enum import Enum
from typing import Any, NoReturn

CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(9)
"""How tightly an operator binds."""


class Expression:
    """A value that is known when the net runs: a token, a field, or a calculation with them.

    `+ - * / // %`, comparisons, `&` (and), `|` (or) and `~` (not) give expressions again, and
    `p.number` the field of a record. Python's own `and`, `or`, `not` and `if` cannot.

    Examples:
        >>> token = hr.net.Net.token()
        >>> hr.net.choose((token.size > 4096) & ~token.cached, token.size / 100e6, 1e-6)
        <expression if token.size > 4096 and not token.cached then token.size / 100000000.0 ...>
    """

    __hash__ = object.__hash__

    def __init__(
        self, text: str, binds: int = ATOM, fields: dict[str, Any] | None = None, owner: Any = None
    ) -> None:
        self._text = text
        self._binds = binds
        self._fields = fields
        # The transition whose variables it uses: those of another may have the same names.
        self._owner = owner

    def __repr__(self) -> str:
        return f"<expression {self._text}>"

    def __str__(self) -> str:
        return self._text

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self._text} has no value before the net runs: write & for and, | for or, ~ for"
            " not, and choose(condition, a, b) for if"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self._text} is one value: take its fields by name, such as token.number")

    def __getattr__(self, name: str) -> "Expression":
        if name.startswith("__"):
            raise AttributeError(name)
        fields = self._fields
        if fields is not None and name not in fields:
            known = ", ".join(fields) or "none"
            raise AttributeError(f"{self._text} has no field {name!r}; its fields are: {known}")
        inner = field_types(fields[name]) if fields is not None else None
        return Expression(f"{within(self, ATOM)}.{name}", ATOM, inner, self._owner)

    def __getitem__(self, index: Any) -> "Expression":
        text = f"{within(self, ATOM)}[{text_of(index)}]"
        return Expression(text, ATOM, self._fields, owner_of(self, index))

    def replace(self, **fields: Any) -> "Expression":
        """Return the record with other values of some fields.

        Examples:
            >>> hr.net.Net.token().replace(cached=True)
            <expression token with (cached = true)>
        """
        changes = ", ".join(f"{name} = {text_of(value)}" for name, value in fields.items())
        text = f"{within(self, ATOM)} with ({changes})"
        return Expression(text, ATOM, self._fields, owner_of(self, *fields.values()))

    def _two(self, operator: str, other: Any, binds: int, swapped: bool = False) -> "Expression":
        left, right = (other, self) if swapped else (self, other)
        # Operators group from the left; comparisons do not group.
        first = binds + 1 if binds == COMPARISON else binds
        text = f"{within(left, first)} {operator} {within(right, binds + 1)}"
        return Expression(text, binds, owner=owner_of(left, right))

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        return self._two("==", other, COMPARISON)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return self._two("!=", other, COMPARISON)

    def __lt__(self, other: Any) -> "Expression":
        return self._two("<", other, COMPARISON)

    def __le__(self, other: Any) -> "Expression":
        return self._two("<=", other, COMPARISON)

    def __gt__(self, other: Any) -> "Expression":
        return self._two(">", other, COMPARISON)

    def __ge__(self, other: Any) -> "Expression":
        return self._two(">=", other, COMPARISON)

    def __add__(self, other: Any) -> "Expression":
        return self._two("+", other, SUM)

    def __radd__(self, other: Any) -> "Expression":
        return self._two("+", other, SUM, True)

    def __sub__(self, other: Any) -> "Expression":
        return self._two("-", other, SUM)

    def __rsub__(self, other: Any) -> "Expression":
        return self._two("-", other, SUM, True)

    def __mul__(self, other: Any) -> "Expression":
        return self._two("*", other, PRODUCT)

    def __rmul__(self, other: Any) -> "Expression":
        return self._two("*", other, PRODUCT, True)

    def __truediv__(self, other: Any) -> "Expression":
        return self._two("/", other, PRODUCT)

    def __rtruediv__(self, other: Any) -> "Expression":
        return self._two("/", other, PRODUCT, True)

    def __floordiv__(self, other: Any) -> "Expression":
        return self._two("//", other, PRODUCT)

    def __rfloordiv__(self, other: Any) -> "Expression":
        return self._two("//", other, PRODUCT, True)

    def __mod__(self, other: Any) -> "Expression":
        return self._two("%", other, PRODUCT)

    def __rmod__(self, other: Any) -> "Expression":
        return self._two("%", other, PRODUCT, True)

    def __and__(self, other: Any) -> "Expression":
        return self._two("and", other, AND)

    def __rand__(self, other: Any) -> "Expression":
        return self._two("and", other, AND, True)

    def __or__(self, other: Any) -> "Expression":
        return self._two("or", other, OR)

    def __ror__(self, other: Any) -> "Expression":
        return self._two("or", other, OR, True)

    def __invert__(self) -> "Expression":
        return Expression(f"not {within(self, NOT)}", NOT, owner=self._owner)

    def __neg__(self) -> "Expression":
        return Expression(f"-{within(self, SIGN)}", SIGN, owner=self._owner)

    def __abs__(self) -> "Expression":
        return call("abs", self)

    def __floor__(self) -> "Expression":
        return call("floor", self)

    def __ceil__(self) -> "Expression":
        return call("ceil", self)

    def __round__(self) -> "Expression":
        return call("round", self)


EMPTY = Expression("empty")
"""No token, as one of the values of `choose`."""


def field_types(colour: Any) -> dict[str, Any] | None:
    """Return the types of the fields of a colour; an empty mapping if it is no record."""
    if not (dataclasses.is_dataclass(colour) and isinstance(colour, type)):
        return {}
    from typing import get_type_hints

    try:
        hints = get_type_hints(colour)
    except NameError as error:
        raise TypeError(
            f"{colour.__name__}: the type of a field is not known: {error}; declare it before, at"
            " the top of the module"
        ) from None
    return {field.name: hints[field.name] for field in dataclasses.fields(colour)}


def shown(value: Any) -> str:
    """Return a value for a message, not whole if it is long or deep."""
    return reprlib.repr(value)


def text_of(value: Any) -> str:
    """Return a value in the notation of expressions.

    Raises:
        TypeError: It is no number, text, member of an enumeration, or record of these.
    """
    if isinstance(value, Expression):
        return str(value)
    if value is None or value == ():
        return "()"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise TypeError("expected a whole number of at most 64 bits, or a float")
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value!r}: expected a finite number")
        # As a document has it: 1e-05 and 1.0 are real numbers there, too.
        return repr(value)
    if isinstance(value, str):
        if '"' in value or "\n" in value:
            raise TypeError(f"{value!r}: expected a text without quotation marks and line ends")
        return json.dumps(value, ensure_ascii=False)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (text_of(getattr(value, field.name)) for field in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(fields)})"
    raise TypeError(
        f"{shown(value)}: expected a number, a text, a member of an enumeration, a dataclass of"
        " these, or an expression"
    )


def owner_of(*values: Any) -> Any:
    """Return the transition whose variables values use; None if they use none."""
    for value in values:
        owner = None
        if isinstance(value, Expression):
            owner = value._owner
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            owner = owner_of(*(getattr(value, field.name) for field in dataclasses.fields(value)))
        if owner is not None:
            return owner
    return None


def within(value: Any, binds: int) -> str:
    """Return the text of an operand, in parentheses if its operator binds less."""
    text = text_of(value)
    own = value._binds if isinstance(value, Expression) else ATOM
    if not isinstance(value, Expression) and text.startswith("-"):
        own = SIGN
    return text if own >= binds else f"({text})"


def call(name: str, *arguments: Any) -> Expression:
    """Return a call of a function of expressions."""
    text = f"{name}({', '.join(map(text_of, arguments))})"
    return Expression(text, owner=owner_of(*arguments))


def choose(condition: Any, then: Any, otherwise: Any) -> Expression:
    """Return one of two values by a condition.

    Examples:
        >>> hr.net.choose(hr.net.bernoulli(0.9), 0.0001, 0.008)
        <expression if bernoulli(0.9) then 0.0001 else 0.008>
    """
    parts = within(condition, OR), within(then, OR), within(otherwise, CHOICE)
    fields = then._fields if isinstance(then, Expression) else None
    text = "if {} then {} else {}".format(*parts)
    return Expression(text, CHOICE, fields, owner_of(condition, then, otherwise))


def now() -> Expression:
    """Return the simulated time.

    Examples:
        >>> net = hr.net.Net("timeout")
        >>> requests = net.place("requests", hr.net.Time, initial=[0.5])
        >>> late = net.place("late", sink=True)
        >>> retries = net.station("retries", hr.net.Time, service=2.0)
        >>> with net.transition("retry") as retry:
        ...     retry.put(retries, retry.take(requests))
        >>> with net.transition("expire") as expire:
        ...     start = expire.take(retries)
        ...     expire.put(late, when=hr.net.now() - start > 1)
        >>> net.run()["late"]["arrivals"]
        1
    """
    return call("now")


def copy() -> Expression:
    """Return the copy of the transition's folded page, from 0.

    Examples:
        >>> hr.net.copy() % 2 == 0
        <expression copy() % 2 == 0>
    """
    return call("copy")


def exponential(mean: Any) -> Expression:
    """Return an exponentially distributed value; times are in seconds.

    Examples:
        >>> net = hr.net.Net("disk")
        >>> disk = net.station("disk", service=hr.net.exponential(0.008), initial=1000, sink=True)
        >>> f"{net.run(seed=1).runs[0]['time']:.1f} s"
        '7.7 s'
    """
    return call("exponential", mean)


def uniform(low: Any, high: Any) -> Expression:
    """Return a value that is uniformly distributed between two bounds.

    Examples:
        >>> hr.net.uniform(0, 0.00833)
        <expression uniform(0, 0.00833)>
    """
    return call("uniform", low, high)


def erlang(stages: Any, mean: Any) -> Expression:
    """Return an Erlang distributed value: the sum of exponential stages, with this mean in all.

    Examples:
        >>> hr.net.erlang(4, 0.002)
        <expression erlang(4, 0.002)>
    """
    return call("erlang", stages, mean)


def normal(mean: Any, deviation: Any) -> Expression:
    """Return a normally distributed value; a negative time counts as 0.

    Examples:
        >>> hr.net.normal(0.008, 0.002)
        <expression normal(0.008, 0.002)>
    """
    return call("normal", mean, deviation)


def lognormal(mu: Any, sigma: Any) -> Expression:
    """Return a value whose logarithm has mean `mu` and standard deviation `sigma`.

    Examples:
        >>> hr.net.lognormal(-5.0, 0.5)
        <expression lognormal(-5.0, 0.5)>
    """
    return call("lognormal", mu, sigma)


def weibull(shape: Any, scale: Any) -> Expression:
    """Return a Weibull distributed value.

    Examples:
        >>> hr.net.weibull(1.12, 461386 * 3600)
        <expression weibull(1.12, 1660989600)>
    """
    return call("weibull", shape, scale)


def pareto(shape: Any, least: Any) -> Expression:
    """Return a Pareto distributed value of at least `least`.

    Examples:
        >>> hr.net.pareto(1.5, 4096)
        <expression pareto(1.5, 4096)>
    """
    return call("pareto", shape, least)


def bernoulli(probability: Any) -> Expression:
    """Return true with a probability.

    Examples:
        >>> hr.net.bernoulli(0.01)
        <expression bernoulli(0.01)>
    """
    return call("bernoulli", probability)


def discrete(low: Any, high: Any) -> Expression:
    """Return a whole number from `low` to `high`, each with the same probability.

    Examples:
        >>> hr.net.discrete(1, 6)
        <expression discrete(1, 6)>
    """
    return call("discrete", low, high)


def below(bound: Any) -> Expression:
    """Return a whole number from 0 to below `bound`, each with the same probability.

    Examples:
        >>> net = hr.net.Net("striping")
        >>> blocks = net.place("blocks", initial=1000)
        >>> servers = [net.place(f"server {number}", sink=True) for number in range(2)]
        >>> with net.transition("write") as write:
        ...     block = write.take(blocks)
        ...     target = write.let("target", hr.net.below(2), int)
        ...     for number, server in enumerate(servers):
        ...         write.put(server, when=target == number)
        >>> net.run(seed=1)["server 0"]["arrivals"]
        504
    """
    return call("below", bound)


def least(a: Any, b: Any) -> Expression:
    """Return the lesser of two values.

    Examples:
        >>> hr.net.least(hr.net.Net.token().size, 65536)
        <expression min(token.size, 65536)>
    """
    return call("min", a, b)


def greatest(a: Any, b: Any) -> Expression:
    """Return the greater of two values.

    Examples:
        >>> hr.net.greatest(hr.net.Net.token().size, 512)
        <expression max(token.size, 512)>
    """
    return call("max", a, b)
