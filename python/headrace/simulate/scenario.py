"""Scenarios of simulations."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from headrace._core import Loaded
from headrace.command_lines import command_of
from headrace.document_io import as_sets, display_name, is_stream, read_saved, read_text
from headrace.jobs.fio import is_job_file, read_fio_file, scenario_of
from headrace.simulate.stored_results import is_stored, stored_scenario
from headrace.trace.readable import readable_traces

UNITS = {"rate": "B/s", "bytes": "B", "seconds": "s"}
"""Units of quantities."""


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


@dataclass(frozen=True)
class Scenario:
    """A scenario that has been checked."""

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
        """Files that the scenario reads when it runs, by their purpose."""
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
        """
        return Scenario(self.loaded.with_sets(as_sets(sets)))

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
        return f"<Scenario {self.name!r}>"


def load(path_or_text: str | PathLike[str], sets: Mapping[str, Any] | None = None) -> Scenario:
    """Load a scenario.

    Parameters:
        path_or_text: A file, a saved result, a result in the store (`results:ID`), or text with
            several lines. Or a command line of IOR, mdtest or dd.
        sets: Values that override those of the file, by path: `{"clients.count": 8}`.

    Returns:
        The checked scenario.

    Raises:
        ScenarioError: if the scenario is invalid. The message gives the position and a valid value.
        OSError: if the file cannot be read.
        StoreError: if there is no such result in the store.
        StoreFailure: if the store cannot be read.
    """
    return load_with_sets(path_or_text, as_sets(sets or {}))


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
