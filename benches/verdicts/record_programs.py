"""Records the programs of programs.toml on a testbed with a throttled disk and link."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from program_table import Program, filled, load_programs
from testbed import HERE, HOST, NAME, compile_programs, testbed

from headrace import lab
from headrace.lab import cgroups
from headrace.lab.hosts import Hosts

BASELINE, EXPECTED = "baseline.json", "expected.json"
INTERVAL = "0.5 s"
MEMORY = 'machine.memory.size="2 GiB"'
"""Memory of the host: the profiler runs in it, too."""
DISKS = {
    "fast": (MEMORY,),
    "slow": (MEMORY, "machine.device.read_operations=400", "machine.device.write_operations=400"),
}
"""Values of the testbeds. Both have 40 MB/s each way."""
FILE = "64 MiB"
"""Size of the baseline's file: 2 s of the disk."""
LINK = "verdicts-0"
LINK_RATE = "40mbit"
ADDRESS, PEER, PORT, ANSWER = "198.19.255.1", "198.19.255.2", 7777, 7417
SHARED = """
set -e
cd {shared}
{python} -c '
import random
draw = random.Random(1)
words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(20000)]
with open("text", "w") as file:
    while file.tell() < 48 << 20:
        file.write("".join(" ".join(draw.choices(words, k=9)) + "\\n" for _ in range(1000)))
with open("large", "wb") as file:
    for _ in range(256):
        file.write(draw.randbytes(1 << 20))
'
mkdir tree
for folder in $(seq 50); do
    mkdir tree/$folder
    for number in $(seq 60); do head -c 2000 text > tree/$folder/$number; done
done
"""
"""Makes the input files: a text, a large file, and a tree of 3000 small files."""
WARM = "cat {shared}/text > /dev/null; find {shared}/tree -newer {shared}/text > /dev/null"


@dataclass(frozen=True)
class Condition:
    """A condition under which all programs are recorded."""

    capture: str
    disk: str
    neighbours: int
    """Number of other processes that compute all the time."""

    @property
    def name(self) -> str:
        """Name of the folder."""
        return f"{self.capture}-{self.disk}-{'busy' if self.neighbours else 'quiet'}"


def record_all(
    folder: Path, conditions: Sequence[Condition], names: Sequence[str], seconds: float
) -> None:
    """Record programs, by default all, under conditions that are ordered by disk."""
    programs = load_programs()
    if unknown := set(names) - set(programs):
        raise SystemExit(f"{', '.join(sorted(unknown))}: expected programs of programs.toml")
    chosen = [programs[name] for name in names or programs]
    folder.mkdir(parents=True, exist_ok=True)
    for disk, on_disk in groupby(conditions, lambda condition: condition.disk):
        with Bench(folder, disk, seconds) as bench:
            for condition in on_disk:
                begin = time.monotonic()
                with bench.neighbours(condition.neighbours):
                    for program in chosen:
                        try:
                            bench.record(program, condition)
                        except (OSError, subprocess.SubprocessError) as error:
                            print(f"{condition.name:20}{program.name}: {error}", flush=True)
                print(f"{condition.name}: {time.monotonic() - begin:.0f} s", flush=True)


class Bench:
    """A testbed with a disk, a link and input files."""

    def __init__(self, folder: Path, disk: str, seconds: float) -> None:
        self._folder, self._disk, self._stack = folder, disk, contextlib.ExitStack()
        self._seconds = seconds

    def __enter__(self) -> Bench:
        with contextlib.ExitStack() as stack:
            binaries = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="verdicts-")))
            compile_programs(HERE / "programs", binaries)
            self._bed = stack.enter_context(testbed(NAME, *DISKS[self._disk]))
            self._mount = Path(lab.status(self._bed).mount_point)
            self._places: dict[str, object] = {
                "bin": binaries,
                "shared": self._mount / "shared",
                "python": sys.executable,
                "seconds": f"{self._seconds:g}",
                "peer": PEER,
                "port": PORT,
                "address": ADDRESS,
            }
            stack.enter_context(link(self._bed))
            os.environ["HEADRACE_STORE"] = str(binaries / "store")
            self._baseline = binaries / BASELINE
            self._measure_baseline()
            self._in_host(self._mount, ["mkdir", "shared"])
            self._script(SHARED, self._mount)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextlib.contextmanager
    def neighbours(self, count: int) -> Iterator[None]:
        """Let processes compute."""
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(running([str(self._places["bin"]) + "/spin", "100000"]))
            yield

    def record(self, program: Program, condition: Condition) -> None:
        """Prepare a program's files and record it."""
        target = self._baseline.parent / condition.name / program.name
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(exist_ok=True)
        directory = self._mount / program.name
        self._in_host(self._mount, ["mkdir", "-p", str(directory)])
        self._script(program.setup, directory)
        self._in_host(self._mount, ["sync", "-f", "."])
        if program.cold:
            self._empty_caches()
        else:
            self._script(WARM, directory)
        with contextlib.ExitStack() as stack:
            joined = [stack.enter_context(group) for group in groups(program)]
            command = program.words(self._places)
            if joined:
                join = 'for one in $0; do echo $$ > "$one/cgroup.procs"; done && exec "$@"'
                command = ["/bin/sh", "-c", join, " ".join(map(str, joined)), *command]
            if program.beside:
                line = self._line(directory, ["/bin/sh", "-c", self._filled(program.beside)])
                stack.enter_context(running(line))
            if program.peer:
                script = ["/bin/sh", "-c", self._filled(program.peer)]
                # The peer has a network of its own, and the host's files.
                stack.enter_context(running(self._line(directory, self._at_peer(script))))
            begin = time.monotonic()
            done = self._headrace(
                directory,
                ["profile", "record", "--capture", condition.capture, "--interval", INTERVAL],
                ["--no-advice", "--no-report", "--no-store", "--baseline-directory", "."],
                ["-o", target, "--", *command],
            )
            wall_s = time.monotonic() - begin
        expected = {
            "right": program.right,
            "phases": program.phases,
            "reason": program.reason,
            "half": program.half,
        }
        if not (target / "recording.json").exists():
            raise OSError(f"{program.name}: {done.stderr.strip()[-2000:]}")
        (target / EXPECTED).write_text(json.dumps(expected, indent=1) + "\n")
        profile = json.loads((target / "profile.json").read_text())
        final = self._folder / condition.name / program.name
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._baseline, final.parent)
        shutil.rmtree(final, ignore_errors=True)
        shutil.move(target, final)
        print(
            f"{condition.name:20}{program.name:22}{wall_s:6.1f} s  status {done.returncode}"
            f"  {profile['verdict']}",
            flush=True,
        )
        if done.returncode:
            print(done.stderr.strip()[-500:], file=sys.stderr)

    def _measure_baseline(self) -> None:
        """Measure the baseline of the disk and the link into a file and the store."""
        answer = [sys.executable, "-P", "-m", "headrace", "bench", "net", "answer"]
        options = ["--listen", f"{PEER}:{ANSWER}", "--token", NAME]
        with running(self._line(self._mount, self._at_peer([*answer, *options]))):
            listens = self._at_peer(["grep", "-q", f":{ANSWER:04X} ", "/proc/net/tcp"])
            while subprocess.run(self._line(self._mount, listens)).returncode:
                time.sleep(0.1)
            done = self._headrace(
                self._mount,
                ["baseline", ".", "--file-size", FILE, "--quick", "-o", self._baseline],
                ["--peer", f"{PEER}:{ANSWER}", "--token", NAME],
            )
        if done.returncode:
            raise OSError(f"headrace baseline: {done.stderr.strip()[-2000:]}")

    def _empty_caches(self) -> None:
        """Mount the file system again, without pages and inodes in memory.

        Pages that memory pressure evicts would count as refaults when they are read.
        """
        disk = lab.status(self._bed).hosts[0].disks[0]
        if disk.device is None or disk.mount_options is None:
            raise OSError(f"{disk.image}: not mounted")
        self._in_host(Path("/"), ["umount", "--all-targets", disk.device])
        for place in (self._bed.folder / disk.name, self._mount):
            self._in_host(Path("/"), ["mount", "-o", disk.mount_options, disk.device, str(place)])

    def _filled(self, text: str) -> str:
        return filled(text, self._places)

    def _script(self, text: str, directory: Path) -> None:
        if text:
            self._in_host(directory, ["/bin/sh", "-c", self._filled(text)])

    def _line(self, directory: Path, words: Sequence[str]) -> list[str]:
        return lab.exec_command(self._bed, HOST, ["env", "-C", str(directory), *words])

    def _at_peer(self, words: Sequence[str]) -> list[str]:
        """Return the command line that a process of the host runs in the peer's network."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/root/run/netns/{NAME}", *words]

    def _in_host(self, directory: Path, words: Sequence[str]) -> None:
        subprocess.run(self._line(directory, words), check=True, stdin=subprocess.DEVNULL)

    def _headrace(
        self, directory: Path, *parts: Sequence[object]
    ) -> subprocess.CompletedProcess[str]:
        words = [str(word) for part in parts for word in part]
        return subprocess.run(
            self._line(directory, [sys.executable, "-P", "-m", "headrace", *words]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )


@contextlib.contextmanager
def running(words: Sequence[str]) -> Iterator[None]:
    """Run a command beside, and end its session afterwards."""
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)


@contextlib.contextmanager
def link(bed: lab.Lab) -> Iterator[None]:
    """Build a link of a limited rate from the host to a peer in a network namespace."""
    far = f"{NAME}-1"
    limited = f"root tbf rate {LINK_RATE} burst 64kb latency 50ms"
    before = (
        f"ip netns add {NAME}",
        f"ip link add {LINK} type veth peer name {far} netns {NAME}",
        f"ip link set {LINK} netns {Hosts(bed).holder(HOST)}",
        f"ip -netns {NAME} address add {PEER}/30 dev {far}",
        f"ip -netns {NAME} link set {far} up",
        f"ip netns exec {NAME} tc qdisc add dev {far} {limited}",
    )
    inside = (
        f"ip address add {ADDRESS}/30 dev {LINK}",
        f"ip link set {LINK} up",
        f"tc qdisc add dev {LINK} {limited}",
    )
    subprocess.run(["ip", "netns", "del", NAME], capture_output=True)
    try:
        for step in before:
            subprocess.run(step.split(), check=True)
        for step in inside:
            subprocess.run(lab.exec_command(bed, HOST, step.split()), check=True)
        yield
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=True)


def groups(program: Program) -> Iterator[contextlib.AbstractContextManager[Path]]:
    """Make the control groups of a program's limits."""
    if program.memory is not None:
        above = cgroups.of_host(NAME, HOST)
        if above is None:
            raise OSError("the kernel has no memory controller")
        yield group(above / "small", {cgroups.memory_file(above).name: str(program.memory)})
    if program.cores is not None:
        where = cgroups.hierarchy("cpu")
        if where is None:
            raise OSError("the kernel has no cpu controller")
        quota = round(program.cores * 100_000)
        files = {"cpu.max": f"{quota} 100000"}
        if where.version == 1:
            files = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(quota)}
        yield group(where.top / f"headrace-{NAME}", files)


@contextlib.contextmanager
def group(path: Path, files: dict[str, str]) -> Iterator[Path]:
    """Make a control group with values in its files."""
    path.mkdir(exist_ok=True)
    try:
        for name, value in files.items():
            (path / name).write_text(value)
        yield path
    finally:
        path.rmdir()
