"""Micro-benchmarks: studies whose points are workloads of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec
import psutil

from headrace.fields import convert
from headrace.quantities import short_size

Parameter: TypeAlias = int | str


THROUGHPUT: Literal["throughput"] = "throughput"
RATE: Literal["per_second"] = "per_second"
"""Figures of a point: bytes a second, and operations a second."""


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


class Row(msgspec.Struct, frozen=True):
    """A figure of a point in one repetition."""

    parameters: Mapping[str, Parameter]
    """Parameters of the point."""
    test: str
    """Name of the figure."""
    repeat: int
    """Number of the repetition, from 0."""
    unit: Literal["throughput", "per_second"]
    """`THROUGHPUT` or `RATE`."""
    bytes: int
    operations: int
    seconds: float
    cpu: float
    """Processors that the benchmark used."""
    in_memory: bool
    """True if memory may hold the files."""

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any]) -> "Row":
        """Read a row of the table. Raises WrongField if a figure is missing or has another type."""
        own = {key: column for key, column in columns.items() if key in cls.__struct_fields__}
        parameters = {key: column for key, column in columns.items() if key not in own}
        return convert({**own, "parameters": parameters}, cls)

    def columns(self) -> dict[str, Any]:
        """Return the row with a column for each parameter."""
        own = msgspec.structs.asdict(self)
        return {**own.pop("parameters"), **own}

    @property
    def rate(self) -> float | None:
        """Bytes or operations a second; None if the time was 0."""
        amount = self.operations if self.unit == RATE else self.bytes
        return amount / self.seconds if self.seconds > 0 else None

    def is_of(self, point: Point, repeat: int) -> bool:
        """Return whether the row belongs to a point and a repetition."""
        return (
            self.repeat == repeat
            and any(self.test == test.name for test in point.tests)
            and all(self.parameters[key] == value for key, value in point.parameters.items())
        )


def called(study: Study, parameters: Mapping[str, Parameter]) -> str:
    """A point in a few words."""
    return ", ".join(
        f"{key} {short_size(int(value))}" if key in study.sizes else f"{key} {value}"
        for key, value in parameters.items()
    )
