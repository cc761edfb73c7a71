"""The mixed load: one mix of operations, at any rate."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace import ranks
from headrace._core import Loaded, ScenarioError, workloads
from headrace.document_io import STANDARD_INPUT
from headrace.measure.workload import load_with_sets

PRESET = "mpfs-benchmark"
"""Default mix: the benchmark of Wang 2002, chapter 3."""
PER_RATE = (
    "workload.0.bytes_per_rate=10 MB",
    "workload.0.names.directories_per_rate=10",
    "workload.0.names.symbolic_links_per_rate=100",
)
"""Files, directories and links for each operation a second (section 3.3.3.4)."""
FILES = "workload.0.files="
"""A number of files that is set replaces the scaling."""
FOREVER = "workload.0.amount=forever"
"""Settings by which only the time limit ends the mix."""
NO_THINK = "workload.0.think=0 s"
"""Operations that come at a rate have no think time."""
A_TIME = 'a time such as "0.2 ms" or "10 s"'
"""Time syntax in scenarios, where the command's options take seconds."""
PROCESSES = 16
"""Number of processes, enough for several operations at once. An operation that finds all of them
busy starts late, which its response time includes."""


class MixedLoad:
    """A preset of a mix, or a scenario whose only workload is one, with a measured time.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=10, warm_up=1)
        >>> "rate = 100" in mix.at(100).toml, "processes = 4" in mix.with_processes(4).toml
        (True, True)
    """

    def __init__(
        self,
        workload: str = PRESET,
        *,
        seconds: float,
        warm_up: float,
        processes: int | None = None,
        sets: Sequence[str] = (),
    ) -> None:
        """Raise ScenarioError if there is no such preset or file, or it is no mix."""
        self._name = workload
        self._what = _text(workload)
        self._is_preset = workload in _presets()
        self._sets = list(sets)
        scales = workload == PRESET and not any(name.startswith(FILES) for name in sets)
        self._per_rate = PER_RATE if scales else ()
        self._times = {
            f"run.warm_up={warm_up!r} s": f"--warm-up {warm_up:g}",
            f"run.stop.time={warm_up + seconds!r} s": f"--time {seconds:g}",
        }
        if processes is not None:
            self._times[f"clients.processes={processes}"] = f"--processes {processes}"

    def at(self, rate: float, ranks_taking_part: int | None = None) -> Loaded:
        """Return the scenario for a rate of operations a second. A preset has one client on each
        rank that takes part; None for all."""
        load = {NO_THINK: "", f"workload.0.rate={rate!r}": f"{rate:g} operations/s"}
        clients = []
        if ranks_taking_part is not None and self._is_preset:
            clients.append(f"clients.count={ranks_taking_part}")
        return self._load(load, [*clients, *self._per_rate])

    def with_processes(self, processes: int) -> Loaded:
        """Return the scenario for a number of processes, each of which issues its next operation at
        once.

        Raises ScenarioError if operations come at a rate.
        """
        loaded = self._load({f"clients.processes={processes}": f"--clients {processes}"})
        if "rate" in tomllib.loads(loaded.toml)["workload"][0]:
            raise ScenarioError(
                f"{loaded.name}: operations come at workload.0.rate"
                " for any number of processes: remove it"
            )
        return loaded

    def _load(self, load: Mapping[str, str], scaling: Sequence[str] = ()) -> Loaded:
        """Load the scenario with a load; `load` maps settings to the options that errors name."""
        try:
            # A load stands above what is set.
            loaded = load_with_sets(
                self._what, [FOREVER, *scaling, *self._times, *self._sets, *load]
            )
        except ScenarioError as error:
            raise self._as_asked(error, {FOREVER: "", **self._times, **load}) from None
        if loaded.replications > 1:
            raise ScenarioError(
                f"{loaded.name}: run.replications = {loaded.replications}: bench mix repeats"
                f" by --repetitions {loaded.replications}; expected run.replications = 1"
            )
        kinds = [workload["kind"] for workload in tomllib.loads(loaded.toml)["workload"]]
        if kinds != ["operation-mix"]:
            raise ScenarioError(
                f'{loaded.name}: expected one [[workload]], of kind "operation-mix", and it has '
                f"{len(kinds)}, of kind {', '.join(sorted(set(kinds)))}"
            )
        return loaded

    def _as_asked(self, error: ScenarioError, own: Mapping[str, str]) -> ScenarioError:
        """Rewrite an error of a setting in terms of the command's option."""
        for text, option in own.items():
            before = f"--set {text}: "
            if str(error).startswith(before):
                if text != FOREVER:
                    message = str(error).removeprefix(before).replace(A_TIME, "seconds such as 10")
                    return ScenarioError(f"{option}: {message}")
                return ScenarioError(
                    f"--workload {self._name}: expected a scenario whose first [[workload]] is of"
                    ' kind "operation-mix"'
                )
        return error


def _presets() -> list[str]:
    return [name for name, _ in workloads()]


def _text(workload: str) -> str:
    """A file, or the text of a scenario with a preset."""
    names = _presets()
    if workload in names:
        return (
            f'name = "{workload}"\n[clients]\ncount = {ranks.count()}\nprocesses = {PROCESSES}\n'
            f'[[workload]]\npreset = "{workload}"\n'
        )
    if Path(workload) != STANDARD_INPUT and not Path(workload).exists():
        raise ScenarioError(f"--workload {workload}: expected a file or one of {', '.join(names)}")
    return workload
