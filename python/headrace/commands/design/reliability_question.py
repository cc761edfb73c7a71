"""The question of reliability's parameters, with the source of each value."""

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from headrace.design.figure import Input
from headrace.design.reliability.disk_classes import PRESETS
from headrace.design.reliability.laws import mean_seconds
from headrace.design.reliability.question import (
    Array,
    Bathtub,
    Constant,
    Declustered,
    Disk,
    Duration,
    Exponential,
    HazardTable,
    Latent,
    Lifetime,
    LifetimeLaw,
    Mirrors,
    NoScrub,
    Question,
    ReadErrors,
    Redundancy,
    Repair,
    Replacement,
    ScrubPeriod,
    Simulation,
    Spares,
    Transfer,
    Weibull,
    disks_and_redundancy,
)
from headrace.design.reliability.rebuild_load import (
    LEVELS,
    NEARLINE_ACCESS,
    NEARLINE_RPM,
    rebuild_share,
)
from headrace.quantities import duration, hours_text, size

if TYPE_CHECKING:
    from headrace.commands.design.reliability import Reliability

Level = Literal["raid0", "raid1", "raid5", "raid6", "raid10", "draid"]
PARITY: dict[str, int] = {"raid0": 0, "raid5": 1, "raid6": 2}
LEAST_DISKS: dict[str, int] = {"raid0": 1, "raid1": 2, "raid5": 3, "raid6": 4, "raid10": 4}
"""Disks of an array at least: Hindman 2011, table 3.3; of RAID-0 one."""
MOST_DISKS = 1_000_000
DEFAULT_CAPACITY = 1e12
"""Bytes of a disk if nothing gives them: they change no probability without read errors."""


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


class Layout(NamedTuple):
    """A redundancy and its description."""

    redundancy: Redundancy
    text: str
    source: str


def layout_of(request: "Reliability") -> Layout:
    """Return the redundancy of a group.

    Raises:
        ValueError: The options name none or an impossible one; the message says what to write.
    """
    level, disks, copies = request.level, request.disks, request.copies
    data, parity = request.data, request.parity
    for option, value, least in (
        ("--disks", disks, 1),
        ("--copies", copies, 1),
        ("--data", data, 1),
        ("--parity", parity, 0),
    ):
        if value is not None and not least <= value <= MOST_DISKS:
            raise ValueError(f"{option} {value}: expected a number from {least} to {MOST_DISKS:,}")
    if level == "draid":
        return _declustered(disks, data, parity, copies)
    if level is not None:
        if data is not None or parity is not None:
            raise ValueError(
                f"--level {level}: has its own parity: expected --disks without --data and"
                " --parity, or these without --level"
            )
        return _raid(level, disks, copies)
    if data is not None or parity is not None:
        return _code(disks, copies, data, parity)
    if copies is None:
        raise ValueError(
            "expected --level raid6 --disks 8, --copies 3, or --data 8 --parity 4: what keeps the"
            " data safe is not given"
        )
    if disks is not None and disks != copies:
        raise ValueError(
            f"--copies {copies} --disks {disks}: expected no --disks: each copy has a disk of its"
            " own; --groups gives the number of sets"
        )
    return Layout(
        Array(copies, copies - 1), "1 copy" if copies == 1 else f"{copies} copies", "--copies"
    )


def _raid(level: Level, disks: int | None, copies: int | None) -> Layout:
    if disks is None and level == "raid1":
        disks = copies or 2
    if disks is None:
        raise ValueError(f"--level {level}: expected --disks with the disks of an array")
    least = LEAST_DISKS[level]
    if disks < least:
        raise ValueError(
            f"--level {level} --disks {disks}: expected {least} or more"
            " (--data and --parity take any code)"
        )
    if copies is not None and level not in ("raid1", "raid10"):
        raise ValueError(f"--level {level} --copies {copies}: expected no --copies")
    if level == "raid1":
        if copies not in (None, disks):
            raise ValueError(f"--copies {copies} --disks {disks}: RAID-1 has a copy on each disk")
        return Layout(Array(disks, disks - 1), f"RAID-1 of {disks} disks", "--level")
    if level == "raid10":
        each = copies or 2
        if each < 2 or disks % each:
            raise ValueError(
                f"--level raid10 --disks {disks}: expected a multiple of the {each} copies, and 2"
                " copies or more"
            )
        text = f"RAID-10 of {disks} disks in mirrors of {each}"
        return Layout(Mirrors(disks, each), text, "--level, --disks")
    parity = PARITY[level]
    text = f"RAID-{level[4:]} of {disks} disks"
    return Layout(Array(disks, parity), text, "--level, --disks")


def _code(disks: int | None, copies: int | None, data: int | None, parity: int | None) -> Layout:
    if data is None or parity is None:
        given = "--data" if parity is None else "--parity"
        raise ValueError(f"{given}: expected both --data and --parity, such as --data 8 --parity 4")
    if copies is not None:
        raise ValueError("--copies beside --data and --parity: expected one of them")
    if disks is not None and disks != data + parity:
        more = "" if parity < disks else f"; {parity} redundant of {disks} disks leave no data"
        raise ValueError(
            f"--disks {disks} --data {data} --parity {parity}: expected no --disks, or"
            f" {data + parity}{more} (--level draid spreads stripes over more disks)"
        )
    text = f"code of {data} + {parity} disks"
    return Layout(Array(data + parity, parity), text, "--data, --parity")


def _declustered(
    disks: int | None, data: int | None, parity: int | None, copies: int | None
) -> Layout:
    if disks is None or data is None or parity is None or copies is not None:
        raise ValueError(
            "--level draid: expected --disks of the pool, and --data and --parity of a stripe"
        )
    if data + parity > disks:
        raise ValueError(
            f"--level draid --disks {disks}: a stripe of {data} + {parity} needs as many disks"
        )
    text = f"declustered pool of {disks} disks, stripes of {data} + {parity}"
    return Layout(Declustered(disks, data, parity), text, "--level, --disks, --data, --parity")


def question_of(
    request: "Reliability", horizons: tuple[float, ...]
) -> tuple[Question, tuple[Input, ...], str]:
    """Return the question of some parameters, each of its values with its source, and its name.

    Raises:
        ValueError: A value is missing or contradicts another; the message names the options.
    """
    _refuse_contradictions(request)
    layout = layout_of(request)
    inputs = [
        Input("redundancy", layout.text, layout.source),
        Input("groups", f"{request.groups:,}", "--groups" if request.groups > 1 else "default"),
    ]
    law = _lifetime(request, inputs)
    disk = _disk(request, inputs)
    rebuild = _rebuild(request, layout, inputs)
    latent = _latent(request, inputs)
    redundancy, spares = _spares(request, layout.redundancy, inputs)
    inputs.append(Input("repair of several disks", request.repair, "--repair"))
    inputs.append(Input("read error loses", request.loses, "--read-error-loses"))
    planned = None
    if request.replace_age is not None:
        planned = Replacement(request.replace_age, request.replace_manner)
    is_simulated = request.is_simulated and request.method == "auto"
    question = Question(
        redundancy=redundancy,
        groups=request.groups,
        disk=disk,
        lifetime=Lifetime(law, request.burn_in, request.initial_age),
        repair=Repair(
            rebuild=rebuild,
            detection=_time(request.detection, rebuild),
            replacement=_time(request.replacement, rebuild),
            concurrency=request.repair,
            spares=spares,
        ),
        latent=latent,
        read_errors=ReadErrors(request.loses, request.with_redundancy),
        batches=request.batches,
        domains=request.domains,
        replacement=planned,
        horizons=horizons,
        method="monte-carlo" if is_simulated else request.method,
        simulation=Simulation(
            seed=request.seed,
            missions=request.missions,
            relative_error=request.relative_error,
            biasing=not request.crude,
            count_losses=request.count_losses,
        ),
    )
    return question, tuple(inputs), layout.text


def _refuse_contradictions(request: "Reliability") -> None:
    for option, is_given, needed, value in (
        (
            "--replace-manner",
            request.replace_manner != "by-age",
            "--replace-age",
            request.replace_age,
        ),
        ("--spare-groups", request.spare_groups > 0, "--spares", request.spares),
        ("--rebuild-share", request.rebuild_share < 1, "--rebuild-rate", request.rebuild_rate),
    ):
        if is_given and value is None:
            raise ValueError(f"{option}: expected {needed} as well: alone it has no effect")
    if request.checksums is not None and request.corruption is None:
        raise ValueError(
            f"--checksums {request.checksums}: expected --silent-corruption as well: alone it has"
            " no effect"
        )
    if request.is_simulated and request.method in ("closed-form", "markov"):
        raise ValueError(
            f"--method {request.method} beside --count-losses, --crude or --missions: only"
            " monte-carlo simulates: expected one of them"
        )


def _spares(
    request: "Reliability", redundancy: Redundancy, inputs: list[Input]
) -> tuple[Redundancy, Spares | None]:
    """Return the redundancy with its spare space, and the pool of hot spares."""
    if isinstance(redundancy, Declustered):
        if request.restock is not None:
            raise ValueError(
                "--restock: a declustered pool has spare space: expected --replacement with the"
                " time to a new disk"
            )
        inputs.append(Input("spare space", f"{request.spares or 0} disks", "--spares"))
        return msgspec.structs.replace(redundancy, spare_disks=request.spares or 0), None
    if request.spares is None:
        if request.restock is not None:
            raise ValueError("--restock: expected --spares with the number of hot spares")
        return redundancy, None
    if request.restock is None:
        raise ValueError(
            f"--spares {request.spares}: expected --restock with the time until a new disk"
            ' takes a spare\'s place, such as --restock "14 d"'
        )
    shared = f"{request.spare_groups} groups" if request.spare_groups else "all groups"
    inputs.append(Input("hot spares", f"{request.spares}, shared by {shared}", "--spares"))
    return redundancy, Spares(request.spares, request.restock, request.spare_groups)


def _time(seconds: float, rebuild: Duration) -> Duration:
    """A time of the law of the rebuild: an exponential one keeps a Markov chain possible."""
    if seconds > 0 and isinstance(rebuild, Exponential):
        return Exponential(seconds)
    return Constant(seconds)


def _lifetime(request: "Reliability", inputs: list[Input]) -> LifetimeLaw:
    if request.lifetime is not None:
        if request.mttf is not None:
            raise ValueError("--mttf beside --lifetime: expected one of them")
        if request.failure_factor != 1:
            raise ValueError("--failure-factor beside --lifetime: expected --mttf with it")
        inputs.append(Input("lifetime of a disk", law_text(request.lifetime), "--lifetime"))
        return request.lifetime
    mttf, source = request.mttf, "--mttf"
    if mttf is None and request.disk_class is not None:
        mttf, source = PRESETS[request.disk_class].mttf, PRESETS[request.disk_class].source
    if mttf is None:
        raise ValueError(
            'expected --mttf "1000000 h", --lifetime "weibull:1.12,461386h" or --disk-class'
            " nearline: how disks fail is not given"
        )
    inputs.append(Input("MTTF of a disk", hours_text(mttf), source))
    if request.failure_factor != 1:
        inputs.append(
            Input(
                "observed / stated failure rate",
                f"{request.failure_factor:g}",
                "--failure-factor (studies found 2 to 10: Hindman 2011, section 3.1.1)",
            )
        )
    return Exponential(mttf / request.failure_factor)


def _capacity(request: "Reliability") -> tuple[float | None, str]:
    """Return the bytes of a disk with their source; None if neither user nor class gives them."""
    if request.disk_capacity is None and request.disk_class is not None:
        preset = PRESETS[request.disk_class]
        return preset.capacity, preset.source
    return request.disk_capacity, "--capacity"


def _disk(request: "Reliability", inputs: list[Input]) -> Disk:
    preset = PRESETS[request.disk_class] if request.disk_class is not None else None
    capacity, capacity_source = _capacity(request)
    rate, rate_source = request.bit_error_rate, "--bit-error-rate"
    if rate is None and preset is not None:
        rate, rate_source = preset.bit_error_rate, preset.source
    if capacity is None:
        if request.bit_error_rate:
            raise ValueError('--bit-error-rate: expected --capacity of a disk, such as "2 TB"')
        # A class without a capacity has no read errors: nothing says how much is read.
        rate = None
        capacity, capacity_source = DEFAULT_CAPACITY, "default; no effect without read errors"
    inputs.append(Input("capacity of a disk", size(capacity), capacity_source))
    inputs.append(
        Input(
            "bit error rate",
            f"{rate or 0:g}",
            rate_source if rate is not None else "default: no read errors by it",
        )
    )
    return Disk(capacity, rate or 0.0)


def _rebuild(request: "Reliability", layout: Layout, inputs: list[Input]) -> Duration:
    share = _rebuild_share(request)
    repair = _repair(request)
    if repair is not None:
        if request.rebuild_rate is not None:
            raise ValueError("--mttr beside --rebuild-rate: expected one of them")
        inputs.append(Input("time to repair", duration_text(repair), "--mttr"))
        rebuild = repair
    elif request.rebuild_rate is not None:
        capacity, _ = _capacity(request)
        if capacity is None:
            raise ValueError('--rebuild-rate: expected --capacity of a disk, such as "2 TB"')
        rate = request.rebuild_rate * share
        rebuild = Transfer(capacity, rate)
        inputs.append(
            Input(
                "time to rebuild",
                f"{size(capacity)} / ({size(request.rebuild_rate)}/s x"
                f" {share:g}) = {duration(mean_seconds(rebuild))}",
                "--capacity / (--rebuild-rate x --rebuild-share)",
            )
        )
    elif disks_and_redundancy(layout.redundancy)[1] == 0:
        # No rebuild brings lost data back.
        rebuild = Exponential(1.0)
        inputs.append(Input("time to repair", "none", "no redundancy: nothing is rebuilt"))
    else:
        raise ValueError(
            'expected --mttr "12 h", or --rebuild-rate "100 MB/s" and --capacity "2 TB": how long'
            " a failed disk takes is not given"
        )
    for name, seconds in (
        ("--detection", request.detection),
        ("--replacement", request.replacement),
    ):
        if seconds:
            inputs.append(Input(f"time of {name[2:]}", duration(seconds), name))
    return rebuild


def _repair(request: "Reliability") -> Duration | None:
    if request.mttr is None:
        if request.repair_law is not None:
            raise ValueError('--repair-law: expected --mttr with it, such as --mttr "12 h"')
        return None
    if request.repair_law in (None, "exponential"):
        return request.mttr
    if request.repair_law == "constant" and isinstance(request.mttr, Exponential):
        return Constant(request.mttr.mean)
    raise ValueError(
        f"--repair-law {request.repair_law}: expected exponential or constant, with a plain time as"
        ' --mttr; other laws stand there, such as --mttr "weibull:2,12h,6h"'
    )


def _rebuild_share(request: "Reliability") -> float:
    """Return the part of the rebuild rate that a load leaves."""
    load = request.rebuild_load
    if load is None:
        return request.rebuild_share
    if request.rebuild_share != 1.0:
        raise ValueError("--rebuild-load beside --rebuild-share: expected one of them")
    level = request.level
    if request.rebuild_rate is None or level is None or level not in LEVELS:
        raise ValueError(
            f"--rebuild-load {load}: expected --rebuild-rate and --level with one of"
            f" {', '.join(LEVELS)}"
        )
    share = rebuild_share(
        level, request.disks or 2, request.rebuild_rate, NEARLINE_ACCESS, NEARLINE_RPM, load
    )
    if not 0 < share <= 1:
        raise ValueError(f"--rebuild-load {load}: the load leaves nothing to the rebuild")
    return share


def _latent(request: "Reliability", inputs: list[Input]) -> Latent | None:
    if request.latent is None:
        # With --silent-corruption it compares parity.
        if request.scrub is not None and request.corruption is None:
            raise ValueError(
                '--scrub: expected --latent with the mean time between latent errors, such as "9259'
                ' h": without them scrubbing changes nothing'
            )
        return None
    scrub = request.scrub if request.scrub is not None else NoScrub()
    inputs.append(Input("mean time between latent errors", hours_text(request.latent), "--latent"))
    text = "none"
    if isinstance(scrub, ScrubPeriod):
        text = f"every {duration(scrub.seconds)}"
    elif isinstance(scrub, Weibull):
        text = duration_text(scrub)
    inputs.append(Input("scrubbing", text, "--scrub" if request.scrub is not None else "default"))
    return Latent(request.latent, scrub)


def duration_text(law: Duration) -> str:
    """Describe a length of time in words."""
    match law:
        case Constant():
            return f"{duration(law.seconds)}, constant"
        case Exponential():
            return f"{duration(law.mean)} on average, exponential"
        case Weibull():
            least = f" + {duration(law.location)}" if law.location else ""
            return f"Weibull, shape {law.shape:g}, scale {duration(law.scale)}{least}"
    return f"{duration(mean_seconds(law))}, constant"


def law_text(law: LifetimeLaw) -> str:
    """Describe the law of a lifetime in words."""
    match law:
        case Exponential():
            return f"exponential, mean {hours_text(law.mean)}"
        case Weibull():
            return f"Weibull, shape {law.shape:g}, scale {hours_text(law.scale)}"
        case Bathtub():
            constant = (
                "" if law.constant_mean is None else f", constant {hours_text(law.constant_mean)}"
            )
            return (
                f"bathtub: infant shape {law.infant.shape:g}, scale {hours_text(law.infant.scale)}"
                f"{constant}, wear-out shape {law.wear_out.shape:g}, scale"
                f" {hours_text(law.wear_out.scale)}"
            )
        case HazardTable():
            return f"table of {len(law.ages)} hazards by age"


def name_option(message: str) -> str:
    """Name the option in place of the question's field that the engine names."""
    field, colon, reason = message.partition(": ")
    options = [option for name, option in OPTIONS if field.startswith(name)]
    return f"{options[0]}{colon}{reason}" if colon and options else message
