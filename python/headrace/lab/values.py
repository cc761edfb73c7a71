"""Values of a scenario, and which of them a testbed represents."""

from typing import Any

from headrace.lab.plan import Note
from headrace.simulate.scenario import Scenario
from headrace.store.record import scenario_fields

APART = ("name", "description", "system", "kind", "calibration", "check", "workload", "run", "lab")
"""Sections that do not describe the system."""

REASONS = {
    "cpu": "the testbed uses this machine's processor",
    "copying": "the testbed uses this machine's processor",
    "processes": "headrace bench starts them",
    "write_back": "dirty limits apply to the whole machine (/proc/sys/vm/dirty_*)",
    "memory": "set by the kernel",
    "journal": "set by the file system",
    "allocation": "set by the file system",
    "file_system": "the testbed uses this machine's processor",
    "read_ahead": "set by the server software",
    "device": "the testbed uses this machine's disk behind the limits",
    "io_scheduler": "set by the kernel",
    "network": "set by this machine",
    "network.latency": "packets are not delayed: netem is not used",
    "network.header": "set by TCP",
    "network.message": "set by the server software",
    "network.tcp": "set by the kernel",
    "messages": "set by the server software",
    "layout": "set by the server software",
    "rpc": "set by the server software",
    "daemon": "set by the server software",
    "receive_buffer": "set by the server software",
    "attributes": "set by the server software",
    "locks": "set by the server software",
    "metadata": "set by the server software",
    "recovery": "set by the server software",
    "repair": "set by the server software",
    "replication": "set by the server software",
    "scheduler": "the testbed has no request scheduler",
    "failure": "nothing fails by itself: use headrace lab exec to end programs",
}
"""Reasons why a testbed does not represent a value, by section or path."""

WITHOUT_WHY = "this machine has no counterpart"


WORK = ("name", "description", "system", "calibration", "check", "workload", "run")
"""Sections that may change after `headrace lab up`, besides the number of processes."""
PROCESSES = "clients.processes"


class Values:
    """Looks up values of a scenario, and records which are represented."""

    def __init__(self, scenario: Scenario) -> None:
        self._text = scenario_fields(scenario.toml)
        self._amounts = {quantity.path: quantity.amount for quantity in scenario.quantities}
        self._of_system = [path for path in self._text if path.split(".")[0] not in APART]
        self._carried: dict[str, Note] = {}
        self._reasons: dict[str, str] = {}

    def word(self, path: str) -> str | None:
        """Return a value as text; None if it is not set."""
        value = self._text.get(path)
        return None if value is None else _as_text(value)

    def truth(self, path: str) -> bool:
        """Return True if a value is true."""
        return self._text.get(path) is True

    def amount(self, path: str) -> float | None:
        """Return a value in bytes, bytes per second or seconds, or a plain number; None if it is
        not set."""
        return self._amounts.get(path)

    def has(self, section: str) -> bool:
        """Return True if a section has any value."""
        return any(path.startswith(f"{section}.") for path in self._text)

    def carried(self, path: str, how: str) -> None:
        """Record where a value is represented, if it is set."""
        if path in self._text:
            self._carried[path] = Note(path, self.word(path) or "", how)

    def carried_whole(
        self, path: str, how: str, unit: float = 1.0, *, least: int = 0, suffix: str = ""
    ) -> str | None:
        """Record a value that is represented as a whole number of a unit.

        Parameters
        ----------
        path
            Path of the value.
        how
            Where it is represented, with {} for the number.
        unit
            Size of the unit.
        least
            Smallest number.
        suffix
            Text after the number.

        Returns
        -------
        str or None
            The number; None if the value is not set. The record mentions rounding.
        """
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
        """All values that a testbed is built from, by path."""
        return {
            path: _as_text(value)
            for path, value in self._text.items()
            if path.split(".")[0] not in WORK and path != PROCESSES
        }

    def dropped(self, path: str, why: str) -> None:
        """Record that a value is not represented, with a reason other than that of its section."""
        self._reasons[path] = why
        self._carried.pop(path, None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Values that are represented, and where."""
        return tuple(self._carried.values())

    @property
    def not_carried(self) -> tuple[Note, ...]:
        """All other values of the system, grouped by section and reason."""
        fields: dict[tuple[str, str], list[str]] = {}
        for path in self._of_system:
            if path not in self._carried:
                section, _, name = path.rpartition(".")
                why = self._reasons.get(path) or _reason(path)
                fields.setdefault((section, why), []).append(f"{name} = {self.word(path)}")
        return tuple(
            Note(section, ", ".join(values), why) for (section, why), values in fields.items()
        )


def _reason(path: str) -> str:
    if path in REASONS:
        return REASONS[path]
    for name in reversed(path.split(".")):
        if name in REASONS:
            return REASONS[name]
    return WITHOUT_WHY


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
