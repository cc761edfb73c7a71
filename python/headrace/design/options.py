"""Values that a search tries, and those that it leaves out with the reason."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, get_args

import msgspec

from headrace._core import parse_bytes
from headrace.design.catalogue import DiskClass
from headrace.design.evaluation import Choice
from headrace.design.system import ArrayKind, Code, FileSystem
from headrace.design.worksheet import Worksheet

T = TypeVar("T")

IMPOSSIBLE = 50.0
"""Weight of a rule from which on a value is impossible."""

FILE_SYSTEMS: tuple[FileSystem, ...] = get_args(FileSystem)
DISK_CLASSES: tuple[DiskClass, ...] = get_args(DiskClass)
ARRAYS: tuple[ArrayKind, ...] = ("raid10", "raid1", "raid6", "draid", "raid5", "raid0", "single")
"""Arrays of disks in a node; an erasure code over its disks is a draid of one group."""
COPIES = (1, 2, 3)
SPARES = (0, 1, 2)
CODES = (Code(4, 2), Code(8, 3))
"""Erasure codes over nodes (declared: usual of GlusterFS' dispersed volumes and of HDFS)."""
STRIPES: dict[FileSystem, int] = {
    "lustre": 1 << 20,
    "pvfs2": 64 << 10,
    "glusterfs": 128 << 10,
    "hdfs": 64 << 20,
    "nfs": 1 << 20,
}
"""Bytes of a stripe as the presets of the scenario have them."""
STRIPED: dict[FileSystem, tuple[bool, ...]] = {
    "lustre": (False, True),
    "pvfs2": (False, True),
    "glusterfs": (False, True),
    "hdfs": (True,),
    "nfs": (False,),
}
"""Whether files can lie on one server, or on several."""


HAS_COPIES: frozenset[FileSystem] = frozenset({"glusterfs", "hdfs"})
"""File systems that copy or code files over nodes."""
OWN_METADATA: frozenset[FileSystem] = frozenset({"lustre", "pvfs2", "hdfs"})
"""File systems with metadata servers."""
STANDBY: frozenset[FileSystem] = frozenset({"lustre", "hdfs"})
"""Those of which a second one can wait to take over."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Values that a search combines."""

    excluded: tuple[str, ...] = ()
    """Values that are not tried, each with the reason."""
    file_systems: tuple[FileSystem, ...] = FILE_SYSTEMS
    disk_classes: tuple[DiskClass, ...] = DISK_CLASSES
    arrays: tuple[ArrayKind, ...] = ARRAYS
    copies: tuple[int, ...] = COPIES
    codes: tuple[Code, ...] = ()
    spares: tuple[int, ...] = (0, 1)
    metadata_nodes: tuple[int, ...] = (1,)
    metadata_on_flash: bool = True
    """Whether metadata is on the cheapest solid-state drive, and not on the data's disk model."""
    striped: bool | None = None
    """Whether files are striped over servers; None: where the file system can."""
    stripe: int | None = None
    """Bytes; None: as usual of the file system."""
    gateways: int = 0
    fail_over: bool = False
    """Whether a server waits to take over from one without copies elsewhere."""
    paths: int = 1
    client_ports: int = 0


def options(worksheet: Worksheet, choices: Sequence[Choice], everything: bool = False) -> Options:
    """Return the values that a search tries, and those that it leaves out with their reasons.

    Prices and simulations judge most values. A rule excludes one only if no figure of a design
    shows its effect: the values depend on the worksheet, and not on the catalogue.

    Args:
        worksheet: The requirements.
        choices: Recommendations for each zone and for the system.
        everything: Try all values instead, codes over nodes among them.
    """
    demanded = max((zone.copies or 1 for zone in worksheet.zones), default=1)
    copies = tuple(number for number in COPIES if number >= demanded) or (demanded,)
    gateways = {"gateway": 1, "gateway-pair": 2}.get(_first(choices, "gateway"), 0)
    redundancy = _recommended(choices, "node-redundancy")
    fail_over, paths = "fail-over" in redundancy, 1 + ("redundant-network" in redundancy)
    # Clients of a gateway stay on the network that they have.
    client_ports = sum(
        group.count
        for group in worksheet.clients
        if not group.has_network and not (gateways and group.system == "windows")
    )
    if everything:
        return Options(
            copies=copies,
            codes=CODES if demanded == 1 else (),
            spares=SPARES,
            metadata_nodes=(1, 2),
            gateways=gateways,
            fail_over=fail_over,
            paths=paths,
            client_ports=client_ports,
        )
    metadata = _recommended(choices, "metadata")
    stripe = _most_common(_each_first(choices, "stripe"))
    distributions = _each_first(choices, "distribution")
    excluded: list[str] = []

    def tried(
        aspect: str, known: Iterable[T], excludes: Callable[[T, float], bool]
    ) -> tuple[T, ...]:
        return _tried(choices, aspect, known, excludes, excluded)

    # Only these rules know how safe a design is if the worksheet accepts no probability of a loss.
    safety = worksheet.recovery.loss_probability is None
    file_systems = tried(
        "file-system", FILE_SYSTEMS, lambda name, weight: name == "hdfs" or weight >= IMPOSSIBLE
    )
    disk_classes = tried("disk-class", DISK_CLASSES, lambda name, _: name == "desktop")
    arrays = tried("array", ARRAYS, lambda _, __: safety)
    spares = tried("spares", SPARES, lambda _, __: safety)
    if worksheet.recovery.survives_node:
        copies = tuple(number for number in copies if number > 1) or (max(2, demanded),)
    codes = CODES if demanded == 1 and _is_archive(worksheet) else ()
    if min(copies) > 1:
        field = "zones.copies" if demanded > 1 else "recovery.survives_node"
        excluded += [
            f"file-system {name}: {field} needs copies over servers, and it makes none"
            for name in file_systems
            if name not in HAS_COPIES
        ]
        if demanded == 1 and not codes:
            excluded.append(
                'erasure codes over servers: they suit zones with throughput = "low";'
                " --all-values tries them"
            )
    waits = bool({"standby", "several-servers"} & metadata)
    if waits:
        # Those that cannot have a second metadata server, where another file system can.
        safer = tuple(name for name in file_systems if name in STANDBY or name not in OWN_METADATA)
        if safer and min(copies) == 1:
            excluded += [
                f"file-system {name}: no second metadata server can take over from its first"
                for name in file_systems
                if name not in safer
            ]
        file_systems = safer or file_systems
    return Options(
        excluded=tuple(excluded),
        file_systems=file_systems,
        disk_classes=disk_classes,
        arrays=arrays,
        copies=copies,
        codes=codes,
        spares=spares if safety else (0, 1),
        metadata_nodes=(2,) if waits else (1,),
        metadata_on_flash=not metadata or "ssd" in metadata,
        striped=_most_common(distributions) == "striped" if distributions else None,
        stripe=parse_bytes(stripe) if stripe else None,
        gateways=gateways,
        fail_over=fail_over,
        paths=paths,
        client_ports=client_ports,
    )


def _is_archive(worksheet: Worksheet) -> bool:
    """Return whether all zones need little throughput: a code may take the place of copies."""
    return bool(worksheet.zones) and all(zone.throughput == "low" for zone in worksheet.zones)


def _of(choices: Iterable[Choice], aspect: str) -> list[Choice]:
    """Return the choices of an aspect: those of zones, or else that of the system."""
    decided = [choice for choice in choices if choice.aspect == aspect]
    return [choice for choice in decided if choice.zone] or decided


def _system(choices: Iterable[Choice], aspect: str) -> tuple[str, ...]:
    decided = [choice for choice in choices if choice.aspect == aspect]
    return next((choice.values for choice in decided if not choice.zone), ()) or (
        tuple(dict.fromkeys(value for choice in decided for value in choice.values))
    )


def _recommended(choices: Iterable[Choice], aspect: str) -> set[str]:
    return {value for choice in choices if choice.aspect == aspect for value in choice.values}


def _first(choices: Iterable[Choice], aspect: str) -> str:
    return next(iter(_system(choices, aspect)), "")


def _each_first(choices: Iterable[Choice], aspect: str) -> list[str]:
    return [choice.values[0] for choice in _of(choices, aspect) if choice.values]


def _most_common(values: Sequence[str]) -> str:
    """Return the value of most zones, the first of equals; empty if there is none."""
    return max(dict.fromkeys(values), key=values.count, default="")


def _tried(
    choices: Iterable[Choice],
    aspect: str,
    known: Iterable[T],
    excludes: Callable[[T, float], bool],
    excluded: list[str],
) -> tuple[T, ...]:
    """Return the values that no rule excludes; append the others with the reason.

    A rule excludes a value that is recommended for no zone, if `excludes` is true of the value and
    the weight of the rule.
    """
    matching = _of(choices, aspect)
    recommended = {value for choice in matching for value in choice.values}
    reasons = {
        value: reason
        for choice in matching
        for value, reason in reversed(choice.rejected)
        if value not in recommended
    }
    known = tuple(known)
    out = {
        one
        for one in known
        if (reason := reasons.get(str(one))) and excludes(one, abs(reason.weight))
    }
    if len(out) == len(known):
        return known
    excluded += [f"{aspect} {one}: {reasons[str(one)].text}" for one in known if one in out]
    return tuple(one for one in known if one not in out)
