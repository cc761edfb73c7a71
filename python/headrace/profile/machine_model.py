"""Machine models for predictions: calibrated machines, systems of scenarios, or a baseline's.

A machine is the text of a scenario without workloads.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import headrace as hr
from headrace.document_io import toml_value

LOAD = ("workload", "run", "lab")
"""Sections of a scenario that are no part of its machine."""
DISK = ("machine.file_system", "machine.io_scheduler", "machine.device")
"""Sections of a local machine that a further volume has, too."""
OUTPUT_VOLUME = "output"
"""Name of the volume that a change adds for files that are only written."""
PLACEHOLDER = '\n[[workload]]\nblock = "1 MiB"\n'
"""A workload for the check of a machine, which is no scenario without one."""


def machine_scenario(machine: str) -> hr.Scenario:
    """Return a machine as a scenario, with a workload that does not matter.

    Raises ScenarioError if it is invalid.
    """
    return hr.load(machine + PLACEHOLDER)


def machine_of(path: Path) -> str:
    """Return the machine of a file.

    `path` is a machine file of `headrace calibrate`, or a scenario, whose workloads are left out.

    Raises ScenarioError if it is neither, OSError if it cannot be read.
    """
    path = path.resolve()
    # A missing file is an error of the system, not of a scenario.
    path.open("rb").close()
    system = f"system = {toml_value(str(path))}\n"
    try:
        machine_scenario(system)
    except hr.ScenarioError:
        return without_load(hr.load(path).toml)
    return system


def is_local(machine: str) -> bool:
    """Return whether a machine is one host with a local file system."""
    return "machine" in tomllib.loads(machine_scenario(machine).toml)


def without_load(toml: str) -> str:
    """Return a complete scenario without its workloads and settings of the run."""
    lines = (line for path, line in _lines(toml) if path.split(".")[0] not in LOAD)
    return "\n".join(lines) + "\n"


def second_volume(machine: str) -> str:
    """Return the machine's file system and device once more, as a volume of its own."""
    lines = ["", "[[machine.volume]]", f'name = "{OUTPUT_VOLUME}"']
    for path, line in _lines(machine_scenario(machine).toml):
        if any(path == section or path.startswith(f"{section}.") for section in DISK):
            is_header = line.startswith("[")
            lines.append(line.replace("machine.", "machine.volume.", 1) if is_header else line)
    return "\n".join(lines) + "\n"


def _lines(toml: str) -> Iterator[tuple[str, str]]:
    """Yield each line with the path of its section; "" before the first section."""
    path = ""
    for line in toml.splitlines():
        if header := re.match(r"\[+([\w.]+)\]+", line):
            path = header.group(1)
        yield path, line
