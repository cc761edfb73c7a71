"""Records of results in the catalogue."""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

import msgspec

from headrace.environment import of_document
from headrace.environment import timestamp as timestamp
from headrace.fields import malformation
from headrace.host import this_host
from headrace.kinds import STORED, current_kind
from headrace.store.errors import StoreError, StoreFailure
from headrace.store.identifier import new_identifier

CALLS = ("posix", "io-uring", "null", "mpi-io", "mpi-io-collective")
"""Ways in which a measurement makes its calls."""
NO_CALLS = CALLS[2]
WITHOUT_EFFECT = ("name", "description")
BY_CHANCE = ("seed", "replications")
OWNER = "owner"
JOB = "job"
SERVER_LABELS = frozenset({OWNER, JOB})
"""Labels that the server of the pages sets, and that say to whom a result belongs."""
LARGEST = 2**63 - 1
"""Largest integer of a database."""


@dataclass(frozen=True)
class Record:
    """One result in the catalogue, without its tables.

    Examples:
        >>> identifier = hr.run("scenarios/striped-read.toml").keep()
        >>> record = hr.store.open().record(identifier)
        >>> record.name, record.kind, record.seed, record.contents["kind"]
        ('striped read', 'simulated', 1, 'simulated')
    """

    id: str
    kind: str
    """One of `headrace.kinds.STORED`."""
    name: str
    scenario: str | None
    """The scenario or the workload, as text."""
    scenario_sha256: str | None
    """The same for scenarios that differ by name, description, seed and replications alone."""
    seed: int | None
    version: str
    """Headrace's."""
    machine: str
    """The processor's architecture where it was made."""
    system: str
    """The operating system where it was made."""
    started: str
    """Start time in UTC, such as 2026-11-22T13:17:28.123456Z; its text sorts by time."""
    duration_s: float | None
    calls: str | None
    """Calls of the measurement; None if it makes none or does not name them."""
    document: str
    """All figures, as JSON."""
    document_sha256: str
    labels: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    """Environment of the result by `headrace.environment.KEYS`, as far as it is known."""

    @classmethod
    def of(
        cls,
        document: Mapping[str, Any],
        *,
        kind: str,
        started: datetime,
        labels: Mapping[str, str] | None = None,
        host: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a new record of a result's document, made on this host if `host` is None.

        `environment` is for documents without one, as those of simulations.

        Raises StoreError if the document lacks a required field.

        Examples:
            >>> from datetime import UTC, datetime
            >>> document = hr.run("scenarios/striped-read.toml").document
            >>> hr.store.Record.of(document, kind="simulated", started=datetime.now(UTC)).name
            'striped read'
        """
        kind = current_kind(kind)
        if kind not in STORED:
            raise StoreError(f'kind = "{kind}": expected one of {", ".join(STORED)}')
        name, scenario = _scenario(document)
        seed, version = document.get("seed"), document.get("version")
        if not isinstance(version, str):
            raise StoreError("a result without the version of Headrace")
        if seed is not None and not (isinstance(seed, int) and 0 <= seed <= LARGEST):
            raise StoreError(f"a result's seed {seed}: expected a number from 0 to {LARGEST}")
        if host is None:
            host = this_host()
        text = as_json(document)
        calls = document.get("calls")
        times = (document.get(f"{key}_seconds") for key in ("wall", "measured", "run"))
        duration = next((time for time in times if time is not None), None)
        return cls(
            id=new_identifier(started),
            kind=kind,
            name=name,
            scenario=scenario,
            scenario_sha256=None if scenario is None else _meaning(scenario),
            seed=seed,
            version=version,
            machine=str(host.get("machine", "")),
            system=str(host.get("system", "")),
            started=timestamp(started),
            duration_s=float(duration) if isinstance(duration, int | float) else None,
            calls=calls if isinstance(calls, str) else None,
            document=text,
            document_sha256=sha256(text.encode()),
            labels=dict(labels or {}),
            environment=of_document({"environment": environment or {}, **document}),
        )

    @property
    def contents(self) -> dict[str, Any]:
        """The document, read. Raises StoreFailure if it is not a JSON object."""
        try:
            contents = json.loads(self.document)
        except (ValueError, RecursionError) as error:
            raise StoreFailure(
                f"runs.document of {self.id}: it is damaged: {malformation(error)}"
            ) from None
        if not isinstance(contents, dict):
            raise StoreFailure(f"runs.document of {self.id}: it is not a JSON object")
        return contents


def as_json(document: Mapping[str, Any]) -> str:
    """A document as the catalogue has it."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def moment(timestamp: str) -> datetime:
    """The moment of a timestamp in the catalogue."""
    return datetime.fromisoformat(timestamp)


def sha256(content: bytes) -> str:
    """A digest, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _scenario(document: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return a result's name and its scenario."""
    scenario = document.get("scenario")
    if not isinstance(scenario, Mapping) or not isinstance(scenario.get("name"), str):
        raise StoreError("a result without scenario.name: expected the document of a run")
    text = scenario.get("toml")
    return scenario["name"], text if isinstance(text, str) else None


def _meaning(scenario: str) -> str:
    """Return a digest of a scenario without its name, description, seed and replications."""
    try:
        content = tomllib.loads(scenario)
    except (ValueError, RecursionError):
        return sha256(scenario.encode())
    for key in WITHOUT_EFFECT:
        content.pop(key, None)
    run = content.get("run")
    if isinstance(run, dict):
        content["run"] = {key: value for key, value in run.items() if key not in BY_CHANCE}
    return sha256(json.dumps(content, sort_keys=True, default=str).encode())


class ScenarioField(msgspec.Struct, frozen=True):
    """A field in which the scenarios of compared groups differ."""

    path: str
    values: Sequence[Any]
    """Its value in each group, in their order; null where it is absent."""


def scenario_fields(scenario: str | None) -> Mapping[str, Any]:
    """Return the fields of a scenario by path, without name and description.

    There are none without a scenario, or if it cannot be read.
    """
    try:
        fields = dict(_leaves(tomllib.loads(scenario or "")))
    except (ValueError, RecursionError):
        return {}
    return {path: value for path, value in fields.items() if path not in WITHOUT_EFFECT}


def changed_fields(scenarios: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each field in which scenarios differ, by path; None where it is absent.
    Nothing is known of the differences from a scenario without fields."""
    if not all(scenarios):
        return {}
    paths = dict.fromkeys(path for fields in scenarios for path in fields)
    rows = {path: [fields.get(path) for fields in scenarios] for path in paths}
    return {path: row for path, row in rows.items() if any(value != row[0] for value in row)}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        parts = list(enumerate(value))
    else:
        yield path, value
        return
    for key, part in parts:
        yield from _leaves(part, f"{path}.{key}" if path else str(key))
