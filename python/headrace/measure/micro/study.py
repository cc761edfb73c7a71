"""Micro-benchmarks: studies whose points are workloads of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import psutil

from headrace.report.units import short_size

Parameter: TypeAlias = int | str


THROUGHPUT, RATE = "throughput", "per_second"
"""Figure of a point: bytes a second, or operations a second."""


@dataclass(frozen=True)
class Figure:
    """One figure of a point: the rate of a phase of its workload."""

    name: str
    phase: int
    operation: str
    until: tuple[int, str] | None = None
    """The phase and operation whose end counts, if not its own: the sync behind a write."""
    rate: bool = False
    """True if the figure is operations a second, false if bytes a second."""


@dataclass(frozen=True)
class Point:
    """A workload, and its figures."""

    parameters: Mapping[str, Parameter]
    """Values by the names of the study's columns; sizes in bytes."""
    scenario: str
    """Clients and workload, as a scenario has them."""
    tests: Sequence[Figure]
    stable: bool = False
    """True if the page cache has no part in it: it is bypassed, or emptied before."""

    def in_memory(self, held: int) -> bool:
        """Return whether memory may hold files of this total size in bytes."""
        return not self.stable and held < psutil.virtual_memory().total


@dataclass(frozen=True)
class Study:
    """A micro-benchmark."""

    name: str
    """Name of the command."""
    title: str
    points: Sequence[Point]
    sizes: Sequence[str] = ()
    """The parameters that are sizes in bytes."""


def called(study: Study, parameters: Mapping[str, Parameter]) -> str:
    """A point in a few words."""
    return ", ".join(
        f"{key} {short_size(int(value))}" if key in study.sizes else f"{key} {value}"
        for key, value in parameters.items()
    )
