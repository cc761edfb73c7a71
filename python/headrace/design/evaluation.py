"""Figures and performance of a design, and the requirements that it misses."""

from collections.abc import Sequence

import msgspec

from headrace.design.figure import Figure
from headrace.design.system import Design
from headrace.training import Training

GOALS = ("throughput", "operations", "au", "latency", "latency_p99")
"""Figures of an application that a worksheet may limit; a latency from above."""


class Violation(msgspec.Struct, frozen=True):
    """A requirement that a design does not meet.

    Examples:
        >>> from headrace.design.evaluation import Violation
        >>> missed = {"field": "facility.power", "wanted": "2 kW", "got": "2.4 kW"}
        >>> Violation(message="too much power", **missed).field
        'facility.power'
    """

    field: str
    """Field of the worksheet: `facility.power`."""
    wanted: str
    """Value with its unit."""
    got: str
    message: str
    """One sentence for people."""


class ApplicationPerformance(msgspec.Struct, frozen=True, kw_only=True):
    """Simulated performance of an application on a design.

    Examples:
        >>> from headrace.design.evaluation import ApplicationPerformance
        >>> figures = {"throughput": 90e6, "operations": 90, "latency": 0.02}
        >>> ApplicationPerformance(application="a", wanted_throughput=100e6, **figures).goals()
        {'throughput': (100000000.0, 90000000.0)}
    """

    application: str
    throughput: float
    """Bytes a second of all its processes."""
    operations: float
    """Calls a second."""
    latency: float
    """Seconds, mean of the slower kind of call: reads or writes."""
    latency_p99: float | None = None
    """Seconds that 99 % of the calls of the slower kind take at most."""
    throughput_error: float | None = None
    """Half width of the 95 % interval over replications, in bytes a second."""
    wanted_throughput: float | None = None
    wanted_operations: float | None = None
    wanted_latency: float | None = None
    wanted_latency_p99: float | None = None
    wanted_au: float | None = None
    au: float | None = None
    """Part of the time in which the accelerators of a training compute."""
    training: Training | None = None
    """What its accelerators and loaders do."""
    capability: float | None = None
    """Bytes a second of all its processes when every application asks for as much as it can."""
    limiting_resource: str = ""
    """The saturated station, or else the calls that are in flight at a time."""
    detail: str = "coarse"
    """"coarse" for a short simulation that none confirms, or "full"."""
    scenario: str = ""
    """The scenario that was simulated, as TOML."""
    notes: tuple[str, ...] = ()
    """Simplifications of the simulation."""

    def goals(self) -> dict[str, tuple[float, float]]:
        """Return each wanted value beside the simulated one, by the field of the worksheet."""
        pairs = {name: (getattr(self, f"wanted_{name}"), getattr(self, name)) for name in GOALS}
        return {name: pair for name, pair in pairs.items() if pair[0] and pair[1] is not None}


def least_satisfaction(performance: Sequence[ApplicationPerformance]) -> float | None:
    """Return the least part of its throughput, calls or AU that an application gets; None if none
    says what it wants."""
    parts = [
        got / goal
        for part in performance
        for name, (goal, got) in part.goals().items()
        if not name.startswith("latency")
    ]
    return min(parts, default=None)


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A design with its figures, grouped: capacity, reliability, facility, cost, performance.

    Examples:
        >>> from headrace.design.system import Array, Design
        >>> catalogue = hr.design.load_catalogue().catalogue
        >>> array = Array(kind="raid6", disks=12, data=10, parity=2, chunk=256 << 10)
        >>> node, disk, network = catalogue.nodes[0], catalogue.disks[1], catalogue.networks[1]
        >>> counts = {"nodes": 2, "disks_per_node": 12, "arrays_per_node": 1, "spares_per_node": 0}
        >>> parts = {"node": node, "disk": disk, "array": array, "network": network}
        >>> design = Design(file_system="glusterfs", metadata_nodes=0, **counts, **parts)
        >>> from headrace.design.evaluate import evaluate
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> evaluation = evaluate(design, worksheet, catalogue)
        >>> evaluation.is_feasible, evaluation.violations[0].field
        (False, 'recovery.survives_node')
        >>> evaluation.capacity[0].title, evaluation.capacity[0].value
        ('raw capacity', 96000000000000.0)
    """

    design: Design
    capacity: tuple[Figure, ...] = ()
    reliability: tuple[Figure, ...] = ()
    facility: tuple[Figure, ...] = ()
    cost: tuple[Figure, ...] = ()
    performance: tuple[ApplicationPerformance, ...] = ()
    violations: tuple[Violation, ...] = ()

    @property
    def is_feasible(self) -> bool:
        """True if it meets all requirements that are known."""
        return not self.violations


class Reason(msgspec.Struct, frozen=True):
    """A reason for a choice, or against an alternative.

    Examples:
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> choice = hr.design.recommend(worksheet, hr.design.load_catalogue().catalogue)[0]
        >>> choice.reasons[0].rule, choice.reasons[0].weight
        ('gluster-small-files', 3.0)
    """

    rule: str
    """Identifier of the rule."""
    text: str
    source: str
    """Section that the rule comes from: "Hindman 2011, section 3.4.2"."""
    value: str = ""
    """Value of the aspect that the reason is about."""
    weight: float = 0.0
    """Weight of the rule: above 0 for the value, below 0 against it."""


class Choice(msgspec.Struct, frozen=True):
    """A recommendation for one aspect of a zone: file system, distribution, RAID level, ...

    Examples:
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> choice = hr.design.recommend(worksheet, hr.design.load_catalogue().catalogue)[0]
        >>> choice.zone, choice.aspect, choice.values
        ('home', 'file-system', ('glusterfs', 'nfs'))
    """

    zone: str
    """Name of the zone; empty: of the whole system."""
    aspect: str
    """`file-system`, `distribution`, `stripe`, `copies`, `array`, `disk-class`, `network`,
    `metadata`, `gateway`, `backup`, `spares`, `scrubbing`, `burn-in`, `replacement`, `ups`."""
    values: tuple[str, ...]
    """Recommended values, the best first."""
    reasons: tuple[Reason, ...]
    rejected: tuple[tuple[str, Reason], ...] = ()
    """Values that were rejected, with the reason."""
    unsure: tuple[str, ...] = ()
    """Answers that are missing, with what they cost in certainty."""


class ArchiveAlternative(msgspec.Struct, frozen=True, kw_only=True):
    """A place for the data of an archive's zone beside the disks of a design."""

    zone: str
    name: str
    """The disks of the design, an erasure code over servers, tape, or an object store."""
    figures: tuple[Figure, ...]
    """Its cost over the years of the worksheet; the last one is the total."""
    first_byte: float | None = None
    """Seconds until a read gets its first byte; none: as the simulation shows."""
    limits: tuple[str, ...] = ()
    """Things that it cannot do."""
    violations: tuple[Violation, ...] = ()
    """Requirements of the zone's applications that it misses."""


class Solution(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a search.

    Examples:
        >>> solution = hr.design.solve("scenarios/design/lab.toml", budget=1)
        >>> solution.choices[0].aspect, solution.worksheet_text.splitlines()[0]
        ('file-system', 'name = "20 TB lab"')
    """

    worksheet_text: str
    """The worksheet as TOML."""
    catalogue_text: str
    choices: tuple[Choice, ...]
    front: tuple[Evaluation, ...]
    """Designs that no other surpasses in cost, throughput and loss probability at once, cheapest
    first; evaluated in full."""
    chosen: int | None
    """Index in `front` of the recommended design; none if no design is feasible."""
    enumerated: int
    """Designs that were enumerated."""
    discarded: dict[str, int]
    """Designs that were discarded, by the field of the worksheet that they miss."""
    nearest: tuple[Evaluation, ...] = ()
    """If no design is feasible: those that miss the fewest requirements, by the least."""
    excluded: tuple[str, ...] = ()
    """Values that were not tried, each with the reason."""
    lower_bound: float | None = None
    """Least cost of any design with equal servers for all zones that may meet everything: 0 if not
    all were enumerated, none if no such design can."""
    archives: tuple[ArchiveAlternative, ...] = ()
    """Alternatives to disks for the zones that are archives."""
    separated: tuple[str, ...] = ()
    """Groups of zones that were given servers of their own, with the outcome."""
    unsure: tuple[str, ...] = ()
    """Unknown answers, with what they cost in certainty."""
    seed: int = 1
    version: str = ""
    seconds: float = 0.0
    """Time that the search took."""
