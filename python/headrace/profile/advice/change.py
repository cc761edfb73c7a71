"""A change of a program or a machine, whose gain is simulated."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headrace.profile.document import Level, Verdict
from headrace.profile.prediction import Case


@dataclass(frozen=True)
class Context:
    """Facts of a phase that a change may need."""

    verdict: Verdict | None
    cores: int
    baseline: Mapping[str, float]
    """Figures of the baseline by name, in SI units; empty without a baseline."""
    directory: Path | None = None
    """Profile directory in which the scenarios of the advice are saved; None to save none."""
    phase: int = 1
    """Number of the phase, from 1."""
    threads: float = 1.0
    """Mean number of the program's threads."""
    recorded_s: float | None = None
    """Recorded time of the case without the tracer; None if it is unknown."""
    least_recorded_s: float = math.inf
    """The same if stops by the tracer take more system time than measured."""
    is_elsewhere: bool = False
    """True if the simulated machine need not be that of the recording."""


@dataclass(frozen=True)
class Changed:
    """A case with a change, and the change in words."""

    case: Case
    description: str


@dataclass(frozen=True)
class Change:
    """A change that is tried for phases with certain verdicts."""

    name: str
    kind: Literal["software", "hardware"]
    level: Level
    verdicts: frozenset[Verdict]
    apply: Callable[[Case, Context], Changed | None]
    """Returns the case with the change, or None where it does not apply."""
    source: str
