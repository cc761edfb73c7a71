"""The baseline's document, and how it is found again."""

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Self

import msgspec

from headrace import kinds, store
from headrace.environment import Environment, of_local_directory
from headrace.fields import WrongField, convert
from headrace.profile.baseline import changes
from headrace.profile.baseline.machine import machine_text

KIND = "baseline"
NAME = "baseline"
OLD_DAYS = 30
"""Age in days from which a note states the age."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure: a throughput, a rate or a time.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from headrace.profile.baseline import Baseline
        >>> document = json.loads(Path("tests/data/documents/baseline.json").read_text())
        >>> figure = Baseline.from_document(document).figures["random-read"]
        >>> f"{figure.value:.0f} {figure.unit}", figure.method
        ('15302 1/s', 'direct reads of 4 KiB at uniform offsets of an existing file')
    """

    value: float
    unit: str
    """"B/s", "1/s" or "s"."""
    cpu: float | None = None
    """Processor time per second of the measurement, in cores; None if it is unknown."""
    method: str
    """How it was measured, or the result that it was imported from."""
    samples: list[float] = []
    """Value of each pass; `value` is their median. Empty if imported."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of the baseline, simulated on the baseline's machine.

    Examples:
        >>> from headrace.profile.baseline import Prediction
        >>> Prediction(figure="random-read", measured=8000, predicted=7600, unit="1/s").ratio
        0.95
    """

    figure: str
    measured: float
    predicted: float
    unit: str

    @property
    def ratio(self) -> float:
        """Predicted divided by measured value."""
        return self.predicted / self.measured


class Baseline(msgspec.Struct, kw_only=True):
    """Figures of a machine and the file system under a directory, with their self-check.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from headrace.profile.baseline import Baseline
        >>> document = json.loads(Path("tests/data/documents/baseline.json").read_text())
        >>> baseline = Baseline.from_document(document)
        >>> f"{baseline.started:%Y-%m-%d}", baseline.largest_error.figure
        ('2026-11-29', 'character-read')
        >>> print(baseline.machine())
        # Coarse machine of vm, made by headrace baseline from its figures.
        system = "ext4"
        ...
        >>> baseline.document()["kind"]
        'baseline'
    """

    version: str
    """Version of Headrace."""
    environment: Environment
    """As `headrace.environment.of_local_directory` returns it."""
    figures: dict[str, Figure]
    file_bytes: int | None
    """Size of the file of the device figures; None if imported."""
    file_rule: str
    """Rule by which the size was chosen."""
    settings: dict[str, str]
    """Settings of the kernel that the simulated machine has: TOML values by field."""
    machine_file: str | None = None
    """Text of the machine file that was given; None for a machine made from the figures."""
    self_check: list[Prediction] = []
    concurrency: float | None = None
    """Rate of random reads by 16 processes over that by one; None if it is unknown."""
    missing: dict[str, str] = {}
    """Reason by figure that could not be measured."""
    notes: list[str] = []
    """Statements that limit the figures."""
    id: str | None = None
    """Identifier in the store, if it came from there."""

    @property
    def started(self) -> datetime:
        """Start of the measurement."""
        return datetime.fromisoformat(self.environment["started"])

    @property
    def largest_error(self) -> Prediction | None:
        """The prediction that is furthest from its measurement; None without predictions."""
        return max(self.self_check, key=lambda gap: max(gap.ratio, 1 / gap.ratio), default=None)

    def machine(self) -> str:
        """Return the TOML of a simulated machine: a scenario without `[[workload]]`.

        Its parameters follow from the figures and the kernel's settings; none is fitted. With a
        machine file of `headrace calibrate`, return that.

        Raises ValueError if the figures do not suffice.
        """
        if self.machine_file is not None:
            return self.machine_file
        values = {name: figure.value for name, figure in self.figures.items()}
        cpu = {name: figure.cpu for name, figure in self.figures.items() if figure.cpu is not None}
        return machine_text(
            values, cpu, self.settings, self.environment, self.file_bytes, self.concurrency
        )

    def outdated(self, directory: str | PathLike[str]) -> list[str]:
        """Return a sentence for each property of host, file system or device that has changed.

        Raises OSError if there is no such directory.
        """
        return changes.differences(self.environment, of_local_directory(directory))

    def age_note(self) -> str | None:
        """Return a sentence on the age of an old baseline; else None."""
        days = (datetime.now(UTC) - self.started).days
        return None if days < OLD_DAYS else f"the baseline is {days} days old"

    def _repr_html_(self) -> str:
        return kinds.html(KIND, self.document())

    def document(self) -> dict[str, Any]:
        """Return the document, as `headrace baseline --json` prints it."""
        throughput = {n: figure.value for n, figure in self.figures.items() if figure.unit == "B/s"}
        rates = {n: {"per_second": it.value} for n, it in self.figures.items() if it.unit == "1/s"}
        times = {n: {"mean": one.value} for n, one in self.figures.items() if one.unit == "s"}
        fields: dict[str, Any] = msgspec.to_builtins(self)
        del fields["id"]
        largest = self.largest_error
        return {
            "kind": KIND,
            "scenario": {"name": NAME, "description": "what a machine and a directory can do"},
            **fields,
            "largest_error": None if largest is None else msgspec.to_builtins(largest),
            # The store catalogues these.
            "throughput": throughput,
            "operations": rates,
            "latency": times,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], identifier: str | None = None) -> Self:
        """Return the baseline in a document.

        Raises ValueError if it is none.
        """
        if document.get("kind") != KIND:
            raise ValueError(f'kind = "{document.get("kind")}": expected "{KIND}"')
        try:
            baseline = convert({**document, "id": identifier}, cls)
            started = baseline.environment["started"]
            datetime.fromisoformat(started)
        except WrongField as error:
            raise ValueError(f"not a baseline: {error}") from None
        except (KeyError, TypeError, ValueError):
            raise ValueError("not a baseline: environment.started is missing or no time") from None
        return baseline

    def keep(self, labels: Mapping[str, str] | None = None) -> str:
        """Save the baseline in the store and return its identifier."""
        self.id = store.open().add(self.document(), kind=KIND, labels=labels)
        return self.id

    @classmethod
    def find(cls, directory: str | PathLike[str], host: str | None = None) -> Self | None:
        """Return the newest baseline in the store of a host, by default this one, and a directory's
        file system.

        The file system is recognised by its mount point or, where it is mounted elsewhere now, by
        its source. Return None if there is none.

        Raises OSError if there is no such directory, StoreFailure if the store cannot be read,
        ValueError if the stored baseline is damaged.

        Examples:
            >>> import json
            >>> from pathlib import Path
            >>> from headrace.environment import of_directory
            >>> from headrace.profile.baseline import Baseline
            >>> document = json.loads(Path("tests/data/documents/baseline.json").read_text())
            >>> baseline = Baseline.from_document(document | {"environment": of_directory(".")})
            >>> identifier = baseline.keep(labels={"disk": "new"})
            >>> Baseline.find(".").id == identifier, baseline.outdated("."), baseline.age_note()
            (True, [], None)
        """
        here, results = of_local_directory(directory), store.open()
        host = here.get("host", platform.node()) if host is None else host
        listed = results.list(kind=KIND, host=host)
        for same in (changes.is_same_mount, changes.is_same_source):
            for identifier in listed["id"].to_list():
                record = results.record(identifier)
                if same(record.environment, here):
                    try:
                        return cls.from_document(record.contents, record.id)
                    except ValueError as error:
                        raise ValueError(f"results:{record.id}: {error}") from None
        return None
