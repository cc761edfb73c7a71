"""Judges programs whose limit is known by construction (programs.toml).

For root, on Linux with blk-throttle, network namespaces and a C compiler:

    python benches/verdicts/verdicts.py record [--capture METHOD] [--disk NAME]
        [--neighbours N] FOLDER [PROGRAM ...]

builds a testbed (testbed.toml), measures its baseline, and records each program as
FOLDER/CONDITION/PROGRAM with `headrace profile record`. Options can be repeated. For everybody:

    python benches/verdicts/verdicts.py judge [--half HALF] [--json] FOLDER [PROGRAM ...]

judges the recordings again with the present rules, and prints a table and totals. The exit status
is 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from unittest import mock

from program_table import HALVES
from record_programs import BASELINE, DISKS, EXPECTED, Condition, record_all
from testbed import niceness

from headrace.profile.analysis import analyse
from headrace.profile.baseline import Baseline
from headrace.profile.capture import METHODS

UNSURE = "unsure"
OUTCOMES = ("right", UNSURE, "wrong")
ALL = "all"


@dataclass(frozen=True)
class Judged:
    """A judged recording."""

    condition: str
    program: str
    half: str
    expected: Sequence[str]
    verdict: str
    phases: Sequence[str]
    outcome: str
    reason: str


def main() -> int:
    """Run a step."""
    parser = argparse.ArgumentParser()
    steps = parser.add_subparsers(dest="step", required=True)
    recording = steps.add_parser("record", help="record the programs, as root")
    recording.add_argument("--capture", action="append", choices=METHODS)
    recording.add_argument("--disk", action="append", choices=DISKS)
    recording.add_argument("--neighbours", action="append", type=int)
    recording.add_argument("--seconds", type=float, default=4, help="length of many programs")
    recording.add_argument("--nice", type=int, default=0, help="niceness of programs and profiler")
    judging = steps.add_parser("judge", help="judge recordings again")
    judging.add_argument("--half", choices=HALVES)
    judging.add_argument("--rules", type=Path, help="file that changes rules of verdicts")
    judging.add_argument("--json", action="store_true")
    for step in (recording, judging):
        step.add_argument("folder", type=Path)
        step.add_argument("programs", nargs="*")
    given = parser.parse_args()
    if given.step == "record":
        # A signal must not leave a testbed behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        conditions = [
            Condition(capture, disk, neighbours)
            for disk in given.disk or DISKS
            for neighbours in given.neighbours or (0, 2)
            for capture in given.capture or ("none", "strace")
        ]
        with niceness(given.nice):
            record_all(given.folder.resolve(), conditions, given.programs, given.seconds)
        return 0
    judged = judge_all(given.folder, given.half, given.programs, given.rules)
    totals = totals_of(judged)
    if given.json:
        print(json.dumps({"programs": [asdict(one) for one in judged], "totals": totals}, indent=1))
    else:
        print_table(judged, totals)
    return int(any(one.outcome == "wrong" for one in judged))


def judge_all(
    folder: Path, half: str | None, programs: Sequence[str], rules: Path | None
) -> list[Judged]:
    """Judge the recordings in a folder."""
    paths = sorted(folder.glob(f"*/*/{EXPECTED}"))
    if not paths:
        raise SystemExit(f"{folder}: no recordings: expected CONDITION/PROGRAM/{EXPECTED}")
    judged = []
    for path in paths:
        expected = json.loads(path.read_text())
        if half in (None, expected["half"]) and (not programs or path.parent.name in programs):
            judged.append(judge_one(path.parent, expected, rules))
    return judged


def judge_one(directory: Path, expected: dict[str, list[str]], rules: Path | None) -> Judged:
    """Judge a recording as `headrace profile record --again DIR --no-advice` does.

    The baseline is that of the condition: the testbed's disk is gone, by which the store finds it.
    """
    baseline = Baseline.from_document(json.loads((directory.parent / BASELINE).read_text()))
    with mock.patch.object(Baseline, "find", return_value=baseline):
        profile = analyse(directory, baseline_directory=directory, rules=rules, advice=False)
    verdict = profile.verdict or UNSURE
    # Neighbours that are alike are one phase to the reader.
    phases = [name for name, _ in groupby(phase.verdict or UNSURE for phase in profile.phases)]
    if expected["phases"]:
        agrees = phases == expected["phases"]
        is_unsure = [name for name in phases if name != UNSURE] == expected["phases"]
        is_unsure = is_unsure or set(phases) <= {UNSURE}
    else:
        agrees, is_unsure = verdict in expected["right"], verdict == UNSURE
    return Judged(
        condition=directory.parent.name,
        program=directory.name,
        half=str(expected["half"]),
        expected=expected["phases"] or expected["right"],
        verdict=verdict,
        phases=phases,
        outcome="right" if agrees else UNSURE if is_unsure else "wrong",
        reason=str(expected["reason"]),
    )


def totals_of(judged: Sequence[Judged]) -> list[dict[str, object]]:
    """Return shares of outcomes by condition and half, and of all, in per cent."""
    rows: list[dict[str, object]] = []
    for condition in (*sorted({one.condition for one in judged}), ALL):
        for half in (*HALVES, ALL):
            chosen = Counter(
                one.outcome
                for one in judged
                if condition in (ALL, one.condition) and half in (ALL, one.half)
            )
            if count := chosen.total():
                shares = {name: round(100 * chosen[name] / count, 1) for name in OUTCOMES}
                rows.append({"condition": condition, "half": half, "programs": count, **shares})
    return rows


def print_table(judged: Sequence[Judged], totals: Sequence[dict[str, object]]) -> None:
    """Print a line for each recording, and the totals."""
    print(f"{'condition':24}{'program':22}{'expected':34}{'verdict':18}{'':8}half    phases")
    for one in judged:
        expected = (", " if one.expected == one.phases else " or ").join(one.expected)
        print(
            f"{one.condition:24}{one.program:22}{expected:34}{one.verdict:18}{one.outcome:8}"
            f"{one.half:8}{' '.join(one.phases)}"
        )
    print(f"\n{'condition':24}{'half':8}{'programs':>8}" + "".join(f"{n:>10}" for n in OUTCOMES))
    for row in totals:
        shares = "".join(f"{row[name]:>9} %" for name in OUTCOMES)
        print(f"{row['condition']:24}{row['half']:8}{row['programs']:>8}{shares}")


if __name__ == "__main__":
    sys.exit(main())
