"""HINDMAN's parallel file systems (Hindman 2011, chapter 4): published | ours | error.

All figures of the chapter are curves without numbers: what is compared are the statements
of the text. Run it by `headrace papers hindman-pfs`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from functools import cache
from itertools import pairwise
from pathlib import Path

import matplotlib

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

NEAR = 0.2
"""Largest relative error at which a number holds; the text gives most as "about"."""
FLAT = 0.1
"""Largest relative difference of rates that count as equal."""
BLOCKS = (4, 16, 64, 128, 512, 2048, 8192)
"""Block sizes in KiB."""
CLIENTS = (1, 2, 4, 6, 8, 12, 16)
LINK = 125.0
"""MB/s of Gigabit Ethernet."""
SEEDS = (1, 2, 3, 4, 5)
SYSTEMS = {
    "PVFS": ("hindman-pvfs", {}),
    "Lustre": ("hindman-lustre", {}),
    "Lustre stripe": ("hindman-lustre", {"layout.servers": 2}),
    "Gluster distribute": ("hindman-gluster-distribute", {}),
    "Gluster replicate": ("hindman-gluster-replicate", {}),
    "Gluster stripe": ("hindman-gluster-stripe", {}),
    "HDFS": ("hindman-hdfs", {}),
}


@cache
def rate(
    system: str,
    phase: str,
    *,
    clients: int = 1,
    block: int = 1024,
    access: str = "file-per-process",
    seed: int = 1,
) -> float:
    """Return MB/s until the slowest client has transferred its 4 GiB, in blocks of `block` KiB."""
    scenario, system_sets = SYSTEMS[system]
    sets = {
        **system_sets,
        "clients.count": clients,
        "run.seed": seed,
        "workload.0.transfer": f"{block} KiB",
        "workload.0.access": access,
        "workload.0.phases": [phase],
    }
    if access == "shared":
        sets["workload.0.segments"] = 1
        sets["workload.0.block"] = f"{4096 // clients} MiB"
    report = hr.run(hr.load(SCENARIOS / f"{scenario}.toml", sets)).json()
    return float(report["operations"][phase]["bytes"] / report["simulated_seconds"] / 1e6)


def number(what: str, published: str, expected: float, ours: float, near: float = NEAR) -> Row:
    error = ours / expected - 1
    return Row(
        what, published, f"{ours:.3g} MB/s", percent_text(error, 2, sign=True), abs(error) <= near
    )


def within(what: str, low: float, high: float, ours: float) -> Row:
    nearest = min(max(ours, low), high)
    holds = low <= ours <= high
    error = "" if holds else percent_text(ours / nearest - 1, 2, sign=True)
    return Row(what, f"{low:g}-{high:g} MB/s", f"{ours:.3g} MB/s", error, holds)


def flat(what: str, rates: list[float]) -> Row:
    spread = 1 - min(rates) / max(rates)
    shown = f"{min(rates):.0f}-{max(rates):.0f} MB/s"
    return Row(what, "flat", shown, "", spread <= FLAT)


def over_blocks(system: str, phase: str) -> list[float]:
    return [rate(system, phase, block=block) for block in BLOCKS]


def over_clients(system: str, phase: str, access: str = "file-per-process") -> list[float]:
    return [rate(system, phase, clients=clients, access=access) for clients in CLIENTS]


def pvfs() -> list[Row]:
    rows = [
        within("PVFS: cp, read (4 KB, st_blksize)", 5, 6, rate("PVFS", "read", block=4)),
        within("PVFS: cp, write (4 KB)", 17, 26, rate("PVFS", "write", block=4)),
    ]
    for phase in ("read", "write"):
        rates = over_blocks("PVFS", phase)
        best = max(rates)
        shown = ", ".join(f"{it:.0f}" for it in rates) + " MB/s"
        rising = all(after > 0.98 * before for before, after in pairwise(rates))
        holds = rising and rates[0] < best / 3 and rates[BLOCKS.index(2048)] > 0.95 * best
        what = f"PVFS: dd, {phase}, 4 KB to 8 MB"
        rows.append(Row(what, "grows, best near 2 MB", shown, "", holds))
    for what, phase, access in (
        ("write individual", "write", "file-per-process"),
        ("read individual", "read", "file-per-process"),
        ("read common", "read", "shared"),
    ):
        four, *more = over_clients("PVFS", phase, access)[CLIENTS.index(4) :]
        rows.append(number(f"PVFS: {what}, 4 clients", "300 MB/s", 300, four))
        rows.append(flat(f"PVFS: {what}, 4 to 16 clients", [four, *more]))
    return rows


def lustre() -> list[Row]:
    cp = [rate("Lustre", phase, block=2048) for phase in ("read", "write")]
    gain = [
        ours / rate("PVFS", phase, block=4)
        for ours, phase in zip(cp, ("read", "write"), strict=True)
    ]
    reads = over_blocks("Lustre", "read")
    small, full = reads[0], reads[BLOCKS.index(128)]
    rows = [
        Row(
            "Lustre: cp (2 MB) against PVFS's, read and write",
            "marked improvement, most in reading",
            " and ".join(f"{it:.1f} times" for it in gain),
            "",
            gain[0] > gain[1] > 2,
        ),
        flat("Lustre: dd, write, 4 KB to 8 MB", over_blocks("Lustre", "write")),
        Row(
            "Lustre: dd, read, 128 KB against the best",
            "full",
            f"{full / max(reads):.0%}",
            "",
            full > 0.95 * max(reads),
        ),
        Row(
            "Lustre: dd, read, 4 KB against 128 KB",
            "slower",
            f"{small / full:.0%}",
            "",
            small < 0.95 * full,
        ),
    ]
    for system in ("Lustre", "Lustre stripe"):
        for phase in ("read", "write"):
            rates = over_clients(system, phase)[CLIENTS.index(4) :]
            mean = sum(rates) / len(rates)
            what = f"{system}: {phase} individual, 4 to 16 clients"
            rows.append(number(what, "80-85 % of 250 MB/s", 0.825 * 2 * LINK, mean))
            rows.append(flat(f"{what}, no drop", rates))
    one, both = (rate(it, "read", clients=8, access="shared") for it in ("Lustre", "Lustre stripe"))
    rows.append(number("Lustre: read common, 8 clients", "one server's link", 0.825 * LINK, one))
    rows.append(number("Lustre stripe: read common, 8", "both servers", 0.825 * 2 * LINK, both))
    return rows


def gluster() -> list[Row]:
    rows = []
    for system in ("Gluster distribute", "Gluster replicate", "Gluster stripe"):
        for phase in ("read", "write"):
            rows.append(flat(f"{system}: dd, {phase}", over_blocks(system, phase)))
    alone = rate("Gluster distribute", "write")
    third = rate("Gluster replicate", "write") / alone
    rows.append(
        Row(
            "Gluster replicate: dd, write, against distribute",
            "about 1/3",
            f"{third:.2f}",
            percent_text(3 * third - 1, 2, sign=True),
            abs(3 * third - 1) < NEAR,
        )
    )
    ragged = [
        [rate("Gluster distribute", "write", clients=it, seed=seed) for it in CLIENTS]
        for seed in SEEDS
    ]
    falls = sum(any(b < 0.9 * a for a, b in pairwise(it)) for it in ragged)
    rows.append(
        Row(
            "Gluster distribute: write individual, five sets of names",
            "ragged: falls as clients are added",
            f"{falls} of {len(SEEDS)} sets fall somewhere",
            "",
            falls > len(SEEDS) / 2,
        )
    )
    most = max(max(it) for it in ragged)
    rows.append(number("Gluster distribute: the most of these", "expected 300 MB/s", 300, most))
    common = rate("Gluster distribute", "read", clients=8, access="shared")
    copies = rate("Gluster replicate", "read", clients=8, access="shared")
    rows.append(number("Gluster distribute: read common, 8 clients", "100 MB/s", 100, common))
    times = copies / common
    what = "Gluster replicate: read common, 8 clients, against distribute"
    rows.append(Row(what, "far higher", f"{times:.1f} times", "", times > 2))
    write = over_clients("Gluster stripe", "write")
    shared = over_clients("Gluster stripe", "read", "shared")
    for what, rates in (("write individual", write), ("read common", shared)):
        rows.append(flat(f"Gluster stripe: {what}, 4 to 16 clients", rates[CLIENTS.index(4) :]))
        what = f"Gluster stripe: {what}, 8 clients, as PVFS"
        rows.append(number(what, "comparable, 300 MB/s", 300, rates[CLIENTS.index(8)]))
    individual = rate("Gluster stripe", "read", clients=8)
    what = "Gluster stripe: read individual, 8 clients"
    rows.append(number(what, "only 100 MB/s, unexplained", 100, individual))
    return rows


def hdfs() -> list[Row]:
    rows = [flat(f"HDFS: dd, {phase}", over_blocks("HDFS", phase)) for phase in ("read", "write")]
    part = rate("HDFS", "write") / rate("HDFS", "read")
    what = "HDFS: dd, write against read"
    rows.append(Row(what, "significant penalty", f"{part:.2f}", "", part < 1 - FLAT))
    return rows


def reproduce(paper: Paper) -> list[Row]:
    """Run the document's experiments, plot them, and return the rows of its table."""
    rows = []
    for name, part in (("PVFS", pvfs), ("Lustre", lustre), ("Gluster", gluster), ("HDFS", hdfs)):
        rows += paper.step(name, part)
    plot(paper)
    return rows


def plot(paper: Paper) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for system in SYSTEMS:
        panels[0].plot(BLOCKS, over_blocks(system, "write"), marker="o", label=system)
        if system != "HDFS":
            panels[1].plot(CLIENTS, over_clients(system, "write"), marker="o", label=system)
    panels[0].set_xscale("log", base=2)
    panels[0].set_xlabel("block (KiB), one client writes")
    panels[1].set_xlabel("clients, each writes a file of 4 GiB")
    for axes in panels:
        axes.set_ylabel("MB/s")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    paper.save(figure, "rates")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("hindman-pfs", "Hindman 2011, parallel file systems", reproduce))
