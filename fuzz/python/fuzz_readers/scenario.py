"""Scenarios of simulations and measurements, and machine files."""

from pathlib import Path

import headrace as hr
from headrace.measure.workload import load
from headrace.profile.machine_model import machine_of


def _scenario(path: Path) -> None:
    hr.load(path).explain()


READERS = (_scenario, load, machine_of)
