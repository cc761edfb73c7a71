"""Compares predicted gains of advice with the gains of carrying it out.

For root, on Linux with blk-throttle, FUSE, network namespaces, strace and a C compiler:

    python benches/verdicts/gains.py [--quick] [--nice N] [--json FILE] [--save DIR] [CASE ...]

For each case it profiles a program on a disk of known limits, with the trace of its calls. It then
runs the program and its changed version in turn, without a trace, and prints both gains. The disks
are those of a testbed (testbed.toml), or the disks in memory of papers/hindman-seqprocessor, which
have a latency and serve reads and writes in turn.

The exit status is 1 if a predicted gain is more than twice that of carrying the advice out, or if
advice is given where none may be. Runs vary: gains that are not advised count as none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testbed import HERE, HOST, compile_programs, niceness, testbed

from headrace import lab
from headrace.profile.advice import ERROR_LIMIT, LEAST_GAIN

sys.path.append(str(HERE.parents[1] / "papers" / "hindman-seqprocessor"))
from disks import disks  # type: ignore[import-not-found]

MIB = 1 << 20
ROUNDS = 3
INTERVAL_S = 0.2
MEMORY = 'machine.memory.size="2 GiB"'
"""Memory of a host of the testbed: the profiler runs in it, too."""
BEDS = {
    "40 MB/s": (MEMORY,),
    "80 MB/s": (
        MEMORY,
        'machine.device.read_rate="80 MB/s"',
        'machine.device.write_rate="80 MB/s"',
    ),
    "120 MB/s": (
        MEMORY,
        'machine.device.read_rate="120 MB/s"',
        'machine.device.write_rate="120 MB/s"',
    ),
    "400 operations/s": (
        MEMORY,
        "machine.device.read_operations=400",
        "machine.device.write_operations=400",
    ),
}
"""Values of the testbeds, which have 40 MB/s each way by themselves."""
LATENT, SHARED = "50 MB/s, 4 ms", "50 MB/s, shared"
LATENCIES_S = {LATENT: 4e-3, SHARED: 0.0}
"""Latency of the disks in memory. Reads and writes share the time of these."""
SECOND = "second disk"
"""Another disk in memory of the same kind."""
RATE, SIZE, DIRTY = 50e6, 768 * MIB, 32 * MIB
FILE = 64 * MIB
"""File of the baseline, in bytes."""


@dataclass(frozen=True)
class Program:
    """A command line on a disk. DIR stands for the disk's directory, OUT for that of the output.

    The program is one of this folder, also as BIN/PROGRAM, or a command of the system.
    """

    words: tuple[str, ...]
    disk: str
    output: str | None = None
    """Disk of OUT, if it is another one."""


@dataclass(frozen=True)
class Case:
    """A program before and after a change."""

    name: str
    changes: tuple[str, ...]
    """Names of the advice that is carried out; empty if none may be given."""
    before: Program
    after: Program | None = None
    input: int = 0
    """Size of the file DIR/input, in bytes."""
    files: int = 0
    """Number of files DIR/small/NUMBER.txt of 16 KiB. DIR/joined has their content."""


def case(
    name: str, changes: str, disk: str, before: str, after: str, input: int = 0, files: int = 0
) -> Case:
    """Return a case of two command lines on one disk."""
    return Case(
        name,
        tuple(changes.split()),
        Program(tuple(shlex.split(before)), disk),
        Program(tuple(shlex.split(after)), disk) if after else None,
        input,
        files,
    )


SQLITE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("create table entries (number integer, text text)")
for number in range(0, int(sys.argv[2]), int(sys.argv[3])):
    database.execute("begin")
    for one in range(number, number + int(sys.argv[3])):
        database.execute("insert into entries values (?, ?)", (one, "x" * 200))
    database.execute("commit")
"""
"""Inserts rows, of which a transaction has a number."""
LOG = """
import os, sys
with open(sys.argv[1], "wb", buffering=0) as log:
    for number in range(1, int(sys.argv[2]) + 1):
        log.write(b"entry " * 50)
        if number % int(sys.argv[3]) == 0:
            os.fdatasync(log)
"""
"""Writes lines, of which some are synced."""
READERS = """
import os, random, sys
from concurrent.futures import ThreadPoolExecutor
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
places = random.Random(1).sample(range(os.path.getsize(sys.argv[1]) >> 12), int(sys.argv[2]))
with ThreadPoolExecutor(int(sys.argv[3])) as threads:
    for _ in threads.map(lambda place: os.pread(file, 4096, place << 12), places):
        pass
"""
"""Reads blocks at random places in threads."""


def script(text: str, *words: object) -> str:
    """Return the command line of a Python program."""
    return shlex.join([sys.executable, "-c", text, *map(str, words)])


def shell(text: str) -> str:
    """Return the command line of a shell command."""
    return shlex.join(["sh", "-c", text])


WRITE = f"append DIR/output {160 * MIB} {MIB} 0"
READ = "read DIR/input"
CONVERT = "convert DIR/input OUT/output 100000 one"
# A changed program should run for half a second or more: blk-throttle lets go at once what it
# allows in a tenth of a second.
CASES = (
    case(
        "larger-requests, O_DIRECT",
        "larger-requests",
        LATENT,
        f"append DIR/output {32 * MIB} 16384 0 direct",
        f"append DIR/output {32 * MIB} {MIB} 0 direct",
    ),
    case(
        "larger-requests, O_SYNC",
        "larger-requests",
        LATENT,
        f"append DIR/output {12 * MIB} 16384 0 sync",
        f"append DIR/output {12 * MIB} {MIB} 0 sync",
    ),
    case(
        "larger-requests, operations",
        "larger-requests",
        "400 operations/s",
        f"append DIR/output {48 * MIB} 16384 0 direct",
        f"append DIR/output {48 * MIB} {MIB} 0 direct",
    ),
    case(
        "fewer-syncs",
        "fewer-syncs",
        LATENT,
        f"append DIR/output {2 * MIB} 4096 1",
        f"append DIR/output {2 * MIB} 4096 10",
    ),
    case(
        "fewer-syncs, operations",
        "fewer-syncs",
        "400 operations/s",
        f"append DIR/output {3 * MIB} 4096 1",
        f"append DIR/output {3 * MIB} 4096 10",
    ),
    case(
        "parallel-requests",
        "parallel-requests",
        LATENT,
        "random_reads DIR/input 2000 1",
        "random_reads DIR/input 2000 4",
        input=128 * MIB,
    ),
    case(
        "parallel-requests, operations",
        "parallel-requests",
        "400 operations/s",
        "random_reads DIR/input 2000 1",
        "random_reads DIR/input 2000 4",
        input=128 * MIB,
    ),
    case(
        "fewer-files",
        "fewer-files",
        LATENT,
        "small_files DIR/files 500 65536 many",
        "small_files DIR/files 500 65536 one",
    ),
    case(
        "threads",
        "threads",
        SHARED,
        "convert DIR/input DIR/output 4000000 one direct",
        "convert DIR/input DIR/output 4000000 two direct",
        input=64 * MIB,
    ),
    case(
        "threads, two directions",
        "threads",
        "40 MB/s",
        "convert DIR/input DIR/output 0 one direct",
        "convert DIR/input DIR/output 0 two direct",
        input=96 * MIB,
    ),
    Case(
        "separate-disks",
        ("separate-disks",),
        Program(tuple(CONVERT.split()), SHARED),
        Program(tuple(CONVERT.split()), SHARED, SECOND),
        128 * MIB,
    ),
    Case(
        "faster-device",
        ("striping", "faster-device"),
        Program(tuple(WRITE.split()), "40 MB/s"),
        Program(tuple(WRITE.split()), "80 MB/s"),
    ),
    Case(
        "faster-device, reads",
        ("striping", "faster-device"),
        Program(tuple(READ.split()), "40 MB/s"),
        Program(tuple(READ.split()), "80 MB/s"),
        192 * MIB,
    ),
    case(
        "block-io",
        "block-io",
        "120 MB/s",
        "copy DIR/input DIR/output characters",
        "copy DIR/input DIR/output blocks",
        input=192 * MIB,
    ),
    case(
        "larger-requests, dd direct",
        "larger-requests",
        LATENT,
        "dd if=/dev/zero of=DIR/output bs=16k count=2048 oflag=direct",
        "dd if=/dev/zero of=DIR/output bs=1M count=32 oflag=direct",
    ),
    case(
        "larger-requests, dd dsync",
        "larger-requests",
        "400 operations/s",
        "dd if=/dev/zero of=DIR/output bs=16k count=1024 oflag=dsync",
        "dd if=/dev/zero of=DIR/output bs=1M count=16 oflag=dsync",
    ),
    case(
        "larger-requests, dd copy",
        "larger-requests",
        "40 MB/s",
        "dd if=DIR/input of=DIR/output bs=4k conv=fsync",
        "dd if=DIR/input of=DIR/output bs=1M conv=fsync",
        input=96 * MIB,
    ),
    case(
        "larger-requests, dd of memory",
        "larger-requests",
        "120 MB/s",
        "dd if=/dev/zero of=DIR/output bs=512 count=100k conv=fsync",
        "dd if=/dev/zero of=DIR/output bs=1M count=50 conv=fsync",
    ),
    case(
        "fewer-syncs, SQLite",
        "fewer-syncs",
        LATENT,
        script(SQLITE, "DIR/output", 400, 1),
        script(SQLITE, "DIR/output", 400, 10),
    ),
    case(
        "fewer-syncs, log of Python",
        "fewer-syncs",
        "400 operations/s",
        script(LOG, "DIR/output", 1000, 1),
        script(LOG, "DIR/output", 1000, 10),
    ),
    case(
        "fewer-files, cat",
        "fewer-files",
        LATENT,
        shell("cat DIR/small/*.txt >/dev/null"),
        shell("cat DIR/joined >/dev/null"),
        files=1000,
    ),
    case(
        "fewer-files, tar",
        "fewer-files",
        LATENT,
        "tar cf DIR/output -C DIR/small .",
        "tar cf DIR/output -C DIR/ joined",
        files=1000,
    ),
    case(
        "parallel-requests, Python",
        "parallel-requests",
        LATENT,
        script(READERS, "DIR/input", 1500, 1),
        script(READERS, "DIR/input", 1500, 4),
        input=128 * MIB,
    ),
    case(
        "parallel-requests, grep",
        "parallel-requests",
        LATENT,
        shell("grep -c x DIR/small/*.txt >/dev/null; true"),
        shell("ls DIR/small/*.txt | xargs -P 4 -n 50 grep -c x >/dev/null; true"),
        files=1000,
    ),
    case(
        "parallel-computing, gzip",
        "parallel-computing",
        "120 MB/s",
        shell("gzip -c DIR/input >DIR/output"),
        shell(
            "head -c 48M DIR/input | gzip -c >DIR/output &"
            " tail -c 48M DIR/input | gzip -c >DIR/output2; wait"
        ),
        input=96 * MIB,
    ),
    case(
        "parallel-computing, spin",
        "parallel-computing",
        "40 MB/s",
        shell("BIN/compute_steps 500000000 >DIR/output"),
        shell(
            "BIN/compute_steps 250000000 >DIR/output &"
            " BIN/compute_steps 250000000 >DIR/output2; wait"
        ),
    ),
    case(
        "parallel-computing, sort",
        "parallel-computing",
        "120 MB/s",
        "sort --parallel=1 -S 400M DIR/input -o DIR/output",
        "sort --parallel=2 -S 400M DIR/input -o DIR/output",
        input=64 * MIB,
    ),
    case("sleeper", "", "40 MB/s", "sleeper 4", ""),
    case("lock-waiter", "", "40 MB/s", "lock_waiter 4", ""),
)


@dataclass(frozen=True)
class Disk:
    """A disk, and how a command is run where it is mounted."""

    directory: str
    command: Callable[[list[str]], list[str]]


@dataclass
class Result:
    """Predicted and real gain of a case."""

    name: str
    disk: str
    verdicts: list[str]
    advice: dict[str, float]
    """Predicted gain of the run by change."""
    simulated: float | None
    """Simulated time before the change, relative to the recorded one, minus 1."""
    before_s: list[float] = field(default_factory=list)
    after_s: list[float] = field(default_factory=list)
    profile: dict[str, object] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        """Its case."""
        return next(one for one in CASES if one.name == self.name)

    @property
    def withheld(self) -> bool:
        """Whether the simulation missed a phase, for which no advice is given therefore."""
        phases = (self.profile["prediction"] or {}).get("phases", [])  # type: ignore[attr-defined]
        return any(abs(one["error"] or 0.0) > ERROR_LIMIT for one in phases)

    @property
    def exaggerated(self) -> list[str]:
        """Advice with a gain of more than twice the real one, or that may not be given."""
        if not self.case.changes:
            return list(self.advice)
        given = [name for name in self.case.changes if name in self.advice]
        return [one for one in given if self.advice[one] > max(2 * self.real, LEAST_GAIN)]

    @property
    def ratios(self) -> list[float]:
        """Predicted gains by the real one, of advice that is given and gains anything."""
        given = [self.advice[name] for name in self.case.changes if name in self.advice]
        return [gain / self.real for gain in given] if self.real > LEAST_GAIN else []

    @property
    def real(self) -> float:
        """Real gain; 0 if nothing is carried out."""
        if not self.after_s:
            return 0.0
        return statistics.median(self.before_s) / statistics.median(self.after_s) - 1

    def error(self, predicted: float) -> float:
        """Return the predicted run time after the change, relative to the real one, minus 1."""
        return (1 + self.real) / (1 + predicted) - 1


def main() -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="measure short baselines")
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--save", type=Path, help="directory for profiles and baselines")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--nice", type=int, default=0, help="niceness of all programs")
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    # A signal must not leave disks behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    chosen = [it for it in CASES if not given.cases or it.name in given.cases]
    results: list[Result] = []
    load = [os.getloadavg()[0]]
    with contextlib.ExitStack() as stack:
        stack.enter_context(niceness(given.nice))
        place = given.save or stack.enter_context(tempfile.TemporaryDirectory(prefix="headrace-"))
        folder = Path(place).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for sources in ("programs", "fixed_work"):
            compile_programs(HERE / sources, folder)
        os.environ["HEADRACE_STORE"] = str(folder / "store")
        # The disks in memory last: they need a mount namespace of this process.
        for kind in (None, *LATENCIES_S):
            part = [it for it in chosen if it.before.disk == kind]
            if kind is None:
                part = [it for it in chosen if it.before.disk not in LATENCIES_S]
            if not part:
                continue
            with testbeds(part) if kind is None else disks_in_memory(folder, kind) as available:
                for disk in dict.fromkeys(it.before.disk for it in part):
                    measure_baseline(available[disk], given.quick)
                for it in part:
                    results.append(run_case(it, available, folder, given.rounds))
                    load.append(os.getloadavg()[0])
                    print(rows(results[-1]), flush=True)
    if given.json:
        given.json.write_text(json.dumps([vars(result) for result in results], indent=1))
    print(table(results))
    errors = [it.error(gain) for it in results if it.after_s for gain in compared(it)]
    if errors:
        print(f"median of |error|: {statistics.median(map(abs, errors)):.1%} of {len(errors)}")
    ratios = [ratio for one in results for ratio in one.ratios]
    if ratios:
        worst = max(ratios, key=lambda ratio: max(ratio, 1 / ratio))
        print(f"predicted / real gain: median {statistics.median(ratios):.2f}, worst {worst:.2f}")
    print("advice withheld:", ", ".join(one.name for one in results if one.withheld) or "none")
    exaggerated = [
        f"{one.name} ({', '.join(one.exaggerated)})" for one in results if one.exaggerated
    ]
    print("more than twice the real gain:", ", ".join(exaggerated) or "none")
    print(f"load average: {min(load):.1f} to {max(load):.1f}, {os.cpu_count()} cores")
    return 1 if exaggerated else 0


@contextlib.contextmanager
def testbeds(cases: list[Case]) -> Iterator[dict[str, Disk]]:
    """Build the testbeds of cases."""
    wanted = [it.disk for case in cases for it in (case.before, case.after) if it is not None]
    with contextlib.ExitStack() as stack:
        found = {}
        for number, name in enumerate(dict.fromkeys(wanted)):
            bed = stack.enter_context(testbed(f"gains{number}", *BEDS[name]))

            def command(words: list[str], bed: lab.Lab = bed) -> list[str]:
                return lab.exec_command(bed, HOST, words)

            found[name] = Disk(lab.status(bed).mount_point, command)
        yield found


@contextlib.contextmanager
def disks_in_memory(folder: Path, kind: str) -> Iterator[dict[str, Disk]]:
    """Make two disks in memory of a kind."""
    latency_s = LATENCIES_S[kind]
    place = folder / f"disks-{latency_s * 1e3:g}-ms"
    place.mkdir()
    with disks(place, 2, SIZE, RATE, RATE, DIRTY, latency_s) as made:
        names = (kind, SECOND)
        yield {
            name: Disk(str(it.mount_point), lambda words: words)
            for name, it in zip(names, made, strict=True)
        }


def headrace(disk: Disk, *words: object) -> bytes:
    """Run a command of Headrace where a disk is mounted, and return its output."""
    command = [sys.executable, "-P", "-m", "headrace", *map(str, words)]
    done = subprocess.run(disk.command(command), stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise OSError(f"headrace {words[0]}: {done.stderr.decode().strip()[-2000:]}")
    return done.stdout


def measure_baseline(disk: Disk, quick: bool) -> None:
    """Measure a disk's baseline into the store."""
    options = ["--quick"] if quick else []
    headrace(
        disk, "baseline", disk.directory, "--file-size", f"{FILE // MIB} MiB", *options, "--json"
    )


PREPARE = """
import os, random, sys
directory, size, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(f"{directory}/files", exist_ok=True)
written = ["output", "output2", "output-journal"]
for name in written + [f"files/{name}" for name in os.listdir(f"{directory}/files")]:
    if os.path.exists(f"{directory}/{name}"):
        os.remove(f"{directory}/{name}")
path = f"{directory}/input"
if size and not (os.path.exists(path) and os.path.getsize(path) == size):
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(random.Random(1).randbytes(1 << 20))
small = [f"{directory}/small/{number}.txt" for number in range(files)]
if files and not os.path.exists(f"{directory}/joined"):
    os.makedirs(f"{directory}/small", exist_ok=True)
    for name in small:
        with open(name, "wb") as file:
            file.write(b"ACGTTGCA" * (1 << 11))
    with open(f"{directory}/joined", "wb") as file:
        file.write(b"ACGTTGCA" * (1 << 11) * files)
os.sync()
for name in [*small, *([f"{directory}/joined"] if files else []), *([path] if size else [])]:
    file = os.open(name, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
"""
"""Makes the input, removes it from the page cache, and removes the output."""
TIMED = """
import subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
print(time.monotonic() - start)
"""


def prepare(program: Program, case: Case, disks: dict[str, Disk]) -> None:
    """Prepare the files of a program."""
    for name in {program.disk, program.output or program.disk}:
        sizes = (case.input, case.files) if name == program.disk else (0, 0)
        command = [sys.executable, "-c", PREPARE, disks[name].directory, *map(str, sizes)]
        subprocess.run(disks[name].command(command), check=True)


def command_line(program: Program, disks: dict[str, Disk], folder: Path) -> list[str]:
    """Return the command line of a program."""
    places = {
        "DIR": disks[program.disk].directory,
        "OUT": disks[program.output or program.disk].directory,
        "BIN": str(folder),
    }
    words = []
    for word in program.words:
        for name, directory in places.items():
            word = word.replace(f"{name}/", f"{directory}/")
        words.append(word)
    own = folder / words[0]
    return [str(own) if own.is_file() else words[0], *words[1:]]


def run_case(case: Case, disks: dict[str, Disk], folder: Path, rounds: int) -> Result:
    """Profile a program, then run it and its changed version in turn."""
    disk = disks[case.before.disk]
    prepare(case.before, case, disks)
    directory = folder / f"{case.name.replace(', ', '-')}.profile"
    options = [
        "--interval",
        INTERVAL_S,
        "--capture",
        "strace",
        "--baseline-directory",
        disk.directory,
    ]
    options += ["--no-report", "--no-store", "--json", "-o", directory, "--"]
    command = command_line(case.before, disks, folder)
    profile = json.loads(headrace(disk, "profile", "record", *options, *command))
    prediction = profile["prediction"] or {}
    result = Result(
        name=case.name,
        disk=case.before.disk,
        verdicts=[it["verdict"] for it in profile["phases"]],
        advice=run_gains(profile),
        simulated=prediction.get("error"),
        profile={key: profile[key] for key in ("phases", "prediction", "notes", "duration_s")},
    )
    for _ in range(rounds if case.after is not None else 0):
        result.before_s.append(timed(case.before, case, disks, folder))
        assert case.after is not None
        result.after_s.append(timed(case.after, case, disks, folder))
    return result


def timed(program: Program, case: Case, disks: dict[str, Disk], folder: Path) -> float:
    """Return the run time of a program."""
    prepare(program, case, disks)
    command = [sys.executable, "-c", TIMED, *command_line(program, disks, folder)]
    disk = disks[program.disk]
    return float(subprocess.run(disk.command(command), check=True, stdout=subprocess.PIPE).stdout)


def run_gains(profile: dict[str, Any]) -> dict[str, float]:
    """Return the predicted gain of the run by change: phases without the advice stay as long."""
    if not profile["prediction"]:
        return {}
    lengths = [it["without_tracer_s"] for it in profile["prediction"]["phases"]]
    found = [{it["change"]: it["predicted_gain"] for it in p["advice"]} for p in profile["phases"]]
    return {
        name: sum(lengths)
        / sum(s / (1 + of.get(name, 0.0)) for s, of in zip(lengths, found, strict=True))
        - 1
        for name in dict.fromkeys(name for of in found for name in of)
    }


def compared(result: Result) -> list[float]:
    """Return the predicted gains of the advice that was carried out; 0 without advice."""
    return [result.advice.get(name, 0.0) for name in result.case.changes]


def rows(result: Result) -> str:
    """Return a result as Markdown rows."""
    changes = result.case.changes
    verdicts = ", ".join(dict.fromkeys(result.verdicts))
    simulated = "-" if result.simulated is None else f"{result.simulated:+.0%}"
    first = f"| {result.name} | {result.disk} | {verdicts} | "
    if not changes:
        return first + f"{', '.join(result.advice) or 'none'} | - | - | {simulated} | - |"
    lines = []
    for name in changes:
        gain = result.advice.get(name)
        shown = ("withheld" if result.withheld else "none") if gain is None else f"{gain:+.0%}"
        advice = f"{name} {'' if gain is None else 'given'}".strip()
        lines.append(
            first + f"{advice} | {shown} | {result.real:+.0%} | {simulated} |"
            f" {result.error(gain or 0.0):+.0%} |"
        )
    return "\n".join(lines)


def table(results: list[Result]) -> str:
    """Return the table of all cases."""
    head = "| case | disk | verdict | advice | predicted gain | real gain | model | error |"
    return "\n".join([head, "| --- " * 8 + "|", *map(rows, results)])


if __name__ == "__main__":
    sys.exit(main())
