"""The baseline's own measurements, simulated on its machine."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headrace import simulate
from headrace.document_io import read_text
from headrace.profile.baseline.cases import Case


def scenario_text(machine: Path, work: str) -> str:
    """Return the text of a scenario that runs a workload on a machine file's system."""
    # JSON string escapes are valid in TOML.
    return f"system = {json.dumps(str(machine), ensure_ascii=False)}\n{work}"


def predict(
    machine: str, cases: Sequence[Case], on_case: Callable[[Case], object] | None = None
) -> dict[str, float]:
    """Simulate cases on a machine and return their figures by name.

    Raises ScenarioError if the machine is none.
    """
    figures = {}
    with tempfile.TemporaryDirectory(prefix="headrace-") as place:
        file = Path(place) / "machine.toml"
        file.write_text(machine, encoding="utf-8")
        for case in cases:
            if on_case is not None:
                on_case(case)
            scenario = simulate.load(scenario_text(file, case.text))
            document: Mapping[str, Any] = simulate.run(scenario, server_series=False).json()
            for reading in case.readings:
                figures[reading.figure] = reading.value(document)
    return figures


def check_machine(path: Path) -> str:
    """Return the text of a machine file.

    Raises ScenarioError, with the position, if a scenario cannot have it as its system. Raises
    OSError if it cannot be read, ValueError if it has another suffix.
    """
    if path.suffix != ".toml":
        raise ValueError(
            f"--machine {path}: expected a .toml file that headrace calibrate -o saved"
        )
    text = read_text(path, "a machine in TOML")
    work = '[clients]\n[[workload]]\nblock = "4 KiB"\n'
    simulate.load(scenario_text(path.resolve(), work))
    return text
