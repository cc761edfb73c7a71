"""What each parameter follows from: probes, and an equation for each."""

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

__all__ = ["EQUATIONS", "Equation"]
