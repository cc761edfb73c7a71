"""Measures the striped read in Headrace, in a hand-written loop and in SimPy.

All take turns, so that whatever else the machine does disturbs them alike; the
tables give medians and the quartiles. Three questions:

1. scenarios/striped-read.toml: how fast is each, and how much memory does it take?
2. 512 clients and 32 servers: how fast is Headrace on a large system?
3. From 64 to 4,096 clients: does a request cost the same? Once with 4 servers,
   once with one server for 16 clients.

Needs Cargo, SimPy and for memory GNU time (`apt install time`); with Headrace
installed, the whole command is timed as well. Writes out/bench-striped-read.json.

    python benches/striped-read/striped_read.py [ROUNDS]
"""

from __future__ import annotations

import importlib.util
import json
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from headrace.cli.screen import steps

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENARIO = ROOT / "scenarios" / "striped-read.toml"
OUTPUT = ROOT / "out" / "bench-striped-read.json"
LEAST_ROUNDS = 5
# 64 clients x 400 MiB at 4 disks of 60 MB/s.
THEORY_S = 64 * 400 * (1 << 20) / (4 * 60e6)
CLIENTS = (64, 128, 256, 512, 1024, 2048, 4096)
# In each run of the third question, so that every run takes about as long.
REQUESTS = 102_400


@dataclass(frozen=True)
class Sample:
    """One run; `command_seconds` is the process's time, `peak_bytes` its memory."""

    simulated_seconds: float
    wall_seconds: float
    requests: int
    command_seconds: float
    peak_bytes: int | None


Run = Callable[[], Sample]


def measured(command: list[str]) -> tuple[str, float, int | None]:
    """Return a command's output, its duration, and its peak memory.

    Memory comes from a separate `time`, because a child process would inherit this interpreter's
    peak.
    """
    meter = shutil.which("time")
    if meter is not None:
        command = [meter, "-f", "peak %M KiB", *command]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    peak = re.search(r"peak (\d+) KiB", done.stderr)
    return done.stdout, seconds, int(peak[1]) * 1024 if peak else None


def sample(command: list[str]) -> Sample:
    """Run a command that prints one JSON object: one of these programs, or a result of Headrace."""
    text, seconds, peak = measured(command)
    result = json.loads(text)
    requests = result.get("requests")
    if requests is None:
        requests = result["operations"]["read"]["count"]
    wall = result["wall_seconds"]
    return Sample(result["simulated_seconds"], wall, requests, seconds, peak)


def build_headrace() -> Path:
    """Build the example that runs a scenario, and return its path."""
    command = ["cargo", "build", "--quiet", "--release", "-p", "headrace-storage"]
    command += ["--example", "run_scenario", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        raise SystemExit("striped_read.py: cargo could not build Headrace: see its output")
    programs = [
        message["executable"]
        for message in map(json.loads, built.stdout.splitlines())
        if message.get("executable") and message["target"]["name"] == "run_scenario"
    ]
    return Path(programs[-1])


def build_loop(folder: Path) -> Path:
    """Compile the hand-written loop, and return its path."""
    program = folder / "hand_written"
    source = HERE / "hand_written.rs"
    command = ["rustc", "-O", "--edition", "2024", "-o", str(program), str(source)]
    subprocess.run(command, check=True)
    return program


def in_turns(runs: dict[str, Run], rounds: int) -> dict[str, list[Sample]]:
    """Run each once per round."""
    samples: dict[str, list[Sample]] = {name: [] for name in runs}
    with steps("striped-read") as on_progress:
        for done in range(rounds):
            for number, (name, run) in enumerate(runs.items()):
                on_progress(done * len(runs) + number, rounds * len(runs), name)
                samples[name].append(run())
    return samples


def median_of(samples: list[Sample], figure: Callable[[Sample], float]) -> float:
    """Return the median of a field of the samples."""
    return statistics.median(map(figure, samples))


def seconds_with_quartiles(samples: list[Sample]) -> str:
    """Format the median simulation time and its quartiles."""
    walls = [it.wall_seconds for it in samples]
    low, _, high = statistics.quantiles(walls, n=4, method="inclusive")
    return f"{statistics.median(walls):>8.3f} s {f'{low:.3f} to {high:.3f}':>16}"


def row(name: str, samples: list[Sample]) -> str:
    """Format a line of the first two tables."""
    peaks = [it.peak_bytes for it in samples if it.peak_bytes is not None]
    peak = f"{statistics.median(peaks) / 1e6:.1f} MB" if peaks else "-"
    per_request = median_of(samples, lambda it: it.wall_seconds / it.requests)
    return (
        f"{name:<24} {samples[0].simulated_seconds:>10.2f} s {seconds_with_quartiles(samples)} "
        f"{median_of(samples, lambda it: it.command_seconds):>9.2f} s {peak:>10} "
        f"{per_request * 1e6:>9.2f} us"
    )


HEAD = (
    f"{'':<24} {'simulated':>12} {'simulation':>10} {'quartiles':>16} "
    f"{'command':>11} {'memory':>10} {'a request':>12}"
)


def first_question(headrace: Path, loop: Path, rounds: int) -> dict[str, list[Sample]]:
    """Run all simulators on the shipped scenario."""
    runs: dict[str, Run] = {"Headrace": lambda: sample([str(headrace), str(SCENARIO)])}
    if importlib.util.find_spec("headrace") is not None:
        command = [sys.executable, "-m", "headrace", "run", str(SCENARIO), "--json", "--no-store"]
        runs["headrace run --json"] = lambda: sample(command)
    runs["hand-written loop"] = lambda: sample([str(loop)])
    script = str(HERE / "simpy_model.py")
    runs["SimPy"] = lambda: sample([sys.executable, script])
    samples = in_turns(runs, rounds)
    print(f"1. 64 clients, 4 servers, 400 files each; in theory {THEORY_S:.2f} s")
    print(HEAD)
    for name, taken in samples.items():
        print(row(name, taken))
        off = abs(taken[0].simulated_seconds / THEORY_S - 1)
        if off > 0.01:
            raise SystemExit(
                f"striped_read.py: internal error: {name} is {100 * off:.1f} % off the theory"
            )
    ours = median_of(samples["Headrace"], lambda it: it.wall_seconds)
    simpy = median_of(samples["SimPy"], lambda it: it.wall_seconds)
    print(f"SimPy takes {simpy / ours:.0f} times as long as Headrace.\n")
    return samples


def of_size(headrace: Path, clients: int, servers: int, files: int) -> Run:
    """Run Headrace on the scenario at another size."""
    sets = [f"clients.count={clients}", f"servers.count={servers}", f"workload.0.files={files}"]
    return lambda: sample([str(headrace), str(SCENARIO), *sets])


def second_question(headrace: Path, loop: Path, rounds: int) -> dict[str, list[Sample]]:
    """Run a large system."""
    runs: dict[str, Run] = {
        "Headrace": of_size(headrace, 512, 32, 400),
        "hand-written loop": lambda: sample([str(loop), "512", "32", "400"]),
    }
    samples = in_turns(runs, rounds)
    print("2. 512 clients, 32 servers, 400 files each")
    print(HEAD)
    for name, taken in samples.items():
        print(row(name, taken))
    print()
    return samples


def third_question(headrace: Path, loop: Path, rounds: int) -> dict[str, list[Sample]]:
    """Increase the number of clients; the loop shows the effect of the CPU caches."""

    def by_hand(clients: int) -> Run:
        sizes = [str(size) for size in (clients, clients // 16, REQUESTS // clients)]
        return lambda: sample([str(loop), *sizes])

    kinds: dict[str, Callable[[int], Run]] = {
        "4 servers": lambda clients: of_size(headrace, clients, 4, REQUESTS // clients),
        "clients / 16 servers": lambda clients: of_size(
            headrace, clients, clients // 16, REQUESTS // clients
        ),
        "the same by hand": by_hand,
    }
    runs = {
        f"{clients} clients, {kind}": of(clients)
        for clients in CLIENTS
        for kind, of in kinds.items()
    }
    samples = in_turns(runs, rounds)
    cost = {
        name: median_of(taken, lambda it: it.wall_seconds / it.requests * 1e6)
        for name, taken in samples.items()
    }
    print(f"3. Time for a request, {REQUESTS:,} requests in each run")
    print(f"{'clients':>8}" + "".join(f"{kind:>22} {'to 64':>7}" for kind in kinds))
    for clients in CLIENTS:
        line = f"{clients:>8}"
        for kind in kinds:
            mine, first = cost[f"{clients} clients, {kind}"], cost[f"{CLIENTS[0]} clients, {kind}"]
            line += f"{mine:>19.2f} us {mine / first:>6.2f}x"
        print(line)
    return samples


def processor() -> str:
    """Return the processor's name."""
    about = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", about.read_text()) if about.exists() else None
    return found[1] if found else platform.processor()


def main() -> None:
    """Build the programs, run them in turn, and write the tables."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else LEAST_ROUNDS
    if rounds < LEAST_ROUNDS:
        raise SystemExit(f"striped_read.py: ROUNDS = {rounds}: expected at least {LEAST_ROUNDS}")
    version = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    machine = {
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "rust": version.stdout.strip(),
    }
    print(f"{machine['processor']}, {machine['system']}; medians of {rounds} interleaved runs\n")
    headrace = build_headrace()
    with tempfile.TemporaryDirectory() as folder:
        loop = build_loop(Path(folder))
        questions = {
            "striped read": first_question(headrace, loop, rounds),
            "512 clients, 32 servers": second_question(headrace, loop, rounds),
            "more clients": third_question(headrace, loop, rounds),
        }
    document = {
        "machine": machine,
        "rounds": rounds,
        "samples": {
            question: {name: [asdict(it) for it in taken] for name, taken in samples.items()}
            for question, samples in questions.items()
        },
    }
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\nAll samples: {OUTPUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
