"""The dissertation's tables measured again on this machine's kernel (for root, on Linux).

    python papers/nguyen-local/measure_on_testbed.py OUT [ROUNDS]

Stands the testbed of `testbed.toml` up twice, with `data=ordered` and with `data=journal`
(docs/how-to/lab.md), calibrates the first, and measures all cases of `testbed_cases.py` in both:
everything once, then everything again, ROUNDS (3) times. Keeps the calibrated machine, all rates,
and where and how they were measured in OUT, and takes the testbeds down again. With
`papers/nguyen-local/present` as OUT, `headrace papers nguyen-local` shows them from then on.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NoReturn

import testbed_cases
import traces

from headrace import exit_codes, lab
from headrace._core import VERSION
from headrace.calibrate import CalibrationRun, mount_of
from headrace.calibrate.case import quiesce_seconds
from headrace.calibrate.run_report import RunReport
from headrace.calibrate.settings import settings
from headrace.files import atomic_file, check_directory, save_json
from headrace.interruption import run_interruptible
from headrace.measure import measure_strict

TESTBED = Path(__file__).resolve().with_name("testbed.toml")
ROUNDS = 3
INSIDE = "--inside"
METHOD = (
    "headrace lab stands testbed.toml up with data=ordered and with data=journal; in each round"
    " the first is calibrated, then every case is carried out once; rates are the bytes of an"
    " operation by the time in which it was active"
)


def inside(journal: str, directory: str) -> None:
    """Serve commands in a testbed's host: one per line of standard input, answered by a line of
    JSON."""
    calibration_run = CalibrationRun(directory) if journal == testbed_cases.JOURNALS[0] else None
    with TemporaryDirectory(prefix="headrace-") as name:
        folder = Path(name)
        traces.write(folder, part=testbed_cases.PART)
        for line in sys.stdin:
            match line.strip():
                case "round":
                    answer: Any = one_round(journal, directory, folder, calibration_run)
                case "settings":
                    answer = {it.field: it.text() for it in settings(mount_of(directory))}
                case _:
                    answer = None if calibration_run is None else calibration_run.calibration().toml
            print(json.dumps(answer), flush=True)


def one_round(
    journal: str, directory: str, folder: Path, calibration_run: CalibrationRun | None
) -> dict[str, float]:
    """Measure a round, and return the rate of each case of this testbed."""
    for step in [] if calibration_run is None else calibration_run.steps:
        step.measure()
    if calibration_run is not None:
        calibration_run.end_round()
    rates = {}
    for case in testbed_cases.CASES:
        if case.journal == journal:
            text = case.text(folder)
            measurement = measure_strict(
                text, directory, settle=quiesce_seconds(case.resource, text)
            )
            rates[case.name] = case.rate(RunReport.measured(measurement.report))
    return rates


class Host:
    """Process that measures in a testbed's host."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, what: str) -> Any:
        """Send a line and return the answer.

        Raises
        ------
        ChildProcessError
            If the process has ended.
        """
        to, answers = self._process.stdin, self._process.stdout
        assert to is not None and answers is not None
        try:
            to.write(f"{what}\n")
            to.flush()
        except BrokenPipeError:
            pass
        line = answers.readline()
        if not line:
            raise ChildProcessError("the measuring process exited: see its error above")
        return json.loads(line)


def host(journal: str, stack: ExitStack) -> Host:
    """Start a testbed that ends with the stack, and a process in its host."""
    sets = [f"machine.file_system.journal.mode={journal}"]
    name = f"nguyen-{journal}-{os.getpid()}"
    made = stack.enter_context(lab.running_testbed(TESTBED, sets, name))
    script = [sys.executable, str(Path(__file__).resolve()), INSIDE, journal]
    command = lab.exec_command(made, "client-0", [*script, str(made.mount_point)])
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    stack.callback(end, process)
    return Host(process)


def end(process: "subprocess.Popen[str]") -> None:
    """Close the input of the process and wait; Ctrl-C reaches it as well."""
    closed: list[IO[str] | None] = [process.stdin, process.stdout]
    for stream in closed:
        if stream is not None:
            stream.close()
    process.wait()


def measure(out: Path, rounds: int) -> None:
    """Measure all rounds, and save the results."""
    check_directory(out)
    out.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC)
    rates: dict[str, list[float]] = {case.name: [] for case in testbed_cases.CASES}
    with ExitStack() as stack:
        hosts = {journal: host(journal, stack) for journal in testbed_cases.JOURNALS}
        known = {journal: it.ask("settings") for journal, it in hosts.items()}
        for number in range(rounds):
            for journal, it in hosts.items():
                print(f"round {number + 1} of {rounds}: {journal}", file=sys.stderr, flush=True)
                for name, rate in it.ask("round").items():
                    rates[name].append(rate)
        machine = hosts[testbed_cases.JOURNALS[0]].ask("calibration")
    with atomic_file(out / testbed_cases.MACHINE) as partial:
        partial.write_text(machine, encoding="utf-8")
    first = known[testbed_cases.JOURNALS[0]]
    document = {
        "date": started.isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "version": VERSION,
        "method": METHOD,
        "rounds": rounds,
        # What a calibration of the first does not have.
        "settings": {
            journal: {field: it for field, it in of.items() if first.get(field) != it}
            for journal, of in known.items()
        },
        "kb_per_s": {name: [round(it, 1) for it in of] for name, of in rates.items()},
    }
    save_json(out / testbed_cases.MEASURED, document)


def processor() -> str:
    """Return the kernel's name of the processor."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


class Words(argparse.ArgumentParser):
    """Parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def main() -> int:
    if sys.argv[1:2] == [INSIDE]:
        inside(*sys.argv[2:])
        return 0
    parser = Words(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", type=Path, help="where results are kept")
    parser.add_argument("rounds", metavar="ROUNDS", type=int, nargs="?", default=ROUNDS)
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error(f"ROUNDS = {given.rounds}: expected 2 or more, for a range")
    # As an error does, so that testbeds are taken down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    measure(given.out, given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(run_interruptible(lambda: exit_codes.run(main)))
