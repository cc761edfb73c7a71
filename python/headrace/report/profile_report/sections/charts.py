"""The charts, and what `top` and `iostat` would have shown of each phase."""

from collections.abc import Sequence

import polars as pl

from headrace.quantities import figure, megabytes, milliseconds, percent, size
from headrace.report.document.content import Block, Paragraph, Picture, Section, Table, foreign
from headrace.report.profile_report.data import Document, ProfileData
from headrace.views.profile_values import UNKNOWN, host_row

PROCESSES = 6
LEAST_CORES = 0.0005
"""Processor time that is shown as more than 0.0 %."""
CORES = 4
CALLS = ("read", "write")
STATES = ("user", "system", "nice", "idle", "iowait", "irq", "softirq", "steal")


def section(data: ProfileData, pictures: Sequence[Picture]) -> Section:
    """Return the other charts, and the tables of processes, cores and disks."""
    blocks: list[Block] = list(pictures)
    if not data.rates.height:
        blocks.append(Paragraph("No chart: the recording has no complete interval."))
    for table in (_hosts(data), _verdicts(data), _processes(data), _cores(data), _disks(data)):
        if table.rows:
            blocks.append(table)
    return Section("profiles", "I/O profiles", blocks)


def _hosts(data: ProfileData) -> Table:
    """Return the means of several hosts; no row for a single one."""
    usage = data.profile.get("usage") or {}
    hosts = [name for name in data.profile.get("hosts") or [] if name in usage]
    rows = []
    for host in hosts if len(hosts) > 1 else []:
        means = {name: value.get("mean") for name, value in usage[host].items()}
        cores = [means[key] for key in ("tree.user", "tree.system") if means.get(key) is not None]
        rows.append(
            [
                foreign(host, 60),
                percent(sum(cores) if cores else None),
                percent(means.get("cpu.iowait")),
                *(megabytes(means.get(f"tree.{call}_call_bytes_per_s")) for call in CALLS),
                *(megabytes(means.get(f"tree.{call}_bytes_per_s")) for call in CALLS),
            ]
        )
    columns = ["Host", "CPU %", "I/O wait %", "Read calls MB/s", "Write calls MB/s"]
    columns += ["Devices read MB/s", "Written MB/s"]
    shown = foreign(data.profile.get("host") or "the first host", 60)
    note = f"Means over the run. The charts and the tables below show {shown}."
    return Table("Hosts", columns, "lrrrrrr", rows, note=note)


def _verdicts(data: ProfileData) -> Table:
    """Return the verdicts of several hosts; no row for a single one."""
    columns = ["Host", "Verdict", "Other verdicts", "Phases", "Share %"]
    rows = [
        [foreign(cell, 60) for cell in host_row(host_verdict)]
        for host_verdict in data.profile.get("host_verdicts") or []
    ]
    note = "The report shows the phases of the host that is limited longest."
    return Table("Verdicts of the hosts", columns, "lllrr", rows, note=note)


def _parts(data: ProfileData) -> list[tuple[str, ProfileData]]:
    parts = [(str(number), data.within(phase)) for number, phase in enumerate(data.phases, 1)]
    return [part for part in parts if part[1].rates.height] or [("all", data)]


def _processes(data: ProfileData) -> Table:
    rows = []
    left_out = 0
    for phase, part in _parts(data):
        if part.processes is None or not part.processes.height:
            continue
        seconds = float(part.lengths.sum())
        length = pl.col("to_s") - pl.col("from_s")
        rates = ("user", "system", "read_bytes_per_s", "write_bytes_per_s")
        table = (
            part.processes.group_by("pid")
            .agg(
                pl.col("name").last(),
                *((pl.col(rate).fill_null(0.0) * length).sum() / seconds for rate in rates),
                pl.col("resident_bytes").max(),
            )
            .sort(pl.col("user") + pl.col("system"), pl.col("pid"), descending=[True, False])
        )
        is_active = pl.sum_horizontal("user", "system") >= LEAST_CORES
        moves = pl.sum_horizontal("read_bytes_per_s", "write_bytes_per_s") > 0
        busy = table.filter(is_active | moves).head(PROCESSES)
        left_out += table.height - busy.height
        for row in busy.iter_rows(named=True):
            rows.append([phase, str(row["pid"]), foreign(row["name"], 60), *_process(row)])
        kernel = part.mean("cpu.kernel_threads")
        if kernel is not None:
            name = "kernel threads of I/O"
            rows.append([phase, "", name, percent(kernel), *[""] * 2, "", "", ""])
    columns = ["Phase", "PID", "Name", "CPU %", "User %", "System %", "Memory", "Read MB/s"]
    note = "Means over the phase, in percent of one core; memory is the largest resident size."
    if left_out:
        note += f" Less busy and left out: {left_out}."
    return Table(
        "Processes by processor time (as top)",
        [*columns, "Written MB/s"],
        "lrlrrrrrr",
        rows,
        note=note,
    )


def _process(row: Document) -> list[str]:
    return [
        percent(row["user"] + row["system"]),
        percent(row["user"]),
        percent(row["system"]),
        size(row["resident_bytes"]) if row["resident_bytes"] else UNKNOWN,
        megabytes(row["read_bytes_per_s"]),
        megabytes(row["write_bytes_per_s"]),
    ]


def _cores(data: ProfileData) -> Table:
    rows = []
    left_out = False
    for phase, part in _parts(data):
        cores = [(core, [part.mean(f"cpu.{core}.{key}") for key in STATES]) for core in part.cores]
        cores.sort(key=lambda pair: pair[1][STATES.index("idle")] or 0.0)
        left_out |= len(cores) > CORES
        shown = sorted(cores[:CORES], key=lambda core: int(core[0]) if core[0].isdecimal() else 0)
        rows += [[phase, core, *map(percent, shares)] for core, shares in shown]
    note = "Means over the phase in percent."
    note += f" Of each phase, the {CORES} cores that were idle the least." if left_out else ""
    columns = ["Phase", "Core", *STATES]
    return Table("States of the cores (as top)", columns, "ll" + "r" * 8, rows, note=note)


def _disks(data: ProfileData) -> Table:
    rows = []
    for phase, part in _parts(data):
        seconds = float(part.lengths.sum())
        for disk in data.disks:
            at = f"disk.{disk}"
            means = {
                key: part.mean(f"{at}.{key}")
                for key in ("reads_per_s", "writes_per_s", "read_bytes_per_s", "write_bytes_per_s")
            }
            moved = [means[f"{way}_bytes_per_s"] for way in ("read", "write")]
            rows.append(
                [
                    phase,
                    foreign(disk, 40),
                    figure(means["reads_per_s"]),
                    figure(means["writes_per_s"]),
                    *map(megabytes, moved),
                    *(UNKNOWN if amount is None else size(amount * seconds) for amount in moved),
                    figure(part.mean(f"{at}.queue")),
                    milliseconds(part.mean(f"{at}.read_service_s")),
                    milliseconds(part.mean(f"{at}.write_service_s")),
                    percent(part.mean(f"{at}.utilisation")),
                ]
            )
    columns = ["Phase", "Disk", "Reads/s", "Writes/s", "Read MB/s", "Written MB/s", "Read"]
    columns += ["Written", "Queue", "Read ms", "Write ms", "Utilised %"]
    note = "Means over the phase, of all programs."
    return Table("Disks (as iostat)", columns, "ll" + "r" * 10, rows, note=note)
