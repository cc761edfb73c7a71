"""An equation: parameters from the times of probes."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from headrace.calibrate.parameter import Parameter, Unit
from headrace.calibrate.probe import Probe, Times

Known: TypeAlias = Mapping[str, float]
"""What is known already, by its field, in SI units: settings, and what earlier equations gave.
Settings that are words are known by both (`is_word`)."""


def word_key(field: str, word: str) -> str:
    """Under what it is known that a setting is such a word."""
    return f"{field} = {word}"


Curve: TypeAlias = Mapping[str, Probe]
"""Points by what they are called, as "16 at once"."""


def nothing(_times: Times, _known: Known) -> dict[str, float]:
    """No parameter is common."""
    return {}


def known_settings(read: Iterable[Parameter]) -> dict[str, float]:
    """What is known by settings."""
    known = {}
    for it in read:
        if isinstance(it.value, str):
            known[word_key(it.field, it.value)] = 1.0
        else:
            known[it.field] = float(it.value)
    return known


@dataclass(frozen=True)
class Estimator:
    """Parameters that are found together."""

    probes: tuple[Probe, ...]
    solve: Callable[[Times, Known], dict[str, float]]
    """The parameters by their fields, from the times of one round; those that cannot be told
    are left out. A round that cannot tell a parameter does not count for it."""
    method: str
    units: Mapping[str, Unit]
    """By the field's last word; those of others are seconds."""
    common: Callable[[Times, Known], dict[str, float]] = nothing
    """Parameters that all rounds have in common, from the middles of their times; known when
    the rounds are solved."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """By the field that follows from it: probes to be told of, in the machine's file."""
    needed: tuple[str, ...] = ()
    """Fields that one round at least must tell."""
    requires: str | None = None
    """What must be known for its parameters to mean anything; elsewhere its probes are not
    measured."""

    def applies(self, known: Container[str]) -> bool:
        """Whether it does where so much is known."""
        return self.requires is None or self.requires in known
