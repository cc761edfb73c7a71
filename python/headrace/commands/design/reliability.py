"""The reliability of disk arrays, copies and codes."""

from collections.abc import Callable
from typing import Annotated as A
from typing import Literal

import msgspec

from headrace.commands.design.reliability_question import Level, name_option, question_of
from headrace.commands.design.reliability_values import (
    BATCHES,
    BIT_ERROR_RATE,
    DOMAIN,
    YEARS,
    reliability_figures,
)
from headrace.commands.design.spares import FailureFactor, Mttf
from headrace.commands.parameters import Form, Help, Word
from headrace.commands.values import RATE, SIZE, TIME, TIME_OR_0, above_0, read_by
from headrace.design.figure import Figure, Input
from headrace.design.reliability import laws
from headrace.design.reliability.answer import Answer, HorizonAnswer
from headrace.design.reliability.engine import ask
from headrace.design.reliability.question import (
    Batches,
    Concurrency,
    Domain,
    Duration,
    LifetimeLaw,
    Method,
    NoScrub,
    Question,
    ReadErrorLoss,
    ReadErrorWithRedundancy,
    ReplacementManner,
    Scrub,
)
from headrace.design.reliability.silent_corruption import (
    Checksums,
    CorruptionRate,
    SilentCorruption,
    parse_corruption_rate,
    silent_corruption,
)
from headrace.quantities import YEAR

MOST, MOST_LONG = 2**32 - 1, 2**64 - 1
"""Largest numbers in the fields of the engine."""
DURATION = read_by("TIME", laws.parse_duration)
PLOT_POINTS = 40
"""Horizons of a plot."""
DiskClass = Literal[
    "desktop",
    "nearline",
    "enterprise",
    "hindman-2011",
    "hindman-2011-desktop",
    "hindman-2011-enterprise",
]
"""Disks of Hindman 2011, table 3.2."""


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """Compute the probability that disk arrays, copies or codes lose data.

    Gives the loss probability after 1, 5 and 10 years, MTTDL, NOMDL, and what is assumed.
    """

    level: A[Level | None, Help("RAID level of a group, or draid: a declustered pool.")] = None
    disks: A[int | None, Help("Disks of a group, hot spares not counted.")] = None
    copies: A[int | None, Help("Copies of each datum, each on a disk or node of its own.")] = None
    data: A[int | None, Help("Data disks of a code, or chunks of a stripe.")] = None
    parity: A[int | None, Help("Redundant disks of a code, or chunks of a stripe.")] = None
    groups: A[int, Help("Groups that are alike; none may be lost.", least=1, most=MOST)] = 1
    mttf: Mttf = None
    lifetime: A[
        LifetimeLaw | None,
        read_by("LAW", laws.parse_lifetime),
        Help(
            "Law of the time to failure: weibull:SHAPE,SCALE, such as"
            " weibull:1.12,461386h; also exponential:, bathtub: and table:."
        ),
    ] = None
    disk_class: A[
        DiskClass | None,
        Help(
            "Disk whose MTTF, bit error rate and perhaps capacity are taken where they"
            " are not given (Hindman 2011, table 3.2)."
        ),
    ] = None
    failure_factor: FailureFactor = 1.0
    mttr: A[
        Duration | None,
        DURATION,
        Help('Mean time to repair a disk, such as "12 h", or its law: weibull:2,12h,6h.'),
    ] = None
    repair_law: A[
        str | None, Word(metavar="LAW"), Help("Law of --mttr: exponential (default) or constant.")
    ] = None
    rebuild_rate: A[
        float | None,
        RATE,
        Help('In place of --mttr: rate of a rebuild of --capacity, such as "100 MB/s".'),
    ] = None
    rebuild_share: A[
        float,
        above_0("SHARE", 1.0),
        Help("Part of --rebuild-rate that the load leaves to the rebuild."),
    ] = 1.0
    rebuild_load: A[
        int | None,
        Word(metavar="N"),
        Help(
            "In place of --rebuild-share: simulate it beside N random reads of 1 MiB"
            " that clients keep outstanding, on nearline disks.",
            least=1,
            most=256,
        ),
    ] = None
    detection: A[float, TIME_OR_0, Help("Time until a failure is noticed.")] = 0.0
    replacement: A[float, TIME_OR_0, Help("Time to a new disk where no spare is ready.")] = 0.0
    repair: A[Concurrency, Help("Order of the rebuilds of a group's failed disks.")] = "parallel"
    spares: A[
        int | None,
        Help("Hot spares of a pool of spares; of draid: spare space in disks.", least=0, most=MOST),
    ] = None
    spare_groups: A[
        int, Help("Groups that share a pool of spares; 0: all of them.", least=0, most=MOST)
    ] = 0
    restock: A[
        Duration | None, DURATION, Help("Time until a new disk takes a used spare's place.")
    ] = None
    disk_capacity: A[
        float | None,
        SIZE,
        Word("--capacity"),
        Help('Capacity of a disk, such as "2 TB".', example="2 TB"),
    ] = None
    bit_error_rate: A[
        float | None, BIT_ERROR_RATE, Help("Unrecoverable read errors per bit read, such as 1e-14.")
    ] = None
    latent: A[float | None, TIME, Help('Mean time between latent errors, such as "9259 h".')] = None
    scrub: A[
        Scrub | None,
        read_by("TIME", laws.parse_scrub),
        Help('Period of scrubbing, such as "168 h", or its law: weibull:3,168h,6h.'),
    ] = None
    corruption: A[
        CorruptionRate | None,
        read_by("CLASS|RATE", parse_corruption_rate),
        Word("--silent-corruption"),
        Help(
            "Count silent corruptions: nearline, enterprise, or blocks a disk-year"
            " such as 0.1. --scrub compares parity."
        ),
    ] = None
    checksums: A[
        Checksums | None,
        Help(
            "Checksums that find silent corruption: saved with the block, or apart"
            " from it. Default: none."
        ),
    ] = None
    loses: A[
        ReadErrorLoss,
        Word("--read-error-loses"),
        Help("Loss by a read error without redundancy left."),
    ] = "stripe"
    with_redundancy: A[
        ReadErrorWithRedundancy,
        Word("--read-error-with-redundancy"),
        Help("Effect of a read error while redundancy is left."),
    ] = "corrected"
    burn_in: A[float, TIME_OR_0, Help("Age of new disks when installed.")] = 0.0
    initial_age: A[float, TIME_OR_0, Help("Age of the first disks at the start.")] = 0.0
    batches: A[
        Batches | None,
        BATCHES,
        Help("Batches of DISKS, of which SHARE is bad and fails FACTOR times as often."),
    ] = None
    domains: A[
        tuple[Domain, ...],
        DOMAIN,
        Word("--domain"),
        Help(
            "Shelf, node, rack or power feed that fails with all its disks; LOST is"
            " the part of them that loses its data; can be repeated."
        ),
    ] = ()
    replace_age: A[float | None, TIME, Help("Age at which disks are replaced.")] = None
    replace_manner: A[ReplacementManner, Help("How old disks are replaced.")] = "by-age"
    years: A[tuple[float, ...], YEARS, Help("Years to answer for, a comma between two.")] = (
        1.0,
        5.0,
        10.0,
    )
    method: A[Method, Help("How to compute it; auto takes the fastest that applies.")] = "auto"
    seed: A[int, Help("Seed of a simulation.", least=0, most=MOST_LONG)] = 0
    missions: A[
        int | None, Help("Missions of a simulation; default: as needed.", least=1, most=MOST_LONG)
    ] = None
    relative_error: A[
        float,
        above_0("PART", 1.0),
        Help("Wanted standard error of a simulation, as a part of each figure."),
    ] = 0.01
    crude: A[bool, Help("Simulate without biasing of rare events.")] = False
    count_losses: A[
        bool, Help("Simulate, restore each loss from a backup, and count the losses; no biasing.")
    ] = False

    form = Form(
        "Reliability",
        ("level", "disks", "disk_capacity", "groups", "mttf", "mttr", "bit_error_rate"),
        {
            "level": "raid6",
            "disks": "8",
            "disk_capacity": "4 TB",
            "mttf": "1000000 h",
            "mttr": "12 h",
        },
    )

    @property
    def is_simulated(self) -> bool:
        """An option asks for a simulation."""
        return self.count_losses or self.crude or self.missions is not None

    def answer(
        self, on_progress: Callable[[float], None] | None = None, *, has_curve: bool = False
    ) -> "ReliabilityAnswer":
        """Return the losses with all that they rest on.

        Parameters:
            on_progress: Called with the part of a simulation that is done.
            has_curve: Whether to answer for the horizons of a curve, too.

        Raises:
            ValueError: a value is missing or contradicts another; the message names the options.
        """
        last = max(self.years)
        grid = range(1, PLOT_POINTS + 1) if has_curve else ()
        years = {*self.years, *(point * (last / PLOT_POINTS) for point in grid)}
        question, inputs, name = question_of(self, tuple(year * YEAR for year in sorted(years)))
        try:
            answer = ask(question, on_progress)
        except ValueError as error:
            raise ValueError(name_option(str(error))) from None
        corrupted = self._corrupted(question)
        if corrupted is not None:
            rate = f"{corrupted.rate_per_disk_year:.4g}"
            inputs += (
                Input("silent corruptions a disk-year", rate, corrupted.source),
                Input("checksums", corrupted.checksums, "--checksums"),
            )
        shown = [
            horizon for horizon in answer.horizons if horizon.horizon_seconds / YEAR in self.years
        ]
        return ReliabilityAnswer(name, question, inputs, answer, tuple(shown), corrupted)

    def figures(self) -> list[Figure]:
        """Return the losses with their arithmetic. Raises ValueError, as `answer` does."""
        answer = self.answer()
        return list(reliability_figures(answer.answer, answer.horizons, answer.inputs))

    def _corrupted(self, question: Question) -> SilentCorruption | None:
        if self.corruption is None:
            return None
        return silent_corruption(
            question.redundancy,
            self.groups,
            self.corruption,
            self.checksums or "none",
            not isinstance(self.scrub, NoScrub | None),
            max(self.years),
        )


class ReliabilityAnswer(msgspec.Struct, frozen=True):
    """An answer with its question."""

    name: str
    """The layout."""
    question: Question
    inputs: tuple[Input, ...]
    answer: Answer
    horizons: tuple[HorizonAnswer, ...]
    """Horizons that were asked for."""
    corrupted: SilentCorruption | None
