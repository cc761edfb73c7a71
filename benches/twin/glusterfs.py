"""Prediction errors for GlusterFS in testbeds (docs/how-to/lab.md).

    python benches/twin/glusterfs.py OUT [ROUNDS] [NAME...]

Needs root. Calibrates with one client and one server, which no case has. Then it starts GlusterFS
with 2 to 4 servers and 8 clients, and measures all cases of a testbed in turn, ROUNDS times (1).
The cases are Hindman's client-scalability and block-range tests (2011, section 4.2). PFSsim's
experiment (Liu et al. 2011, section 5.1) follows with a fifteenth of its memory and a tenth of its
rates. Results are saved in OUT; those that OUT already has are not measured again. Simulations use
the calibrated parameters and the measured placement of files on bricks. Errors are printed, and
drawn in OUT/glusterfs.svg. NAMEs are those of the table such as replicate-3; the default is all.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import parse_arguments
from matplotlib.figure import Figure

import headrace
from headrace.lab import running_testbed, status
from headrace.lab.hosts import Hosts
from headrace.lab.processes import processes
from headrace.lab.state import Lab
from headrace.render.pictures import write_figure
from headrace.render.style import COLOURS
from headrace.simulate.scenario import load_with_sets

CLIENTS = (1, 2, 4, 8)
BLOCKS = ("4 KiB", "64 KiB", "1 MiB", "8 MiB")
"""Hindman 2011, section 4.2: block-range uses 4 KB to 8 MB."""
MIB = 1 << 20
PORT = 7417
OWN = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

SYSTEM = """
name = "{name}"
system = "{system}"
[clients]
count = {clients}
# A testbed's links let a millisecond's bytes pass at once (headrace/lab/links.py).
card = {{ bandwidth = "100 Mbit/s", burst = "12500 B" }}
{kind}
[network]
bandwidth = "10 Gbit/s"     # what such bytes pass at: a declared value, beyond the processors'
{network}
[servers]
count = {servers}
card = {{ bandwidth = "100 Mbit/s", burst = "12500 B" }}
{storage}
[layout]
{layout}
[replication]
copies = {copies}
[lab]
image = "4 GiB"
{volume}
"""
CACHED = """
[clients.machine]
dirty_per_server = "512 KiB"    # the least that GlusterFS takes
cpu.cores = 2
memory = { size = "512 MiB", used = "150 MiB" }
"""
UNCACHED = 'kind = "simple"'
IN_MEMORY = """
memory = { cache = "4 GiB", dirty_limit = "2 GiB" }
device = { kind = "throttled", rate = "1 GB/s", read_rate = "200 MB/s", write_rate = "200 MB/s" }
"""
LITTLE_MEMORY = """
kind = "machine"
daemon.threads = 16             # performance.io-thread-count of GlusterFS
[servers.machine]
memory.size = "96 MiB"          # what of it is used is measured before each case
write_back = { bytes = "24 MiB", background_bytes = "12 MiB" }
device = { kind = "throttled", rate = "1 GB/s", read_rate = "6 MB/s", write_rate = "6 MB/s" }
"""
"""PFSsim's servers have 900 MB for the page cache, of which 400 MB may be dirty, and disks of half
the links' rate."""


@dataclass(frozen=True)
class System:
    """Servers and volume of a testbed."""

    servers: int
    copies: int = 1
    cached: bool = True
    storage: str = IN_MEMORY
    shard: str = ""
    """Size of shards; None without shards."""


@dataclass(frozen=True)
class Case:
    """A workload of some of the clients."""

    test: str
    clients: int
    phases: tuple[str, ...]
    files: int = 4
    block: int = 4 * MIB
    transfer: str = "256 KiB"

    @property
    def name(self) -> str:
        blocks = f", {self.transfer} a call" if self.test == "block-range" else ""
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return f"{self.test}, {clients}{blocks}, {'+'.join(self.phases)}"

    @property
    def workload(self) -> str:
        lines = [
            "[[workload]]",
            f"files = {self.files}",
            f'block = "{self.block} B"',
            f'transfer = "{self.transfer}"',
            f'access = "{"shared" if self.test == "common" else "file-per-process"}"',
            "phases = [" + ", ".join(f'"{it}"' for it in self.phases) + "]",
            "opens = true",
        ]
        if self.phases == ("read",):
            lines.append("io.existing = true")
        return "\n".join(lines) + "\n"


SYSTEMS = {
    "distribute-2": System(2),
    "distribute-3": System(3),
    "distribute-4": System(4),
    "replicate-2": System(2, 2),
    "replicate-3": System(3, 3),
    "replicate-4": System(4, 2),
    "uncached-3": System(3, cached=False),
    "pfssim-4": System(4, cached=False, storage=LITTLE_MEMORY),
    "shard-3": System(3, shard="4 MiB"),
}


def cases(name: str) -> list[Case]:
    """Return the cases of a testbed."""
    if name == "pfssim-4":
        return [Case("pfssim", it, ("write", "read"), 64, MIB, "128 KiB") for it in CLIENTS]
    if name == "shard-3":
        return [
            Case("own files", clients, (phase,), files=1, block=16 * MIB)
            for clients in (2, 8)
            for phase in ("write", "read")
        ]
    # What a client without a cache wrote, it can read at once.
    each = [("write",), ("read",)] if SYSTEMS[name].cached else [("write", "read")]
    found = []
    if SYSTEMS[name].cached:
        found += [Case("own files", clients, phases) for clients in CLIENTS for phases in each]
    if SYSTEMS[name].cached and SYSTEMS[name].servers == 3:
        found += [Case("common", clients, ("read",), files=1) for clients in (2, 8)]
    sizes = [(size, phases) for size in BLOCKS for phases in each]
    found += [Case("block-range", 1, phases, 2, 8 * MIB, size) for size, phases in sizes]
    return found


def text(name: str, system: System, clients: int, calibrated: Path | None = None) -> str:
    """Return a scenario without its workload."""
    cpu = f'[hosts.cpu]\ncores = {os.cpu_count()}\nshared_by = "all"\n'
    return SYSTEM.format(
        name=name,
        system="glusterfs" if calibrated is None else calibrated,
        clients=clients,
        kind=CACHED if system.cached else UNCACHED,
        network='latency = "0 s"' if calibrated is None else cpu,
        servers=system.servers,
        storage=system.storage,
        layout=f'unit = "{system.shard}"\nservers = "all"' if system.shard else "",
        copies=system.copies,
        volume='volume = "shard"' if system.shard else "",
    )


def run_headrace(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "headrace", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def calibrate(out: Path) -> None:
    """Calibrate the network and the service time of requests with one client and one server."""
    up = out / "lab-calibration.toml"
    up.write_text(
        text("calibration", System(1, cached=False), 1) + Case("", 1, ("write",)).workload
    )
    with running_testbed(up) as lab:
        own = [sys.executable, "-m", "headrace"]
        answer = [*own, "bench", "net", "answer", "--listen", f"0.0.0.0:{PORT}", "--token", "lab"]
        command = Hosts(lab).command("server-0", *answer)
        answering = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            time.sleep(3)
            server = ["--server", f"server-0:{PORT}", "--token", "lab"]
            saved = ["-o", str(out / "machine.toml")]
            where = str(lab.mount_point)
            asking = Hosts(lab).command("client-0", *own, "calibrate", where, *server, *saved)
            subprocess.run(asking, check=True, stdout=subprocess.DEVNULL)
        finally:
            answering.terminate()
            answering.wait()


def placement(lab: Lab, copies: int) -> list[int]:
    """Return the set of bricks of each file, by file number."""
    hosts = Hosts(lab)
    found = {}
    for number, host in enumerate(lab.plan().of("server")):
        files = f"{lab.folder}/disk-*/brick/headrace-bench-*/hr-w0/hr-d0"
        # Names that only point at another brick have no bytes.
        find_them = f"find {files} -name 'hr-f*' -size +0 2>/dev/null; :"
        for line in hosts.run(host.name, "sh", "-c", find_them).splitlines():
            found[int(Path(line).name.removeprefix("hr-f"))] = number // copies
    return [found[number] for number in range(len(found))]


def measure(name: str, out: Path, rounds: int) -> None:
    """Measure all cases of a testbed in turn, once per round."""
    system = SYSTEMS[name]
    base = text(name, system, max(CLIENTS))
    up = out / f"lab-{name}.toml"
    up.write_text(base + cases(name)[0].workload)
    points: list[dict[str, Any]] = []
    with running_testbed(up) as lab:
        for _ in range(rounds):
            for case in cases(name):
                points.append(measured(base, case, system.copies, lab, up))
                print(name, case.name, points[-1]["throughput"], file=sys.stderr, flush=True)
    (out / f"{name}.json").write_text(json.dumps(points, indent=1))


def measured(base: str, case: Case, copies: int, lab: Lab, up: Path) -> dict[str, Any]:
    """Measure a case, and return its document with the placement of its files."""
    scenario, result = up.with_name("case.toml"), up.with_name("case.json")
    scenario.write_text(base + case.workload)
    result.unlink(missing_ok=True)
    used = memory_used(lab)
    clients = ("--client-hosts", str(case.clients))
    quiet = ("--keep", "--no-store", "--no-progress")
    began, before = time.monotonic(), work_of_others(lab)
    run_headrace("lab", "bench", scenario, "--name", up.stem, *clients, "-o", result, *quiet)
    others = (work_of_others(lab) - before) / (time.monotonic() - began)
    document = json.loads(result.read_text())
    places = placement(lab, copies)
    Hosts(lab).run("client-0", "sh", "-c", f"rm -rf {lab.mount_point}/headrace-bench-*")
    throughput = {phase: document["throughput"][phase] for phase in case.phases}
    return {
        "case": case.name,
        "throughput": throughput,
        "places": places,
        "used": used,
        "others": others,
    }


def work_of_others(lab: Lab) -> float:
    """Return the processor seconds of other programs than the testbed and this one (proc_stat(5),
    proc_pid_stat(5))."""
    tick = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, interrupts, soft, *_ = map(
        int, Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=8)[1:8]
    )
    here = sum(sum(resource.getrusage(it)[:2]) for it in OWN)
    for number in processes(lab):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2]
            here += sum(map(int, words.split()[11:13])) / tick
    return (user + nice + system + interrupts + soft) / tick - here


def memory_used(lab: Lab) -> int:
    """Return the memory of a server without the page cache of the workload's files, of which none
    exist now: the daemons, the kernel's memory for them, and their own page cache. In bytes, the
    median over servers."""
    servers = [it for it in status(lab).hosts if it.role == "server"]
    used = [(it.memory_used_bytes or 0) + (it.memory_page_cache_bytes or 0) for it in servers]
    return round(statistics.median(used))


def simulated(
    name: str, case: Case, point: dict[str, Any], places: list[int] | None, out: Path, seed: int = 1
) -> dict[str, float]:
    """Return the aggregate throughput in bytes per second, with measured or random placement."""
    scenario = out / "simulated.toml"
    base = text(name, SYSTEMS[name], case.clients, out / "machine.toml")
    scenario.write_text(base + f"[run]\nseed = {seed}\n" + case.workload)
    sets = [] if places is None else [f"layout.first_servers={places}"]
    if SYSTEMS[name].storage == LITTLE_MEMORY:
        sets.append(f'servers.machine.memory.used="{point["used"]} B"')
    loaded = load_with_sets(scenario, sets)
    result: dict[str, float] = headrace.run(loaded).json()["throughput"]
    return result


def errors(name: str, out: Path) -> Iterator[dict[str, Any]]:
    """Return the median error over the rounds for each case and phase, each round simulated with
    its own placement."""
    rounds = defaultdict(list)
    for point in json.loads((out / f"{name}.json").read_text()):
        rounds[point["case"]].append(point)
    for case in cases(name):
        points = rounds[case.name]
        known = [simulated(name, case, point, point["places"], out) for point in points]
        drawn = [simulated(name, case, points[0], None, out, seed) for seed in range(1, 6)]
        for phase in case.phases:
            seen = [point["throughput"][phase] for point in points]
            given = [it[phase] for it in known]
            without = statistics.median(it[phase] for it in drawn)
            yield {
                "system": name,
                "case": case.name.rpartition(",")[0],
                "test": case.test,
                "clients": case.clients,
                "phase": phase,
                "measured": seen,
                "simulated": given,
                "others": statistics.median(point["others"] for point in points),
                "error": statistics.median(a / b for a, b in zip(given, seen, strict=True)) - 1,
                "error_drawn": without / statistics.median(seen) - 1,
            }


def summary(title: str, points: Iterable[dict[str, Any]]) -> str:
    points = list(points)
    found = [point["error"] for point in points]
    worst = max(points, key=lambda point: abs(point["error"]))
    drawn = statistics.median(abs(point["error_drawn"]) for point in points)
    return (
        f"| {title} | {len(points)} | {statistics.median(map(abs, found)):.1%}"
        f" | {worst['error']:+.0%}, {worst['system']}, {worst['case']}"
        f" | {statistics.mean(found):+.1%} | {drawn:.1%} |"
    )


def table(points: list[dict[str, Any]]) -> list[str]:
    def megabytes(values: list[float]) -> str:
        ends = sorted({f"{value / 1e6:.1f}" for value in (min(values), max(values))}, key=float)
        return " to ".join(ends)

    heads = "| system | case | measured, MB/s | simulated | error | processors at other work |"
    lines = [heads, "| --- " * 6 + "|"]
    lines += [
        f"| {point['system']} | {point['case']}, {point['phase']} | {megabytes(point['measured'])}"
        f" | {megabytes(point['simulated'])} | {point['error']:+.1%} | {point['others']:.1f} |"
        for point in points
    ]
    heads = "| test | cases | median error | worst | bias | median error, places drawn |"
    lines += ["", heads, "| --- " * 6 + "|"]
    kinds: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for point in points:
        kinds[point["test"], point["system"].rpartition("-")[0], point["phase"]].append(point)
    for (test, system, phase), those in kinds.items():
        lines.append(summary(f"{test}, {system}, {phase}", those))
    lines.append(summary("all", points))
    return lines


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Draw the aggregate throughput by clients, measured and simulated."""
    figure = Figure(figsize=(8.0, 5.2), layout="constrained")
    figure.suptitle("GlusterFS in testbeds\nmeasured (marks) and simulated (lines)")
    panels = figure.subplots(1, 2, sharey=True)
    there = {it["system"] for it in points if it["test"] in ("own files", "pfssim")}
    drawn = [name for name in SYSTEMS if name in there]
    for axes, phase in zip(panels, ("write", "read"), strict=True):
        for number, name in enumerate(drawn):
            of = [it for it in points if (it["system"], it["phase"]) == (name, phase)]
            of = [it for it in of if it["test"] in ("own files", "pfssim")]
            if not of:
                continue
            clients = [it["clients"] for it in of]
            colour = COLOURS[number % len(COLOURS)]
            for key, form in (("measured", "o"), ("simulated", "-")):
                rates = [statistics.median(it[key]) / 1e6 for it in of]
                label = name if key == "simulated" else None
                axes.plot(clients, rates, form, color=colour, label=label, markersize=5)
        axes.set_title(phase)
        axes.set_xlabel("clients")
        axes.set_xticks(CLIENTS)
    # Both share it: set in the first, it would end where that one ends.
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("MB/s, all clients")
    panels[1].legend(fontsize="small")
    write_figure(figure, path, {"Date": None})


def main() -> None:
    out, rounds, names = parse_arguments(__doc__, list(SYSTEMS), rounds=1)
    if not (out / "machine.toml").exists():
        print("calibrating", file=sys.stderr, flush=True)
        calibrate(out)
    for name in names:
        if not (out / f"{name}.json").exists():
            measure(name, out, rounds)
    there = [name for name in SYSTEMS if (out / f"{name}.json").exists()]
    points = [point for name in there for point in errors(name, out)]
    (out / "errors.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
    draw(points, out / "glusterfs.svg")
    print("\n".join(table(points)))


if __name__ == "__main__":
    main()
