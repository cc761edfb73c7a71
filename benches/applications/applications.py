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
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "twin"))

from command_line import parse_arguments
from places import NAMES, Place, running_place
from programs import PROGRAMS, SYNCHRONOUS, Program

CALIBRATION_ROUNDS = 2


def measure(place: Place, machine: Path, program: Program, rounds: int, saved: Path) -> None:
    """Predict and measure one program; a failure is printed and leaves no result."""
    prepare = () if program.prepare is None else ("--prepare", program.prepare)
    options = ("--machine", str(machine), "--repetitions", str(rounds), *prepare, "-o", str(saved))
    done = place.headrace("twin", str(place.directory), *options, "--", *program.command)
    if done.returncode != 0:
        print(f"{saved.stem}: {done.stderr.strip()[-400:]}", file=sys.stderr, flush=True)


def measure_all(name: str, out: Path, rounds: int) -> None:
    """Calibrate one system, and predict and measure the programs that have no result yet."""
    missing = {
        program: saved
        for program in PROGRAMS
        if not (saved := out / f"{name}, {program}.json").exists()
    }
    if not missing:
        return
    with running_place(name, out) as place:
        machine = out / f"{name}.machine.toml"
        if not machine.exists():
            print(f"{name}: calibrating", file=sys.stderr, flush=True)
            rounds_of = ("--repetitions", str(CALIBRATION_ROUNDS), "-o", str(machine))
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
