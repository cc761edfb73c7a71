"""Prices of a scenario's fields, and the cost that follows from them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any

from headrace.document_io import display_name, parse_toml, read_text
from headrace.quantities import amounts
from headrace.simulate.scenario import UNITS, Scenario
from headrace.sweeps.axis import quantity

EXAMPLE = "'servers.count=5000'"
LEAST_PRICE, MOST_PRICE = 1e-12, 1e15
"""Range of prices but 0: quotients and products of them with amounts stay finite."""
UNIT_EXAMPLES = {"B": "GiB", "s": "ms", "B/s": "Gbit/s"}


class WrongPrice(ValueError):
    """A price cannot be read, or its field cannot be priced; the message says what is expected."""


@dataclass(frozen=True)
class Factor:
    """A factor of a price: the amount of a field, or 1 where the field has a value."""

    path: str
    value: str | None = None

    def amount(self, scenario: Scenario) -> tuple[float, str]:
        """Return the factor and its unit, which is empty for counts.

        Raises:
            WrongPrice: The scenario has no such field, or it has no amount.
        """
        if self.value is not None:
            return float(_value(scenario, self.path) == self.value), ""
        amount = quantity(scenario, self.path)
        if amount is None:
            raise WrongPrice(
                f"price of {self.path}: expected a field with an amount; for a choice write"
                f" {self.path}:VALUE"
            )
        return amount.amount, UNITS.get(amount.quantity, "")


@dataclass(frozen=True)
class Price:
    """A price of a product of fields: `servers.count*servers.targets=300`."""

    factors: tuple[Factor, ...]
    price: float
    unit: str = ""
    """Unit that the price is for, such as `GiB`."""
    text: str = ""
    """The price as it was given."""

    def cost(self, scenario: Scenario) -> float:
        """Return the cost of the fields in a scenario.

        Raises:
            WrongPrice: A field cannot be priced.
        """
        cost = self.price
        units = []
        for factor in self.factors:
            amount, unit = factor.amount(scenario)
            cost *= amount
            units += [unit] if unit else []
        if len(units) > 1:
            raise WrongPrice(f"price {self.text!r}: expected at most one size, rate or time")
        if not units and not self.unit:
            return cost
        per = amounts([f"1 {self.unit}"]) if self.unit else None
        if not units or per is None or per[1] != units[0]:
            if not units:
                raise WrongPrice(f"price {self.text!r}: the fields are counts: leave /... out")
            example = UNIT_EXAMPLES[units[0]]
            raise WrongPrice(
                f"price {self.text!r}: expected a price per unit, such as {self.price:g}/{example}"
            )
        return cost / per[0][0]


def parse(given: str, entries: Mapping[str, float | None] | None = None) -> Price:
    """Read a price as the command line gives it.

    Args:
        given: `path=price`, `path=price/unit`, `path*path=price`, `path*path:value=price`. The
            price is a number, or a sum of entries: `2U12 + 12 x nearline 8 TB`.
        entries: Prices of a catalogue's entries by name; None is an unknown price.

    Raises:
        WrongPrice: The text is none of these, or an entry has no price.
    """
    left, equals, right = given.partition("=")
    amount, _, unit = (each.strip() for each in right.partition("/"))
    if entries is not None and amount and not _is_number(amount):
        amount = repr(_of_entries(amount, entries, given))
    factors = [re.fullmatch(r"\s*([\w.-]+)\s*(?::\s*(.+?)\s*)?", part) for part in left.split("*")]
    known = [factor for factor in factors if factor is not None]
    try:
        price = float(amount)
    except ValueError:
        price = float("nan")
    if isfinite(price) and price != 0 and not LEAST_PRICE <= abs(price) <= MOST_PRICE:
        raise WrongPrice(
            f"price {given!r}: expected 0, or a price from {LEAST_PRICE:g} to {MOST_PRICE:g}"
        )
    if not equals or len(known) < len(factors) or not isfinite(price):
        raise WrongPrice(
            f"price {given!r}: expected PATH=PRICE, such as {EXAMPLE}, 'servers.memory.cache=4/GiB'"
            " or 'servers.count*servers.targets=300'"
        )
    return Price(tuple(Factor(match[1], match[2]) for match in known), price, unit, given)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_entries(text: str, entries: Mapping[str, float | None], given: str) -> float:
    """Return the sum of entries of a catalogue, such as `2U12 + 12 x nearline 8 TB`."""
    total = 0.0
    for part in text.split("+"):
        counted = re.fullmatch(r"(\d+)\s*x\s+(.+)", part.strip())
        count, name = (float(counted[1]), counted[2]) if counted else (1.0, part.strip())
        if name not in entries:
            near = get_close_matches(name, entries, 1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise WrongPrice(
                f"price {given!r}: {name!r} is no number, and no entry of the catalogue{hint}"
            )
        price = entries[name]
        if price is None:
            raise WrongPrice(f"price {given!r}: the catalogue has no price of {name!r}")
        total += count * price
    return total


def of_mapping(
    given: Mapping[str, float | str], entries: Mapping[str, float | None] | None = None
) -> list[Price]:
    """Return the prices of a mapping from paths to prices."""
    return [parse(f"{path}={price}", entries) for path, price in given.items()]


def read(path: Path, entries: Mapping[str, float | None] | None = None) -> list[Price]:
    """Read a file of prices: TOML with a table `[prices]`.

    Args:
        path: The file.
        entries: As of `parse`.

    Raises:
        WrongPrice: The file is something else.
        OSError: It cannot be read.
    """
    try:
        text = read_text(path, "a file of prices in TOML")
        document = parse_toml(display_name(path), text, "a file of prices in TOML")
    except ValueError as error:
        raise WrongPrice(str(error)) from None
    table = document.get("prices")
    if not isinstance(table, dict) or not table or set(document) != {"prices"}:
        raise WrongPrice(
            f'{path}: expected one table [prices] with lines such as "servers.count" = 5000'
        )
    for name, price in table.items():
        if isinstance(price, bool) or not isinstance(price, int | float | str):
            raise WrongPrice(
                f'{path}: {name}: expected a number or a text such as "4/GiB"; write the path in'
                " quotes"
            )
    try:
        return of_mapping(table, entries)
    except WrongPrice as error:
        raise WrongPrice(f"{display_name(path)}: {error}") from None


def cost(prices: Sequence[Price], scenario: Scenario) -> float:
    """Return the sum of all prices for a scenario."""
    return sum(price.cost(scenario) for price in prices)


def _value(scenario: Scenario, path: str) -> str:
    """Return a value of a scenario as text."""
    document: Any = tomllib.loads(scenario.toml)
    for name in path.split("."):
        if isinstance(document, list) and len(document) == 1 and not name.isdecimal():
            document = document[0]
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            raise WrongPrice(f"price of {path}: the scenario has no such field")
    return str(document).lower() if isinstance(document, bool) else str(document)
