"""Estimators: each has probes, and computes parameters from their times."""

from collections.abc import Container

from headrace.calibrate.estimators import (
    calls,
    copy_cost,
    device,
    faults,
    flushing,
    journaled_rewrite,
    l3_reuse,
    metadata_calls,
    pages,
    transfers,
)
from headrace.calibrate.estimators.estimator import Estimator
from headrace.calibrate.probe import Probe

ESTIMATORS: tuple[Estimator, ...] = (
    calls.ESTIMATOR,
    copy_cost.ESTIMATOR,
    l3_reuse.ESTIMATOR,
    faults.ESTIMATOR,
    pages.ESTIMATOR,
    journaled_rewrite.ESTIMATOR,
    metadata_calls.ESTIMATOR,
    transfers.ESTIMATOR,
    device.ESTIMATOR,
    flushing.ESTIMATOR,
)
"""All estimators, each after those whose parameters it uses. To add one, write a module and list it
here."""


def probes_for(known: Container[str]) -> list[Probe]:
    """Return the probes of all estimators that apply to a machine with these known fields."""
    return [probe for one in ESTIMATORS if one.applies(known) for probe in one.probes]


__all__ = ["ESTIMATORS", "Estimator", "probes_for"]
