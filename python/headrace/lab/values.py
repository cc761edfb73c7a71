"""The values of a scenario, and which of them a testbed carries."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from headrace.lab.plan import Note
from headrace.simulate.scenario import Scenario

APART = ("name", "description", "system", "kind", "calibration", "check", "workload", "run", "lab")
"""What is no part of the system."""

REASONS = {
    "cpu": "the processor is this machine's own",
    "copying": "the processor is this machine's own",
    "processes": "headrace bench starts them",
    "write_back": "limits of dirty data hold for the whole machine (/proc/sys/vm/dirty_*)",
    "memory": "the kernel's own",
    "journal": "this file system's own",
    "allocation": "the file system's own",
    "file_system": "the processor is this machine's own",
    "read_ahead": "the programs' own",
    "device": "what is behind the limits is this machine's own",
    "io_scheduler": "this kernel's own",
    "network": "this machine's own",
    "network.latency": "packets cannot be delayed: the kernel has no netem, or it is not used",
    "network.header": "TCP's own",
    "network.message": "the programs' own",
    "network.tcp": "the kernel's own",
    "messages": "the programs' own",
    "layout": "the programs' own",
    "rpc": "the programs' own",
    "daemon": "the programs' own",
    "receive_buffer": "the programs' own",
    "attributes": "the programs' own",
    "locks": "the programs' own",
    "metadata": "the programs' own",
    "recovery": "the programs' own",
    "repair": "the programs' own",
    "replication": "the programs' own",
    "scheduler": "no such scheduler stands between the hosts",
    "failure": "nothing fails of itself: headrace lab exec can end programs",
}
"""Why values are not carried, by their section, or by their path."""

WITHOUT_WHY = "there is nothing like it on this machine"


WORK = ("name", "description", "system", "calibration", "check", "workload", "run")
"""What may be another when a testbed is used than when it was stood up: of the rest, these
processes, which the benchmark starts."""
PROCESSES = "clients.processes"


class Values:
    """Looks values up, and notes which were carried."""

    def __init__(self, scenario: Scenario) -> None:
        self._text = dict(_leaves(tomllib.loads(scenario.toml)))
        self._amounts = {it.path: it.amount for it in scenario.quantities}
        self._of_system = [path for path in self._text if path.split(".")[0] not in APART]
        self._carried: dict[str, Note] = {}
        self._reasons: dict[str, str] = {}

    def word(self, path: str) -> str | None:
        """A value as text; None if it is not given."""
        value = self._text.get(path)
        return None if value is None else _as_text(value)

    def truth(self, path: str) -> bool:
        """Whether a value is true."""
        return self._text.get(path) is True

    def amount(self, path: str) -> float | None:
        """A value in bytes, bytes a second, seconds, or as it is; None if it is not given."""
        return self._amounts.get(path)

    def has(self, section: str) -> bool:
        """Whether anything is in a section."""
        return any(path.startswith(f"{section}.") for path in self._text)

    def carried(self, path: str, how: str) -> None:
        """A value has gone somewhere, if it is given."""
        if path in self._text:
            self._carried[path] = Note(path, self.word(path) or "", how)

    def carried_whole(
        self, path: str, how: str, unit: float = 1.0, *, least: int = 0, suffix: str = ""
    ) -> str | None:
        """A value has gone somewhere as a whole number of a unit: `how` says where, with {} for
        it. Gives the text, None if it is not given. What rounding has changed is told."""
        amount = self.amount(path)
        if amount is None:
            return None
        whole = max(round(amount / unit), least)
        text = how.format(f"{whole}{suffix}")
        changed = abs(whole * unit - amount) > 1e-9 * amount
        self.carried(path, f"{text}, for {self.word(path)}" if changed else text)
        return str(whole)

    @property
    def standing(self) -> dict[str, str]:
        """All values that a testbed is made from, by path: not the work."""
        return {
            path: _as_text(value)
            for path, value in self._text.items()
            if path.split(".")[0] not in WORK and path != PROCESSES
        }

    def dropped(self, path: str, why: str) -> None:
        """A value has not, for a reason that its section does not tell."""
        self._reasons[path] = why
        self._carried.pop(path, None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was carried, and how."""
        return tuple(self._carried.values())

    @property
    def not_carried(self) -> tuple[Note, ...]:
        """All other values of the system, those of one section and reason in one note."""
        found: dict[tuple[str, str], list[str]] = {}
        for path in self._of_system:
            if path not in self._carried:
                section, _, name = path.rpartition(".")
                why = self._reasons.get(path) or _reason(path)
                found.setdefault((section, why), []).append(f"{name} = {self.word(path)}")
        return tuple(
            Note(section, ", ".join(values), why) for (section, why), values in found.items()
        )


def _reason(path: str) -> str:
    if path in REASONS:
        return REASONS[path]
    for name in reversed(path.split(".")):
        if name in REASONS:
            return REASONS[name]
    return WITHOUT_WHY


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """All values by their paths, as `--set` names them."""
    for key, value in table.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(it, Mapping) for it in value):
            for number, each in enumerate(value):
                yield from _leaves(each, f"{path}.{number}.")
        else:
            yield path, value


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
