"""Predicted and measured run times of programs (docs/how-to/predict-a-program.md).

    python benches/applications/applications.py OUT [ROUNDS] [SYSTEM...]

Needs root. SYSTEMs are names of the table: ext4 and xfs, each on a disk without limits (a loop
device) and on one of 150 MB/s and 2,000 operations a second (a testbed, docs/how-to/lab.md); the
default is all. Each is calibrated once. Then `headrace twin DIR -- PROGRAM` predicts each program
before it measures it. Results that OUT already has are not measured again. Prints the errors of all
programs.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "twin"))

from command_line import parse_arguments
from file_systems import SCENARIO
from programs import PROGRAMS, SYNCHRONOUS, Program

from headrace.lab import running_testbed

KINDS = ("ext4", "xfs")
RATE, OPERATIONS = 150, 2000
LIMITED = "-limited"
NAMES = [f"{kind}{disk}" for kind in KINDS for disk in ("", LIMITED)]
IMAGE_MIB = 6 << 10
CALIBRATION_ROUNDS = 2
HEADRACE = [sys.executable, "-m", "headrace"]


@dataclass(frozen=True)
class Place:
    """A directory on a file system, and the words that run a command there."""

    directory: Path
    prefix: tuple[str, ...] = ()

    def headrace(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Headrace there, whose failure is no error."""
        command = [*self.prefix, *HEADRACE, *arguments]
        return subprocess.run(command, check=False, text=True, capture_output=True)


@contextmanager
def unlimited(kind: str) -> Iterator[Place]:
    """Mount a new file system on a loop device whose image has all of its blocks."""
    with tempfile.TemporaryDirectory(prefix="headrace-applications-", dir="/var/tmp") as folder:
        image, mount = Path(folder) / "image", Path(folder) / "mount"
        mount.mkdir()
        zeros = ["dd", "if=/dev/zero", f"of={image}", "bs=1M", f"count={IMAGE_MIB}", "status=none"]
        subprocess.run(zeros, check=True)
        subprocess.run([f"mkfs.{kind}", "-q", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
        try:
            yield Place(mount)
        finally:
            subprocess.run(["umount", str(mount)], check=True)


@contextmanager
def limited(kind: str, out: Path) -> Iterator[Place]:
    """Start a testbed with a file system on a limited disk."""
    name = f"applications-{kind}"
    scenario = out / f"{name}.toml"
    scenario.write_text(
        SCENARIO.format(name=name, system=kind, rate=RATE, operations=OPERATIONS, more="")
    )
    with running_testbed(scenario) as lab:
        prefix = (*HEADRACE, "lab", "exec", str(scenario), "client-0", "--")
        yield Place(lab.mount_point, prefix)


def measure(place: Place, machine: Path, program: Program, rounds: int, saved: Path) -> None:
    """Predict and measure one program; a failure is printed and leaves no result."""
    prepare = () if program.prepare is None else ("--prepare", program.prepare)
    options = ("--machine", str(machine), "--rounds", str(rounds), *prepare, "-o", str(saved))
    done = place.headrace("twin", str(place.directory), *options, "--", *program.command)
    if done.returncode != 0:
        print(f"{saved.stem}: {done.stderr.strip()[-400:]}", file=sys.stderr, flush=True)


def measure_all(name: str, out: Path, rounds: int) -> None:
    """Calibrate one system, and predict and measure the programs that have no result yet."""
    kind = name.removesuffix(LIMITED)
    missing = {
        program: saved
        for program in PROGRAMS
        if not (saved := out / f"{name}, {program}.json").exists()
    }
    if not missing:
        return
    with limited(kind, out) if name.endswith(LIMITED) else unlimited(kind) as place:
        machine = out / f"{name}.machine.toml"
        if not machine.exists():
            print(f"{name}: calibrating", file=sys.stderr, flush=True)
            rounds_of = ("--rounds", str(CALIBRATION_ROUNDS), "-o", str(machine))
            done = place.headrace("calibrate", str(place.directory), *rounds_of)
            if done.returncode != 0:
                raise SystemExit(f"{name}: {done.stderr}")
        for program, saved in missing.items():
            needs = PROGRAMS[program].needs
            if needs and shutil.which(needs) is None:
                print(f"{program}: skipped: install {needs}", file=sys.stderr, flush=True)
                continue
            print(f"{name}: {program}", file=sys.stderr, flush=True)
            measure(place, machine, PROGRAMS[program], rounds, saved)


def table(out: Path) -> list[str]:
    """Return the rows of all programs, and the summary."""
    lines = [
        "| system | program | measured s | predicted s | 90 % interval | error |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    errors: dict[str, list[float]] = {}
    covered = []
    for saved in sorted(out.glob("*, *.json")):
        system, program = saved.stem.split(", ")
        document: dict[str, Any] = json.loads(saved.read_text(encoding="utf-8"))
        (point,) = document["points"]
        least, most = point["interval_s"]
        measured = point["measured_s"]
        lines.append(
            f"| {system} | {program} | {min(measured):.3g} to {max(measured):.3g}"
            f" | {point['predicted_s']:.3g} | {least:.3g} to {most:.3g}"
            f" | {point['error']:+.0%} |"
        )
        errors.setdefault(program, []).append(abs(point["error"]))
        covered.append(point["covered"])
    every = [error for some in errors.values() for error in some]
    if every:
        synchronous = [error for name in SYNCHRONOUS for error in errors.get(name, ())]
        within = sum(error <= 0.3 for error in every) / len(every)
        lines += [
            "",
            f"{len(every)} programs: median error {statistics.median(every):.0%},"
            f" {within:.0%} within 30 %; intervals cover {statistics.fmean(covered):.0%}",
        ]
        if synchronous:
            lines.append(f"synchronous writes: median error {statistics.median(synchronous):.0%}")
    return lines


def main() -> None:
    out, rounds, names = parse_arguments(__doc__, NAMES, rounds=5)
    for name in names:
        measure_all(name, out, rounds)
    print("\n".join(table(out)))


if __name__ == "__main__":
    main()
