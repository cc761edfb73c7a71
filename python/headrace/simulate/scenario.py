"""Scenarios of simulations."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from headrace._core import Loaded, ScenarioError
from headrace.command_lines import command_of
from headrace.document_io import (
    display_name,
    is_stream,
    read_saved,
    read_text,
    sets_as_texts,
    toml_value,
)
from headrace.jobs.fio import is_job_file, read_fio_file, scenario_of
from headrace.simulate.stored_results import is_stored, stored_scenario
from headrace.trace.readable import readable_traces

UNITS = {"rate": "B/s", "bytes": "B", "seconds": "s"}
"""Units of quantities."""
MAIN_FIELDS = ("files", "block", "transfer", "processes", "file")
"""Fields of a workload in one line about a scenario."""


class Quantified(NamedTuple):
    """A field of a scenario that counts or measures something."""

    path: str
    quantity: str
    """`rate`, `bytes`, `seconds`, `count` or `number`."""
    amount: float
    """Amount in bytes per second, bytes or seconds, or without a unit."""
    text: str
    """Text of the value in the scenario."""

    def value(self, amount: float) -> str | float:
        """Return another amount as a value of this field."""
        unit = UNITS.get(self.quantity)
        return amount if unit is None else f"{amount!r} {unit}"


@dataclass(frozen=True, eq=False)
class Scenario:
    """A scenario that has been checked.

    It can be pickled and copied: worker processes get it as an argument. Scenarios are equal if all
    their values are, defaults included.

    Examples:
        >>> scenario = hr.load("scenarios/striped-read.toml")
        >>> scenario["layout.unit"], scenario["servers.count"]
        ('256 KiB', 4)
        >>> scenario.summary
        'parallel system pvfs2, 64 clients, 4 servers; ior files=400 block=1 MiB transfer=1 MiB'
        >>> scenario.name, scenario.gives("layout.unit"), scenario.gives("clients.processes")
        ('striped read', True, False)
        >>> scenario.quantities[0].path, scenario.quantities[0].amount
        ('clients.count', 64.0)
        >>> [page["name"] for page in scenario.structure()["page"]["pages"]]
        ['processes', 'client', 'server', 'metadata']
        >>> print(scenario.explain())
        # Name of the scenario in tables and plots.
        name = "striped read"  # scenarios/striped-read.toml:4:8
        ...
        >>> print(scenario.toml)
        name = "striped read"
        ...
    """

    loaded: Loaded

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.loaded.name

    @property
    def toml(self) -> str:
        """Complete scenario as TOML, with defaults."""
        return self.loaded.toml

    def explain(self) -> str:
        """Return the complete scenario, with the meaning and the origin of each value as
        comments."""
        return self.loaded.explain()

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that the scenario reads when it runs, by their purpose.

        Examples:
            >>> sorted(hr.load("scenarios/replayed-trace.toml").inputs)
            ['the trace of workload 0']
        """
        return {
            f"the trace of workload {number}": Path(path) for number, path in self.loaded.traces
        }

    def with_(self, sets: Mapping[str, Any]) -> "Scenario":
        """Return the scenario with other values.

        Parameters:
            sets: Values by path: `{"clients.count": 8}`.

        Returns:
            A new scenario; this one is unchanged.

        Raises:
            ScenarioError: if there is no such path, or the value is invalid.

        Examples:
            >>> scenario = hr.load("scenarios/striped-read.toml")
            >>> scenario.with_({"clients.count": 8})["clients.count"]
            8
        """
        with sets_as_texts(sets) as texts:
            return Scenario(self.loaded.with_sets(texts))

    def __eq__(self, other: object) -> bool:
        return self.toml == other.toml if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.toml)

    def __getitem__(self, path: str) -> Any:
        """Return the value of a field, as TOML has it: `4`, `"256 KiB"`. A section is a dictionary
        of its fields. A field that is not set and has no default is None.

        Raises:
            ScenarioError: if there is no such path.
        """
        if not isinstance(path, str):
            raise TypeError(f"expected the path of a field, such as clients.count, not {path!r}")
        value = self._values
        for key in path.split("."):
            if isinstance(value, list):
                is_number = key.isdecimal() and int(key) < len(value)
                value = value[int(key)] if is_number else value[0] if len(value) == 1 else None
                if is_number:
                    continue
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            self._check_path(path)
        # A change of the answer would not be one of the scenario.
        return deepcopy(value)

    def __contains__(self, path: object) -> bool:
        """Return whether there is such a field, set or not."""
        try:
            return isinstance(path, str) and bool(self[path] or True)
        except ScenarioError:
            return False

    __iter__ = None
    """It is no sequence of fields."""

    def _check_path(self, path: str) -> None:
        """Raise ScenarioError if there is no such field, set or not."""
        try:
            self.loaded.with_sets([f"{path}=0"])
        except ScenarioError as error:
            if error.message.startswith(("there is no field", "the file has")):
                unknown = ScenarioError(error.message)
                unknown.message = error.message
                raise unknown from None

    @cached_property
    def _values(self) -> Any:
        return tomllib.loads(self.toml)

    def _ipython_key_completions_(self) -> list[str]:
        return list(_paths(self._values))

    @property
    def quantities(self) -> list[Quantified]:
        """Return every field with a quantity, defaults included."""
        return [Quantified(*each) for each in self.loaded.quantities()]

    def gives(self, path: str) -> bool:
        """Return whether a field was set by the scenario, a file that it names or `--set`, and not
        by a preset or a default."""
        return self.loaded.gives(path)

    def structure(self) -> dict[str, Any]:
        """Return the pages, places, stations and transitions of the scenario's net.

        Raises:
            TraceError: if the scenario replays a trace that cannot be read.
        """
        with readable_traces(self.loaded) as traces:
            structure: dict[str, Any] = json.loads(self.loaded.structure(traces))
        return structure

    def _repr_html_(self) -> str:
        from headrace.simulate.scenario_html import scenario_html

        return scenario_html(self)

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.summary}>"

    @property
    def summary(self) -> str:
        """System, hosts and workloads in a line."""
        loads = [
            " ".join([load["kind"], *(f"{key}={load[key]}" for key in MAIN_FIELDS if key in load)])
            for load in self._values["workload"]
        ]
        counts = (("client", "clients.count"), ("server", "servers.count"))
        hosts = [
            f"{count} {name}{'' if count == 1 else 's'}"
            for name, path in counts
            if (count := self._values.get(path.partition(".")[0], {}).get("count")) is not None
        ]
        system = f"{self['kind']} system {self['system']}"
        return f"{', '.join([system, *hosts])}; {', '.join(loads)}"

    # Loaded scenarios do not change.
    def __copy__(self) -> "Scenario":
        return self

    def __deepcopy__(self, memo: object) -> "Scenario":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        text, file, sets = self.loaded.source
        # Other processes may have directories of their own.
        return _from_source, (text, str(Path(file).absolute()), sets)

    def __dask_tokenize__(self) -> object:
        return self.__reduce__()[1]


def _paths(values: Any, start: str = "") -> Iterator[str]:
    """Yield the path of every field."""
    if isinstance(values, list) and values and isinstance(values[0], dict):
        values = {str(number): value for number, value in enumerate(values)}
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _paths(value, f"{start}.{key}" if start else key)
    else:
        yield start


def _from_source(text: str, file: str, sets: list[str]) -> Scenario:
    return Scenario(Loaded.from_text(text, file, sets))


ScenarioSource: TypeAlias = Scenario | str | PathLike[str] | Mapping[str, Any]
"""What `load` takes, and every function that runs a scenario."""
EXPECTED = "expected a scenario: a path, a text in TOML, a dictionary or a Scenario"


def load(source: ScenarioSource, sets: Mapping[str, Any] | None = None) -> Scenario:
    """Load a scenario.

    Parameters:
        source: A file, a saved result, a result in the store (`results:ID`), or text with
            several lines. Or a command line of IOR, mdtest or dd. Or a dictionary of sections
            and fields, or a scenario.
        sets: Values that override those of the file, by path: `{"clients.count": 8}`.

    Returns:
        The checked scenario.

    Raises:
        ScenarioError: if the scenario is invalid. The message gives the position and a valid value.
        OSError: if the file cannot be read.
        StoreError: if there is no such result in the store.
        StoreFailure: if the store cannot be read.
        TypeError: if the source is anything else.

    Examples:
        >>> hr.load("scenarios/striped-read.toml", {"clients.count": 8})["clients.count"]
        8
    """
    if isinstance(source, Scenario):
        return source.with_(sets) if sets else source
    if isinstance(source, Mapping):
        # Paths with dots are values over the sections.
        sets = {key: value for key, value in source.items() if "." in str(key)} | dict(sets or {})
        lines = [f"{key} = {toml_value(value)}" for key, value in source.items() if key not in sets]
        text = "\n".join(lines)
        with sets_as_texts(sets) as texts:
            return Scenario(Loaded.from_text(f"{text}\n", "dictionary", texts))
    if not isinstance(source, str | PathLike):
        raise TypeError(f"{EXPECTED}, not {type(source).__name__}")
    if not str(source).strip():
        raise ScenarioError(f"{EXPECTED}, not an empty text")
    with sets_as_texts(sets or {}) as texts:
        return load_with_sets(source, texts)


def load_with_sets(path_or_text: str | PathLike[str], sets: Sequence[str]) -> Scenario:
    """Load as `load` does, with settings in the command line's form: `path=value`."""
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        return Scenario(Loaded.from_text(path_or_text, "scenario.toml", list(sets)))
    if (command := command_of(path_or_text)) is not None:
        return Scenario(Loaded.from_text(command.simulated(), command.program, list(sets)))
    if is_stored(path_or_text):
        text, called = stored_scenario(path_or_text)
        return Scenario(Loaded.from_text(text, called, list(sets)))
    path = Path(path_or_text)
    if is_job_file(path):
        return Scenario(Loaded.from_file(scenario_of(read_fio_file(path)).file, list(sets)))
    saved = read_saved(path)
    if saved is None:
        if is_stream(path):
            text = read_text(path, "a scenario in TOML")
            return Scenario(Loaded.from_text(text, display_name(path), list(sets)))
        return Scenario(Loaded.from_file(path, list(sets)))
    # Its lines are not those of the file: errors should not seem to name them.
    name = path.with_name(f"{Path(display_name(path)).name} (its scenario)")
    return Scenario(Loaded.from_text(saved["scenario"]["toml"], name, list(sets)))
