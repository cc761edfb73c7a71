"""The application I/O profiling worksheet, filled in (Hindman 2011, appendix C)."""

from headrace.profile.interval_means import weighted_mean
from headrace.profile.worksheet import MachineFacts, Processors
from headrace.quantities import duration, figure, size, whole
from headrace.report.document.content import (
    Block,
    Bullets,
    Facts,
    Paragraph,
    Section,
    Table,
    foreign,
)
from headrace.report.profile_report.data import ProfileData
from headrace.views.profile_values import NO_VERDICT, UNKNOWN, share_of, timestamp, with_unit
from headrace.views.verdict_words import verdict_words

THROUGHPUT = ("character-write", "block-write", "rewrite", "character-read", "block-read")
METADATA = ("create", "stat", "remove")
UNEVEN = 2.0
"""I/O is uneven if the busiest phase moves more times as much per second as the quietest one. The
source gives no limit; this one is ours."""
MARK = "X"
MARKS = ("CPU", "memory", "I/O")
NOT_MEASURED = "not measured"
KINDS = {True: "hard disk", False: "solid state"}
"""Kinds of disks by whether they rotate."""


def section(data: ProfileData) -> Section:
    """Return the worksheet."""
    blocks: list[Block] = [Facts(_system(data)), *_disks(data)]
    if data.baseline:
        blocks += [_throughput(data), _metadata(data)]
    else:
        blocks.append(
            Paragraph(
                "No baseline of this machine: `headrace baseline DIR` measures one. Without it,"
                " throughput cannot be compared with the machine's limits."
            )
        )
    blocks.append(
        Paragraph(
            "The I/O profiles of the application are the charts above.",
            "note",
        )
    )
    blocks += _evaluation(data)
    return Section("worksheet", "Application I/O profiling worksheet", blocks)


def _system(data: ProfileData) -> list[tuple[str, str]]:
    environment, facts = data.profile.get("environment") or {}, data.facts
    processors = facts.processors or Processors(None, None, None, 0)
    cores = processors.cores or processors.threads or environment.get("processors")
    memory = facts.memory_bytes or environment.get("memory_bytes")
    count = "unknown" if cores is None else str(cores)
    if processors.sockets and processors.cores:
        count += f" in {processors.sockets} sockets, {processors.threads} threads"
    model = processors.model or environment.get("processor") or "unknown"
    return [
        ("Application name", foreign(data.profile.get("name", ""))),
        ("Test date", timestamp(data.profile.get("started", ""))),
        ("Type of processor", foreign(model)),
        ("Total number of cores", count),
        ("Total amount of system memory", "unknown" if memory is None else size(memory)),
        ("Disk subsystem RAID configuration", _raid(facts)),
        ("Number of disks in disk subsystem", _disk_count(facts)),
        ("Network interfaces", _interfaces(facts)),
        ("File system", _file_system(facts)),
    ]


def _raid(facts: MachineFacts) -> str:
    if facts == MachineFacts():
        return "unknown"
    below = facts.storage.devices if facts.storage else []
    arrays = [array for array in facts.arrays if not below or array.name in below]
    if not arrays:
        return "no software RAID; a RAID controller's array is not visible"
    described = []
    for raid in arrays:
        text = f"{raid.name}: {raid.level or 'no level'}"
        if raid.chunk_bytes:
            text += f", chunk {raid.chunk_bytes // 1024} KiB"
        text += f", {len(raid.members)} members ({', '.join(raid.members)}), {raid.state}"
        text += f", failed: {', '.join(raid.failed)}" if raid.failed else ""
        described.append(text)
    return foreign("; ".join(described))


def _disk_count(facts: MachineFacts) -> str:
    below = facts.storage.devices if facts.storage else []
    if not below:
        return "unknown"
    raids = {disk.name for disk in facts.disks if disk.made_of}
    disks = [name for name in below if name not in raids]
    return f"{len(disks)} ({foreign(', '.join(disks))})"


def _interfaces(facts: MachineFacts) -> str:
    described = []
    for interface in facts.interfaces:
        if interface.state == "down":
            continue
        speed = interface.bits_per_s
        parts = [f"{figure(speed / 1e9)} Gbit/s" if speed else "speed unknown"]
        parts += [f"{interface.duplex} duplex"] if interface.duplex else []
        parts += [f"driver {interface.driver}"] if interface.driver else []
        parts += [f"MTU {interface.mtu}"] if interface.mtu else []
        described.append(f"{interface.name}: {', '.join(parts)}")
    return foreign("; ".join(described) or "unknown")


def _file_system(facts: MachineFacts) -> str:
    storage = facts.storage
    if storage is None or not storage.file_system:
        return "unknown"
    return foreign(
        f"{storage.file_system} on {storage.mount_source}, mounted at {storage.mount_point}"
        f" ({storage.mount_options})"
    )


def _disks(data: ProfileData) -> list[Block]:
    below = data.facts.storage.devices if data.facts.storage else []
    rows = [
        [
            foreign(disk.name, 40),
            foreign(disk.model or UNKNOWN, 60),
            size(disk.bytes) if disk.bytes else UNKNOWN,
            "unknown" if disk.rotational is None else KINDS[disk.rotational],
            foreign(", ".join(disk.made_of) or UNKNOWN, 120),
            "yes" if disk.name in below else "no",
        ]
        for disk in data.facts.disks
    ]
    columns = ["Device", "Model", "Size", "Kind", "Made of", "Below the directory"]
    return [Table("Disks", columns, "llrlll", rows)] if rows else []


def _throughput(data: ProfileData) -> Table:
    cells = []
    for name in THROUGHPUT:
        saved = data.baseline.get(name) or {}
        value, cpu = saved.get("value"), saved.get("cpu")
        cells.append(NOT_MEASURED if value is None else figure(value / 1e6))
        cells.append(UNKNOWN if cpu is None else f"{100 * cpu:.0f}")
    columns = ["Char MB/s", "% CPU", "Block MB/s", "% CPU", "Rewrite MB/s", "% CPU"]
    columns += ["Char MB/s", "% CPU", "Block MB/s", "% CPU"]
    groups = [("Sequential output", 6), ("Sequential input", 4)]
    note = "% CPU is that of one core."
    return Table("Baseline: throughput", columns, "r" * 10, [cells], groups, note)


def _metadata(data: ProfileData) -> Table:
    cells = [
        NOT_MEASURED if data.value(name) is None else whole(round(data.value(name) or 0.0))
        for name in METADATA
    ]
    columns = ["Create /s", "Read /s", "Delete /s"] * 2
    groups = [("Sequential", 3), ("Random", 3)]
    cells += [_or_not_measured(data.value(f"random-{name}")) for name in METADATA]
    note = "Read is a stat of each file."
    return Table("Baseline: metadata", columns, "r" * 6, [cells], groups, note)


def _or_not_measured(value: float | None) -> str:
    return NOT_MEASURED if value is None else whole(round(value))


def _evaluation(data: ProfileData) -> list[Block]:
    """Return the three questions of the worksheet with their answers."""
    if not data.phases:
        return [Paragraph("Evaluation: there is no phase to evaluate.")]
    compared = [
        f"Phase {number}: {foreign(row['figure'], 120)} {with_unit(row['value'], row['unit'])},"
        f" {share_of(row['value'], row['baseline'])} of the baseline's"
        f" {with_unit(row['baseline'], row['unit'])}."
        for number, phase in enumerate(data.phases, 1)
        for row in phase.get("evidence") or []
        if row.get("baseline")
    ]
    blocks: list[Block] = [
        Paragraph("Evaluation: the I/O profile compared with the baseline", "heading")
    ]
    blocks.append(Bullets(compared or ["No figure of a phase has a baseline."]))
    blocks.append(Paragraph("Evaluation: distribution over the lifetime", "heading"))
    blocks.append(Paragraph(distribution(data)))
    rows = []
    for number, phase in enumerate(data.phases, 1):
        mark = verdict_words(phase["verdict"]).mark
        rows.append(
            [
                str(number),
                f"{figure(phase['from_s'])} to {figure(phase['to_s'])}",
                *(MARK if mark == symbol else "" for symbol in MARKS),
                foreign(phase["verdict"] or NO_VERDICT, 40),
            ]
        )
    columns = ["Phase", "Time, s", "CPU bound", "Memory bound", "I/O bound", "Verdict"]
    blocks.append(Table("Evaluation: critical features", columns, "lrllll", rows))
    return blocks


def distribution(data: ProfileData) -> str:
    """Return whether I/O is even over the lifetime, as a sentence."""
    activity = [_activity(data.within(phase)) for phase in data.phases]
    known = [rate for rate in activity if rate is not None]
    if not known:
        return "Unknown: there are no samples of it."
    if max(known) == 0:
        return "The application did no I/O."
    if len(known) == 1:
        return f"Even: {size(known[0])}/s in a single phase of {duration(data.duration_s)}."
    texts = [
        f"phase {number} {size(one)}/s" for number, one in enumerate(activity, 1) if one is not None
    ]
    uneven = max(known) > UNEVEN * min(known)
    word = "Times of high and of low activity" if uneven else "Even"
    return f"{word}: {', '.join(texts)}."


def _activity(data: ProfileData) -> float | None:
    """Return the bytes per second of the application's calls or of its devices, whichever is more.

    Calls lack mapped files and asynchronous requests. If both are unknown, the disks count."""
    if not data.rates.height:
        return None
    ways = ("read", "write")
    means = [
        weighted_mean(data.sum(*names), data.lengths)
        for names in (
            [f"tree.{way}_call_bytes_per_s" for way in ways],
            [f"tree.{way}_bytes_per_s" for way in ways],
            [f"disk.{disk}.{way}_bytes_per_s" for disk in data.disks for way in ways],
        )
        if names
    ]
    own = [mean for mean in means[:2] if mean is not None]
    return max(own) if own else means[-1]
