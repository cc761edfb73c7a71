"""Goals of a search: figures to maximise or minimise, and limits of figures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headrace.quantities import (
    amounts,
    figure,
    megabytes,
    milliseconds,
    parse_probability,
    percent,
)
from headrace.sweeps.result import FIGURES

COST = "cost"
"""Name of the cost, which comes from prices."""
UNITS = {
    **dict.fromkeys(("throughput", "synced_writes"), "B/s"),
    **dict.fromkeys(("operations", "accelerators", "samples", "score", COST), ""),
    "au": "%",
}
"""Units of figures; all others are times."""
EXAMPLES = {"B/s": "200 MB/s", "s": "20 ms", "": "1000", "%": "90 %"}
CONSTRAINT = re.compile(r"^\s*(?P<figure>\w+)\s*(?P<relation><=|>=)\s*(?P<limit>.+?)\s*$")


class WrongGoal(ValueError):
    """A goal cannot be read, or contradicts another; the message says what is expected."""


@dataclass(frozen=True)
class Objective:
    """A figure that is made as high or as low as possible.

    Examples:
        >>> from headrace.optimisation import Objective
        >>> Objective("latency", is_maximised=False).sign
        -1
    """

    figure: str
    is_maximised: bool

    @property
    def sign(self) -> int:
        """1 if more is better, -1 if less is."""
        return 1 if self.is_maximised else -1

    def __str__(self) -> str:
        return f"{'maximise' if self.is_maximised else 'minimise'} {self.figure}"


@dataclass(frozen=True)
class Constraint:
    """A limit of a figure.

    Examples:
        >>> from headrace.optimisation import Constraint
        >>> limit = Constraint("latency_p99", 0.02, is_upper=True, text="20 ms")
        >>> str(limit), limit.sign, round(limit.violation(0.025), 2)
        ('latency_p99 <= 20 ms', 1, 0.25)
    """

    figure: str
    limit: float
    """In bytes per second, seconds, operations per second, a share, or the currency of prices."""
    is_upper: bool
    text: str = field(compare=False)
    """The limit as it was given."""

    @property
    def sign(self) -> int:
        """1 if the figure must not be above the limit, -1 if not below."""
        return 1 if self.is_upper else -1

    def violation(self, value: float) -> float:
        """Return by which part of the limit a value misses it; 0 or less if it is met."""
        return self.sign * (value - self.limit) / (abs(self.limit) or 1.0)

    def __str__(self) -> str:
        return f"{self.figure} {'<=' if self.is_upper else '>='} {self.text}"


@dataclass(frozen=True)
class Goals:
    """All goals of a search.

    Examples:
        >>> from headrace.optimisation import Constraint, Goals, Objective
        >>> limit = Constraint("latency_p99", 0.02, is_upper=True, text="20 ms")
        >>> goals = Goals((Objective("throughput", is_maximised=True),), (limit,))
        >>> goals.figures
        ['throughput', 'latency_p99']
        >>> means = {"throughput": 2e9, "latency_p99": 0.025}
        >>> goals.score(means)
        (2000000000.0,)
        >>> round(goals.violation(means), 2), round(goals.largest_violation(means), 2)
        (0.25, 0.25)
    """

    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def figures(self) -> list[str]:
        """Figures that goals name, objectives first."""
        names = [goal.figure for goal in self.objectives] + [one.figure for one in self.constraints]
        return list(dict.fromkeys(names))

    def violation(self, means: Mapping[str, float]) -> float:
        """Return by which part the most violated constraint is missed; 0 if all are met."""
        return max(0.0, self.largest_violation(means))

    def largest_violation(self, means: Mapping[str, float]) -> float:
        """Return the violation of the constraint that is nearest to its limit; negative if all are
        met."""
        return max((one.violation(means[one.figure]) for one in self.constraints), default=0.0)

    def score(self, means: Mapping[str, float]) -> tuple[float, ...]:
        """Return the objectives as numbers of which more is better."""
        return tuple(objective.sign * means[objective.figure] for objective in self.objectives)

    def __str__(self) -> str:
        aim = ", ".join(map(str, self.objectives))
        limits = " and ".join(map(str, self.constraints))
        return f"{aim} subject to {limits}" if limits else aim


def goals(
    maximise: Sequence[str], minimise: Sequence[str], subject_to: Sequence[str], has_prices: bool
) -> Goals:
    """Return the goals of a search.

    Args:
        maximise: Figures to maximise.
        minimise: Figures to minimise.
        subject_to: Constraints such as `latency_p99 <= 20 ms`.
        has_prices: Whether the cost is known.

    Raises:
        WrongGoal: A figure is unknown, goals contradict each other, or there is none.
    """
    if both := sorted(set(maximise) & set(minimise)):
        raise WrongGoal(f"{both[0]} is maximised and minimised: choose one of them")
    objectives = tuple(
        Objective(_checked(name, has_prices), is_maximised)
        for names, is_maximised in ((maximise, True), (minimise, False))
        for name in dict.fromkeys(names)
    )
    if not objectives:
        raise WrongGoal("nothing is maximised or minimised: name a figure, such as throughput")
    constraints = tuple(_constraint(limit, has_prices) for limit in subject_to)
    for lower in constraints:
        for upper in constraints:
            if lower.figure != upper.figure or lower.is_upper or not upper.is_upper:
                continue
            if lower.limit > upper.limit:
                raise WrongGoal(f"{lower} and {upper} contradict each other: no value meets both")
    return Goals(objectives, constraints)


def text(name: str, value: float | None, half_width: float | None = None) -> str:
    """Return a figure with its unit, and half the width of its interval if it has one."""
    unit = UNITS.get(name, "s")
    shown, suffix = {
        "B/s": (megabytes, " MB/s"),
        "s": (milliseconds, " ms"),
        "%": (percent, " %"),
        "": (figure, ""),
    }[unit]
    width = f" ± {shown(half_width)}" if half_width else ""
    return f"{shown(value)}{width}{suffix}"


def _constraint(given: str, has_prices: bool) -> Constraint:
    match = CONSTRAINT.match(given)
    if match is None:
        raise WrongGoal(
            f"constraint {given!r}: expected FIGURE <= LIMIT or FIGURE >= LIMIT, such as"
            " 'latency_p99 <= 20 ms'"
        )
    name = _checked(match["figure"], has_prices)
    unit = UNITS.get(name, "s")
    read = _share(match["limit"]) if unit == "%" else amounts([_number(match["limit"])])
    if read is None or read[1] != unit:
        raise WrongGoal(
            f"constraint {given!r}: expected a limit such as '{EXAMPLES[unit]}', not"
            f" {match['limit']!r}"
        )
    return Constraint(name, read[0][0], match["relation"] == "<=", match["limit"])


def _share(given: str) -> tuple[list[float], str] | None:
    """Return a share such as 0.9 or "90 %", in the form of `amounts`."""
    try:
        return [parse_probability(given)], "%"
    except ValueError:
        return None


def _number(given: str) -> str | float:
    try:
        return float(given)
    except ValueError:
        return given


def _checked(name: str, has_prices: bool) -> str:
    if name == COST:
        if not has_prices:
            raise WrongGoal("the cost needs prices: give them, such as 'servers.count=5000'")
    elif name not in FIGURES:
        raise WrongGoal(f"figure {name!r}: expected {', '.join([*FIGURES, COST])}")
    return name
