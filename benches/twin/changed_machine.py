"""Prediction errors for a machine that changed after its calibration.

    python benches/twin/changed_machine.py OUT [ROUNDS] [CHANGE...]

Needs root. Starts a testbed (docs/how-to/lab.md) with ext4 on a disk of 150 MB/s and 2,000
operations per second, and calibrates it once. For each change, `headrace twin --machine FILE
--settings-now` predicts and measures; then the change is reverted. Dirty limits apply to the whole
machine, and are changed only during that twin. Results that OUT already has are not measured again.
CHANGEs are names of the table such as read-ahead; the default is all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from command_line import parse_arguments
from file_systems import SCENARIO, headings, headrace, rows

from headrace.lab import running_testbed, status
from headrace.lab.cgroups import limit_lines, memory_file, of_host
from headrace.lab.plan import Limits
from headrace.lab.status import TestbedStatus

NAME = "changed"
MIB = 1 << 20


class Testbed:
    """One machine with one disk."""

    def __init__(self, state: TestbedStatus) -> None:
        (host,) = state.hosts
        (disk,) = host.disks
        self.mount_point = state.mount_point
        queue = Path("/sys/block") / Path(disk.device or "").name
        self.queue = queue / "queue"
        self.device = (queue / "dev").read_text(encoding="ascii").strip()
        self.group = of_host(state.name, host.name)


@contextmanager
def kernel_setting(path: Path, value: str) -> Iterator[None]:
    """Set a kernel setting for the duration of a `with` block."""
    before = path.read_text(encoding="ascii").strip()
    # Of a queue's schedulers the one that is used stands in brackets.
    chosen = before[before.find("[") + 1 : before.find("]")] if "[" in before else before
    path.write_text(value, encoding="ascii")
    try:
        yield
    finally:
        path.write_text(chosen, encoding="ascii")


@contextmanager
def dirty_limits(limit: int, background: int) -> Iterator[None]:
    """Set the dirty limits of the kernel, in bytes, for the duration of a `with` block.

    Each limit is a size or a ratio. The one written last applies, and the other reads 0.
    """
    folder = Path("/proc/sys/vm")
    with ExitStack() as before:
        for name, value in (("dirty", limit), ("dirty_background", background)):
            for unit in ("bytes", "ratio"):
                path = folder / f"{name}_{unit}"
                was = path.read_text(encoding="ascii").strip()
                if was != "0":
                    before.callback(path.write_text, was, encoding="ascii")
            (folder / f"{name}_bytes").write_text(str(value), encoding="ascii")
        yield


@contextmanager
def slower_disk(testbed: Testbed, rate: float, operations: float) -> Iterator[None]:
    """Lower the disk's limits for the duration of a `with` block."""
    limits = Limits(rate, rate, operations, operations)
    for path, line, _ in limit_lines(limits, testbed.device, testbed.group):
        path.write_text(line, encoding="ascii")
    try:
        yield
    finally:
        limits = Limits(150e6, 150e6, 2000, 2000)
        for path, line, _ in limit_lines(limits, testbed.device, testbed.group):
            path.write_text(line, encoding="ascii")


def less_memory(testbed: Testbed, size: int) -> Any:
    """Lower the host's memory limit for the duration of a `with` block."""
    if testbed.group is None:
        raise SystemExit(
            "changed_machine.py: the kernel has no memory controller for control groups: enable it"
        )
    return kernel_setting(memory_file(testbed.group), str(size))


Change: TypeAlias = Callable[[Testbed], Any]

CHANGES: dict[str, tuple[str, Change]] = {
    "nothing": ("nothing", lambda _: ExitStack()),
    "dirty-limits": (
        "dirty limits of 64 and 32 MiB",
        lambda _: dirty_limits(64 * MIB, 32 * MIB),
    ),
    "memory": ("384 MiB of memory, not 4 GiB", lambda lab: less_memory(lab, 384 * MIB)),
    "read-ahead": (
        "read-ahead of 1 MiB, not 128 KiB",
        lambda lab: kernel_setting(lab.queue / "read_ahead_kb", "1024"),
    ),
    "mq-deadline": (
        "scheduler mq-deadline",
        lambda lab: kernel_setting(lab.queue / "scheduler", "mq-deadline"),
    ),
    "bfq": ("scheduler bfq", lambda lab: kernel_setting(lab.queue / "scheduler", "bfq")),
    "slower-disk": (
        "40 MB/s and 500 operations a second",
        lambda lab: slower_disk(lab, 40e6, 500),
    ),
}


def measure(out: Path, rounds: int, names: list[str]) -> None:
    scenario = out / f"{NAME}.toml"
    scenario.write_text(
        SCENARIO.format(name=NAME, system="ext4", rate=150, operations=2000, more="")
    )
    machine = out / "machine.toml"
    inside = ("lab", "exec", str(scenario), "client-0", "--", sys.executable, "-m", "headrace")
    common = ("--repetitions", str(rounds), "--json")
    with running_testbed(scenario) as lab:
        testbed = Testbed(status(lab))
        if not machine.exists():
            headrace(*inside, "calibrate", testbed.mount_point, "-o", str(machine), *common)
        for name in names:
            saved = out / f"{name}.json"
            if saved.exists():
                continue
            print(f"{name}: measuring", file=sys.stderr, flush=True)
            twin = ("twin", testbed.mount_point, "--machine", str(machine), "--settings-now")
            with CHANGES[name][1](testbed):
                headrace(*inside, *twin, "-o", str(saved), *common)


def table(out: Path) -> list[str]:
    lines = headings("change")
    beyond = [
        "| change | case | measured | predicted | error |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, (change, _) in CHANGES.items():
        if not (out / f"{name}.json").exists():
            continue
        document = json.loads((out / f"{name}.json").read_text())
        lines += rows(change, document)
        for point in document["points"]:
            if "beyond" in point["name"]:
                measured = ", ".join(f"{it:.2f}" for it in point["measured_s"])
                beyond.append(
                    f"| {change} | {point['name']} | {measured} s | {point['predicted_s']:.2f} s"
                    f" | {point['error']:+.1%} |"
                )
    return [*lines, "", *beyond]


def main() -> None:
    # What was changed is put back however this ends.
    out, rounds, names = parse_arguments(__doc__, list(CHANGES), rounds=3)
    if any(not (out / f"{name}.json").exists() for name in names):
        measure(out, rounds, names)
    print("\n".join(table(out)))


if __name__ == "__main__":
    main()
