"""The type of an estimator: parameters from the times of probes."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe, Times
from headrace.calibrate.records import Unit

Known: TypeAlias = Mapping[str, float]
"""Known values by field, in SI units: settings, and parameters of earlier estimators. A keyword
setting is stored under its `word_key`."""


def word_key(field: str, word: str) -> str:
    """Return the key under which a keyword setting is known."""
    return f"{field} = {word}"


Curve: TypeAlias = Mapping[str, Probe]
"""Probes by label, such as "16 at once"."""


def nothing(_times: Times, _known: Known) -> dict[str, float]:
    """Return no shared parameters."""
    return {}


def known_settings(read: Iterable[Parameter]) -> dict[str, float]:
    """Return the settings as known values."""
    known = {}
    for parameter in read:
        if isinstance(parameter.value, str):
            known[word_key(parameter.field, parameter.value)] = 1.0
        else:
            known[parameter.field] = float(parameter.value)
    return known


@dataclass(frozen=True)
class Estimator:
    """Parameters that are estimated together, and the probes that they need."""

    probes: tuple[Probe, ...]
    solve: Callable[[Times, Known], dict[str, float]]
    """Estimates parameters by field from the times of one round. A parameter that the round does
    not yield is left out."""
    method: str
    units: Mapping[str, Unit]
    """Unit by the last part of the field; seconds if missing."""
    common: Callable[[Times, Known], dict[str, float]] = nothing
    """Estimates parameters shared by all rounds, from the Hodges-Lehmann estimates of the times.
    They are known when single rounds are solved."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Probes to list in the machine file, by the field that depends on them."""
    needed: tuple[str, ...] = ()
    """Fields that at least one round must yield."""
    requires: str | None = None
    """Known field without which the estimator does not apply, and its probes are not measured."""

    def applies(self, known: Container[str]) -> bool:
        """Return True if the estimator applies to a machine with these known fields."""
        return self.requires is None or self.requires in known
