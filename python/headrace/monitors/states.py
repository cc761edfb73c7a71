"""States of the monitors of a host, from its samples and the rules."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from headrace.monitors.figures import FIGURES, MONITORS, Values, devices, value_of
from headrace.monitors.rules import STATES, Rule

OK = "ok"


class State(msgspec.Struct, frozen=True):
    """State of a monitor of a host, or of a device of it."""

    monitor: str
    device: str
    """Empty for the host itself."""
    state: str
    """One of `STATES`."""
    text: str
    """The rule's text; empty if none holds."""
    rule: str
    since: float
    """Seconds since the epoch."""

    @property
    def reason(self) -> str:
        """Text with monitor and device."""
        name = f"{self.monitor} {self.device}".rstrip()
        return f"{name}: {self.text or self.state}"


class Change(NamedTuple):
    """A change of a state."""

    before: State
    after: State


class _Watch:
    """A rule for a device: how often in a row its conditions did or did not hold."""

    __slots__ = ("count", "is_active")

    def __init__(self) -> None:
        self.is_active, self.count = False, 0

    def update(self, holds: bool, samples: int) -> None:
        self.count = self.count + 1 if holds != self.is_active else 0
        if self.count >= samples:
            self.is_active, self.count = holds, 0


class HostStates:
    """The states of a host."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._watches: dict[tuple[str, str], _Watch] = {}
        self._states: dict[tuple[str, str], State] = {}

    def set_rules(self, rules: Sequence[Rule]) -> None:
        """Replace the rules. Those that changed begin again."""
        unchanged = {it.id for it in rules if it in self._rules}
        self._rules = tuple(rules)
        self._watches = {key: it for key, it in self._watches.items() if key[0] in unchanged}

    def update(self, values: Values, at: float) -> list[Change]:
        """Take a sample into account. Return the states that changed.

        Devices that are gone lose their states.
        """
        changes: list[Change] = []
        there: set[tuple[str, str]] = set()
        for monitor, prefix in MONITORS.items():
            rules = [it for it in self._rules if it.monitor == monitor]
            for device in devices(values, monitor):
                there.add((monitor, device))
                begin = f"{prefix}{device}." if prefix else ""
                new = self._state(rules, values, device, begin, monitor, at)
                old = self._states.get((monitor, device))
                if old is None:
                    old = State(monitor, device, OK, "", "", at)
                if (new.state, new.rule) == (old.state, old.rule):
                    self._states[monitor, device] = old
                    continue
                self._states[monitor, device] = new
                changes.append(Change(old, new))
        for key in self._states.keys() - there:
            old = self._states.pop(key)
            changes.append(Change(old, State(old.monitor, old.device, OK, "", "", at)))
            for rule in self._rules:
                self._watches.pop((rule.id, key[1]), None)
        return changes

    def states(self) -> list[State]:
        """Return all states in the order of the monitors."""
        return list(self._states.values())

    def _state(
        self,
        rules: Iterable[Rule],
        values: Values,
        device: str,
        begin: str,
        monitor: str,
        at: float,
    ) -> State:
        found: Rule | None = None
        for rule in rules:
            watch = self._watches.setdefault((rule.id, device), _Watch())
            watch.update(bool(rule.holds(value_of(values, begin))), rule.samples)
            if watch.is_active and found is None:
                found = rule
        if found is None:
            return State(monitor, device, OK, "", "", at)
        return State(monitor, device, found.state, found.text, found.id, at)


def worst(states: Iterable[State]) -> str:
    """Return the most severe state."""
    return max((it.state for it in states), key=STATES.index, default=OK)


def is_reported(change: Change) -> bool:
    """Return whether a change is an event: those between states that are all ok are not."""
    return change.before.state != OK or change.after.state != OK


def figures_of(values: Values, state: State) -> Mapping[str, float]:
    """Return the figures that the rules know of a state's device."""
    prefix = MONITORS[state.monitor]
    begin = f"{prefix}{state.device}." if prefix else ""
    found = {
        name: FIGURES[name].value(values, begin)
        for name in FIGURES
        if name.partition(".")[0] == state.monitor
    }
    return {name: value for name, value in found.items() if value is not None}
