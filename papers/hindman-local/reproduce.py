"""HINDMAN's local results (Hindman 2011, chapter 5, appendices D and E), reproduced.

Run it by `headrace papers hindman-local`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"

PAGE = 4096
NEAR = 0.15
"""Largest relative error at which a number holds."""
BOUND = 0.8
"""Share of a processor above which a single-threaded program is CPU-bound (section 5.4.1)."""
REACHED = 0.8
"""A program that comes this near to its array's baseline is bound by the array: section
5.3 looks at that first, and section 5.4.3 takes "nearly 80 %" for it."""
NODES = {
    "atlantis01": {"read": (183, 0.27), "write": (171, 0.99)},
    "atlantis02": {"read": (196, 0.25), "write": (199, 0.98)},
}
"""bonnie++'s block read and write: MB/s and share of a processor (tables D.6, D.8)."""
OVER_THE_BUS = 1.5 * PAGE / 3.2e9
"""Time on the system bus for a page that does not fit in the L2: fetched and written back for a
read, fetched for a write; 400 MHz of 8 bytes (Intel Xeon 2.60 GHz)."""

FOUR_DISKS = {
    "machine.device.disks": 4,
    "machine.device.hardware": "true",
    "machine.io_scheduler.depth": 32,
    "machine.read_ahead.window": "128 KiB",
}
"""One device to Linux: the usual depth, and the usual read-ahead (VM_MAX_READAHEAD)."""


@dataclass(frozen=True)
class Baseline:
    """Rates of bonnie++ on one array, in MB/s."""

    name: str
    node: str
    sets: Mapping[str, object]
    write: float
    rewrite: float
    read: float


BASELINES = (
    Baseline("md0 of atlantis01, 3 disks", "atlantis01", {}, 171, 72, 183),
    Baseline("md0 of atlantis02, 3 disks", "atlantis02", {}, 199, 76, 196),
    Baseline("md1 of atlantis02, 3 disks", "atlantis02", {}, 187, 80, 195),
    Baseline("hardware RAID-0 of atlantis01, 4 disks", "atlantis01", FOUR_DISKS, 152, 86, 225),
    Baseline("hardware RAID-0 of atlantis02, 4 disks", "atlantis02", FOUR_DISKS, 161, 85, 223),
)


@dataclass(frozen=True)
class Version:
    """One run of the seqprocessor: published MB/s, the rate and the speed-up of the run
    time against version 1 (table 5.5), part of which baseline and how large, limit."""

    name: str
    scenario: str
    node: str
    sets: Mapping[str, object]
    rate: float
    gain: float
    speed_up: float
    baseline: tuple[str, float] | None
    limit: str
    on_processor: bool


VERSIONS = (
    Version(
        "1: fgetc, fputc, one array",
        "seqprocessor-1",
        "atlantis01",
        {},
        16,
        1.0,
        1.0,
        None,
        "processor",
        True,
    ),
    Version(
        "2: fread, fwrite of 1 MB, one array",
        "seqprocessor-2",
        "atlantis01",
        {},
        70,
        4.66,
        4.1,
        ("rewrite", 0.94),
        "rewrite I/O",
        False,
    ),
    Version(
        "2: the same, two arrays",
        "seqprocessor-2",
        "atlantis02",
        {"workload.0.output_volume": "md1"},
        115,
        7.66,
        6.5,
        ("block write", 0.625),
        "processor",
        True,
    ),
    Version(
        "3: threads and a ring, two arrays",
        "seqprocessor-3",
        "atlantis02",
        {},
        135,
        8.75,
        7.0,
        ("block write", 0.8),
        "write I/O",
        False,
    ),
)


def reproduce(paper: Paper) -> list[Row]:
    """Run the document's experiments, plot them, and return the rows of its table."""
    rows = []
    found: dict[tuple[str, str], float] = {}
    for baseline in BASELINES:
        rates = paper.step(baseline.name, partial(measure, baseline))
        for what, (published, rate) in rates.items():
            rows.append(number(f"{baseline.name}: {what}", "MB/s", published, rate))
            found.setdefault((baseline.node, what), rate)
    runs = [paper.step(version.name, partial(run, version)) for version in VERSIONS]
    plot(paper, runs)
    return [*rows, *version_rows(runs, found)]


def processor_times(node: str) -> Mapping[str, object]:
    """Return the processor time of a page on a node, from the CPU share of bonnie++."""
    (read, read_share), (write, write_share) = NODES[node]["read"], NODES[node]["write"]
    copy = read_share / (read * 1e6) * PAGE
    new = write_share / (write * 1e6) * PAGE - copy
    sets: dict[str, object] = {
        "machine.copying.page_in_l2": f"{copy * 1e6:.2f} us",
        "machine.copying.page_in_memory": f"{(copy + OVER_THE_BUS) * 1e6:.2f} us",
    }
    for file_system in ("machine.file_system", "machine.volume.0.file_system"):
        for field in ("new_page", "write_page"):
            sets[f"{file_system}.{field}"] = f"{new * 1e6:.2f} us"
    return sets


def measure(baseline: Baseline) -> dict[str, tuple[float, float]]:
    """Run bonnie++ with 8 KB calls on a file of 4 GB, with write-back; return published and
    simulated MB/s."""
    common: Mapping[str, object] = {
        **processor_times(baseline.node),
        **baseline.sets,
        "workload.0.io.interface": "system-call",
    }
    pattern = {
        "workload.0.kind": "ior",
        "workload.0.block": "4000 MiB",
        "workload.0.transfer": "8 KiB",
        **common,
    }
    in_place = {
        "workload.0.input": "4000 MiB",
        "workload.0.request": "8 KiB",
        "workload.0.in_place": "true",
        "workload.0.sync": "true",
        **common,
    }
    rates = {}
    for what, sets, published in (
        ("block write", {**pattern, "workload.0.phases": '["write", "sync"]'}, baseline.write),
        ("rewrite", in_place, baseline.rewrite),
        ("block read", {**pattern, "workload.0.phases": '["read"]'}, baseline.read),
    ):
        report = hr.run(hr.load(SCENARIOS / "seqprocessor-2.toml", sets)).json()
        rates[what] = (published, moved(report) / report["simulated_seconds"] / 1e6)
    return rates


def moved(report: dict[str, Any]) -> float:
    """Return the bytes of the operation that moved most."""
    return float(max(operation["bytes"] for operation in report["operations"].values()))


def number(what: str, unit: str, published: float, ours: float) -> Row:
    error = ours / published - 1
    return Row(
        what,
        f"{published:g} {unit}",
        f"{ours:.3g} {unit}",
        percent_text(error, 2, sign=True),
        abs(error) < NEAR,
    )


@dataclass(frozen=True)
class Run:
    """Simulated run of a version: rate in bytes/s, duration, and processor share of the time."""

    version: Version
    rate: float
    seconds: float
    on_processor: float


def run(version: Version) -> Run:
    sets = {**processor_times(version.node), **version.sets}
    report = hr.run(hr.load(SCENARIOS / f"{version.scenario}.toml", sets)).json()
    seconds = report["simulated_seconds"]
    shares = {it["place"].rsplit("/", 1)[-1]: it["share"] for it in report["breakdown"]}
    return Run(version, moved(report) / seconds, seconds, shares.get("processor", 0.0))


def of_baseline(run: Run, baselines: Mapping[tuple[str, str], float]) -> float | None:
    """Return the share of its array's baseline that a run reaches."""
    if run.version.baseline is None:
        return None
    name, _ = run.version.baseline
    return run.rate / 1e6 / baselines[run.version.node, name]


def version_rows(runs: list[Run], baselines: Mapping[tuple[str, str], float]) -> list[Row]:
    rows = []
    for it in runs:
        version = it.version
        rows.append(number(f"seqprocessor {version.name}", "MB/s", version.rate, it.rate / 1e6))
    for it in runs[1:]:
        version = it.version
        what = f"seqprocessor {version.name}: throughput, this over version 1"
        rows.append(number(what, "times", version.gain, it.rate / runs[0].rate))
    for it in runs[1:]:
        version = it.version
        ratio = runs[0].seconds / it.seconds
        what = f"seqprocessor {version.name}: run time, version 1 over this"
        rows.append(number(what, "times", version.speed_up, ratio))
    for it in runs:
        ours = of_baseline(it, baselines)
        if it.version.baseline and ours is not None:
            name, part = it.version.baseline
            what = f"seqprocessor {it.version.name}: part of the array's {name}"
            rows.append(number(what, "%", 100 * part, 100 * ours))
    for it in runs:
        reaches = of_baseline(it, baselines)
        reached = reaches is not None and reaches > REACHED
        limit = "processor" if not reached and it.on_processor > BOUND else "disks"
        shown = f"{limit}, {it.on_processor:.0%} on a processor"
        shown += f", {reaches:.0%} of the baseline" if reaches is not None else ""
        what = f"seqprocessor {it.version.name}: what limits it"
        holds = (limit == "processor") == it.version.on_processor
        rows.append(Row(what, it.version.limit, shown, "", holds))
    rates = [it.rate for it in runs]
    rows.append(
        Row(
            "seqprocessor: each version is faster than the one before",
            "16 < 70 < 115 < 135 MB/s",
            " < ".join(f"{rate / 1e6:.0f}" for rate in rates) + " MB/s",
            "",
            rates == sorted(rates),
        )
    )
    return rows


def plot(paper: Paper, runs: list[Run]) -> None:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    names = [it.version.name.replace(", ", ",\n") for it in runs]
    for offset, label, rates in (
        (-0.2, "published (sustained)", [it.version.rate for it in runs]),
        (0.2, "ours (mean over the run)", [it.rate / 1e6 for it in runs]),
    ):
        at = [index + offset for index in range(len(runs))]
        bars = axes.bar(at, rates, 0.38, label=label)
        axes.bar_label(bars, [f"{rate:.0f}" for rate in rates], fontsize=8)
    axes.set_xticks(range(len(runs)), names, fontsize=8)
    axes.set_ylabel("MB/s read, and as many written")
    axes.set_title("The seqprocessor of Hindman 2011 on 5 GB", fontsize=10)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    paper.save(figure, "seqprocessor")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("hindman-local", "Hindman 2011, local file systems", reproduce))
