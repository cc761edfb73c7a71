"""`headrace design reliability`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.design.output_options import PlotPath, check_plot, save_plot
from headrace.cli.design.progress import part_done
from headrace.cli.design.quantity_options import FailureFactor, Mttf, rate, size, time
from headrace.cli.options import AsJson, parsed
from headrace.cli.screen import print_json, show_view

if TYPE_CHECKING:
    from headrace.design.reliability.question import Batches, Domain, Duration

YEARS = (1.0, 5.0, 10.0)
"""Years of the table if none are given."""
PLOT_POINTS = 40
"""Horizons of a plot."""
MOST, MOST_LONG = 2**32 - 1, 2**64 - 1
"""Largest numbers in the fields of the engine."""
OPTIONS = (
    ("redundancy", "--level, --disks, --data, --parity, --spares"),
    ("groups", "--groups"),
    ("disk.capacity_bytes", "--capacity"),
    ("disk.bit_error_rate", "--bit-error-rate"),
    ("lifetime.burn_in", "--burn-in"),
    ("lifetime.initial_age", "--initial-age"),
    ("lifetime", "--lifetime"),
    ("repair.spares", "--spares"),
    ("repair.detection", "--detection"),
    ("repair.replacement", "--replacement"),
    ("repair", "--mttr"),
    ("latent.scrub", "--scrub"),
    ("latent", "--latent"),
    ("batches", "--batches"),
    ("domains", "--domain"),
    ("replacement", "--replace-age"),
    ("horizons", "--years"),
    ("simulation.missions", "--missions"),
    ("simulation", "--relative-error"),
    ("method", "--method"),
)
"""Options of the question's fields, the longest field first."""


class Level(StrEnum):
    """RAID levels, and declustered pools."""

    RAID0 = "raid0"
    RAID1 = "raid1"
    RAID5 = "raid5"
    RAID6 = "raid6"
    RAID10 = "raid10"
    DRAID = "draid"


class RepairOrder(StrEnum):
    """Order of the rebuilds of a group."""

    PARALLEL = "parallel"
    SERIAL = "serial"


class Method(StrEnum):
    """Ways to compute the answer."""

    AUTO = "auto"
    CLOSED_FORM = "closed-form"
    MARKOV = "markov"
    MONTE_CARLO = "monte-carlo"


class Loses(StrEnum):
    """Losses by a read error."""

    STRIPE = "stripe"
    ARRAY = "array"


class WithRedundancy(StrEnum):
    """Effects of a read error while redundancy is left."""

    CORRECTED = "corrected"
    LOSS = "loss"


class ChecksumPlace(StrEnum):
    """Places of checksums."""

    NONE = "none"
    BLOCK = "block"
    END_TO_END = "end-to-end"


class DiskClass(StrEnum):
    """Disks of Hindman 2011, table 3.2."""

    DESKTOP = "desktop"
    NEARLINE = "nearline"
    ENTERPRISE = "enterprise"
    HINDMAN = "hindman-2011"
    HINDMAN_DESKTOP = "hindman-2011-desktop"
    HINDMAN_ENTERPRISE = "hindman-2011-enterprise"


class ReplacementManner(StrEnum):
    """How old disks are replaced."""

    BY_AGE = "by-age"
    ALL_AT_ONCE = "all-at-once"
    STAGGERED = "staggered"


def reliability(
    level: Annotated[
        Level | None,
        typer.Option("--level", help="RAID level of a group, or draid: a declustered pool."),
    ] = None,
    disks: Annotated[
        int | None, typer.Option("--disks", help="Disks of a group, hot spares not counted.")
    ] = None,
    copies: Annotated[
        int | None,
        typer.Option("--copies", help="Copies of each datum, each on a disk or node of its own."),
    ] = None,
    data: Annotated[
        int | None, typer.Option("--data", help="Data disks of a code, or chunks of a stripe.")
    ] = None,
    parity: Annotated[
        int | None,
        typer.Option("--parity", help="Redundant disks of a code, or chunks of a stripe."),
    ] = None,
    groups: Annotated[
        int,
        typer.Option("--groups", min=1, max=MOST, help="Groups that are alike; none may be lost."),
    ] = 1,
    mttf: Mttf = None,
    lifetime: Annotated[
        str | None,
        typer.Option(
            "--lifetime",
            metavar="LAW",
            help="Law of the time to failure: weibull:SHAPE,SCALE, such as weibull:1.12,461386h;"
            " also exponential:, bathtub: and table:.",
        ),
    ] = None,
    disk_class: Annotated[
        DiskClass | None,
        typer.Option(
            "--disk-class",
            help="Disk whose MTTF, bit error rate and perhaps capacity are taken where they are"
            " not given (Hindman 2011, table 3.2).",
        ),
    ] = None,
    failure_factor: FailureFactor = 1.0,
    mttr: Annotated[
        str | None,
        typer.Option(
            "--mttr",
            metavar="TIME",
            help='Mean time to repair a disk, such as "12 h", or its law: weibull:2,12h,6h.',
        ),
    ] = None,
    repair_law: Annotated[
        str | None,
        typer.Option(
            "--repair-law",
            metavar="LAW",
            help="Law of --mttr: exponential (default) or constant.",
        ),
    ] = None,
    rebuild_rate: Annotated[
        str | None,
        typer.Option(
            "--rebuild-rate",
            metavar="RATE",
            help='In place of --mttr: rate of a rebuild of --capacity, such as "100 MB/s".',
        ),
    ] = None,
    rebuild_share: Annotated[
        float,
        typer.Option(
            "--rebuild-share",
            metavar="SHARE",
            help="Part of --rebuild-rate that the load leaves to the rebuild.",
        ),
    ] = 1.0,
    rebuild_load: Annotated[
        int | None,
        typer.Option(
            "--rebuild-load",
            min=1,
            max=256,
            metavar="N",
            help="In place of --rebuild-share: simulate it beside N random reads of 1 MiB that"
            " clients keep outstanding, on nearline disks.",
        ),
    ] = None,
    detection: Annotated[
        str, typer.Option("--detection", metavar="TIME", help="Time until a failure is noticed.")
    ] = "0 h",
    replacement: Annotated[
        str,
        typer.Option(
            "--replacement", metavar="TIME", help="Time to a new disk where no spare is ready."
        ),
    ] = "0 h",
    repair: Annotated[
        RepairOrder,
        typer.Option("--repair", help="Order of the rebuilds of a group's failed disks."),
    ] = RepairOrder.PARALLEL,
    spares: Annotated[
        int | None,
        typer.Option(
            "--spares",
            min=0,
            max=MOST,
            help="Hot spares of a pool of spares; of draid: spare space in disks.",
        ),
    ] = None,
    spare_groups: Annotated[
        int,
        typer.Option(
            "--spare-groups",
            min=0,
            max=MOST,
            help="Groups that share a pool of spares; 0: all of them.",
        ),
    ] = 0,
    restock: Annotated[
        str | None,
        typer.Option(
            "--restock", metavar="TIME", help="Time until a new disk takes a used spare's place."
        ),
    ] = None,
    capacity: Annotated[
        str | None,
        typer.Option("--capacity", metavar="SIZE", help='Capacity of a disk, such as "2 TB".'),
    ] = None,
    bit_error_rate: Annotated[
        float | None,
        typer.Option(
            "--bit-error-rate",
            metavar="RATE",
            help="Unrecoverable read errors per bit read, such as 1e-14.",
        ),
    ] = None,
    latent: Annotated[
        str | None,
        typer.Option(
            "--latent", metavar="TIME", help='Mean time between latent errors, such as "9259 h".'
        ),
    ] = None,
    scrub: Annotated[
        str | None,
        typer.Option(
            "--scrub",
            metavar="TIME",
            help='Period of scrubbing, such as "168 h", or its law: weibull:3,168h,6h.',
        ),
    ] = None,
    corruption: Annotated[
        str | None,
        typer.Option(
            "--silent-corruption",
            metavar="CLASS|RATE",
            help="Count silent corruptions: nearline, enterprise, or blocks a disk-year such as"
            " 0.1. --scrub compares parity.",
        ),
    ] = None,
    checksums: Annotated[
        ChecksumPlace | None,
        typer.Option(
            "--checksums",
            help="Checksums that find silent corruption: saved with the block, or apart from it."
            " Default: none.",
        ),
    ] = None,
    loses: Annotated[
        Loses,
        typer.Option("--read-error-loses", help="Loss by a read error without redundancy left."),
    ] = Loses.STRIPE,
    with_redundancy: Annotated[
        WithRedundancy,
        typer.Option(
            "--read-error-with-redundancy",
            help="Effect of a read error while redundancy is left.",
        ),
    ] = WithRedundancy.CORRECTED,
    burn_in: Annotated[
        str, typer.Option("--burn-in", metavar="TIME", help="Age of new disks when installed.")
    ] = "0 h",
    initial_age: Annotated[
        str,
        typer.Option("--initial-age", metavar="TIME", help="Age of the first disks at the start."),
    ] = "0 h",
    batches: Annotated[
        str | None,
        typer.Option(
            "--batches",
            metavar="DISKS,SHARE,FACTOR",
            help="Batches of DISKS, of which SHARE is bad and fails FACTOR times as often.",
        ),
    ] = None,
    domains: Annotated[
        list[str] | None,
        typer.Option(
            "--domain",
            metavar="NAME:DISKS,MTTF,OUTAGE[,LOST[,across]]",
            help="Shelf, node, rack or power feed that fails with all its disks; LOST is the part"
            " of them that loses its data; can be repeated.",
        ),
    ] = None,
    replace_age: Annotated[
        str | None,
        typer.Option("--replace-age", metavar="TIME", help="Age at which disks are replaced."),
    ] = None,
    replace_manner: Annotated[
        ReplacementManner,
        typer.Option("--replace-manner", help="How old disks are replaced."),
    ] = ReplacementManner.BY_AGE,
    years: Annotated[
        str | None,
        typer.Option(
            "--years", metavar="YEARS", help="Years to answer for, a comma between two; 1,5,10."
        ),
    ] = None,
    method: Annotated[
        Method,
        typer.Option("--method", help="How to compute it; auto takes the fastest that applies."),
    ] = Method.AUTO,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=MOST_LONG, help="Seed of a simulation.")
    ] = 0,
    missions: Annotated[
        int | None,
        typer.Option(
            "--missions", min=1, max=MOST_LONG, help="Missions of a simulation; default: as needed."
        ),
    ] = None,
    relative_error: Annotated[
        float,
        typer.Option(
            "--relative-error",
            metavar="PART",
            help="Wanted standard error of a simulation, as a part of each figure.",
        ),
    ] = 0.01,
    crude: Annotated[
        bool, typer.Option("--crude", help="Simulate without biasing of rare events.")
    ] = False,
    count_losses: Annotated[
        bool,
        typer.Option(
            "--count-losses",
            help="Simulate, restore each loss from a backup, and count the losses; no biasing.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also show each value with its source, and the formulas."),
    ] = False,
    as_json: AsJson = False,
    plot: PlotPath = None,
) -> None:
    """Compute the probability that disk arrays, copies or codes lose data.

    Gives the loss probability after 1, 5 and 10 years, MTTDL, NOMDL, and what is assumed.
    """
    import msgspec

    from headrace.design.figure import Input
    from headrace.design.reliability import laws, question, request
    from headrace.design.reliability.engine import ask
    from headrace.design.reliability.silent_corruption import (
        parse_corruption_rate,
        silent_corruption,
    )
    from headrace.quantities import YEAR
    from headrace.views import reliability as reliability_view

    check_plot(plot)
    simulated = count_losses or crude or missions is not None
    for option, is_given, needed, value in (
        ("--replace-manner", replace_manner != "by-age", "--replace-age", replace_age),
        ("--spare-groups", spare_groups > 0, "--spares", spares),
        ("--rebuild-share", 0 < rebuild_share < 1, "--rebuild-rate", rebuild_rate),
    ):
        if is_given and value is None:
            raise ValueError(f"{option}: expected {needed} as well: alone it has no effect")
    if checksums is not None and corruption is None:
        raise ValueError(
            f"--checksums {checksums.value}: expected --silent-corruption as well: alone it has no"
            " effect"
        )
    corruption_rate = (
        None
        if corruption is None
        else parsed("--silent-corruption", corruption, parse_corruption_rate)
    )
    scrubbing = None if scrub is None else parsed("--scrub", scrub, laws.parse_scrub)
    if simulated and method in (Method.CLOSED_FORM, Method.MARKOV):
        raise ValueError(
            f"--method {method.value} beside --count-losses, --crude or --missions: only"
            " monte-carlo simulates: expected one of them"
        )
    asked = _years(years)
    horizons = tuple(it * YEAR for it in asked)
    if plot is not None:
        step = max(asked) / PLOT_POINTS
        grid = {(number + 1) * step * YEAR for number in range(PLOT_POINTS)}
        horizons = tuple(sorted({*horizons, *grid}))
    planned = None
    if replace_age is not None:
        planned = question.Replacement(
            time("--replace-age", replace_age),
            replace_manner.value,
        )
    wanted = request.Request(
        layout=request.layout(
            None if level is None else level.value,
            disks,
            copies,
            data,
            parity,
        ),
        groups=groups,
        mttf=None if mttf is None else time("--mttf", mttf),
        lifetime=None if lifetime is None else parsed("--lifetime", lifetime, laws.parse_lifetime),
        disk_class=None if disk_class is None else disk_class.value,
        failure_factor=_positive("--failure-factor", failure_factor, 1e6),
        burn_in=time("--burn-in", burn_in, zero=True),
        initial_age=time("--initial-age", initial_age, zero=True),
        repair=_repair(mttr, repair_law),
        rebuild_rate=None if rebuild_rate is None else _rebuild_rate(rebuild_rate),
        rebuild_share=_share(rebuild_share, rebuild_load, rebuild_rate, level, disks),
        detection=time("--detection", detection, zero=True),
        replacement=time("--replacement", replacement, zero=True),
        concurrency=repair.value,
        spares=spares,
        spare_groups=spare_groups,
        restock=None if restock is None else parsed("--restock", restock, laws.parse_duration),
        capacity=None if capacity is None else size("--capacity", capacity),
        bit_error_rate=None if bit_error_rate is None else _error_rate(bit_error_rate),
        latent=None if latent is None else time("--latent", latent),
        # Without latent errors a scrub finds silent corruption only.
        scrub=None if corruption_rate is not None and latent is None else scrubbing,
        loses=loses.value,
        with_redundancy=with_redundancy.value,
        batches=None if batches is None else _batches(batches),
        domains=tuple(map(_domain, domains or [])),
        planned=planned,
        horizons=horizons,
        method=Method.MONTE_CARLO.value if simulated and method is Method.AUTO else method.value,
        simulation=question.Simulation(
            seed=seed,
            missions=missions,
            relative_error=_positive("--relative-error", relative_error, 1.0),
            biasing=not crude,
            count_losses=count_losses,
        ),
    )
    posed, inputs = request.question_of(wanted)
    with part_done("reliability") as on_progress:
        try:
            answer = ask(posed, on_progress)
        except ValueError as error:
            raise ValueError(_with_option(str(error))) from None
    corrupted = None
    if corruption_rate is not None:
        corrupted = silent_corruption(
            posed.redundancy,
            groups,
            corruption_rate,
            "none" if checksums is None else checksums.value,
            not isinstance(scrubbing, question.NoScrub | None),
            max(asked),
        )
        inputs += (
            Input(
                "silent corruptions a disk-year",
                f"{corruption_rate.mismatches:.4g}",
                corruption_rate.source,
            ),
            Input("checksums", corrupted.checksums, "--checksums"),
        )
    shown = [it for it in answer.horizons if it.horizon_seconds / YEAR in asked]
    view = reliability_view.view(wanted.layout.text, answer, shown, corrupted)
    if plot is not None:
        save_plot(plot, view)
    if as_json:
        last = max(shown, key=lambda it: it.horizon_seconds)
        document = {
            "loss_probability": last.loss_probability,
            "mttdl_seconds": answer.mttdl_seconds,
            "nomdl": last.nomdl,
            "standard_error": last.standard_error,
            "method": answer.method,
            "assumptions": [*answer.assumptions, *(corrupted.assumptions if corrupted else ())],
            "interval": [last.low, last.high],
            "nomdl_interval": [last.nomdl_low, last.nomdl_high],
            "mttdl_interval_seconds": [answer.mttdl_low_seconds, answer.mttdl_high_seconds],
            "years": last.horizon_seconds / YEAR,
            "horizons": msgspec.to_builtins(shown),
            "read_error_probability": answer.read_error_probability,
            "usable_bytes": answer.usable_bytes,
            "missions": answer.missions,
            "unavailability": msgspec.to_builtins(answer.unavailability),
            "silent_corruption": msgspec.to_builtins(corrupted),
            "inputs": msgspec.to_builtins(inputs),
            "question": msgspec.to_builtins(posed),
        }
        print_json(document, "reliability")
        return
    show_view(view)
    if explain:
        show_view(reliability_view.explanation(posed, inputs))


def _with_option(message: str) -> str:
    """Name the option in place of the question's field that the engine names."""
    field, colon, reason = message.partition(": ")
    found = [option for name, option in OPTIONS if field.startswith(name)]
    return f"{found[0]}{colon}{reason}" if colon and found else message


def _years(text: str | None) -> tuple[float, ...]:
    """Return the years of an option, ascending and each once. Raises ValueError."""
    if text is None:
        return YEARS
    found = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value <= 1e6:
            raise ValueError(
                f'--years "{text}": expected years above 0, up to 1,000,000, such as 10 or 1,5,10'
            )
        found.append(value)
    return tuple(sorted(set(found)))


def _positive(option: str, value: float, most: float) -> float:
    # A comparison with NaN is false.
    if not 0 < value <= most:
        raise ValueError(f"{option} {value:g}: expected a number above 0, up to {most:g}")
    return value


def _error_rate(value: float) -> float:
    if not 0 <= value <= 1e-6:
        raise ValueError(
            f"--bit-error-rate {value:g}: expected errors per bit from 0 to 1e-6, such as 1e-14 for"
            " 1 in 10^14"
        )
    return value


def _rebuild_rate(text: str) -> float:
    return rate("--rebuild-rate", text, "100 MB/s")


def _share(
    share: float, load: int | None, rate_text: str | None, level: Level | None, disks: int | None
) -> float:
    """Return the part of the rebuild rate that a load leaves. Raises ValueError."""
    if load is None:
        return _positive("--rebuild-share", share, 1.0)
    from headrace.design.reliability.rebuild_load import (
        LEVELS,
        NEARLINE_ACCESS,
        NEARLINE_RPM,
        rebuild_share,
    )

    if share != 1.0:
        raise ValueError("--rebuild-load beside --rebuild-share: expected one of them")
    if rate_text is None or level is None or level.value not in LEVELS:
        raise ValueError(
            f"--rebuild-load {load}: expected --rebuild-rate and --level with one of"
            f" {', '.join(LEVELS)}"
        )
    found = rebuild_share(
        level.value, disks or 2, _rebuild_rate(rate_text), NEARLINE_ACCESS, NEARLINE_RPM, load
    )
    return _positive("--rebuild-load: simulated share", found, 1.0)


def _repair(mttr: str | None, law: str | None) -> "Duration | None":
    from headrace.design.reliability import laws
    from headrace.design.reliability.question import Constant, Exponential

    if mttr is None:
        if law is not None:
            raise ValueError('--repair-law: expected --mttr with it, such as --mttr "12 h"')
        return None
    found = parsed("--mttr", mttr, laws.parse_duration)
    if law is None or law == "exponential":
        return found
    if law == "constant" and isinstance(found, Exponential):
        return Constant(found.mean)
    raise ValueError(
        f"--repair-law {law}: expected exponential or constant, with a plain time as --mttr; other"
        ' laws stand there, such as --mttr "weibull:2,12h,6h"'
    )


def _batches(text: str) -> "Batches":
    from headrace.design.reliability.question import Batches

    try:
        disks, share, factor = text.split(",")
        found = Batches(int(disks), float(share), float(factor))
    except ValueError:
        found = Batches(0, 0.0, 0.0)
    if not (1 <= found.disks <= MOST and 0 <= found.bad_share <= 1 and 0 < found.bad_factor <= 1e6):
        raise ValueError(
            f'--batches "{text}": expected the disks of a batch, the share of bad batches and the'
            " factor on their failure rate, such as 24,0.05,5"
        )
    return found


def _domain(text: str) -> "Domain":
    from headrace.design.reliability import laws
    from headrace.design.reliability.question import Domain

    expected = (
        f'--domain "{text}": expected NAME:DISKS,MTTF,OUTAGE and perhaps the part of its disks that'
        ' is lost and the word across, such as "shelf:16,200000 h,4 h,0"'
    )
    name, colon, rest = text.partition(":")
    fields = [it.strip() for it in rest.split(",")]
    across = len(fields) == 5 and fields[4] == "across"
    if not colon or not name or not (3 <= len(fields) <= 4 or across):
        raise ValueError(expected)
    try:
        disks, lost = int(fields[0]), float(fields[3]) if len(fields) > 3 else 0.0
    except ValueError:
        raise ValueError(expected) from None
    if not 1 <= disks <= MOST or not 0 <= lost <= 1:
        raise ValueError(expected)
    return Domain(
        name,
        disks,
        time("--domain", fields[1]),
        parsed("--domain", fields[2], laws.parse_duration),
        "across" if across else "within",
        lost,
    )
