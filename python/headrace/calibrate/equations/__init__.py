"""What each parameter follows from: probes, and an equation for each."""

from collections.abc import Container

from headrace.calibrate.equations import (
    calls,
    contention,
    copies,
    device,
    faults,
    flushing,
    in_transaction,
    names,
    pages,
    places,
    transfers,
)
from headrace.calibrate.equations.equation import Equation
from headrace.calibrate.probe import Probe

EQUATIONS: tuple[Equation, ...] = (
    calls.EQUATION,
    copies.EQUATION,
    contention.EQUATION,
    places.EQUATION,
    faults.EQUATION,
    pages.EQUATION,
    in_transaction.EQUATION,
    names.EQUATION,
    transfers.EQUATION,
    device.EQUATION,
    flushing.EQUATION,
)
"""In the order in which they need each other. To measure more, write a file and name it here."""


def probes_where(known: Container[str]) -> list[Probe]:
    """The probes of all equations that apply where so much is known."""
    return [probe for it in EQUATIONS if it.applies(known) for probe in it.probes]


__all__ = ["EQUATIONS", "Equation", "probes_where"]
