"""Small calculations of `headrace design`: figures from some parameters."""

import pkgutil
from collections.abc import Mapping
from typing import Any

from headrace.commands.parameters import WrongParameter, request
from headrace.design.figure import Figure

_HERE = "headrace.commands.design"
CALCULATIONS = {
    "capacity": f"{_HERE}.capacity:Capacity",
    "growth": f"{_HERE}.growth:Growth",
    "power": f"{_HERE}.power:Power",
    "cost": f"{_HERE}.cost:Cost",
    "reliability": f"{_HERE}.reliability:Reliability",
    "spares": f"{_HERE}.spares:Spares",
    "archive": f"{_HERE}.archive:Archive",
}
"""Record of each command, as text: helpers that run scenarios do not load them. The terminal, the
page of calculators and the API read this table."""


def record(name: str) -> Any:
    """Return the record of a calculation.

    Examples:
        >>> from headrace.commands.design import record
        >>> record("capacity").__struct_fields__[:3]
        ('disks', 'disk_capacity', 'level')
    """
    return pkgutil.resolve_name(CALCULATIONS[name])


def calculate(name: str, values: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of a command for texts or plain values of its parameters.

    Raises:
        WrongParameter: a value is wrong or missing; it has no field if several contradict.

    Examples:
        >>> from headrace.commands.design import calculate
        >>> values = {"disks": 12, "disk_capacity": "4 TB", "level": "raid6"}
        >>> [(figure.key, figure.value) for figure in calculate("capacity", values)][:2]
        [('raw-capacity', 48000000000000.0), ('array-capacity', 40000000000000.0)]
    """
    asked = request(record(name), values)
    try:
        return list(asked.figures())
    except (ValueError, ArithmeticError) as error:
        raise WrongParameter(str(error), "") from None
