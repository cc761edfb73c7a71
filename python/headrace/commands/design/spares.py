"""Hot spares of a system."""

from collections.abc import Callable
from typing import Annotated as A
from typing import TypeAlias

import msgspec

from headrace.commands.parameters import Form, Help, Word
from headrace.commands.values import HOURS, PROBABILITY, TIME, above_0, read_by
from headrace.design.figure import Figure, Input
from headrace.design.reliability.laws import mean_seconds, parse_lifetime
from headrace.design.reliability.question import Exponential, LifetimeLaw, Weibull
from headrace.design.spares import Pooling, SpareAdvice, advise, simulate
from headrace.quantities import number

MOST_DISKS = 10_000_000

Mttf: TypeAlias = A[
    float | None, HOURS, Help('Mean time to failure, such as "1000000 h".', example="1000000 h")
]
FailureFactor: TypeAlias = A[
    float,
    above_0("FACTOR", 1e6),
    Help("Observed failure rate over the rate of --mttf; studies found 2 to 10.", example=3),
]


class Advice(msgspec.Struct, frozen=True):
    """Spares of the chosen pooling, and of the other one."""

    chosen: SpareAdvice
    other: SpareAdvice


class Spares(msgspec.Struct, frozen=True, kw_only=True):
    """Find the fewest hot spares so that a failed disk finds one with a wanted probability.

    Prints the probability for each number of spares, by the formula and by simulation.
    """

    disks: A[int, Help("Disks of the system, hot spares not counted.", least=1, most=MOST_DISKS)]
    restock: A[float, TIME, Help('Time until a new disk is a spare, such as "14 d".')]
    mttf: Mttf = None
    lifetime: A[
        LifetimeLaw | None,
        read_by("LAW", parse_lifetime),
        Help("In place of --mttf: weibull:SHAPE,SCALE, such as weibull:1.12,461386h."),
    ] = None
    failure_factor: FailureFactor = 1.0
    wanted: A[
        float,
        PROBABILITY,
        Word("--probability"),
        Help("Probability that a failed disk finds a spare, such as 0.99."),
    ] = 0.99
    shelves: A[int, Help("Shelves of disks.", least=1)] = 1
    everywhere: A[
        bool, Word("--global", "--per-shelf"), Help("Share spares between all shelves, or not.")
    ] = True
    years: A[float, above_0("YEARS", 100), Help("Years of a simulated mission.")] = 5.0
    missions: A[int, Help("Missions of the simulation; 0: none.", least=0)] = 1000
    seed: A[int, Help("Seed of the simulation.", least=0)] = 0

    form = Form(
        "Hot spares",
        ("disks", "restock", "mttf", "wanted"),
        {"disks": "100", "restock": "14 d", "mttf": "1000000 h"},
        {"missions": 0, "seed": 0, "years": "5"},
    )

    def answer(self, on_progress: Callable[[float], None] | None = None) -> Advice:
        """Return the fewest spares. Raises ValueError, which names the options."""
        if self.shelves > self.disks:
            raise ValueError(
                f"--shelves {self.shelves}: expected no more shelves than --disks {self.disks}"
            )
        law = self._law()
        chosen = self._advice(law, "global", 1)
        other = self._advice(law, "per-shelf", self.shelves)
        if not self.everywhere:
            chosen, other = other, chosen
        if self.missions:
            chosen = simulate(
                chosen,
                disks=self.disks,
                lifetime=law,
                restocking=self.restock,
                years=self.years,
                missions=self.missions,
                seed=self.seed,
                on_progress=on_progress,
            )
        return Advice(chosen, other)

    def figures(self) -> list[Figure]:
        """Return the spares with their arithmetic. Raises ValueError, which names the options."""
        advice = self.answer().chosen
        note = " ".join(advice.assumptions)
        missing = Input("missing spares", number(advice.missing), "mean number on order")
        formula = "P(N < spares of a pool), N Poisson of mean missing spares"
        source = "Palm's theorem; Feeney and Sherbrooke 1966"
        return [
            Figure(
                key="spares",
                title="hot spares",
                value=advice.spares,
                unit="1",
                formula=f"fewest spares for which {formula} is at least the wanted probability",
                inputs=(
                    missing,
                    Input("wanted probability", number(advice.wanted), "--probability"),
                ),
                source=source,
                note=note,
            ),
            Figure(
                key="failures-year",
                title="disk failures a year",
                value=advice.failures_a_year,
                unit="1",
                formula="disks x 8760 h x failure factor / MTTF",
                source="definition",
            ),
            *(
                Figure(
                    key=f"probability-{row.total}",
                    title=f"probability that a failed disk finds a spare, with {row.total} spares",
                    value=row.probability,
                    unit="1",
                    formula=formula,
                    inputs=(
                        missing,
                        Input("spares of a pool", str(row.spares), "row of the table"),
                    ),
                    source=source,
                )
                for row in advice.rows
            ),
        ]

    def _law(self) -> Exponential | Weibull:
        if (self.mttf is None) == (self.lifetime is None):
            raise ValueError(
                'expected either --mttf "1000000 h" or --lifetime weibull:1.12,461386h'
            )
        if self.mttf is not None:
            return Exponential(self.mttf / self.failure_factor)
        if not isinstance(self.lifetime, Exponential | Weibull) or self.failure_factor != 1:
            raise ValueError(
                "--lifetime: expected weibull: or exponential: here, without --failure-factor"
            )
        return self.lifetime

    def _advice(self, law: Exponential | Weibull, pooling: Pooling, pools: int) -> SpareAdvice:
        return advise(
            disks=self.disks,
            mttf=mean_seconds(law),
            restocking=self.restock,
            target=self.wanted,
            pools=pools,
            pooling=pooling,
        )
