"""Read saved measurements and check every field that a validation uses."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from headrace import environment
from headrace._core import ScenarioError
from headrace.document_io import display_name, read_saved
from headrace.environment import Environment, of_document
from headrace.fields import Count, Seconds, WrongField, check_usable, convert, malformation
from headrace.measure.report import KernelTime
from headrace.store.record import CALLS, NO_CALLS


class SavedScenario(msgspec.Struct, frozen=True):
    """The measured scenario."""

    toml: str
    sets: list[str] = []
    """Values that override the scenario's file, as `path=value`."""

    def __post_init__(self) -> None:
        try:
            document = tomllib.loads(self.toml)
        except (ValueError, RecursionError) as error:
            raise WrongField(
                "toml", self.toml, f"a scenario in TOML ({malformation(error)})"
            ) from None
        if "workload" not in document:
            raise WrongField("toml", self.toml, "a scenario with a [[workload]]")
        try:
            convert(document, ScenarioClients)
        except WrongField as error:
            raise WrongField(f"toml: {error.where}", error.value, error.expected) from None


class Clients(msgspec.Struct, frozen=True):
    """Clients of a scenario."""

    count: Count
    processes: Count


class ScenarioClients(msgspec.Struct, frozen=True):
    """The clients of a scenario."""

    clients: Clients


class MeanTime(msgspec.Struct, frozen=True):
    """Mean service time of an operation."""

    mean: Seconds

    def __post_init__(self) -> None:
        check_usable("mean", self.mean)


class OperationCount(msgspec.Struct, frozen=True):
    """Number of operations of one kind."""

    count: Annotated[float, msgspec.Meta(ge=0.0)]

    def __post_init__(self) -> None:
        check_usable("count", self.count)


class SavedMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a saved measurement that a validation uses. Files of earlier versions lack some."""

    kind: Literal["measured"]
    scenario: SavedScenario
    latency: dict[str, MeanTime]
    """Service times by operation."""
    operations: dict[str, OperationCount]
    processes: Count = 1
    calls: Any = None
    """One of `CALLS`; None if the file does not say which calls were made."""
    hosts: list[Any] = []
    environment: Environment | None = None
    place: Any = None
    """Site of the measurement in files of earlier versions."""
    counter_series: dict[str, list[float | None]] = {}
    """Samples of `headrace.measure.counters`."""
    kernel: KernelTime | None = None
    repetitions: list[Any] | None = None

    def __post_init__(self) -> None:
        environment.check("environment", self.environment)
        if self.calls == NO_CALLS:
            expected = "a measurement with system calls, made without --calls null"
            raise WrongField("calls", self.calls, expected)
        if self.calls not in (None, *CALLS):
            raise WrongField("calls", self.calls, f"one of {', '.join(CALLS)}")
        for name, samples in self.counter_series.items():
            check_usable(f"counter_series.{name}", *(time for time in samples if time is not None))
        if self.kernel is not None:
            check_usable("kernel.seconds", *self.kernel.seconds.values())
            check_usable("kernel.requests", self.kernel.requests)
            if self.kernel.requests < 0:
                raise WrongField("kernel.requests", self.kernel.requests, "0 or more")

    @property
    def where(self) -> Environment:
        """Where the measurement was made."""
        return of_document({"place": self.place, "environment": self.environment})

    def seconds_in_calls(self, processes: int) -> float:
        """Return the mean time that a process spends in calls, in seconds."""
        total = sum(
            operation.count * self.latency[name].mean
            for name, operation in self.operations.items()
            if name in self.latency
        )
        return total / processes

    @property
    def samples(self) -> Mapping[str, list[float | None]]:
        """Samples of the counters; none for several hosts or merged repetitions."""
        # Counters of repetitions are sums, and those of other hosts are not saved.
        alone = len(self.hosts) < 2 and self.repetitions is None
        return self.counter_series if alone else {}


def read_measurement(path: Path) -> SavedMeasurement:
    """Return a saved measurement.

    Raises
    ------
    ScenarioError
        If the file is not a measurement, or a field is invalid. The message names both.
    """
    document = read_saved(path)
    if document is None or document.get("kind") != "measured" or "latency" not in document:
        raise ScenarioError(
            f"{display_name(path)}: not a saved measurement: expected a file from headrace bench"
            " run -o"
        )
    try:
        return convert(document, SavedMeasurement)
    except WrongField as error:
        raise ScenarioError(f"{display_name(path)}: {error}") from None
