"""Measures what the steps of a message cost on this machine, into `costs.csv`.

    sudo python papers/pvfs2/costs.py

Two network namespaces are joined as the measured hosts are: a bridge, and links shaped in
both directions. Steps are run by one process alone and by four at once, which keep both
cores busy; the latter is given as time of a core. Steps take turns, medians count.

It takes a C compiler, `ip`, `tc`, `mkfs.ext3` and the rights to use them.
"""

import csv
import datetime
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
HEAD = [
    "date",
    "machine",
    "step",
    "at_once",
    "n",
    "least_s",
    "median_s",
    "cpu_least_s",
    "cpu_median_s",
]
REPETITIONS = 9
ROUNDS = 20_000
AT_ONCE = (1, 4)
SHAPED = ["tbf", "rate", "500mbit", "burst", "64kb", "latency", "50ms"]
BRIDGE = "headrace-br"
HOSTS = {"headrace-c": "10.213.7.1", "headrace-s": "10.213.7.2"}
CLIENT, SERVER = HOSTS
MESSAGES = ("plain", "bmi")
STEPS = (*MESSAGES, "hand-over", "thread", "read", "write")


def shell(*command: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def hosts() -> Iterator[None]:
    """Create two hosts and a bridge for the duration of a `with` block."""
    shell("ip", "link", "add", BRIDGE, "type", "bridge")
    try:
        shell("ip", "link", "set", BRIDGE, "up")
        for name, address in HOSTS.items():
            host(name, address)
        yield
    finally:
        for name in HOSTS:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        shell("ip", "link", "del", BRIDGE)


def host(name: str, address: str) -> None:
    """Create a host with one link to the bridge, shaped in both directions."""
    outside = f"hr-{name[-1]}"
    inside = ("ip", "netns", "exec", name)
    shell("ip", "netns", "add", name)
    shell("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name)
    shell("ip", "link", "set", outside, "master", BRIDGE, "up")
    shell(*inside, "ip", "address", "add", f"{address}/24", "dev", "eth0")
    shell(*inside, "ip", "link", "set", "eth0", "up")
    shell("tc", "qdisc", "add", "dev", outside, "root", *SHAPED)
    shell(*inside, "tc", "qdisc", "add", "dev", "eth0", "root", *SHAPED)


@contextmanager
def ext3(folder: Path) -> Iterator[Path]:
    """Create an empty file system like that of the servers."""
    image, mounted = folder / "ext3", folder / "mounted"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(256 << 20)
    shell("mkfs.ext3", "-q", str(image))
    shell("mount", "-o", "loop,data=ordered", str(image), str(mounted))
    try:
        yield mounted
    finally:
        shell("umount", str(mounted))


def measure(program: str, step: str, at_once: int, mounted: Path) -> tuple[float, float]:
    """Return the elapsed and the processor time of a round of a step, in seconds."""
    inside = ["ip", "netns", "exec", CLIENT]
    to = [HOSTS[SERVER], f"/run/netns/{SERVER}"] if step in MESSAGES else [str(mounted / "file")]
    told = shell(*inside, program, step, str(ROUNDS), str(at_once), *to).split()
    passed, used = (float(value) for value in told)
    return passed / ROUNDS, used / (ROUNDS * at_once)


def main() -> None:
    """Measure all steps and write `costs.csv`."""
    cases = [(step, at_once) for step in STEPS for at_once in AT_ONCE]
    measured: dict[tuple[str, int], list[tuple[float, float]]] = {case: [] for case in cases}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        program = str(folder / "costs")
        shell("cc", "-O2", "-pthread", "-o", program, str(HERE / "costs.c"))
        stack.enter_context(hosts())
        mounted = stack.enter_context(ext3(folder))
        for _ in range(REPETITIONS):
            for case in cases:
                measured[case].append(measure(program, *case, mounted))
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}"
    with (HERE / "costs.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEAD)
        for (step, at_once), pairs in measured.items():
            times, used = zip(*pairs, strict=True)
            row = [f"{value:.9f}" for value in (min(times), median(times), min(used), median(used))]
            table.writerow([today, machine, step, at_once, len(pairs), *row])


if __name__ == "__main__":
    main()
